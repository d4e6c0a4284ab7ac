"""Certificates of classical tests: a bug, or a state that is cleared, checked from first principles."""

import math
from typing import Any

from misstep.reference.checked import Checked, need, refusing
from misstep.reference.digest import check_digest, check_kind
from misstep.reference.fault import check_fault
from misstep.reference.fdr import Task, state_of
from misstep.reference.functions import Functions
from misstep.reference.lower import Lower, lower_bound
from misstep.reference.objective import check_verdict, read_objective
from misstep.reference.plan import validate
from misstep.reference.reading import interval, record, text, texts
from misstep.reference.run import Run, follow

FORMAT = 3

CLAIM = ("verdict", "objective", "state", "run", "cost", "witness", "lower", "best", "gap", "fault")
"""The fields that the proof consists of. Each of them is checked as a whole."""

ORIGIN = (
    "id", "pool", "walk_from_initial_state", "task", "policy", "oracle", "witness_oracle", "seed", "replay"
)  # fmt: skip
"""The fields that say where the certificate comes from. Nothing is concluded from them."""

POLICY_WORD = "policy: it decides as the run says (`misstep replay` asks it)"


def check(certificate: object, task: Task, functions: Functions | None = None) -> Checked:
    """Accept a certificate iff it proves its verdict about the task; what was proven, and on whose word.

    The claim of a bug is: in this state the policy does worse than is possible. The claim of a clearance is:
    nobody does better than the policy does. `functions` are those that the certificates of a record share;
    they are checked when one first refers to them. Refused is raised for everything else, garbage included.
    """
    with refusing("the certificate"):
        return _check(_opened(certificate), task, functions)


def _opened(certificate: object) -> dict[str, Any]:
    """The fields of a certificate of this kind and format, unchanged since its digest was computed."""
    if isinstance(certificate, dict):
        check_kind(certificate, "classical", FORMAT)
    parts = record(certificate, "the certificate", ("format", "kind", "sha256", *CLAIM), optional=ORIGIN)
    check_digest(parts)
    return parts


def _check(parts: dict[str, Any], task: Task, functions: Functions | None) -> Checked:
    verdict = text(parts["verdict"], "the verdict")
    state = state_of(task, texts(parts["state"], "the state"))
    run = follow(task, state, parts["run"], functions)
    lower = lower_bound(task, state, parts["lower"], functions)
    upper = math.inf
    if parts["witness"] is not None:
        upper = validate(task, state, texts(parts["witness"], "the witness"))
    check_consistency(run, lower, upper)
    cost, best = interval(parts["cost"], "the cost"), interval(parts["best"], "the best cost")
    need(
        cost[0] <= run.low and run.high <= cost[1],
        "a bound on the policy's cost is tighter than its evidence",
    )
    need(best[0] <= lower.value and upper <= best[1], "a bound on the best cost is tighter than its evidence")
    objective = read_objective(parts["objective"], (*cost, *best))
    check_verdict(verdict, cost, best, interval(parts["gap"], "the gap"), objective.values)
    fault = None
    if parts["fault"] is not None:
        need(verdict == "bug", "a state that is cleared has no fault")
        fault = check_fault(task, run, parts["fault"], functions)
    return _checked(verdict, run, lower, fault, objective.word)


def check_consistency(run: Run, lower: Lower, upper: float) -> None:
    """Refuse bounds that contradict each other: one of them must be false, and nobody knows which.

    A lower bound on h* is at most the cost of the plan, and at most the cost of the policy's run, which is a
    plan too where it reaches the goal. What is proven here cannot contradict itself, so a contradiction
    always means that a search was wrong.
    """
    need(lower.value <= upper, "the lower bound contradicts the plan, which is cheaper")
    need(lower.value <= run.high, "the lower bound contradicts the policy's run, which is cheaper")


def _checked(verdict: str, run: Run, lower: Lower, fault: Lower | None, objective: str | None) -> Checked:
    """The answer. A bug needs the bound on the rest of the run, a clearance the bound on the best cost.

    Where the other one of the two is the word of a search, only the width of the gap depends on it; it is
    among the words, but the verdict does not rest on it.
    """
    decisive = [run.rest if verdict == "bug" else lower, *([] if fault is None else [fault])]
    words = [bound.word for bound in (run.rest, lower, fault) if bound is not None and bound.word is not None]
    told = [POLICY_WORD, *words, *([] if objective is None else [objective])]
    return Checked(verdict, any(bound.word is not None for bound in decisive), tuple(dict.fromkeys(told)))
