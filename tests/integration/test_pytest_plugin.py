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
    return dict(re.findall(r"^\S+?::(.*?) (PASSED|FAILED|SKIPPED)", text, re.MULTILINE))


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


def test_a_policy_without_answers_fails_and_rules_about_it_are_skipped(folder: Path) -> None:
    (folder / "broken.py").write_text("def best(state):\n    raise RuntimeError('CUDA out of memory')\n")
    (folder / "misstep.toml").write_text(
        TOML.replace("zoo:courier", "python:broken.py:best") + "[misstep.fail]\nmax_bug_rate = 0.9\n"
    )
    code, text = run(folder, "--misstep", "-v")
    assert code == 1
    found = items(text)
    assert (found.pop("max_bug_rate"), list(found.values())) == ("SKIPPED", ["FAILED"])
    assert next(iter(found)).endswith(": answers of the policy")
    assert "nothing was tested: no usable answer in 15 of 15 states; the policy raised RuntimeError" in text


def test_what_was_not_tested_does_not_pass(folder: Path) -> None:
    (folder / "misstep.toml").write_text(TOML + "seconds = 0\n")
    code, text = run(folder, "--misstep", "-v", "-rs")
    assert (code, list(items(text).values())) == (0, ["SKIPPED"]), text
    assert "nothing was tested: loading: time is up" in text
    (folder / "test_policy.py").write_text(
        'def test_it(misstep_policy):\n    misstep_policy(("domain.pddl", "problem.pddl"), "zoo:courier", seconds=0)\n'
    )
    code, text = run(folder, "test_policy.py", "-v")
    assert (code, items(text)) == (1, {"test_it": "FAILED"}), text
