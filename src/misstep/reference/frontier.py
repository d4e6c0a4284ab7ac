"""The frontier of a search: why no plan of a state costs less than a bound."""

import heapq
import math
from collections.abc import Mapping
from typing import Any

from misstep.reference.checked import need
from misstep.reference.fdr import State
from misstep.reference.functions import BoundingFunction, Functions
from misstep.reference.packing import unpacked_states


def frontier_bound(start: State, evidence: Mapping[str, Any], functions: Functions) -> float:
    """The bound, once it is certain that every plan from the start costs at least as much.

    The evidence names a line that lists states, the *inside*. A plan that stays inside ends in a goal state
    there; any other leaves the inside by a first step. The cheapest ways through the inside are found by
    Dijkstra's algorithm, and for goal states and steps outside it is checked that the way so far, the step,
    and what the bounding functions say of the state behind it come to the bound together. Where the bound is
    infinity, nothing may lead to a goal at all.
    """
    task = functions.task
    bound = math.inf if evidence["bound"] is None else evidence["bound"]
    need(type(bound) in (int, float) and bound >= 0, f"the bound is {bound!r}, which is no cost")
    proof = functions.line(evidence["proof"])
    need(proof["kind"] == "frontier", f"{evidence['proof']!r:.60} is not the frontier of a search")
    known = [functions[name] for name in proof["functions"]]
    inside = set(unpacked_states(task, proof["inside"]))
    spent = {task.state(start): 0}
    queue = [(0, task.state(start))]
    settled = set()
    while queue:
        so_far, state = heapq.heappop(queue)
        if state in settled:
            continue
        settled.add(state)
        if state not in inside:
            need(_is_beyond(known, state, bound - so_far), "a plan outside may cost less than the bound")
            continue
        need(
            task.goal & state != task.goal or so_far >= bound, "a goal state inside costs less than the bound"
        )
        for action in task.actions:
            if action.needs & state != action.needs:
                continue
            following = state & ~action.clears | action.adds
            cost = so_far + action.cost
            if cost < spent.get(following, math.inf) and cost < bound:
                spent[following] = cost
                heapq.heappush(queue, (cost, following))
    return float(bound)


def _is_beyond(functions: list[BoundingFunction], state: int, missing: float) -> bool:
    """Whether one of the functions proves what is missing; the one that did goes first the next time."""
    for place, function in enumerate(functions):
        if function(state) >= missing:
            functions.insert(0, functions.pop(place))
            return True
    return False
