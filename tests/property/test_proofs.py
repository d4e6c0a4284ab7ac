"""Bounding functions and frontiers of random tasks: true ones are accepted, false ones say nothing false."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from misstep import _core as core
from misstep.bound import Bound
from misstep.proof import Prover, Surrounded
from misstep.reference import fdr
from misstep.reference.bits import BitTask
from misstep.reference.checked import Refused
from misstep.reference.dead_end import check_unavoidable
from misstep.reference.frontier import frontier_bound
from misstep.reference.functions import Functions
from misstep.testing.exhaustive import exact_costs
from tests.property.cases import CHUNKS, FUZZING, Case, numbered
from tests.property.tampering import damaged

MOST_STATES = 3000  # of all combinations of values, reachable or not


def every_state(case: Case) -> list[tuple[int, ...]] | None:
    """All combinations of values, since functions speak of states that are not reachable, too."""
    sizes = [len(values) for values in case.reference.facts]
    if math.prod(sizes) > MOST_STATES:
        return None
    return list(itertools.product(*map(range, sizes)))


def as_read(written: Any) -> Any:
    """Written and read again."""
    return json.loads(json.dumps(written))


def proofs(case: Case, prover: Prover) -> Iterator[tuple[tuple[int, ...], Surrounded]]:
    """Everything that can be proven about some states."""
    small = core.Abstraction(case.native, max_states=case.rng.choice((2, 5, 20)))
    large = core.Abstraction(case.native, max_states=1000)
    for values in case.sample:
        state = case.state(values)
        for abstraction in (small, large):
            if proof := prover.looked_up(abstraction, state):
                yield values, proof
            assert abstraction(state) <= case.exact[values]
        if proof := prover.dead_end(state):
            yield values, proof
        for heuristic, used in (("lmcut", None), ("hmax", None), (small.heuristic("lmcut"), small)):
            name = "astar" if used else f"astar:{heuristic}"
            given = heuristic if isinstance(heuristic, core.Heuristic) else None
            found = core.search(case.native, name, state=state, keep_frontier=True, heuristic=given)
            assert found.lower_bound == case.exact[values]
            if heuristic != "hmax" and found.lower_bound > 0:
                proof = prover.frontier(found, abstraction=used)
                assert proof is not None and proof.bound == case.exact[values]
                yield values, proof


def is_needed(task: fdr.Task, state: fdr.State, numbers: set[int]) -> bool:
    """Whether the goal is out of reach without these actions, no fact ever being lost: until nothing changes."""
    facts, before = set(enumerate(state)), -1
    while before < len(facts):
        before = len(facts)
        for number, action in enumerate(task.actions):
            if number not in numbers and action.precondition.items() <= facts:
                facts |= action.effect.items()
    return not task.goal.items() <= facts


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: str(seeds[0]))
def test_sets_that_every_plan_needs_are_found_together_as_one_by_one(seeds: range) -> None:
    for case in map(numbered, seeds):
        task, rng = case.reference, case.rng
        for state in case.sample:
            size = len(task.actions)
            drawn = [set(rng.sample(range(size), rng.randint(0, size))) for _ in range(12)]
            needed = [numbers for numbers in drawn if is_needed(task, state, numbers)]
            check_unavoidable(task, state, needed)
            for numbers in drawn:
                if numbers not in needed:
                    with pytest.raises(Refused):
                        check_unavoidable(task, state, [*needed[:3], numbers, *needed[3:]])


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: str(seeds[0]))
def test_proofs(seeds: range) -> None:
    for seed in seeds if FUZZING else seeds[::5]:
        case = numbered(seed)
        task, everything = BitTask(case.reference), every_state(case)
        exact = case.exact if everything is None else exact_costs(case.reference, everything)
        masks = {task.state(values): cost for values, cost in exact.items()}
        lines: dict[str, dict[str, Any]] = {}
        names: set[str] = set()
        for values, proof in proofs(case, Prover(case.native)):
            lines |= as_read(proof.lines())
            functions, evidence = Functions(task, lines.values()), as_read(proof.as_json(Bound(proof.bound)))
            assert frontier_bound(values, evidence, functions) == proof.bound <= exact[values]
            used = set(lines[evidence["proof"]]["functions"])
            for name in used - names:
                assert all(functions[name](state) <= cost for state, cost in masks.items()), (seed, name)
            names |= used
            check_damaged_evidence(case, values, evidence, lines)
        check_damaged_lines(case.rng, task, lines, names, masks)


def check_damaged_evidence(
    case: Case, values: tuple[int, ...], evidence: dict[str, Any], lines: dict[str, dict[str, Any]]
) -> None:
    for _ in range(3):
        changed = damaged({**lines[evidence["proof"]], **evidence}, case.rng)
        changed["proof"] = changed["name"] = "changed"
        functions = Functions(BitTask(case.reference), [*lines.values(), changed])
        try:
            bound = frontier_bound(values, changed, functions)
        except Exception:  # refused, or garbage
            continue
        assert bound <= case.exact[values], (case.seed, values, changed)


def check_damaged_lines(
    rng: random.Random,
    task: BitTask,
    lines: dict[str, dict[str, Any]],
    names: set[str],
    exact: dict[int, float],
) -> None:
    """What is accepted of a damaged file is true of every state."""
    for name, original in lines.items():
        for _ in range(6):
            changed = damaged(original, rng)
            functions = Functions(task, (lines | {name: {**changed, "name": name}}).values())
            users = [name] if name in names else [user for user in names if name in str(lines[user])]
            for user in users:
                try:
                    values = [(functions[user](state), cost) for state, cost in exact.items()]
                except Exception:
                    continue
                assert all(value <= cost for value, cost in values), changed
