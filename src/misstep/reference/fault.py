"""The decision at fault: a step of the policy after which the best course is out of reach."""

import math
from collections.abc import Mapping, Sequence

from misstep.reference.checked import need
from misstep.reference.fdr import Task
from misstep.reference.functions import Functions
from misstep.reference.lower import Lower, lower_bound
from misstep.reference.plan import validate
from misstep.reference.reading import record, text, texts, whole
from misstep.reference.run import Run


def check_fault(task: Task, run: Run, written: object, functions: Functions | None = None) -> Lower:
    """Refuse unless one of the named decisions provably leaves every best course; return the bound used.

    Let s be the state after `step` actions of the run and t the state after `until` actions; most often there
    is one decision between them. The fault names a plan of s (`witness`) and evidence for a lower bound on
    h*(t). It is accepted if what the run spends between s and t and that bound together exceed the cost of the
    plan. For then the decisions between cannot all be those of a best course: if they were, h*(s) would be
    what the run spends there and h*(t).

    Two ends need no bound. The last answer of a run that is stuck or illegal leads nowhere, which costs
    infinitely much; any plan of s is better. And where t is a state that the run has been in since s, and the
    way round costs something, not all of it can be part of a best course. That the fault is the first one on
    the run is not claimed.
    """
    fields = ("step", "until", "action", "schema", "better", "witness", "lower")
    parts = record(written, "the fault", fields)
    first, last = whole(parts["step"], "the step of the fault"), whole(parts["until"], "the end of the fault")
    ends_without_action = run.outcome in ("stuck", "illegal")
    need(
        first < last <= len(run.actions) + ends_without_action,
        "the fault names a decision that the run does not have",
    )
    witness = texts(parts["witness"], "the plan of the fault")
    possible = validate(task, run.states[first], witness)
    _is_named(parts, run, first, last, witness)
    if last > len(run.actions):
        need(parts["lower"] is None, "there is no state after a decision that leads nowhere")
        return Lower(math.inf)
    spent = sum(run.costs[first:last])
    lower = lower_bound(task, run.states[last], parts["lower"], functions)
    # A state on the way that the last decision leads back to; there and back again costs something.
    leads_back = any(
        run.states[at] == run.states[last] and sum(run.costs[at:last]) > 0 for at in range(first, last)
    )
    need(
        spent + lower.value > possible or leads_back, "the decision is not proven to leave every best course"
    )
    need(lower.value <= _known_rest(run, last), "the bound of the fault contradicts the run")
    return lower


def _is_named(parts: Mapping[str, object], run: Run, first: int, last: int, witness: Sequence[str]) -> None:
    """A single decision is named, with its schema and the first action of the plan; of several none is."""
    if last > first + 1:
        names = (parts["action"], parts["schema"], parts["better"])
        need(names == (None, None, None), "a fault of several decisions names one of them")
        return
    decision = run.actions[first] if first < len(run.actions) else run.answer
    need(parts["action"] == decision, "the decision is not the policy's")
    word = None if decision is None else (decision.strip("()").split() or [""])[0]
    schema = parts["schema"]
    need(
        schema is None or text(schema, "the schema of the fault") == word, "the schema is not the decision's"
    )
    better = witness[0] if witness else None
    need(parts["better"] == better, "the better action is not the first one of the plan")


def _known_rest(run: Run, number: int) -> float:
    """What the rest of the run costs where it reaches the goal: an upper bound on h* of the state there."""
    return sum(run.costs[number:]) if run.outcome == "solved" else math.inf
