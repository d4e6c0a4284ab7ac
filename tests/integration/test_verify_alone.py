"""`misstep verify` where neither the native core nor NumPy can be loaded: the checker is plain Python."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import misstep
from tests.integration.cli import misstep as command
from tests.unit.test_whole_records import DOMAIN, POLICY, PROBLEM

ALONE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "misstep._core" or name.split(".")[0] == "numpy":
            raise ImportError(f"{name} is hidden")

sys.meta_path.insert(0, Hidden())
from misstep.cli import main
main()
"""


def alone(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command without core and NumPy."""
    program = [sys.executable, "-c", ALONE, *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)


def verified(record: Path, *options: str) -> dict[str, Any]:
    done = alone("verify", record, "--json", *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def of_task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("task")
    for name, text in (("policy.py", POLICY), ("d.pddl", DOMAIN), ("p.pddl", PROBLEM)):
        (folder / name).write_text(text)
    report = misstep.test(
        (folder / "d.pddl", folder / "p.pddl"), f"python:{folder}/policy.py:policy", pool=5, out=folder / "r"
    )
    assert report.bugs
    return folder / "r"


@pytest.fixture(scope="module")
def of_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    assert command("safety", "generate", "two_way_line", "--out", folder / "line.jani").code == 0
    options = ("--policy", "zoo:two_way_line", "--runs", "20", "--out", folder / "r")
    assert command("safety", "test", folder / "line.jani", *options).code == 1
    return folder / "r"


def test_core_and_numpy_are_hidden(of_task: Path) -> None:
    """Or the tests below would say nothing: what needs the core fails."""
    assert alone("replay", of_task).returncode not in (0, 1)


def test_a_record_of_a_task(of_task: Path) -> None:
    with_core = json.loads(command("verify", of_task, "--json").out)
    found = verified(of_task, "--jobs", "2")
    assert found["certificates"] == found["valid"] == with_core["valid"] > 0
    assert found["problems"] == []
    (note,) = (text for text in found["notes"] if "SHA-256 of the task" in text)
    assert "not compared with the PDDL" in note and "misstep._core is hidden" in note
    (said,) = (text for text in with_core["notes"] if "SHA-256 of the task" in text)
    assert said.endswith("what the translator makes of the PDDL")


def test_a_damaged_record_of_a_task(of_task: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    subprocess.run(["cp", "-r", of_task, bad], check=True)
    first = next((bad / "bugs").iterdir())
    certificate = json.loads(first.read_text())
    first.write_text(json.dumps(certificate | {"witness": []}))
    done = alone("verify", bad)
    assert done.returncode == 1 and f"{first.stem}: " in done.stdout


def test_a_record_of_a_model(of_model: Path) -> None:
    with_core = json.loads(command("verify", of_model, "--json").out)
    assert verified(of_model) == with_core
    assert with_core["valid"] == with_core["certificates"] > 0
