"""Certificates of classical tests: what proves a bug or clears a state, as the trusted checker reads it.

docs/certificates.md says field by field what they hold and what each proves.
"""

from typing import Any

from misstep._core import State
from misstep.bound import Bound, cost_as_json
from misstep.claim import Claim, Plan, names, rests_on_search
from misstep.explain.fault import Fault
from misstep.judge import Judgement, Objective, Verdict, objective_values
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.reference.certificate import FORMAT
from misstep.reference.digest import digest


def make_certificate(
    lab: Lab,
    case: Case,
    judgement: Judgement,
    *,
    objective: Objective,
    fault: Fault | None = None,
    reason: str | None = None,
    **about: object,
) -> tuple[dict[str, Any], bool]:
    """The certificate of a verdict, and whether it rests on the word of a search.

    `about` says where it comes from (policy, seed, replay command, ...); `reason` why an answer of the policy was
    no decision, where the run ended with one.
    """
    known, entry, run = lab.known(case.state), case.entry, case.run
    rest = lab.lower(run.states[-1]) if run.outcome == "cut-off" else None
    plan = known.upper.evidence if known.upper is not None else None
    cost, best, gap = case.cost.as_json(), known.bound.as_json(), judgement.gap.as_json()
    walk, actions = names(entry.walk), names(run.actions)
    witness = names(plan.actions) if isinstance(plan, Plan) else None
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "kind": "classical",
        "verdict": str(judgement.verdict),
        "objective": _objective(objective, case.cost, known.bound),
        "pool": {"id": entry.id, "parent": entry.parent, "walk": walk},
        "state": case.state.facts,
        "run": _run(case, actions, rest, reason),
        "cost": cost,
        "witness": witness,
        "witness_oracle": None if known.upper is None else known.upper.oracle,
        "lower": _evidence(known.lower),
        "best": best,
        "gap": gap,
        "fault": None if fault is None else fault.as_json(),
        **about,
    }
    certificate["sha256"] = digest(certificate)
    decisive = known.lower if judgement.verdict is Verdict.CLEARED else rest
    return certificate, rests_on_search(decisive) or (fault is not None and fault.rests_on_search)


def _objective(objective: Objective, cost: Bound, best: Bound) -> dict[str, Any]:
    """The objective with its value at every end of the two intervals: all that the judge looked at."""
    values = objective_values(objective, cost, best)
    written = [[cost_as_json(end), cost_as_json(value)] for end, value in values.items()]
    return {"name": objective.name, "values": written}


def _run(case: Case, actions: list[str], rest: Claim[State] | None, reason: str | None) -> dict[str, Any]:
    run = case.run
    written: dict[str, Any] = {"outcome": run.outcome, "actions": actions}
    if run.outcome in ("stuck", "illegal"):
        written["answer"] = None if run.answer is None else run.answer.name
    if reason is not None:
        written["reason"] = reason
    if run.outcome == "cut-off":
        written["rest"] = _evidence(rest)
    return written


def _evidence(claim: Claim[State] | None) -> dict[str, Any] | None:
    return None if claim is None else claim.evidence.as_json(claim.bound)
