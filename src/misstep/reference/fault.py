"""The decision at fault: a step of the policy after which the best course is out of reach."""

import math

from misstep.reference.checked import need
from misstep.reference.fdr import Task
from misstep.reference.functions import Functions
from misstep.reference.lower import Lower, lower_bound
from misstep.reference.plan import validate
from misstep.reference.reading import record, text, texts, whole
from misstep.reference.run import Run


def check_fault(task: Task, run: Run, written: object, functions: Functions | None = None) -> Lower:
    """Refuse unless the named decision provably leaves every best course; return the lower bound used.

    Let s be the state before the decision, a the action and t the state after it. The fault names a plan of
    s (`witness`) and evidence for a lower bound on h*(t). It is accepted if the cost of a and that bound
    together exceed the cost of the plan: then cost(a) + h*(t) > h*(s), so no best course from s begins with
    a.

    The last answer of a run that is stuck or illegal leads nowhere, which costs infinitely much; any plan of
    s is better. That the decision is the first one of this sort on the run is not claimed.
    """
    fields = ("step", "action", "schema", "better", "witness", "lower")
    parts = record(written, "the fault", fields)
    number = whole(parts["step"], "the step of the fault")
    witness = texts(parts["witness"], "the plan of the fault")
    possible = validate(task, run.states[number], witness) if number < len(run.states) else 0
    need(
        parts["better"] == (witness[0] if witness else None),
        "the better action is not the first one of the plan",
    )
    if number < len(run.actions):
        _is_named(parts["action"], parts["schema"], run.actions[number])
        lower = lower_bound(task, run.states[number + 1], parts["lower"], functions)
        need(
            run.costs[number] + lower.value > possible,
            "the decision is not proven to leave every best course",
        )
        need(lower.value <= _known_rest(run, number + 1), "the bound of the fault contradicts the run")
        return lower
    last = number == len(run.actions) and run.outcome in ("stuck", "illegal")
    need(last, "the fault names a decision that the run does not have")
    _is_named(parts["action"], parts["schema"], run.answer)
    need(parts["lower"] is None, "there is no state after a decision that leads nowhere")
    return Lower(math.inf)


def _is_named(action: object, schema: object, decision: str | None) -> None:
    """The action of the fault is the policy's decision, and its schema is the first word of that, or null."""
    need(action == decision, "the decision is not the policy's")
    first = None if decision is None else (decision.strip("()").split() or [""])[0]
    need(
        schema is None or text(schema, "the schema of the fault") == first, "the schema is not the decision's"
    )


def _known_rest(run: Run, number: int) -> float:
    """What the rest of the run costs where it reaches the goal: an upper bound on h* of the state there."""
    return sum(run.costs[number:]) if run.outcome == "solved" else math.inf
