"""Certificates of classical tests: what proves a bug or clears a state, as the trusted checker reads it.

docs/certificates.md says field by field what they hold and what each proves.
"""

from typing import Any

from misstep.bound import Bound, cost_as_json
from misstep.claim import Claim, names, rests_on_search
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
) -> dict[str, Any]:
    """The certificate of a verdict; `about` says where it comes from (policy, seed, replay command, ...).

    `reason` says why an answer of the policy was no decision, where the run ended with one.
    """
    entry, state = case.entry, case.entry.state
    upper = lab.upper(state)
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "kind": "classical",
        "verdict": str(judgement.verdict),
        "objective": _objective(objective, case.cost, lab.best(state)),
        "pool": {"id": entry.id, "parent": entry.parent, "walk": names(entry.walk)},
        "state": state.facts,
        "run": _run(lab, case, reason),
        "cost": case.cost.as_json(),
        "witness": None if upper is None else names(lab.plan(state) or ()),
        "witness_oracle": None if upper is None else upper.oracle,
        "lower": _evidence(lab.lower(state)),
        "best": lab.best(state).as_json(),
        "gap": judgement.gap.as_json(),
        "fault": None if fault is None else fault.as_json(),
        **about,
    }
    certificate["sha256"] = digest(certificate)
    return certificate


def is_search_based(lab: Lab, case: Case, judgement: Judgement) -> bool:
    """Whether a verdict rests on the word of a search, which cannot be re-checked."""
    if judgement.verdict is Verdict.CLEARED:
        return rests_on_search(lab.lower(case.state))
    return case.run.outcome == "cut-off" and rests_on_search(lab.lower(case.run.states[-1]))


def _objective(objective: Objective, cost: Bound, best: Bound) -> dict[str, Any]:
    """The objective with its value at every end of the two intervals: all that the judge looked at."""
    values = objective_values(objective, cost, best)
    written = [[cost_as_json(end), cost_as_json(value)] for end, value in values.items()]
    return {"name": objective.name, "values": written}


def _run(lab: Lab, case: Case, reason: str | None) -> dict[str, Any]:
    run = case.run
    written: dict[str, Any] = {"outcome": run.outcome, "actions": names(run.actions)}
    if run.outcome in ("stuck", "illegal"):
        written["answer"] = None if run.answer is None else run.answer.name
    if reason is not None:
        written["reason"] = reason
    if run.outcome == "cut-off":
        written["rest"] = _evidence(lab.lower(run.states[-1]))
    return written


def _evidence(claim: Claim[Any] | None) -> dict[str, Any] | None:
    return None if claim is None else claim.evidence.as_json(claim.bound)
