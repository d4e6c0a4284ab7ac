"""Orders and tests of reproductions, as unit tests need them."""

from collections.abc import Sequence
from pathlib import Path

from misstep.bound import NEVER, Bound
from misstep.config import Config
from misstep.events import Finished, Judged
from misstep.experiments.reproduce.order import Order
from misstep.experiments.reproduce.stages import Cell, Found
from misstep.judge import Verdict


def order(out: Path, **changes: object) -> Order:
    options: dict[str, object] = {"name": "biases", "seconds": 60.0, "out": out, "data": None, "jobs": 1}
    return Order(**{**options, **changes})


def found(row: str, task: str, column: str, verdicts: Sequence[str], *, cut: bool = False) -> Found:
    """A test whose states are `b`ugs (quantitative), `q`ualitative bugs, `c`leared, or `u`nknown."""
    kinds = {
        "b": (Verdict.BUG, "solved", Bound(5, 5)),
        "q": (Verdict.BUG, "loop", NEVER),
        "c": (Verdict.CLEARED, "solved", Bound(5, 5)),
        "u": (Verdict.UNKNOWN, "solved", Bound(5, 5)),
    }
    judged = {}
    for id, letter in enumerate(verdicts):
        if letter == " ":
            continue
        verdict, outcome, cost = kinds[letter]
        judged[id] = Judged(
            id=id,
            verdict=verdict,
            outcome=outcome,
            cost=cost,
            best=Bound(1, 5),
            gap=Bound(0, 4),
            oracle=None,
            steps=1,
        )
    cell = Cell(row, task, column, "policy", Config(domain=Path("domain.pddl"), seed=len(verdicts)))
    return Found(cell, Path("record"), judged, Finished(limits_hit=("seconds",) if cut else ()))
