"""Certificates of safety tests: a state that is a bug, or is cleared, or is safe, on a JANI model.

A certificate is small: it makes a claim about one state and names the evidence (`misstep.reference.evidence`)
that proves it, which all certificates of a test share.
"""

import json
from typing import Any

from misstep.reference.checked import Checked, need, refusing
from misstep.reference.digest import check_digest, check_kind
from misstep.reference.evidence import FORMAT, QUESTION, Evidence, Place
from misstep.reference.reading import record, text, whole

CLAIM = ("verdict", "state", "step", "run", "fault", "evidence")
"""The fields that the claim consists of. Each of them is checked as a whole."""

ORIGIN = ("id", "task", "policy", "oracle", "seed", "replay")
"""The fields that say where the certificate comes from. Nothing is concluded from them."""

POLICY_WORD = "policy: it decides as the evidence says (`misstep replay` asks it)"


def check(certificate: object, evidence: Evidence) -> Checked:
    """Accept a certificate iff the evidence proves its verdict; what was proven, and on whose word.

    The claim of a bug is: from this state a run of the policy reaches an unsafe state, and a strategy within
    the radius avoids all unsafe states. The claim of a clearance is: no strategy within the radius avoids
    them. `safe` answers a question about the state alone: a strategy within the radius avoids them. Refused
    is raised for everything else, garbage included.
    """
    with refusing("the certificate"):
        parts = _opened(certificate, evidence)
        state = evidence.place(parts["state"], parts["step"])
        verdict = text(parts["verdict"], "the verdict")
        if verdict in ("bug", "safe"):
            _check_safe(state, evidence)
        else:
            need(verdict == "cleared", f"this is no verdict that can be proven: {verdict[:60]}")
            _check_lost(state, evidence, "the state")
        need(parts["run"] is not None or verdict != "bug", "a bug needs an unsafe run")
        need(parts["run"] is None or verdict != "safe", "that a state is safe does not need a run")
        if parts["run"] is not None:
            _check_run(parts["run"], state, evidence)
        if parts["fault"] is not None:
            need(verdict == "bug", "only a bug has a decision at fault")
            _check_fault(parts["fault"], state, evidence)
        asked = parts["run"] is not None or evidence.radius is not None
        return Checked(verdict, rests_on_search=False, words=(POLICY_WORD,) if asked else ())


def _opened(certificate: object, evidence: Evidence) -> dict[str, Any]:
    """The fields of a certificate of this kind and format, about the question that the evidence answers."""
    if isinstance(certificate, dict):
        check_kind(certificate, "safety", FORMAT)
    fields = ("format", "kind", "sha256", *QUESTION, *CLAIM)
    parts = record(certificate, "the certificate", fields, optional=ORIGIN)
    check_digest(parts)
    for name in QUESTION:
        need(_same(parts[name], evidence.question[name]), f"the evidence is about another {name}")
    known = text(parts["evidence"], "the digest of the evidence") in evidence.digests
    damage = f" ({evidence.damage})" if evidence.damage else ""
    need(known, f"the evidence that the certificate names is not there{damage}")
    return parts


def _same(one: object, other: object) -> bool:
    """Whether two JSON values are the same; in Python 1, 1.0 and true are equal, as JSON they are not."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _check_safe(state: Place, evidence: Evidence) -> None:
    """Refuse unless the proven strategy covers the state with a number of deviations within the radius."""
    table = evidence.strategy()
    need(state in table, "a state that should be safe is not covered by the strategy")
    within = evidence.radius is None or table[state].value <= evidence.radius
    need(within, "a state needs more deviations than the radius allows")


def _check_lost(state: Place, evidence: Evidence, what: str) -> None:
    """Refuse unless the state is unsafe, or the proven refutation covers it with the whole radius."""
    if not evidence.game.is_unsafe(state):
        lost = evidence.refuted().get(state, -1) >= (evidence.radius or 0)
        need(lost, f"{what} should not be safe, but is not refuted")


def _check_run(run: object, state: Place, evidence: Evidence) -> None:
    """Refuse unless the policy is proven to reach an unsafe state from here in so many steps."""
    parts = record(run, "the run", ("outcome", "steps"))
    need(parts["outcome"] == "unsafe", "a run that proves something is unsafe")
    steps = evidence.runs()
    need(state in steps, "no run from the state to an unsafe state is proven")
    need(whole(parts["steps"], "the steps of the run") == steps[state], "the run has another length")


def _check_fault(fault: object, state: Place, evidence: Evidence) -> None:
    """Refuse unless the policy's action in the state may lead to a lost outcome, and the strategy's does not.

    The state is safe, as a bug claims, and the outcome is lost within the radius. So the action leaves the
    safe states; the alternative is what the proven strategy does, so it does not.
    """
    parts = record(fault, "the fault", ("action", "outcome", "step", "alternative"))
    action = text(parts["action"], "the action of a fault")
    need(evidence.decision(state) == action, "the action of the fault is not the policy's")
    outcome = evidence.place(parts["outcome"], parts["step"])
    need(outcome in evidence.game.outcomes(state, action), "the fault names what is no outcome")
    _check_lost(outcome, evidence, "the outcome of the fault")
    chosen = evidence.strategy()[state].action
    need(
        chosen is not None and chosen == parts["alternative"],
        "the alternative of the fault is not what the strategy does",
    )
