"""The README shows what really happens."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli import misstep

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_every_command_shows_what_the_page_says_and_the_code_runs(tmp_path: Path) -> None:
    for line, shown in commands(README):
        ended = misstep(*shlex.split(line)[1:], cwd=tmp_path, timeout=300)
        assert ended.code in (0, 1), f"{line}: {ended.err}"
        # `...` in the page stands for anything.
        pattern = re.escape(shown.strip()).replace(re.escape("..."), ".*")
        assert re.fullmatch(pattern, ended.out.strip(), re.DOTALL), f"{line}\n{ended.out}"
    code = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))  # one goes on after another
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "solved 21" in done.stdout


def commands(page: str) -> list[tuple[str, str]]:
    """The commands of a page, each with what it prints."""
    parts = [
        part.partition("\n")
        for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL)
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    return [(line, shown) for line, _, shown in parts]


def test_it_starts_with_pip_and_a_bug() -> None:
    start = README.split("## Python")[0]
    assert [line.split()[:2] for line, _ in commands(start)] == [["misstep", "demo"], ["misstep", "show"]]
    assert start.index("pip install misstep") < start.index("$ misstep demo")
    assert "Misstep: step 3, " in start


def test_documentation_imports_nothing_private() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        assert "misstep._core" not in page.read_text(), page


def test_the_first_example_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "first_steps.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "solved: cost 21" in done.stdout


def test_the_example_with_stable_baselines_runs(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib", reason="the extra 'rl' (Stable-Baselines3) is not installed")
    example = [sys.executable, str(ROOT / "examples" / "stable_baselines.py"), "--steps", "1024"]
    done = subprocess.run(example, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1020 steps: solves" in done.stdout and "<Report: 100 states tested, " in done.stdout


def test_the_architecture_page_is_short() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 60
