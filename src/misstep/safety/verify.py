"""`misstep verify` for tests on JANI models: the shared evidence once, then every certificate."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from misstep.errors import InputError
from misstep.record.bound_files import changed_policy
from misstep.record.record import CONFIG, EVENTS, EVIDENCE, MODEL, Record
from misstep.record.verified import Verified, certificates, other_start, unfinished
from misstep.reference.checked import Checked, Refused
from misstep.reference.digest import digest
from misstep.reference.evidence import Evidence
from misstep.reference.log import checked_log
from misstep.reference.safety import check

DECISION = "decision.json"
"""The certificate of a decision that `misstep safety decide` wrote."""


def verify_model_record(record: Record, *, jobs: int = 1) -> Verified:
    """Checks every certificate of one record, without the native core and without the policy."""
    found = Verified()
    evidence, reason = _evidence(record)

    def checked(certificate: Any) -> Checked:
        if evidence is None:
            raise Refused(reason)
        return check(certificate, evidence)

    entries = found.check([*certificates(record), *_decision(record)], checked, jobs=jobs)
    environment = record.environment()
    if _sha256(record.store.read(MODEL) or "") != environment.get("model_sha256"):
        found.problems.append(f"{MODEL} is not the model that was tested: its digest is another")
    if evidence is None:
        found.problems.append(reason)
    else:
        if digest(evidence.question) != environment.get("question_sha256"):
            found.problems.append("the evidence answers another question than the one that was asked")
        found.problems += [evidence.damage] if evidence.damage else []
        found.problems += _of_the_options(evidence.question, record)
        found.questions += _question(evidence.question, record)
    try:
        found.problems += checked_log(record.store.lines(EVENTS), entries)
    except InputError as error:
        found.problems.append(str(error))
    found.problems += other_start(record)
    found.remarks += [*unfinished(record), *changed_policy(record)]
    return found


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _of_the_options(question: Mapping[str, Any], record: Record) -> Iterator[str]:
    """What the options ask for is what the evidence answers; None stands for what the model says."""
    for name in ("radius", "horizon"):
        asked = getattr(record.config(), name)
        if asked is not None and asked != question[name]:
            yield f"the evidence is about another {name} than {CONFIG}"


def _question(question: Mapping[str, Any], record: Record) -> Iterator[str]:
    """As people read it."""
    radius = "any number of" if question["radius"] is None else f"at most {question['radius']}"
    yield f"unsafe: {json.dumps(question['unsafe'])}"
    yield f"goal: {json.dumps(question['goal'])}"
    horizon = "no horizon" if question["horizon"] is None else f"horizon {question['horizon']}"
    yield f"strategies with {radius} deviations from the policy; {horizon}"
    yield f"constants: {json.dumps(question['constants'])}; semantics: {json.dumps(question['semantics'])}"
    chosen = {None: "as the policy's file says", True: "on", False: "off"}[record.config().filter]
    yield f"filter of applicable actions, by {CONFIG}: {chosen}"
    yield f"SHA-256 of the model: {record.environment().get('model_sha256')}"


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
