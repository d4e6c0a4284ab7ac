"""State, choice and transition counts against Storm's, which reads integer models only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from misstep._core import JaniModel
from misstep.bundled.models import generate

# (states, choices, transitions) as Storm counts them, without the loops that it adds to dead ends: kept for
# machines that have no Storm.
KNOWN = {
    "blocksworld.5": (1126, 3190, 5755),
    "cdrive.2": (55, 61, 136),
    "consensus.2": (272, 400, 492),
    "elevators.a-3-3": (1008, 4380, 4596),
    "ij.3": (7, 12, 21),
    "tireworld.17": (8670, 17316, 32854),
    "triangle-tireworld.9": (80, 96, 132),
}


def ours(text: str, constants: list[tuple[str, str]]) -> tuple[int, int, int, int]:
    states, _, choices, transitions, deadlocks = JaniModel.parse(text, "model", constants=constants).explore()
    return states, choices, transitions, deadlocks


def storms(path: Path) -> tuple[int, int, int]:
    stormpy = pytest.importorskip("stormpy", reason="Storm is not installed: pip install 'misstep[storm]'")
    program, _ = stormpy.parse_jani_model(str(path))
    model: Any = stormpy.build_model(program)
    return model.nr_states, model.nr_choices, model.nr_transitions


@pytest.mark.parametrize("name", KNOWN)
def test_counts_as_known(name: str, data: Path) -> None:
    text = (data / "jani" / "qcomp" / f"{name}.jani").read_text(encoding="utf-8-sig")
    constants = [("K", "2")] if name == "consensus.2" else []
    assert ours(text, constants)[:3] == KNOWN[name]


@pytest.mark.parametrize("name", KNOWN)
def test_counts_as_storm(name: str, data: Path, tmp_path: Path) -> None:
    document = json.loads((data / "jani" / "qcomp" / f"{name}.jani").read_text(encoding="utf-8-sig"))
    for constant in document.get("constants", []):
        constant.setdefault("value", 2)
    path = tmp_path / "model.jani"
    path.write_text(json.dumps(document), encoding="utf-8")
    states, choices, transitions, deadlocks = ours(json.dumps(document), [])
    assert (states, choices + deadlocks, transitions + deadlocks) == storms(path)


@pytest.mark.parametrize(
    "name", ["one_way_line", "two_way_line", "transport", "blocksworld", "npuzzle", "beluga"]
)
def test_our_benchmarks_as_storm(name: str, tmp_path: Path) -> None:
    document = {**generate(name), "properties": []}
    path = tmp_path / "model.jani"
    path.write_text(json.dumps(document), encoding="utf-8")
    states, choices, transitions, deadlocks = ours(json.dumps(document), [])
    assert (states, choices + deadlocks, transitions + deadlocks) == storms(path)
