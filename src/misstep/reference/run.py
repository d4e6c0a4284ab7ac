"""The run of a policy: what it did, how that ended, and what this proves about the policy's cost."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misstep.reference.checked import need
from misstep.reference.dead_end import check_dead_end
from misstep.reference.fdr import State, Task
from misstep.reference.functions import Functions
from misstep.reference.lower import NOTHING, Lower, lower_bound
from misstep.reference.plan import is_applicable, step
from misstep.reference.reading import affordable, record, text, texts


@dataclass(frozen=True)
class Run:
    """A run that was followed through the task. The policy's cost lies between `low` and `high`.

    `states` has one entry more than `actions` and `costs`. `answer` is what the policy said at the end of a
    run that ended by what it said. `rest` is the lower bound for what a run that was cut off had still
    before it.
    """

    states: Sequence[State]
    actions: Sequence[str]
    costs: Sequence[int]
    outcome: str
    low: float
    high: float
    answer: str | None = None
    rest: Lower = NOTHING


def follow(task: Task, start: State, written: object, functions: Functions | None = None) -> Run:
    """Follow a run from its start, and refuse it unless it ends as it says.

    That the policy takes these actions is the policy's word. Everything else is checked: each action is
    applicable where it is taken, the run does not go on after a goal state or after a state that it visited
    before, and the end is what the outcome says (one function for each outcome, below).
    """
    parts = record(written, "the run", ("outcome", "actions"), optional=("answer", "rest", "reason"))
    outcome = text(parts["outcome"], "the outcome of the run")
    need(outcome in ENDS, f"a run does not end like this: {outcome[:60]}")
    allowed, end = ENDS[outcome]
    record(parts, f"a run that ends as {outcome}", ("outcome", "actions"), optional=allowed)
    actions = texts(parts["actions"], "the actions of the run")
    states, costs = _states(task, start, actions)
    need(
        task.is_goal(states[-1]) == (outcome == "solved"), f"the last state of the run does not fit {outcome}"
    )
    run = Run(states, actions, costs, outcome, sum(costs), math.inf)
    if outcome == "cut-off":
        return _cut_off(task, run, parts, functions)
    return end(task, run, parts)


def _states(task: Task, start: State, actions: Sequence[str]) -> tuple[list[State], list[int]]:
    """The states of a run and the costs of its steps.

    A run ends at the first goal state and at the first state that it visited before: what the policy did
    afterwards is no part of it, and must not be counted as its cost.
    """
    affordable(len(actions) * len(task.facts), "the run")
    states, costs, before = [start], list[int](), set[State]()
    for name in actions:
        need(not task.is_goal(states[-1]) and states[-1] not in before, "the run goes on after its end")
        before.add(states[-1])
        following, cost = step(task, states[-1], name)
        states.append(following)
        costs.append(cost)
    return states, costs


def _solved(task: Task, run: Run, parts: Mapping[str, Any]) -> Run:
    """The goal is reached (`follow` has looked), so the policy's cost is exactly what was spent."""
    del task, parts
    return _ended(run, run.low, run.low)


def _loop(task: Task, run: Run, parts: Mapping[str, Any]) -> Run:
    """The last state was visited before. The policy has no memory, so it repeats itself from there forever.

    The states between the two visits are no goal states, so the goal is never reached.
    """
    del task, parts
    need(run.states[-1] in set(run.states[:-1]), "the last state of the loop was not visited before")
    return _ended(run, math.inf, math.inf)


def _stuck(task: Task, run: Run, parts: Mapping[str, Any]) -> Run:
    """The policy names no action in a state that is no goal state, so the goal is never reached."""
    del task
    need(parts.get("answer") is None, "a policy that is stuck gives no answer")
    return _ended(run, math.inf, math.inf)


def _illegal(task: Task, run: Run, parts: Mapping[str, Any]) -> Run:
    """The policy names what cannot be done: no action of that name is applicable, or there is none.

    A null stands for an answer that is no text. What is refused is an answer that can be followed.
    """
    answer = None if parts.get("answer") is None else text(parts["answer"], "the answer of the policy")
    need(answer is None or not is_applicable(task, run.states[-1], answer), "the answer is a legal action")
    _reason(parts)
    return _ended(run, math.inf, math.inf, answer=answer)


def _dead_end(task: Task, run: Run, parts: Mapping[str, Any]) -> Run:
    """From the last state nobody reaches the goal, so neither does the policy."""
    del parts
    check_dead_end(task, run.states[-1])
    return _ended(run, math.inf, math.inf)


def _cut_off(task: Task, run: Run, parts: Mapping[str, Any], functions: Functions | None = None) -> Run:
    """A limit ended the run. What comes after it costs at least as much as the best way from there.

    So the policy's cost is at least what was spent and a lower bound on h* of the last state together.
    Nothing is known from above.
    """
    rest = lower_bound(task, run.states[-1], parts.get("rest"), functions)
    return _ended(run, run.low + rest.value, math.inf, rest=rest)


def _failed(task: Task, run: Run, parts: Mapping[str, Any]) -> Run:
    """The policy gave no decision: it raised an error, crashed or hung.

    Nobody knows what it would have done, so its cost is only known to be at least what was spent.
    """
    del task
    need(_reason(parts) != "", "a failed run has no reason")
    return _ended(run, run.low, math.inf)


def _ended(run: Run, low: float, high: float, *, answer: str | None = None, rest: Lower = NOTHING) -> Run:
    return Run(run.states, run.actions, run.costs, run.outcome, low, high, answer, rest)


def _reason(parts: Mapping[str, Any]) -> str:
    """Why the policy's answer could not be used, for people; an empty text where nobody says."""
    reason = parts.get("reason")
    return "" if reason is None else text(reason, "the reason").strip()


ENDS: Mapping[str, tuple[Sequence[str], Callable[[Task, Run, Mapping[str, Any]], Run]]] = {
    "solved": ((), _solved),
    "loop": ((), _loop),
    "stuck": (("answer",), _stuck),
    "illegal": (("answer", "reason"), _illegal),
    "dead-end": ((), _dead_end),
    "cut-off": (("rest",), _cut_off),
    "failed": (("reason",), _failed),
}
"""For every outcome the fields that its run may have beside the actions, and what its end proves."""
