"""The guides are followed step by step: every block of every guide runs, and shows what the page says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli import command

DOCS = Path(__file__).parents[2] / "docs"
# Each with its blocks in Python and for the console, at least.
GUIDES = {
    "write-an-oracle.md": (4, 1),
    "statistics.md": (2, 0),
    "ci.md": (1, 3),
    "report.md": (1, 1),
    "campaigns.md": (0, 4),
    "live.md": (1, 1),
}
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# (\w+\.\w+)\n")


class Follower:
    """Somebody who follows a guide in a directory of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.script = ""
        self.done: list[str] = []

    def run(self, arguments: list[str]) -> str:
        path = os.pathsep.join([str(self.site), str(self.folder)])
        ended = subprocess.run(
            arguments,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | {"PYTHONPATH": path, "COLUMNS": "80"},
            check=False,
        )
        assert ended.returncode in (0, 1), ended.stderr  # 1: bugs were found
        assert "Traceback" not in ended.stderr, ended.stderr
        return ended.stdout

    def follow(self, language: str, text: str) -> None:
        if file := _FILE.match(text):
            (self.folder / file[1]).write_text(text)
        elif language == "python":  # one block goes on after the other
            self.script += text
            self.run([sys.executable, "-c", self.script])
        elif language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                line, _, shown = part.partition("\n")
                self.type(line, shown)
        else:
            raise AssertionError(f"nobody follows blocks in {language}")
        self.done.append(language)

    def type(self, line: str, shown: str) -> None:
        name, *arguments = shlex.split(line)
        if name == "pip":
            options = [
                "--quiet",
                "--no-deps",
                "--no-build-isolation",
                "--no-index",
                "--target",
                str(self.site),
            ]
            self.run([sys.executable, "-m", "pip", *arguments, *options])
            return
        assert name == "misstep"
        out = self.run([*command(), *arguments])
        pattern = re.escape(shown.strip()).replace(re.escape("..."), ".*")
        assert re.fullmatch(pattern, out.strip(), re.DOTALL), out


@pytest.mark.parametrize("name", GUIDES)
def test_the_guide_can_be_followed(name: str, courier: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="pip needs setuptools to install the guide's package offline")
    for source, target in zip(courier, ("domain.pddl", "problem.pddl"), strict=True):
        shutil.copy(source, tmp_path / target)
    follower = Follower(tmp_path)
    for language, text in _BLOCK.findall((DOCS / name).read_text()):
        follower.follow(language, text)
    python, console = GUIDES[name]
    assert follower.done.count("python") >= python and follower.done.count("console") >= console
