"""The table of policies in docs/policies-other.md is that of the parts; test_docs.py follows its examples."""

import re
from pathlib import Path

from misstep.plugins import list_parts

PAGE = (Path(__file__).parents[2] / "docs" / "policies-other.md").read_text()


def test_every_policy_of_the_table_exists() -> None:
    names = re.findall(r"^\| `(\w+):", PAGE, re.MULTILINE)
    assert {"python", "table", "torch", "onnx", "remote", "heuristic", "linear", "zoo"} == set(names)
    assert set(names) <= {part.name for part in list_parts("policy")}
