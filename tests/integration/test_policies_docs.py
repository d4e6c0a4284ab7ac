"""Every example of docs/policies-other.md runs and shows what the page says."""

import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.integration.cli import command

PAGE = (Path(__file__).parents[2] / "docs" / "policies-other.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def runnable(text: str) -> bool:
    needed = re.search(r"# needs (\w+)", text)
    return needed is None or find_spec(needed[1]) is not None


def run(arguments: list[str], folder: Path) -> str:
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_console(text: str, folder: Path) -> int:
    ran = 0
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        if not runnable(line):
            continue
        name, *arguments = shlex.split(line, comments=True)
        assert name == "misstep"
        out = run([*command(), *arguments], folder)
        # `...` in the page stands for anything.
        pattern = re.escape(shown.strip()).replace(re.escape("..."), ".*")
        assert re.fullmatch(pattern, out.strip()), out
        ran += 1
    return ran


def test_the_examples_run(courier: tuple[Path, Path], tmp_path: Path) -> None:
    for source, name in zip(courier, ("domain.pddl", "problem.pddl"), strict=True):
        shutil.copy(source, tmp_path / name)
    ran = {"python": 0, "files": 0, "console": 0}
    for language, text in BLOCKS:
        if language == "console":
            ran["console"] += check_console(text, tmp_path)
        elif language == "python" and (file := re.match(r"# (\w+\.py)\n", text)):
            (tmp_path / file[1]).write_text(text)
            ran["files"] += 1
        elif language == "python" and runnable(text):
            run([sys.executable, "-c", text], tmp_path)
            ran["python"] += 1
    assert ran["python"] >= 4
    assert ran["files"] == 3
    assert ran["console"] >= 4


def test_every_policy_of_the_table_exists() -> None:
    from misstep.plugins import list_parts

    names = re.findall(r"^\| `(\w+):", PAGE, re.MULTILINE)
    assert {"python", "table", "torch", "onnx", "remote", "heuristic", "linear", "zoo"} == set(names)
    assert set(names) <= {part.name for part in list_parts("policy")}
