"""The README shows what really happens."""

import re
import subprocess
import sys
from pathlib import Path

from tests.integration.cli import misstep

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_python_example_runs():
    fuzzing = (ROOT / "docs" / "fuzzing.md").read_text()
    code = "\n".join(
        re.findall(r"```python\n(.*?)```", README + fuzzing, re.DOTALL)
    )  # one goes on after another
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "solved 21" in done.stdout
    assert "\n99 " in done.stdout  # the last pool entry


def test_demo_output_is_the_real_one():
    shown = re.search(r"```text\n(courier.*?)```", README, re.DOTALL)
    assert shown is not None
    lines = shown.group(1).splitlines()
    ended = misstep("demo")
    assert ended.out.splitlines() == lines[1:-1]
    first, last = ended.err.splitlines()
    assert first == lines[0]
    assert last.split("(")[0] == lines[-1].split("(")[0]


def test_examples_run():
    for path in sorted((ROOT / "examples").glob("*.py")):
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_the_architecture_page_is_short():
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 60
