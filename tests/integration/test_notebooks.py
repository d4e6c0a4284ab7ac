"""The notebooks run, and show what their cells print today; MISSTEP_UPDATE_GOLDEN=1 writes it into them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.integration.pages import DOCS, Block, Follower

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def text_of(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def printed(cell: dict[str, Any]) -> str:
    assert all(output["output_type"] == "stream" for output in cell["outputs"])
    return "".join(text_of(output["text"]) for output in cell["outputs"])


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_the_notebook_shows_what_it_prints(file: Path, tmp_path: Path) -> None:
    notebook = json.loads(file.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    differences = []
    with Follower(tmp_path) as follower:
        for number, cell in enumerate(cells, start=1):
            follower.follow(Block(file.name, number, "python", text_of(cell["source"])))
            if follower.printed != printed(cell):
                differences.append((number, follower.printed))
            stream = {
                "name": "stdout",
                "output_type": "stream",
                "text": follower.printed.splitlines(keepends=True),
            }
            cell["outputs"] = [stream] if follower.printed else []
            cell["execution_count"] = number
    if os.environ.get("MISSTEP_UPDATE_GOLDEN"):
        file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    else:
        assert not differences


def test_there_are_notebooks() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["compare", "first_bug", "safety"]
