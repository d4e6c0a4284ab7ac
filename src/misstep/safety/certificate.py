"""Certificates of safety tests: a claim about one state; what proves it is in the evidence of the test."""

from typing import Any

from misstep._core import JaniGame
from misstep.record.record import FORMAT
from misstep.reference.digest import digest
from misstep.safety.evidence import Book
from misstep.safety.lab import Fault
from misstep.safety.model import SafetyTask


def make_certificate(
    book: Book,
    task: SafetyTask,
    game: JaniGame,
    s: int,
    /,
    *,
    verdict: str,
    fault: Fault | None = None,
    **about: object,
) -> dict[str, Any]:
    """The certificate of a state; `about` says where it comes from.

    `verdict` is `bug`, `cleared` or, where nobody asked about a policy, `safe`. The evidence must be in the
    book, and its last block made.
    """
    steps = book.steps.get(s)
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "kind": "safety",
        "verdict": verdict,
        "state": task.state(game, s),
        "step": game.step(s),
        "run": None if steps is None else {"outcome": "unsafe", "steps": steps},
        "fault": None if fault is None else _fault(task, game, fault),
        **book.question,
        "evidence": book.digest,
        **about,
    }
    certificate["sha256"] = digest(certificate)
    return certificate


def _fault(task: SafetyTask, game: JaniGame, fault: Fault) -> dict[str, Any]:
    return {
        "action": task.labels[fault.action],
        "outcome": task.state(game, fault.outcome),
        "step": game.step(fault.outcome),
        "alternative": task.labels[fault.alternative],
    }
