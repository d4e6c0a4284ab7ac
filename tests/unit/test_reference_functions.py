"""The checker of bounding functions and frontiers, on proofs written by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from misstep.reference.bits import BitTask
from misstep.reference.checked import Refused
from misstep.reference.frontier import frontier_bound
from misstep.reference.functions import Functions
from misstep.reference.packing import packed_lines, packed_states, unpacked_lines, unpacked_states
from tests.unit.core_tasks import DELIVERY

TASK = BitTask(DELIVERY)
# Facts: 0, 1 the lorry in a, b; 2, 3, 4 the parcel in a, b, the lorry; 5, 6 the lamp; 7, 8 broken or not.
LOADED, DELIVERED = (
    {"name": "loaded", "kind": "cut", "facts": [3, 4]},
    {"name": "there", "kind": "cut", "facts": [3]},
)
START = (0, 0, 1, 1)


def functions(*lines: dict[str, Any]) -> Functions:
    return Functions(TASK, [LOADED, DELIVERED, *lines])


def value(line: dict[str, Any], state: tuple[int, ...] = START) -> float:
    return functions({"name": "f", **line})["f"](TASK.state(state))


def test_facts_are_numbered_through() -> None:
    assert TASK.first == (0, 2, 5, 7, 9)
    assert TASK.state(START) == 1 << 0 | 1 << 2 | 1 << 6 | 1 << 8
    assert TASK.is_contradictory(0b11) and not TASK.is_contradictory(0b101)
    with pytest.raises(Refused, match="no fact 9"):
        TASK.facts([9])


def test_charges_add_up() -> None:
    line = {"kind": "charges", "shares": [[1, ["loaded"]], [0, ["there"]]]}
    assert value(line) == 1
    assert value(line, (0, 2, 1, 1)) == 0  # it is loaded
    assert value({"kind": "charges", "shares": []}) == 0


@pytest.mark.parametrize(
    ("shares", "reason"),
    [
        ([[2, ["loaded"]]], "more than its cost"),
        ([[1, ["loaded", "loaded"]]], "more than its cost"),
        ([[1, ["there"]]], "more than its cost"),  # unloading is free
        ([[None, ["loaded"]]], "can be entered"),
        ([[-1, ["loaded"]]], "natural number"),
        ([[0.5, ["loaded"]]], "natural number"),
        ([[1, ["nowhere"]]], "has no 'nowhere'"),
    ],
)
def test_charges_that_prove_nothing(shares: list[Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        value({"kind": "charges", "shares": shares})


def test_a_cut_needs_a_goal_fact() -> None:
    with pytest.raises(Refused, match="goal fact"):
        lines = [
            {"name": "c", "kind": "cut", "facts": [4]},
            {"name": "f", "kind": "charges", "shares": [[1, ["c"]]]},
        ]
        functions(*lines)["f"]


def test_a_broken_lorry_stays_where_it_is() -> None:
    """Where the lorry is never whole (8), it never comes to b (1), and so the parcel is never there (3)."""
    invariant = {"kind": "invariant", "never": [[3], [1, 4], [1], [8]]}
    assert value(invariant, (0, 0, 1, 0)) == math.inf
    assert value(invariant, (0, 2, 0, 0)) == math.inf
    assert value(invariant) == 0
    with pytest.raises(Refused, match="can make"):
        value({"kind": "invariant", "never": [[3]]})


def test_a_region_has_no_way_out() -> None:
    parked = [(0, 0, 1, 0), (0, 2, 1, 0), (0, 0, 0, 0), (0, 2, 0, 0)]
    region = {"kind": "region", "inside": packed_states(parked), "functions": []}
    assert value(region, parked[0]) == math.inf
    assert value(region) == 0
    with pytest.raises(Refused, match="way out"):
        value({**region, "inside": packed_states(parked[:3])})
    with pytest.raises(Refused, match="goal state"):
        value({**region, "inside": packed_states([*parked, (0, 1, 1, 0)])})
    # What leads out may lead to where another function proves that there is no plan.
    dead = {"name": "dead", "kind": "invariant", "never": [[3], [1, 4], [1], [8]]}
    lines = functions(
        dead, {"name": "r", "kind": "region", "inside": packed_states(parked[:1]), "functions": ["dead"]}
    )
    assert lines["r"](TASK.state(parked[0])) == math.inf


def test_functions_do_not_rest_on_themselves() -> None:
    region = {"name": "r", "kind": "region", "inside": packed_states([START]), "functions": ["r"]}
    with pytest.raises(Refused, match="itself"):
        functions(region)["r"]


@pytest.mark.parametrize("never", [[], [[]], [[4]], [[1], [8]]])
def test_invariants_that_prove_nothing(never: list[Any]) -> None:
    with pytest.raises(Refused):
        value({"kind": "invariant", "never": never})


def abstraction(**changes: Any) -> dict[str, Any]:
    """Lorry and parcel: 0 the start, 1 loaded in a, 2 loaded in b, 3 delivered, 4 the lorry alone in b."""
    table = [0, 3, 1, 4, 3, 2]  # lorry * 3 + parcel
    steps = [{"factor": 0, "partner": 1, "table": table}]
    return {"kind": "abstraction", "steps": steps, "distances": [[4, [4, 3, 0, 0, 6]]]} | changes


def test_an_abstraction_is_replayed() -> None:
    assert value(abstraction()) == 4
    assert value(abstraction(), (1, 0, 0, 1)) == 6
    assert value(abstraction(), (0, 1, 0, 1)) == 0


@pytest.mark.parametrize(
    "distances",
    [[4, 3, 1, 0, 6], [5, 3, 0, 0, 6], [4, 3, 0, 1, 6], [4, 3, 0, 0], [4, 3, 0, 0, None], [4, 4, 0, 0, 6]],
)
def test_distances_that_are_too_large(distances: list[Any]) -> None:
    with pytest.raises(Refused):
        value(abstraction(distances=[[4, distances]]))


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([0, 3, 1, 4, 9_007_199_254_740_993, 2], "a state that there cannot be"),  # it would fill the memory
        ([0, 3, 1, 4, 3, -2], "way out|goal"),  # loaded in b is not dead
        ([0, -2, 1, 4, -2, 2], "goal state is called dead"),
        ([0, 3, 1, 4, 3, -1], "can be reached"),
        ([0, 3, 1, 4, 3], "does not fit"),
        ([0, 3, 1, 4, 3, -3], "cannot be"),
    ],
)
def test_tables_that_drop_too_much(table: list[int], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        value(abstraction(steps=[{"factor": 0, "partner": 1, "table": table}]))


def test_an_unreachable_mark_says_nothing_of_its_states() -> None:
    """A lorry never breaks, so those that are broken from the start are not spoken of."""
    steps = [{"factor": 3, "partner": None, "table": [-1, 0]}]  # never broken
    assert value(abstraction(steps=steps, distances=[[1, [0, 0, 0]]]), (0, 0, 0, 0)) == 0


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(Refused, match="no kind"):
        value({"kind": "hope"})


def bound_by(bound: Any, states: list[tuple[int, ...]], names: list[str], *lines: dict[str, Any]) -> float:
    proof = {"name": "p", "kind": "frontier", "functions": names, "inside": packed_states(states)}
    return frontier_bound(START, {"bound": bound, "proof": "p"}, functions(proof, *lines))


def test_a_frontier_is_walked_through() -> None:
    """4 is exact: load, drive, unload for free. All cheaper states are inside."""
    inside = [(0, 0, 1, 1), (1, 0, 1, 1), (0, 2, 1, 1)]
    assert bound_by(4, inside, []) == 4
    one = {"name": "f", "kind": "charges", "shares": [[1, ["loaded"]]]}
    assert bound_by(1, [], ["f"], one) == 1


@pytest.mark.parametrize("bound", [5, 2, None, -1, "4"])
def test_frontiers_that_prove_nothing(bound: Any) -> None:
    states = [(0, 0, 1, 1), (1, 0, 1, 1), (0, 2, 1, 1), (1, 2, 1, 1)][: 1 if bound == 2 else 4]
    with pytest.raises((Refused, TypeError)):
        bound_by(bound, states, [])


@pytest.mark.parametrize("name", ["there", "nowhere", None, True, []])
def test_what_is_no_frontier_proves_nothing(name: Any) -> None:
    with pytest.raises(Refused, match=r"is not the frontier|the evidence has no"):
        frontier_bound(START, {"bound": 0, "proof": name}, functions())


def test_lines_are_packed() -> None:
    first, second = packed_lines([LOADED, DELIVERED]), packed_lines([{"name": 3, "kind": "hope"}])
    assert list(unpacked_lines([first, second])) == [LOADED, DELIVERED, {"name": 3, "kind": "hope"}]
    damaged = {"packed": first["packed"][:-7]}
    others = [{}, {"packed": 3}, {"packed": "a b"}, {"packed": ""}, packed_lines([3]), LOADED]
    assert list(unpacked_lines([damaged, *others, second])) == [{"name": 3, "kind": "hope"}]


def test_a_little_text_does_not_become_very_much() -> None:
    """A line of 100 kB that stands for 90 MB is left out, and so is what many such lines stand for."""
    bomb = packed_lines([{"name": "f", "kind": "cut", "facts": [0] * 45_000_000}])
    assert len(bomb["packed"]) < 200_000
    assert not list(unpacked_lines([bomb]))
    table = packed_lines([{"name": "f", "kind": "cut", "facts": [0] * 10_000_000}])
    assert len(list(unpacked_lines([table] * 10))) == 3


def test_states_are_packed() -> None:
    states = [(0, 0, 1, 1), (1, 2, 0, 0)]
    assert unpacked_states(TASK, packed_states(states)) == [TASK.state(state) for state in states]
    assert unpacked_states(TASK, packed_states([])) == []
    with pytest.raises(Refused, match="more or fewer"):
        unpacked_states(TASK, {**packed_states(states), "count": 1})
    with pytest.raises(Refused, match="no such value"):
        unpacked_states(TASK, packed_states([(2, 0, 0, 0)]))
