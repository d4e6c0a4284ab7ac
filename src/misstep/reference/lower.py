"""Lower bounds: evidence that every plan of a state costs at least so much."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from misstep.reference.bits import BitTask
from misstep.reference.checked import need
from misstep.reference.dead_end import check_dead_end
from misstep.reference.fdr import State, Task
from misstep.reference.frontier import frontier_bound
from misstep.reference.functions import Functions
from misstep.reference.landmarks import landmark_bound
from misstep.reference.reading import cost, record, refusal, text, whole


@dataclass(frozen=True)
class Lower:
    """`value <= h*(state)`: proven, or true if `word` is, which is the word of a search."""

    value: float
    word: str | None = None


NOTHING = Lower(0)
"""What is known without any evidence, since costs are never negative."""


def lower_bound(task: Task, state: State, evidence: object, functions: Functions | None = None) -> Lower:
    """What the evidence proves about the cost of every plan from the state.

    `functions` are the bounding functions that evidence may refer to by name. No evidence proves 0. Evidence
    of a kind that is not known here is refused and not passed over.
    """
    if evidence is None:
        return NOTHING
    if not isinstance(evidence, dict):
        raise refusal(evidence, "evidence", "an object or null")
    kind = text(evidence.get("kind"), "the kind of the evidence")
    if kind == "frontier":
        return _frontier(state, evidence, functions or Functions(BitTask(task), ()))
    need(kind in KINDS, f"evidence of this kind is not known here: {kind[:60]}")
    return KINDS[kind](task, state, evidence)


def _landmarks(task: Task, state: State, evidence: Mapping[str, Any]) -> Lower:
    """Landmarks prove the sum of their shares (see `landmark_bound`), and the evidence must say that sum."""
    parts = record(evidence, "the evidence of landmarks", ("kind", "value", "landmarks"))
    value = landmark_bound(task, state, parts["landmarks"])
    need(cost(parts["value"], "the value of landmarks") == value, "the value is not the sum of the shares")
    return Lower(value)


def _dead_end(task: Task, state: State, evidence: Mapping[str, Any]) -> Lower:
    """A goal that is out of reach even if no fact is ever lost is out of reach: there is no plan at all."""
    record(evidence, "the evidence of a dead end", ("kind",))
    check_dead_end(task, state)
    return Lower(math.inf)


def _applicable(task: Task, state: State, evidence: Mapping[str, Any]) -> Lower:
    """Every plan of a state that is no goal state starts with an applicable action, and costs at least that.

    Where no action is applicable there is no plan, and the bound is infinite.
    """
    parts = record(evidence, "the evidence of applicable actions", ("kind", "value"))
    need(not task.is_goal(state), "a goal state needs no action")
    value = min((action.cost for action in task.actions if action.applicable(state)), default=math.inf)
    need(
        cost(parts["value"], "the value") == value,
        "the value is not the cost of the cheapest applicable action",
    )
    return Lower(value)


def _frontier(state: State, evidence: Mapping[str, Any], functions: Functions) -> Lower:
    """Where every way out of the listed states leads to states of which the functions prove enough."""
    parts = record(evidence, "the evidence of a frontier", ("kind", "bound", "proof"))
    text(parts["proof"], "the proof of a frontier")
    cost(parts["bound"], "the bound of a frontier")
    return Lower(frontier_bound(state, parts, functions))


def _search(task: Task, state: State, evidence: Mapping[str, Any]) -> Lower:
    """The word of a search. Nothing is proven here; the bound is handed on together with its speaker."""
    del task, state
    parts = record(evidence, "the evidence of a search", ("kind", "value", "search", "expanded"))
    value, name = cost(parts["value"], "the value of a search"), text(parts["search"], "the name of a search")
    expanded = whole(parts["expanded"], "the number of expanded states")
    shown = "no plan at all" if value == math.inf else f"no plan below {value}"
    return Lower(value, f"search {name[:80]}: {shown} ({expanded} states expanded)")


KINDS: Mapping[str, Callable[[Task, State, Mapping[str, Any]], Lower]] = {
    "landmarks": _landmarks,
    "dead-end": _dead_end,
    "applicable": _applicable,
    "search": _search,
}
