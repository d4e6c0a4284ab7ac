"""Undo proofs against the definition on one task: many states, every action."""

from __future__ import annotations

from misstep import _core as core
from misstep.reference import fdr
from tests.property.cases import Case


def _needed(task: fdr.Task) -> set[tuple[int, int]]:
    """The facts that a precondition or the goal asks for."""
    return {fact for facts in (task.goal, *(a.precondition for a in task.actions)) for fact in facts.items()}


def _at_least_as_good(better: fdr.State, state: fdr.State, needed: set[tuple[int, int]]) -> bool:
    return all(b == s or (v, s) not in needed for v, (b, s) in enumerate(zip(better, state, strict=True)))


def _steps(case: Case, states: list[fdr.State]) -> list[tuple[fdr.State, int]]:
    """The applicable actions of each state, by number."""
    actions = case.reference.actions
    return [(s, i) for s in states for i, action in enumerate(actions) if action.applicable(s)]


def _reachable(case: Case) -> list[fdr.State]:
    states = list(case.depths)
    return case.rng.sample(states, min(6, len(states)))


def _others(case: Case) -> list[fdr.State]:
    """States that mostly no walk leads to."""
    sizes = [len(values) for values in case.reference.facts]
    return [tuple(case.rng.randrange(size) for size in sizes) for _ in range(2)]


def inverses_restore_states(case: Case) -> None:
    proofs = core.UndoProofs(case.native)
    actions = case.reference.actions
    for before, number in _steps(case, _reachable(case)):
        inverse = proofs.inverse(case.native.actions[number])
        if inverse is not None:
            assert actions[inverse.index].apply(actions[number].apply(before)) == before
    for before, number in _steps(case, case.sample[:3] + _others(case)):
        inverse = proofs.inverse(case.native.actions[number], case.state(before))
        after = actions[number].apply(before)
        back = [a.cost for a in actions if a.applicable(after) and a.apply(after) == before]
        if inverse is None:
            assert not back
        else:
            assert actions[inverse.index].apply(after) == before
            assert after == before or inverse.cost == min(back)


def inverses_of_all_states_are_found(case: Case) -> None:
    """Where an action restores even all unreachable states; these differ in all that is not asked for."""
    task = case.reference
    sizes = [len(values) for values in task.facts]
    proofs = core.UndoProofs(case.native)
    for number, action in enumerate(task.actions):
        samples = [
            tuple(action.precondition.get(v, k % size) for v, size in enumerate(sizes)) for k in range(4)
        ]
        works = [
            a.cost
            for a in task.actions
            if all(a.applicable(action.apply(s)) and a.apply(action.apply(s)) == s for s in samples)
        ]
        if works and case.native.h2().actions[number]:
            found = proofs.inverse(case.native.actions[number])
            assert found is not None
            assert found.cost <= min(works) or all(action.apply(s) == s for s in samples)


def undo_plans_lead_to_states_as_good_as_before(case: Case) -> None:
    proofs = core.UndoProofs(case.native)
    needed = _needed(case.reference)
    unproven = {action.index for action in proofs.unproven}
    assert proofs.all_undoable == (not unproven)
    for before, number in _steps(case, _reachable(case) + _others(case)):
        plan = proofs.undo_plan(case.native.actions[number], case.state(before))
        if plan is None:
            assert number in unproven or before not in case.depths
            continue
        after = case.reference.actions[number].apply(before)
        # The plan works from states that are at least as good as that after the action, too.
        better = tuple(
            value if (v, value) in needed else case.rng.randrange(len(case.reference.facts[v]))
            for v, value in enumerate(after)
        )
        for state in (after, better):
            for step in plan:
                state = case.reference.actions[step.index].apply(state)
            assert _at_least_as_good(state, before, needed)


def states_as_good_cost_no_more(case: Case) -> None:
    """What the relation is for."""
    needed = _needed(case.reference)
    states = _reachable(case)
    for one in states:
        for other in states:
            if _at_least_as_good(one, other, needed):
                assert case.exact[one] <= case.exact[other]


def where_all_can_be_undone_all_states_are_solvable(case: Case) -> None:
    solvable = case.exact[case.reference.initial] < float("inf")
    if solvable and core.UndoProofs(case.native).all_undoable:
        assert max(case.exact.values()) < float("inf")


CHECKS = (
    inverses_restore_states,
    inverses_of_all_states_are_found,
    undo_plans_lead_to_states_as_good_as_before,
    states_as_good_cost_no_more,
    where_all_can_be_undone_all_states_are_solvable,
)
