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
