"""SAS files: Fast Downward's text format for finite-domain tasks. The native core parses the text."""

import re
from collections.abc import Mapping
from pathlib import Path

from misstep.formats.sexp import Source

_GOAL = re.compile(r"^begin_goal\n.*?^end_goal\n", re.DOTALL | re.MULTILINE)


def read_sas(path: str | Path) -> Source:
    """The text of a SAS file, with the line ends of this platform's tools made plain."""
    source = Source.read(path, kind="SAS")
    return Source(source.text.replace("\r\n", "\n"), source.name)


def with_unit_cost(sas_text: str) -> str:
    """The same task without a metric, so that every action costs 1."""
    lines = sas_text.split("\n")
    words = [line.strip() for line in lines]
    if "begin_metric" in words[:-1]:
        lines[words.index("begin_metric") + 1] = "0"
    return "\n".join(lines)


def with_goal(sas_text: str, goal: Mapping[int, int]) -> str:
    """The same task with another goal: a value for some variables, or for all."""
    pairs = "".join(f"{variable} {value}\n" for variable, value in goal.items())
    return _GOAL.sub(f"begin_goal\n{len(goal)}\n{pairs}end_goal\n", sas_text, count=1)
