"""Shrunk bugs after every oracle: certificates of their own, about their own states, that the checker accepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import misstep
from misstep.plugins import list_parts
from misstep.record.replay import open_replay
from misstep.record.shrunk import shrink_bug
from misstep.record.verify import verify_all
from tests.conftest import COURIER

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"
FILES = (FERRY / "domain.pddl", FERRY / "p02.pddl")


@pytest.fixture(scope="module")
def task() -> misstep.Task:
    return misstep.load(*FILES)


@pytest.mark.parametrize("oracle", [*(part.name for part in list_parts("oracle")), "planner:gbfs"])
def test_after_every_oracle(oracle: str, task: misstep.Task, tmp_path: Path) -> None:
    """Some only clear states; they have another beside them that finds bugs."""
    out = tmp_path / "alone"
    report = misstep.test(FILES, "heuristic:hadd", pool=8, oracle=oracle, out=out)
    if not report.bugs:
        out = tmp_path / "together"
        report = misstep.test(FILES, "heuristic:hadd", pool=8, oracle=f"{oracle}+greedy", out=out)
    bugs = {report.bugs[0].id, report.bugs[-1].id}
    for bug in bugs:
        shrunk = shrink_bug(open_replay(out), str(bug))
        written = json.loads((out / "bugs" / f"{shrunk.name}.json").read_text())
        assert (written["id"], written["pool"]) == (f"{bug}-shrunk", None)
        state = task.initial_state
        for name in written["walk_from_initial_state"]:
            state = task.apply(state, task.action(name))
        assert sorted(written["state"]) == sorted(state.facts)
        assert shrunk.after["run"] <= shrunk.before["run"]
    found = verify_all(out)
    assert found.is_sound, found
    assert found.valid == len(report.bugs) + report.cleared + len(bugs)


def test_nothing_gets_longer(tmp_path: Path) -> None:
    """A state farther down the run was taken although 9 actions lead to it, and 6 to the original state."""
    out = tmp_path / "record"
    report = misstep.test(COURIER, "zoo:courier", pool=40, out=out)
    again = open_replay(out)
    went_back = 0
    for bug in report.bugs:
        shrunk = shrink_bug(again, str(bug.id))
        before, after = shrunk.before, shrunk.after
        assert before["run"] is not None and after["run"] is not None and after["run"] <= before["run"]
        assert before["walk"] is not None and after["walk"] is not None and after["walk"] <= before["walk"]
        assert len(shrunk.certificate["walk_from_initial_state"]) == after["walk"]
        assert len(shrunk.certificate["run"]["actions"]) == after["run"]
        is_smaller = (after["run"], after["walk"]) != (before["run"], before["walk"])
        assert is_smaller != shrunk.said.startswith("nothing smaller was found")
        went_back += "the walk to it is longer" in shrunk.said
    assert went_back >= 1
    assert verify_all(out).is_sound
