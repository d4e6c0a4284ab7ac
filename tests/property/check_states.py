"""States, successors, registries, reachability: native against reference on one task."""

from __future__ import annotations

import itertools

import numpy as np

from misstep import _core as core
from misstep.reference import fdr
from misstep.testing import exhaustive
from misstep.testing.random_tasks import to_sas
from tests.property.cases import Case


def successors_are_the_reference_ones(case: Case) -> None:
    for values in case.sample:
        state = case.state(values)
        found = [(a.index, tuple(s.values)) for a, s in case.native.successors(state)]
        expected = [
            (i, a.apply(values)) for i, a in enumerate(case.reference.actions) if a.applicable(values)
        ]
        assert found == expected
        assert [a.index for a in case.native.applicable(state)] == [i for i, _ in expected]
        for action, successor in expected:
            assert tuple(case.native.apply(state, case.native.actions[action]).values) == successor
        assert case.native.is_goal(state) == case.reference.is_goal(values)


def actions_are_the_reference_ones(case: Case) -> None:
    assert len(case.native.actions) == len(case.reference.actions)
    for action, expected in zip(case.native.actions, case.reference.actions, strict=True):
        assert (action.name, action.cost) == (expected.name, expected.cost)
        assert dict(action.precondition) == expected.precondition
        guaranteed = expected.precondition.items()
        assert dict(action.effect).items() == expected.effect.items() - guaranteed


def states_round_trip(case: Case) -> None:
    for values in case.sample:
        state = case.state(values)
        assert tuple(state.values) == values
        assert set(state.facts) == exhaustive.atoms(case.reference, values)
        assert case.native.state(state.facts) == state
    batch = case.batch(case.sample)
    assert [tuple(row) for row in batch.values.tolist()] == case.sample
    assert [tuple(state.values) for state in batch] == case.sample
    for a, b in itertools.product(case.sample, repeat=2):
        same = case.state(a) == case.state(b)
        assert same == (a == b)
        assert not same or hash(case.state(a)) == hash(case.state(b))


def registry_numbers_distinct_states(case: Case) -> None:
    states = list(case.depths)[:200]
    inserted = [*states, *case.sample, *states[::-1]]
    expected = [states.index(s) if s in states else None for s in inserted]
    fresh = itertools.count(len(states))
    known: dict[fdr.State, int] = {}
    for position, values in enumerate(inserted):
        if expected[position] is None:
            if values not in known:
                known[values] = next(fresh)
            expected[position] = known[values]
    registry = core.StateRegistry(case.native)
    assert registry.find(case.state(inserted[0])) is None
    assert [registry.insert(case.state(s)) for s in inserted] == expected
    together = core.StateRegistry(case.native)
    assert together.insert_batch(case.batch(inserted)).tolist() == expected
    assert len(registry) == len(together) == len(set(inserted))
    for number, values in zip(expected, inserted, strict=True):
        assert number is not None
        assert tuple(registry.state(number).values) == values
        assert registry.find(case.state(values)) == number
    ids = [e for e in expected if e is not None]
    assert np.array_equal(together.batch(ids).values, np.array(inserted, dtype=np.int32))


def states_are_counted_by_depth(case: Case) -> None:
    for depth in (0, 1, 3):
        expected = exhaustive.count_states(case.reference, case.reference.initial, depth)
        assert core.count_states(case.native, depth) == expected
    for values in case.sample[1:3]:
        expected = exhaustive.count_states(case.reference, values, 2)
        assert core.count_states(case.native, 2, state=case.state(values)) == expected
    assert sum(core.count_states(case.native, 100_000)) == len(case.depths)


def h2_is_the_naive_fixed_point(case: Case) -> None:
    naive = exhaustive.h2(case.reference)
    found = case.native.h2()
    assert found.limit is None
    assert list(found.actions) == list(naive.actions)
    for variable, names in enumerate(case.reference.facts):
        assert found.facts[variable] == [naive.fact(variable, value) for value in range(len(names))]


def pruning_keeps_every_reachable_state_and_its_cost(case: Case) -> None:
    sas = case.native.pruned_sas()
    pruned = fdr.parse(sas)
    assert len(pruned.actions) == sum(case.native.h2().actions)
    reached = exhaustive.depths(pruned, pruned.initial)
    assert sorted(exhaustive.exact_costs(pruned, reached).values()) == sorted(case.exact.values())
    varying = {name for names in pruned.facts for name in names}
    for before, after in zip(case.depths, reached, strict=True):
        assert exhaustive.atoms(pruned, after) == {
            a for a in exhaustive.atoms(case.reference, before) if a in varying
        }
    assert tuple(core.Task(sas).initial_state.values) == pruned.initial


def sas_text_round_trips(case: Case) -> None:
    assert fdr.parse(to_sas(case.reference)) == case.reference
    again = fdr.parse(case.native.sas)
    assert (again.facts, again.initial, again.goal) == (
        case.reference.facts,
        case.reference.initial,
        case.reference.goal,
    )
    for values in case.sample:
        assert [s for _, s in again.successors(values)] == [s for _, s in case.reference.successors(values)]


CHECKS = (
    actions_are_the_reference_ones,
    successors_are_the_reference_ones,
    states_round_trip,
    registry_numbers_distinct_states,
    states_are_counted_by_depth,
    h2_is_the_naive_fixed_point,
    pruning_keeps_every_reachable_state_and_its_cost,
    sas_text_round_trips,
)
