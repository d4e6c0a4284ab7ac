"""Runs of random policies against a plain simulation of them."""

from __future__ import annotations

import random

from misstep import _core as core
from misstep.answers.answer import bad_answer
from misstep.reference import fdr
from misstep.testing import exhaustive
from tests.property.cases import Case


class RandomPolicy:
    """A fixed random answer for every state: mostly an applicable action, sometimes none or nonsense."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.calls = 0
        self.asked: list[fdr.State] = []

    def answer(self, values: fdr.State) -> int | None:
        """The number of an action, None for no answer; numbers may be those of inapplicable actions."""
        rng = random.Random(f"policy {self.case.seed} {values}")
        task = self.case.reference
        kind = rng.random()
        if kind < 0.03 or not task.actions:
            return None
        if kind < 0.06:
            return rng.randrange(len(task.actions))
        applicable = [i for i, a in enumerate(task.actions) if fdr.holds(a.precondition, values)]
        return rng.choice(applicable) if applicable else None

    def __call__(self, states: core.StateBatch) -> list[core.Action | None]:
        self.calls += 1
        answers: list[core.Action | None] = []
        for state in states:
            values = tuple(state.values)
            self.asked.append(values)
            number = self.answer(values)
            answers.append(None if number is None else self.case.native.actions[number])
        return answers


class FailingPolicy(RandomPolicy):
    """A random policy that gives no decision in some states; `answer` is what it would decide there."""

    def fails(self, values: fdr.State) -> bool:
        return random.Random(f"failures {self.case.seed} {values}").random() < 0.2

    def __call__(self, states: core.StateBatch) -> list[core.Action | None]:
        answers = super().__call__(states)
        return [
            bad_answer("out of memory") if self.fails(tuple(state.values)) else answer
            for state, answer in zip(states, answers, strict=True)
        ]


def simulate(case: Case, policy: RandomPolicy, start: fdr.State, max_steps: int) -> tuple[str, int, int]:
    """Outcome, steps and cost as a run is defined."""
    task = case.reference
    state, cost, seen = start, 0, {start}
    for step in range(max_steps + 1):
        if task.is_goal(state):
            return "solved", step, cost
        if exhaustive.hmax(task, state) == float("inf"):
            return "dead-end", step, cost
        if step == max_steps:
            return "cut-off", step, cost
        if isinstance(policy, FailingPolicy) and policy.fails(state):
            return "failed", step, cost
        number = policy.answer(state)
        if number is None:
            return "stuck", step, cost
        action = task.actions[number]
        if not fdr.holds(action.precondition, state):
            return "illegal", step, cost
        state, cost = action.apply(state), cost + action.cost
        if state in seen:
            return "loop", step + 1, cost
        seen.add(state)
    raise AssertionError("unreachable")


def check_runs(case: Case) -> None:
    """All runs together, with different limits in a row on one graph, equal one by one without any memory."""
    for policy in (RandomPolicy(case), FailingPolicy(case)):
        check_runs_of(case, policy)


def check_runs_of(case: Case, policy: RandomPolicy) -> None:
    graph = core.PolicyGraph(case.native, policy, recheck=False)
    rng = random.Random(case.seed)
    for _ in range(3):
        starts = [rng.choice(case.sample) for _ in range(6)]
        max_steps = rng.choice((1, 2, 3, 5, 8, 50))
        for start, run in zip(starts, graph.run(case.batch(starts), max_steps=max_steps), strict=True):
            assert (run.outcome, run.steps, run.spent) == simulate(case, policy, start, max_steps)
            check_trace(case, run, start)
    assert len(set(policy.asked)) == len(policy.asked), "a state was asked twice"


def check_trace(case: Case, run: core.Run, start: fdr.State) -> None:
    """The states follow from the actions."""
    state = start
    states, actions = run.states, run.actions
    assert len(states) == len(actions) + 1 == run.steps + 1
    assert tuple(states[0].values) == start
    for action, after in zip(actions, states[1:], strict=True):
        state = case.reference.actions[action.index].apply(state)
        assert tuple(after.values) == state
    if run.outcome == "loop":
        assert states[-1] in states[:-1]


CHECKS = (check_runs,)
