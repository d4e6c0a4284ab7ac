"""Every single edit of a certificate is refused or, with a new digest, states something true."""

from __future__ import annotations

from typing import Any

import pytest

from misstep.reference.certificate import check
from misstep.reference.checked import Refused
from misstep.reference.digest import digest
from tests.property.tampering import edits
from tests.property.truth import check_truth
from tests.unit import reference_model, reference_tasks
from tests.unit.reference_model import LABELS, UNSAFE, Proof, check_proof, moves, resigned
from tests.unit.reference_tasks import CLEAR, NAMES

CLASSICAL = [reference_tasks.BUG, reference_tasks.CLEARED, reference_tasks.LOOP]
SAFETY = [reference_model.BUG, reference_model.CLEARED, reference_model.NEAR, reference_model.SOON]


@pytest.mark.parametrize("certificate", CLASSICAL)
def test_classical_certificates(certificate: dict[str, Any]) -> None:
    check_truth(CLEAR, certificate)
    refused = accepted = 0
    for damaged in edits(certificate, NAMES):
        with pytest.raises(Refused):
            check(damaged, CLEAR)  # the digest
        damaged["sha256"] = digest(damaged)
        try:
            check(damaged, CLEAR)
        except Refused:
            refused += 1
        else:
            accepted += 1
            check_truth(CLEAR, damaged)
    assert refused > 1000 and accepted > 100  # accepted are other origins and weaker bounds


@pytest.mark.parametrize("proof", SAFETY)
def test_safety_certificates(proof: Proof) -> None:
    check_safety(proof)
    refused = accepted = 0
    for damaged in edits(proof, LABELS):
        if not isinstance(damaged.get("evidence"), list) or "certificate" not in damaged:
            continue
        if {**damaged, "evidence": damaged["evidence"][:2]} != proof:  # more lines than are named are ignored
            with pytest.raises(Refused):
                check_proof(damaged)  # the digests
        damaged = resigned(damaged)
        try:
            check_proof(damaged)
        except Refused:
            refused += 1
            continue
        accepted += 1
        certificate = damaged["certificate"]
        if certificate["unsafe"] in (UNSAFE, True, False) and certificate["goal"] in (None, False):
            check_safety(damaged)
    assert refused > 500 and accepted > 10


Place = tuple[int, int]


def places(proof: Proof) -> list[Place]:
    """The states of the evidence, with their steps."""
    counted = proof["certificate"]["horizon"] is not None
    return [(row[0], row[1] if counted else 0) for row in lines_of(proof, "states")]


def lines_of(proof: Proof, name: str) -> list[Any]:
    blocks = [block for block in proof["evidence"][1:] if isinstance(block, dict)]
    return [line for block in blocks for line in block[name]]


def deviations_needed(proof: Proof) -> dict[Place, int]:
    """How many deviations each state needs at least, by the definition; 9 where it is lost."""
    certificate = proof["certificate"]
    counted, horizon = certificate["radius"] is not None, certificate["horizon"]
    known = places(proof)
    decided = {known[i]: action for i, action in lines_of(proof, "decisions")}
    last = 0 if horizon is None else horizon + 5
    value = {(x, step): 9 * is_unsafe(certificate, x) for x in range(4) for step in range(last + 1)}
    for _ in range(100):
        for x, step in value:
            over = is_unsafe(certificate, x) or not moves(x) or (horizon is not None and step >= horizon)
            if not over:
                later = step + (horizon is not None)
                value[x, step] = min(
                    min(
                        9,
                        int(counted and label != decided.get((x, step), "go"))
                        + max(value[t, later] for t in ts),
                    )
                    for label, ts in moves(x).items()
                )
    return value


def is_unsafe(certificate: dict[str, Any], x: int) -> bool:
    return x == 3 if certificate["unsafe"] == UNSAFE else bool(certificate["unsafe"])


def check_safety(proof: Proof) -> None:
    """What the certificate claims, by brute force."""
    certificate, value = proof["certificate"], deviations_needed(proof)
    radius, here = certificate["radius"] or 0, (certificate["state"]["x"], certificate["step"])
    assert (value[here] > radius) == (certificate["verdict"] == "cleared")
    if (fault := certificate["fault"]) is not None:
        assert certificate["verdict"] == "bug"
        assert value[fault["outcome"]["x"], fault["step"]] > radius
        assert fault["outcome"]["x"] in moves(here[0])[fault["action"]]
        later = here[1] + (certificate["horizon"] is not None)
        assert all(value[t, later] <= value[here] for t in moves(here[0])[fault["alternative"]])
    if certificate["verdict"] == "bug" or certificate["run"] is not None:
        assert reaches_unsafe(proof, here, certificate["run"]["steps"])


def reaches_unsafe(proof: Proof, here: Place, steps: int) -> bool:
    """Whether the policy, as far as its decisions are stated, can be unsafe after exactly so many steps."""
    certificate, known = proof["certificate"], places(proof)
    decided = {known[i]: action for i, action in lines_of(proof, "decisions")}
    later = int(certificate["horizon"] is not None)
    layer = {here}
    for _ in range(steps):
        going = {s for s in layer if s in decided and not is_unsafe(certificate, s[0])}
        layer = {(t, s[1] + later) for s in going for t in moves(s[0]).get(decided[s] or "", ())}
    return any(is_unsafe(certificate, x) for x, _ in layer)
