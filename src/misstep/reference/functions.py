"""Bounding functions: lower bounds on the cost of every plan that are proven once and hold for all states.

A function is checked when it is read. Afterwards it may be asked about any state at all, and what it answers
is at most h* of that state; infinity means that there is no plan. Why that is so is said with every kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from misstep.reference.abstraction import abstraction
from misstep.reference.bits import BitTask, facts_in
from misstep.reference.checked import need
from misstep.reference.packing import unpacked_states

BoundingFunction: TypeAlias = Callable[[int], float]
"""From the facts of a state (one bit a fact) to a lower bound on h*."""


Name: TypeAlias = str | int
"""What others refer to a line by; any name will do, since whatever has it is checked."""


class Functions:
    """All bounding functions of a record, each checked when it is first asked for."""

    def __init__(self, task: BitTask, lines: Iterable[Mapping[str, Any]]) -> None:
        self.task = task
        self._lines = {line["name"]: line for line in lines if type(line.get("name")) in (str, int)}
        self._known: dict[Name, BoundingFunction] = {}
        self._cuts: dict[Name, Cut] = {}
        self._reading: set[Name] = set()

    def __getitem__(self, name: Name) -> BoundingFunction:
        """The function of this name; `Refused` where there is none or it proves nothing."""
        if name not in self._known:
            line = self.line(name)
            kinds = {
                "charges": self._charges,
                "region": self._region,
                "invariant": invariant,
                "abstraction": abstraction,
            }
            need(line["kind"] in kinds, f"there is no kind of bounding function {line['kind']!r}")
            need(name not in self._reading, f"{name!r} rests on itself")
            self._reading.add(name)
            try:
                self._known[name] = kinds[line["kind"]](self.task, line)
            finally:
                self._reading.discard(name)
        return self._known[name]

    def line(self, name: Name) -> Mapping[str, Any]:
        """What is written under a name; nothing of it has been checked."""
        need(type(name) in (str, int) and name in self._lines, f"the evidence has no {name!r:.60}")
        return self._lines[name]

    def _charges(self, task: BitTask, written: Mapping[str, Any]) -> BoundingFunction:
        shares: list[tuple[Cut, float]] = []
        for share, names in written["shares"]:
            for name in names:
                if name not in self._cuts:
                    self._cuts[name] = Cut.read(task, self.line(name))
                shares.append((self._cuts[name], math.inf if share is None else share))
        return charges(task, shares)

    def _region(self, task: BitTask, written: Mapping[str, Any]) -> BoundingFunction:
        return region(task, written, [self[name] for name in written["functions"]])


@dataclass(frozen=True)
class Cut:
    """A set of facts, one of them a goal fact, and the numbers of the actions that cross it.

    A state that has none of the facts needs an action that adds one, and the first such action of a plan
    cannot need one of them: it crosses the cut.
    """

    inside: int
    crossing: tuple[int, ...]

    @staticmethod
    def read(task: BitTask, written: Mapping[str, Any]) -> Cut:
        """Finds the actions that cross."""
        inside = task.facts(written["facts"])
        need(inside & task.goal != 0, "a cut without a goal fact need not be entered")
        near = {number for fact in facts_in(inside) for number in task.adding[fact]}
        return Cut(inside, tuple(number for number in near if not task.actions[number].needs & inside))


def charges(task: BitTask, shares: Sequence[tuple[Cut, float]]) -> BoundingFunction:
    """The shares of all cuts that a state has no fact of, added up.

    Where an action crosses several cuts, their shares together are at most its cost, so no cost is counted
    twice. A cut that no action crosses can never be entered, and only such a cut has the share infinity.
    """
    charged = [0] * len(task.actions)
    for cut, share in shares:
        if share == math.inf:
            need(not cut.crossing, "a cut that shall be impossible to enter can be entered")
            continue
        need(type(share) is int and share >= 0, f"a share is {share!r}, not a natural number")
        for number in cut.crossing:
            charged[number] += int(share)
    within = all(spent <= action.cost for spent, action in zip(charged, task.actions, strict=True))
    need(within, "the shares of an action are more than its cost")
    found = [(cut.inside, share) for cut, share in shares]
    return lambda state: sum(share for inside, share in found if not inside & state)


def region(task: BitTask, written: Mapping[str, Any], others: Sequence[BoundingFunction]) -> BoundingFunction:
    """Infinity for the listed states, else 0.

    None of them is a goal state, and every action leads from one of them to another, or to a state of which
    one of the other functions says that there is no plan from there. So a goal state is never reached.
    """
    inside = frozenset(unpacked_states(task, written["inside"]))
    outside: set[int] = set()
    for state in inside:
        need(task.goal & state != task.goal, "there is a goal state in a region without plans")
        outside.update(
            state & ~action.clears | action.adds
            for action in task.actions
            if action.needs & state == action.needs
        )
    for state in outside - inside:
        closed = any(function(state) == math.inf for function in others)
        need(closed, "there is a way out of a region without plans")
    return lambda state: math.inf if state in inside else 0.0


def invariant(task: BitTask, written: Mapping[str, Any]) -> BoundingFunction:
    """Infinity where none of some combinations of facts holds, else 0.

    That none of them holds is kept by every action: whatever would make one true needs a state in which one
    is true already. One of them is part of the goal. So no goal state is ever reached from a state in which
    none holds.
    """
    never = [task.facts(combination) for combination in written["never"]]
    need(0 not in never, "a combination of no facts holds always")
    need(
        any(facts & task.goal == facts for facts in never), "the goal may hold where none of the others does"
    )
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
