"""The plugin in a pytest of its own, as users have it."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.conftest import COURIER

TOML = """
domain = "domain.pddl"
problem = "problem.pddl"
policy = "zoo:courier"
pool = 15
"""
BY_HAND = """
TASK = ("domain.pddl", "problem.pddl")

def test_any_bug(misstep_policy):
    misstep_policy(TASK, "zoo:courier", pool=10)

def test_rate(misstep_policy):
    report = misstep_policy(TASK, "zoo:courier", pool=10, fail_on=["max_bug_rate=0.9"])
    assert report.tested == 10

def test_gap(misstep_policy):
    misstep_policy(TASK, "zoo:courier", pool=10, fail_on=["max_gap=1"])
"""
# In a checkout that was installed before the plugin was there, it is named.
NAMED = () if "misstep" in entry_points(group="pytest11").names else ("-p", "misstep.pytest_plugin")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in COURIER:
        shutil.copy(file, tmp_path)
    return tmp_path


def run(folder: Path, *words: str) -> tuple[int, str]:
    arguments = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", ".", *NAMED, *words]
    done = subprocess.run(
        arguments,
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def items(text: str) -> dict[str, str]:
    """What became of each item of `pytest -v`."""
    return dict(re.findall(r"^\S+?::(.*?) (PASSED|FAILED)", text, re.MULTILINE))


def test_every_family_is_an_item(folder: Path) -> None:
    (folder / "misstep.toml").write_text(TOML)
    code, text = run(folder, "--misstep", "-v")
    assert code == 1
    found = items(text)
    assert len(found) > 1 and set(found.values()) == {"FAILED"}
    assert any(name.endswith("the policy runs in a loop (drive)") for name in found)
    assert "a better way" in text and "pytest_plugin.py" not in text, "no traceback of ours"


def test_rules_are_items_and_families_pass_that_break_none(folder: Path) -> None:
    (folder / "misstep.toml").write_text(TOML + "[misstep.fail]\nmax_gap = 3\nmax_bug_rate = 0.9\n")
    code, text = run(folder, "--misstep", "-v")
    found = items(text)
    assert code == 1
    assert (found["max_gap"], found["max_bug_rate"]) == ("FAILED", "PASSED")
    dear = [result for name, result in found.items() if "pays too much" in name]
    assert dear and set(dear) == {"PASSED"}, "1 too much is allowed"


def test_known_families_pass(folder: Path) -> None:
    (folder / "misstep.toml").write_text(
        TOML + 'corpus = "known.jsonl"\n[misstep.fail]\nnew_families = true\n'
    )
    words = [sys.executable, "-m", "misstep.cli", "test", "--quiet"]
    assert subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode == 1
    before = (folder / "known.jsonl").read_bytes()
    code, text = run(folder, "--misstep", "-v")
    assert code == 0, text
    assert items(text)["new_families"] == "PASSED" and len(items(text)) > 2
    assert (folder / "known.jsonl").read_bytes() == before


def test_nothing_happens_without_the_option(folder: Path) -> None:
    (folder / "misstep.toml").write_text("policy = 3")
    assert run(folder)[0] == 5


def test_a_file_that_makes_no_sense(folder: Path) -> None:
    (folder / "misstep.toml").write_text("polcy = 'zoo:courier'")
    code, text = run(folder, "--misstep")
    assert code == 2 and "unknown option `polcy`; did you mean `policy`" in text


def test_the_fixture(folder: Path) -> None:
    (folder / "test_policy.py").write_text(BY_HAND)
    code, text = run(folder, "-v")
    assert code == 1
    assert items(text) == {"test_any_bug": "FAILED", "test_rate": "PASSED", "test_gap": "FAILED"}
    assert "max_gap: in 2 states the policy pays more than 1 too much" in text
