"""Certificates of classical tests: what proves a bug or clears a state, as the trusted checker reads it.

docs/certificates.md says field by field what they hold and what each proves.
"""

from typing import Any

from misstep._core import State
from misstep.claim import Plan, names, rests_on_search
from misstep.explain.fault import Fault
from misstep.judge import Judgement, Objective, Verdict
from misstep.lab import Known, Lab
from misstep.oracle import Case
from misstep.proof import ProofLog, Surrounded
from misstep.reference.certificate import FORMAT
from misstep.reference.digest import digest
from misstep.support.plain import to_plain


def make_certificate(
    lab: Lab,
    case: Case,
    judgement: Judgement,
    known: Known[State],
    *,
    objective: Objective,
    proofs: ProofLog,
    fault: Fault | None = None,
    reason: str | None = None,
    **about: object,
) -> tuple[dict[str, Any], bool]:
    """The certificate of a verdict, and whether it rests on the word of a search.

    `known` is what is known of the case's state; `about` says where the certificate comes from (policy, seed,
    replay command, ...); `proofs` is given what the certificate refers to and others may share; `reason`
    says why an answer of the policy was no decision, where the run ended with one.
    """
    entry, run, evidence = case.entry, case.run, known.upper.evidence if known.upper is not None else None
    rest = lab.lower(run.states[-1]) if run.outcome == "cut-off" else None
    # Small values are made plain together; plans and landmarks are texts already.
    ends = to_plain({"cost": case.cost, "best": known.bound, "gap": judgement.gap})
    values = to_plain(sorted(set(judgement.values)))
    written: dict[str, Any] = {"outcome": run.outcome, "actions": names(run.actions)}
    if run.outcome in ("stuck", "illegal"):
        written["answer"] = None if run.answer is None else run.answer.name
    if reason is not None:
        written["reason"] = reason
    if run.outcome == "cut-off":
        written["rest"] = None if rest is None else rest.evidence.as_json(rest.bound)
    for claim in (known.lower, rest, None if fault is None else fault.lower):
        if claim is not None and isinstance(claim.evidence, Surrounded):
            proofs.keep(claim.evidence)
    in_pool = lab.entries.get(entry.id)
    pool = None  # a shrunk bug is of no pool, even where its state is that of some entry
    is_entry = about.get("id", str(entry.id)) == str(entry.id)
    if is_entry and in_pool is not None and in_pool.state == case.state:
        pool = {"id": entry.id, "parent": entry.parent, "walk": names(entry.walk)}
    witness = names(evidence.actions) if isinstance(evidence, Plan) else None
    lower = None if known.lower is None else known.lower.evidence.as_json(known.lower.bound)
    decisive = known.lower if judgement.verdict is Verdict.CLEARED else rest
    by_search = rests_on_search(decisive) or (fault is not None and fault.rests_on_search)
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "kind": "classical",
        "verdict": str(judgement.verdict),
        "objective": {"name": objective.name, "values": values},
        "pool": pool,
        "state": case.state.facts,
        "run": written,
        "witness": witness,
        "witness_oracle": None if known.upper is None else known.upper.oracle,
        "lower": lower,
        "fault": None if fault is None else fault.as_json(),
        **ends,
        **about,
    }
    certificate["sha256"] = digest(certificate)
    return certificate, by_search
