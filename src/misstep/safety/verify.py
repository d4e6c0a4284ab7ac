"""`misstep verify` for tests on JANI models: the shared evidence once, then every certificate."""

import json
from typing import Any

from misstep.errors import InputError
from misstep.record.record import EVIDENCE, MODEL, Record
from misstep.record.verified import Verified, certificates
from misstep.reference.checked import Refused
from misstep.reference.evidence import Evidence
from misstep.reference.safety import check

DECISION = "decision.json"
"""The certificate of a decision that `misstep safety decide` wrote."""


def verify_model_record(record: Record) -> Verified:
    """Checks every certificate of one record, without the native core and without the policy."""
    found = Verified()
    evidence, reason = _evidence(record)
    for name, verdict, certificate in [*certificates(record), *_decision(record)]:
        try:
            if evidence is None:
                raise Refused(reason)
            checked = check(certificate, evidence)
            if verdict is not None and checked.verdict != verdict:
                raise Refused(f"it does not say that the state is {verdict}")
        except Refused as error:
            found.invalid.append({"certificate": name, "reason": str(error)})
        else:
            found.add(checked)
    return found


def _evidence(record: Record) -> tuple[Evidence | None, str]:
    """The evidence, or the reason why there is none that can be read."""
    text = record.store.read(MODEL)
    try:
        model = json.loads("null" if text is None else text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{record.where}/{MODEL}: the model cannot be read: {error}") from None
    try:
        return Evidence(record.store.lines(EVIDENCE), model), ""
    except (Refused, InputError) as error:
        return None, str(error)


def _decision(record: Record) -> list[tuple[str, None, Any]]:
    text = record.store.read(DECISION)
    if text is None:
        return []
    try:
        return [("decision", None, json.loads(text))]
    except (ValueError, RecursionError):
        return [("decision", None, None)]
