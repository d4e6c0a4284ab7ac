"""Graphs that work ahead of another one: what they ask is not asked again, and nothing else changes."""

from pathlib import Path

import pytest

import misstep
from misstep._core import PolicyGraph
from misstep.errors import InputError
from misstep.fuzz import Fuzz
from misstep.plugins import make_part, make_policy_part

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"


@pytest.fixture(scope="module")
def task() -> misstep.Task:
    return misstep.load(FERRY / "domain.pddl", FERRY / "p03.pddl", unit_cost=True)


def graph_of(task: misstep.Task, policy: str) -> PolicyGraph:
    return PolicyGraph(task, make_policy_part(policy).bind(task), recheck=False)


@pytest.mark.parametrize("policy", ["zoo:ferry", "heuristic:hadd"])
def test_what_was_asked_ahead_counts_but_is_not_asked_again(task: misstep.Task, policy: str) -> None:
    alone, graph = graph_of(task, policy), graph_of(task, policy)
    ahead = graph.ahead()
    assert ahead is not None
    start = task.initial_state
    expected = alone.lookahead(start)
    assert expected[2] > 0
    assert ahead.lookahead(start) == expected
    assert graph.lookahead(start) == expected
    assert (graph.states_asked, graph.policy_calls) == (alone.states_asked, 0)
    ahead.forget()
    # Now it has been asked: it does not count any more for the one that works ahead.
    assert ahead.lookahead(start)[2] == 0


def test_runs_are_the_same(task: misstep.Task) -> None:
    graph = graph_of(task, "zoo:ferry")
    ahead = graph.ahead()
    assert ahead is not None
    starts = task.batch([task.initial_state, *(task.apply(task.initial_state, action) for action in
                                               task.applicable(task.initial_state))])  # fmt: skip
    made = [(run.outcome, run.states, run.actions) for run in ahead.run(starts)]
    assert made == [(run.outcome, run.states, run.actions) for run in graph.run(starts)]
    assert graph.policy_calls == 0


def test_when_nobody_works_ahead_any_more(task: misstep.Task) -> None:
    graph = graph_of(task, "zoo:ferry")
    ahead = graph.ahead()
    assert ahead is not None
    expected = ahead.lookahead(task.initial_state)
    graph.end_ahead()
    assert graph.lookahead(task.initial_state) == expected
    assert graph.policy_calls > 0
    ahead.forget()
    assert ahead.lookahead(task.initial_state) == expected


def test_a_policy_of_somebody_else_has_no_copy(task: misstep.Task) -> None:
    assert PolicyGraph(task, lambda states: [None] * len(states)).ahead() is None


def test_what_was_forgotten_cannot_be_read(task: misstep.Task) -> None:
    graph = graph_of(task, "zoo:ferry")
    ahead = graph.ahead()
    assert ahead is not None
    (run,) = ahead.run(task.batch([task.initial_state]))
    assert run.states
    ahead.forget()
    with pytest.raises(InputError, match="forgotten"):
        _ = run.states
    with pytest.raises(InputError, match="forgotten"):
        _ = run.actions
    with pytest.raises(InputError, match="only a graph made by `ahead`"):
        graph.forget()
    with pytest.raises(InputError, match="works ahead"):
        list(Fuzz(ahead, make_part("fuzzer", "refined"), make_part("bias", "none"), size=2))
