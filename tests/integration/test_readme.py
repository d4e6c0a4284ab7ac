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


def test_demo_output_is_the_real_one(tmp_path):
    shown = re.search(r"```text\n(task +courier.*?)```", README, re.DOTALL)
    assert shown is not None, "the README does not show what `misstep demo` prints"
    out = tmp_path / "demo"
    ended = misstep("demo", "--out", out)
    assert ended.out.replace(str(out), "runs/demo-001") == shown.group(1)


def test_examples_run():
    for path in sorted((ROOT / "examples").glob("*.py")):
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_the_architecture_page_is_short():
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 60
