"""Bounding functions: lower bounds on the cost of every plan that are proven once and hold for all states.

A function is checked when it is read. Afterwards it may be asked about any state at all, and what it answers is at
most h* of that state; infinity means that there is no plan. Why that is so is said with every kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from misstep.reference.abstraction import abstraction
from misstep.reference.bits import BitTask, facts_in
from misstep.reference.fdr import Refused, need

BoundingFunction: TypeAlias = Callable[[int], float]
"""From the facts of a state (one bit a fact) to a lower bound on h*."""


def read_function(task: BitTask, written: Mapping[str, Any]) -> BoundingFunction:
    """The function that a line of the proofs file describes; `Refused` where it proves nothing."""
    kinds = {"cuts": cuts, "invariant": invariant, "abstraction": abstraction}
    if written["kind"] not in kinds:
        raise Refused(f"there is no kind of bounding function {written['kind']!r}")
    return kinds[written["kind"]](task, written)


def cuts(task: BitTask, written: Mapping[str, Any]) -> BoundingFunction:
    """The shares of all cuts that a state has no fact of, added up.

    A cut is a set of facts with a goal fact among them. A state that has none of them needs an action that adds
    one, and the first such action of a plan cannot need one: it *crosses* the cut. Where an action crosses several
    cuts, their shares together are at most its cost, so no cost is counted twice. A cut that no action crosses can
    never be entered: its share is infinity, written as null.
    """
    charged = [0] * len(task.actions)
    found: list[tuple[int, float]] = []
    for cut in written["cuts"]:
        inside, share = task.facts(cut["facts"]), cut["share"]
        need(inside & task.goal != 0, "a cut without a goal fact need not be entered")
        near = {number for fact in facts_in(inside) for number in task.adding[fact]}
        crossing = [number for number in near if not task.actions[number].needs & inside]
        if share is None:
            need(not crossing, "a cut that shall be impossible to enter can be entered")
            found.append((inside, math.inf))
            continue
        need(type(share) is int and share >= 0, f"a share is {share!r}, not a natural number")
        for number in crossing:
            charged[number] += share
        found.append((inside, share))
    within = all(spent <= action.cost for spent, action in zip(charged, task.actions, strict=True))
    need(within, "the shares of an action are more than its cost")
    return lambda state: sum(share for inside, share in found if not inside & state)


def invariant(task: BitTask, written: Mapping[str, Any]) -> BoundingFunction:
    """Infinity where none of some combinations of facts holds, else 0.

    That none of them holds is kept by every action: whatever would make one true needs a state in which one is true
    already. One of them is part of the goal. So no goal state is ever reached from a state in which none holds.
    """
    never = [task.facts(combination) for combination in written["never"]]
    need(any(facts & task.goal == facts for facts in never), "the goal may hold where none of the others does")
    by_first: dict[int, list[int]] = {}
    for facts in never:
        by_first.setdefault(facts & -facts, []).append(facts)

    def is_excluded(facts: int) -> bool:
        return any(
            other & facts == other for fact in facts_in(facts) for other in by_first.get(1 << fact, ())
        )

    for facts in never:
        for number in {number for fact in facts_in(facts) for number in task.adding[fact]}:
            action = task.actions[number]
            left = facts & ~action.adds
            if left & action.clears or task.is_contradictory(left | action.needs):
                continue  # the action destroys the combination, or no state allows it beside what is left
            need(is_excluded(left | action.needs), "an action can make one of the combinations true")
    return lambda state: 0.0 if is_excluded(state) else math.inf


def largest(functions: Sequence[BoundingFunction]) -> BoundingFunction:
    """The largest of several bounds."""
    return lambda state: max((function(state) for function in functions), default=0.0)
