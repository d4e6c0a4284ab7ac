"""Bugs in two columns: loops, wrong answers, and the mark at the decision at fault."""

from importlib.resources import files

import pytest

from misstep import load, search
from misstep.reports.show import side_by_side


@pytest.fixture(scope="module")
def task():
    folder = files("misstep") / "bundled" / "courier"
    return load(folder / "domain.pddl", folder / "problem.pddl")


def certificate(task, outcome, actions, *, fault):
    return {
        "state": task.initial_state.facts,
        "run": {"outcome": outcome, "actions": actions},
        "witness": [action.name for action in search(task, "astar:lmcut").plan],
        "fault": None if fault is None else {"step": fault},
    }


def test_a_loop_says_where_it_begins(task):
    away, back = "(drive red depot mill)", "(drive red mill depot)"
    lines = side_by_side(task, certificate(task, "loop", ["(load book red depot)", away, back], fault=1))
    assert [words.strip() for words in lines[0].split("|")] == ["the policy", "a better way"]
    assert lines[1].startswith("  (load book red depot)    1")
    assert lines[2].startswith("> (drive red depot mill)   4")
    assert lines[4].startswith("  and so on from step 2, for ever  |  ")
    assert lines[-1].endswith("  |  goal reached at cost 21")
    assert len({line.index("|") for line in lines}) == 1


def test_no_answer_at_all(task):
    lines = side_by_side(task, certificate(task, "stuck", [], fault=0))
    assert lines[1].startswith("> the policy gives no action  |  (")


def test_a_run_that_is_longer_than_the_plan(task):
    names = [action.name for action in search(task, "gbfs:blind").plan]
    lines = side_by_side(task, certificate(task, "solved", names * 2, fault=None))
    assert len(lines) == 2 + 2 * len(names)
    assert lines[-1].startswith("  goal reached at cost ")
    assert ">" not in "".join(lines)
