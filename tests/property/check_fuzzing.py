"""Fuzzing and biases against the plain versions, and the propositions of the biases paper."""

from __future__ import annotations

import math
import random

from misstep import _core as core
from misstep.reference import fdr
from misstep.testing import exhaustive
from tests.property import plain_fuzzer
from tests.property.cases import FUZZING, Case, case_of
from tests.property.check_policy_graph import FailingPolicy, RandomPolicy

BIASES = ("plan-length", "loopiness", "detour", "surface")


def values(states: list[core.State]) -> list[fdr.State]:
    return [tuple(state.values) for state in states]


def unfailed_runs(case: Case, policy: RandomPolicy, *, max_steps: int) -> list[core.Run]:
    graph = core.PolicyGraph(case.native, policy, recheck=False)
    runs = graph.run(case.batch(case.sample), max_steps=max_steps)
    return [run for run in runs if run.steps > 0 and run.outcome in ("solved", "cut-off")]


def check_bias_values(case: Case) -> None:
    """Native values equal the definitions; those with h* are the short forms of Propositions 2 and 4."""
    ff = case.heuristic("ff")
    exact, star = case.exact, plain_fuzzer.star_distance(case)

    def ff_between(source: fdr.State, target: fdr.State) -> float:
        return ff.to(case.state(source), case.state(target))

    for run in unfailed_runs(case, RandomPolicy(case), max_steps=7):
        states, costs = values(run.states), [action.cost for action in run.actions]
        for name in BIASES:
            for distance, between, to_goal in (
                ("ff", ff_between, lambda s: ff(case.state(s))),
                ("star", star, exact.__getitem__),
            ):
                expected = plain_fuzzer.bias(name, states, costs, between, to_goal)
                assert core.bias_value(run, bias=name, distance=distance) == expected, (name, distance)


def check_propositions(case: Case) -> None:
    """Propositions 3, 5 and 6, against exhaustive search."""
    exact = case.exact
    for run in unfailed_runs(case, RandomPolicy(case), max_steps=12):
        start, last = tuple(run.states[0].values), tuple(run.states[-1].values)
        surface_ff = core.bias_value(run, bias="surface", distance="ff")
        if surface_ff == math.inf:  # Proposition 6: only where the run meets a dead end
            assert any(exact[state] == math.inf for state in values(run.states))
        if exact[start] == math.inf:
            continue
        policy_cost = run.spent if run.outcome == "solved" else None
        for name in ("detour", "surface"):
            value = core.bias_value(run, bias=name, distance="star")
            if value > 0 and policy_cost is not None:
                assert policy_cost > exact[start], f"{name}: not a bug"
            if policy_cost is not None and policy_cost > exact[start]:
                assert name == "detour" or value > 0
                if name == "surface":  # Proposition 5: the exact gap
                    assert exact[start] == policy_cost - value
                elif value > 0:  # Proposition 3: a plan of this cost exists
                    assert exact[start] <= policy_cost - value
        assert run.outcome != "solved" or exact[last] == 0


def invertible(task: fdr.Task) -> fdr.Task:
    """The task with preconditions on all that is written, and an inverse of each action at the same cost."""
    actions = []
    for number, action in enumerate(task.actions):
        pre = {**{v: task.initial[v] for v in action.effect}, **action.precondition}
        back = {**pre, **action.effect}
        undo = {v: pre[v] for v in action.effect}
        actions.append(fdr.Action(action.name, pre, action.effect, action.cost))
        actions.append(fdr.Action(f"(undo {number})", back, undo, action.cost))
    return fdr.Task(task.facts, task.initial, task.goal, tuple(actions))


def check_proposition_1(case: Case) -> None:
    """In invertible tasks loopiness with h* needs no maximum."""
    other = case_of(invertible(case.reference), seed=case.seed)
    star = plain_fuzzer.star_distance(other)
    for run in unfailed_runs(other, RandomPolicy(other), max_steps=7):
        first, last = tuple(run.states[0].values), tuple(run.states[-1].values)
        assert core.bias_value(run, bias="loopiness", distance="star") == run.spent - star(last, first)


def check_pools(case: Case) -> None:
    """The native pool is the plain algorithm's, state by state, and does not depend on slices."""
    if case.seed % 5 and not FUZZING:
        return  # the plain fuzzer is slow
    rng = random.Random(f"pools {case.seed}")
    name = rng.choice(("none", *BIASES))
    options = {"state_budget": rng.choice((1, 3, 50)), "expansion_budget": rng.choice((1, 4, 10, 200))}
    policy = rng.choice((RandomPolicy, FailingPolicy))(case)
    ff = case.heuristic("ff")

    def value(states: list[fdr.State], costs: list[int]) -> float:
        def between(source: fdr.State, target: fdr.State) -> float:
            return ff.to(case.state(source), case.state(target))

        return plain_fuzzer.bias(name, states, costs, between, lambda s: ff(case.state(s)))

    def native() -> core.NativeFuzzer:
        graph = core.PolicyGraph(case.native, policy)
        return core.NativeFuzzer(
            graph,
            kind="refined",
            bias=name,
            distance="ff",
            max_walk=3,
            max_steps=100,
            novelty=0,
            max_star_expansions=1000,
            max_idle_walks=30,
            seed=case.seed,
            **options,
        )

    fuzzer = native()
    fuzzer.extend(8)
    expected = plain_fuzzer.fuzz(
        case,
        policy,
        None if name == "none" else value,
        seed=case.seed,
        size=len(fuzzer),
        walk=3,
        max_walks=fuzzer.walks,
        **options,
    )
    assert [tuple(fuzzer.entry(i)[0].values) for i in range(len(fuzzer))] == expected
    sliced = native()
    for size in range(2, len(fuzzer) + 1):
        sliced.extend(size)
    assert [sliced.entry(i) for i in range(len(sliced))] == [fuzzer.entry(i) for i in range(len(fuzzer))]
    for index in range(1, len(fuzzer)):
        state, parent, walk, _ = fuzzer.entry(index)
        assert parent is not None and parent < index
        at = fuzzer.entry(parent)[0]
        for action in walk:
            at = case.native.apply(at, action)
        assert at == state


def check_hmax_of_pool(case: Case) -> None:
    """No pool state but the first is a goal or a dead end by h^max."""
    graph = core.PolicyGraph(case.native, RandomPolicy(case))
    fuzzer = core.NativeFuzzer(
        graph,
        kind="refined",
        bias="none",
        distance="ff",
        max_walk=4,
        state_budget=5,
        expansion_budget=5,
        max_steps=5,
        novelty=0,
        max_star_expansions=1,
        max_idle_walks=30,
        seed=case.seed,
    )
    fuzzer.extend(20)
    for index in range(1, len(fuzzer)):
        state = tuple(fuzzer.entry(index)[0].values)
        assert not case.reference.is_goal(state)
        assert exhaustive.hmax(case.reference, state) < math.inf


CHECKS = (check_bias_values, check_propositions, check_proposition_1, check_pools, check_hmax_of_pool)
