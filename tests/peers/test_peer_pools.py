"""Verdicts on the peer's pools: exact costs are never contradicted, and exact oracles flag just the bugs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.peer_pools import compare

EXACT = "landmarks+planner:astar:lmcut,effort=3e8"


@pytest.mark.parametrize(
    ("pool", "bugs"),
    [
        ("asnets-satellite-pfile4", 31),
        ("asnets-transport-opt-p02", 13),
        ("asnets-visitall-opt11-problem06-half", 95),
    ],
)
def test_exact(data: Path, pool: str, bugs: int) -> None:
    found = compare(data / "peer-pools" / f"{pool}.peer.json", EXACT)
    assert found.contradictions() == []
    assert found.missing() == []
    assert found.found.bugs == bugs
    assert found.found.unknown == 0


@pytest.mark.parametrize(
    ("pool", "bugs"),
    [
        ("asnets-satellite-pfile4", 28),
        ("asnets-transport-opt-p02", 13),
        ("asnets-transport-opt-p04", 28),
        ("asnets-visitall-opt11-problem06-half", 62),
        ("gripper-prob05", 28),
    ],
)
def test_lookahead(data: Path, pool: str, bugs: int) -> None:
    """The peer's lookahead found as many."""
    found = compare(data / "peer-pools" / f"{pool}.peer.json", "lookahead:depth=2")
    assert found.contradictions() == []
    assert found.found.bugs >= bugs
