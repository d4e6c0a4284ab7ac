"""Certificates: what proves a bug or clears a state, as JSON that the trusted checker reads."""

from collections.abc import Sequence
from typing import Any

from misstep._core import Action, Run
from misstep.bound import Bound, cost_as_json
from misstep.claim import Claim, DeadEnd, Exhausted, Landmarks
from misstep.explain.fault import Fault
from misstep.judge import Objective, Verdict
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.reference.certificate import FORMAT
from misstep.reference.digest import digest


def make_certificate(
    lab: Lab,
    case: Case,
    verdict: Verdict,
    *,
    objective: Objective,
    fault: Fault | None = None,
    **about: object,
) -> dict[str, Any]:
    """The certificate of a verdict; `about` says where it comes from (policy, seed, replay command, ...)."""
    entry, state = case.entry, case.entry.state
    upper, lower = lab.upper(state), lab.lower(state)
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "kind": "classical",
        "verdict": str(verdict.kind),
        "objective": _objective(objective, case.cost, lab.best(state)),
        "pool": {"id": entry.id, "parent": entry.parent, "walk": _names(entry.walk)},
        "state": state.facts,
        "run": _run(lab, case.run),
        "cost": case.cost.as_json(),
        "witness": None if upper is None else _names(lab.plan(state) or ()),
        "witness_oracle": None if upper is None else upper.oracle,
        "lower": _evidence(lower),
        "best": lab.best(state).as_json(),
        "gap": verdict.gap.as_json(),
        "fault": None if fault is None else _fault(fault),
        **about,
    }
    certificate["sha256"] = digest(certificate)
    return certificate


def is_search_based(certificate: dict[str, Any]) -> bool:
    """Whether a lower bound in it is the word of a search, which cannot be re-checked."""
    return bool(certificate["lower"]) and certificate["lower"]["kind"] == "search"


def _objective(objective: Objective, cost: Bound, best: Bound) -> dict[str, Any]:
    ends = sorted({cost.lo, cost.hi, best.lo, best.hi})
    values = [[cost_as_json(end), cost_as_json(objective.value(end))] for end in ends]
    return {"name": objective.name, "values": values}


def _run(lab: Lab, run: Run) -> dict[str, Any]:
    written: dict[str, Any] = {"outcome": run.outcome, "actions": _names(run.actions)}
    if run.outcome in ("stuck", "illegal"):
        written["answer"] = None if run.answer is None else run.answer.name
    if run.outcome == "cut-off":
        written["rest"] = _evidence(lab.lower(run.states[-1]))
    return written


def _fault(fault: Fault) -> dict[str, Any]:
    return {
        "step": fault.step,
        "action": None if fault.action is None else fault.action.name,
        "schema": fault.schema,
        "better": None if not fault.witness else fault.witness[0].name,
        "witness": _names(fault.witness),
        "lower": _evidence(fault.lower),
    }


def _evidence(claim: Claim | None) -> dict[str, Any] | None:
    if claim is None:
        return None
    evidence = claim.evidence
    if isinstance(evidence, DeadEnd):
        return {"kind": "dead-end"}
    if isinstance(evidence, Exhausted):
        return {
            "kind": "search",
            "value": cost_as_json(claim.bound.lo),
            "search": evidence.search,
            "expanded": evidence.expanded,
        }
    if isinstance(evidence, Landmarks):
        landmarks = [{"share": share, "actions": _names(actions)} for actions, share in evidence.cuts]
        return {"kind": "landmarks", "value": cost_as_json(claim.bound.lo), "landmarks": landmarks}
    raise TypeError(f"a {type(evidence).__name__} is no evidence for a lower bound that a certificate knows")


def _names(actions: Sequence[Action]) -> list[str]:
    return [action.name for action in actions]
