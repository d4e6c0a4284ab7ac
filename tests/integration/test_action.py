"""The GitHub Action: its shell lines do what a runner would make them do, and take no input for a command."""

import os
import re
import subprocess
import textwrap
from pathlib import Path

import pytest

ACTION = Path(__file__).parents[2] / "action.yml"
NOTES = """#!/bin/bash
printf '%s\\n' "$@" > said.txt
exit ${CODE:-0}
"""


def shell_lines() -> str:
    """The lines of the step that tests."""
    (found,) = re.findall(r"run: \|\n((?: {8}.*\n)+)", ACTION.read_text())
    return textwrap.dedent(found)


def run(folder: Path, arguments: str, *, code: int = 0) -> tuple[int, list[str]]:
    """What `misstep` is called with, and how the step ends."""
    program = folder / "misstep"
    program.write_text(NOTES)
    program.chmod(0o755)
    told = {"ARGUMENTS": arguments, "OUT": "kept here", "CODE": str(code)}
    ended = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", shell_lines()],  # as GitHub's runners do
        cwd=folder,
        env={"PATH": f"{folder}:{os.environ['PATH']}", **told},
        check=False,
        timeout=60,
    )
    return ended.returncode, (folder / "said.txt").read_text().splitlines()


OUT = ["--out", "kept here", "--junit", "kept here.xml"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", []),
        (
            "domain.pddl problems --policy asnet:a.policy",
            ["domain.pddl", "problems", "--policy", "asnet:a.policy"],
        ),
        (
            "domain.pddl problems\n  --policy zoo:courier\n",
            ["domain.pddl", "problems", "--policy", "zoo:courier"],
        ),
        ("$(touch broken) ; `touch broken` \\", ["$(touch", "broken)", ";", "`touch", "broken`", "\\"]),
    ],
)
def test_all_arguments_arrive(tmp_path: Path, arguments: str, words: list[str]) -> None:
    assert run(tmp_path, arguments) == (0, ["test", *words, *OUT])
    assert not (tmp_path / "broken").exists()


@pytest.mark.parametrize("code", [1, 4])
def test_it_fails_where_the_test_does(tmp_path: Path, code: int) -> None:
    assert run(tmp_path, "domain.pddl", code=code)[0] == code


def test_inputs_are_never_written_into_commands() -> None:
    commands = re.findall(r"run: (?!\|)(.*)", ACTION.read_text())
    assert commands and not any("${{" in text for text in [*commands, shell_lines()])
