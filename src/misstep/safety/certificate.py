"""Certificates: strategies, refutations and runs, written so that the trusted checker can read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from misstep._core import Decider, JaniGame
from misstep.reference.digest import digest
from misstep.reference.safety import FORMAT
from misstep.safety.analysis import Fault
from misstep.safety.model import SafetyTask


def make_certificate(
    task: SafetyTask,
    game: JaniGame,
    decider: Decider,
    *,
    radius: int | None,
    horizon: int | None = None,
    safe: Sequence[int] = (),
    not_safe: Sequence[int] = (),
    faults: Sequence[Fault] = (),
    trace: Sequence[int] = (),
) -> dict[str, Any]:
    """Evidence that some states are safe, some are not, and that a run of the policy is unsafe.

    States are written once, by name and value; everything else refers to their place in that list.
    """
    strategy: dict[int, tuple[int, int | None]] = {}
    for s in [*safe, *(fault.state for fault in faults)]:
        if s not in strategy:
            strategy |= {t: (value, label) for t, value, label in decider.strategy(s, radius)}
    lines: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for s in [*not_safe, *(fault.outcome for fault in faults)]:
        for t, budget, answers in decider.refutation(s, radius):
            lines.setdefault((t, budget), answers)
    table = _Table(task, game)
    decisions = {
        s: game.chosen(s) for s in [*strategy, *(t for t, _ in lines), *trace[:-1]] if not _is_leaf(game, s)
    }
    name = [*task.labels, None].__getitem__
    certificate = {
        "format": FORMAT,
        "kind": "safety",
        "verdict": "bug" if trace else "safe" if safe else "cleared",
        "radius": radius,
        "horizon": horizon,
        "constants": task.constants,
        "semantics": task.semantics.stated(),
        "unsafe": task.files.unsafe,
        "goal": task.files.goal,
        "decider": decider.algorithm,
        "safe": table.all(safe),
        "not_safe": table.all(not_safe),
        "trace": table.all(trace),
        "faults": [
            {
                "state": table.index(f.state),
                "action": name(f.action),
                "outcome": table.index(f.outcome),
                "alternative": name(f.alternative),
            }
            for f in faults
        ],
        "decisions": [
            [table.index(s), None if label is None else name(label)] for s, label in decisions.items()
        ],
        "strategy": [
            [table.index(s), value, None if label is None else name(label)]
            for s, (value, label) in strategy.items()
        ],
        "refutation": [
            [table.index(s), budget, [[name(label), table.index(t)] for label, t in answers]]
            for (s, budget), answers in lines.items()
        ],
        "states": table.rows,
    }
    certificate["sha256"] = digest(certificate)
    return certificate


def _is_leaf(game: JaniGame, s: int) -> bool:
    return game.is_unsafe(s) or game.is_goal(s)


class _Table:
    """The states of a certificate, each once."""

    def __init__(self, task: SafetyTask, game: JaniGame) -> None:
        self._task, self._game = task, game
        self._places: dict[int, int] = {}
        self.rows: list[dict[str, Any]] = []

    def index(self, s: int) -> int:
        if s not in self._places:
            self._places[s] = len(self.rows)
            self.rows.append({"values": self._task.state(self._game, s), "step": self._game.step(s)})
        return self._places[s]

    def all(self, states: Iterable[int]) -> list[int]:
        return [self.index(s) for s in states]
