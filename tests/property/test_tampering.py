"""Every single edit of a certificate is refused or, with a new digest, states something true."""

from __future__ import annotations

from typing import Any

import pytest

from misstep.reference.certificate import check
from misstep.reference.checked import Refused
from misstep.reference.digest import digest
from misstep.reference.safety import check_certificate
from tests.property.tampering import edits
from tests.property.truth import check_truth
from tests.unit import reference_model, reference_tasks
from tests.unit.reference_model import LABELS, MODEL, UNSAFE, moves
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


@pytest.mark.parametrize("certificate", SAFETY)
def test_safety_certificates(certificate: dict[str, Any]) -> None:
    check_safety(certificate)
    refused = accepted = 0
    for damaged in edits(certificate, LABELS):
        with pytest.raises(Refused):
            check_certificate(damaged, MODEL)  # the digest
        damaged["sha256"] = digest(damaged)
        try:
            check_certificate(damaged, MODEL)
        except Refused:
            refused += 1
            continue
        accepted += 1
        if damaged["unsafe"] in (UNSAFE, True, False) and damaged["goal"] in (None, False):
            check_safety(damaged)
    assert refused > 500 and accepted > 10


def safe_places(certificate: dict[str, Any]) -> dict[tuple[int, int], int]:
    """How many deviations each state needs at least, by the definition; 9 where it is lost."""
    counted, horizon = certificate["radius"] is not None, certificate["horizon"]
    decided = {place(certificate, i): action for i, action in certificate["decisions"]}
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


def place(certificate: dict[str, Any], index: int) -> tuple[int, int]:
    written = certificate["states"][index]
    return written["values"]["x"], written["step"]


def check_safety(certificate: dict[str, Any]) -> None:
    value, radius = safe_places(certificate), certificate["radius"] or 0
    places = [place(certificate, i) for i in range(len(certificate["states"]))]
    for i in [*certificate["safe"], *(fault["state"] for fault in certificate["faults"])]:
        assert value[places[i]] <= radius
    for i in [*certificate["not_safe"], *(fault["outcome"] for fault in certificate["faults"])]:
        assert value[places[i]] > radius
    decided = {places[i]: action for i, action in certificate["decisions"]}
    for here, after in zip(certificate["trace"], certificate["trace"][1:], strict=False):
        assert places[after][0] in moves(places[here][0])[decided[places[here]]]
    if certificate["verdict"] == "bug":
        assert is_unsafe(certificate, places[certificate["trace"][-1]][0])
        assert certificate["safe"] or certificate["faults"]
