"""What is measured: a generated task per domain, too large for most searches to finish in the time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import misstep
from misstep.generators import problems as g
from misstep.generators import problems_typed as t

_ROOT = Path(__file__).parents[1]
_CACHE = _ROOT / "build" / "bench"


@dataclass(frozen=True)
class BenchTask:
    """A domain of tests/tasks with a generated problem."""

    domain: str
    size: str
    problem: str

    @property
    def name(self) -> str:
        return f"{self.domain} {self.size}"

    def sas(self) -> Path:
        """The translated task, kept between runs."""
        domain = _ROOT / "tests" / "tasks" / self.domain / "domain.pddl"
        key = hashlib.sha256(domain.read_bytes() + self.problem.encode()).hexdigest()[:16]
        path = _CACHE / f"{self.domain}-{key}.sas"
        if not path.exists():
            _CACHE.mkdir(parents=True, exist_ok=True)
            problem = path.with_suffix(".pddl")
            problem.write_text(self.problem)
            path.write_text(misstep.load(domain, problem).sas)
        return path


def optimal_tasks() -> list[BenchTask]:
    """For A*: state spaces of millions of states, plans that LM-cut does not find at once."""
    return [
        BenchTask("blocks", "11", g.blocks(11, 1)),
        BenchTask("childsnack", "5", t.childsnack(5, 2, 2, 2, 1)),
        BenchTask("elevators", "8-6", t.elevators(8, 6, 1, 2, 1)),
        BenchTask("ferry", "6-10", g.ferry(6, 10, 1)),
        BenchTask("floortile", "4x3", t.floortile(4, 3, 2, 1)),
        BenchTask("gripper", "14", g.gripper(14)),
        BenchTask("hanoi", "13", g.hanoi(13)),
        BenchTask("logistics", "4-8", g.logistics(4, 2, 8, 1, 1)),
        BenchTask("miconic", "20-16", g.miconic(20, 16, 1)),
        BenchTask("npuzzle", "4x3", g.npuzzle(4, 3, 1)),
        BenchTask("satellite", "3-12", t.satellite(3, 6, 3, 8, 12, 1)),
        BenchTask("transport", "8-6", t.transport(8, 3, 6, 1)),
        BenchTask("visitall", "8x8", g.visitall(8, 8, 3, share=0.5, holes=14)),
    ]


def greedy_tasks() -> list[BenchTask]:
    """For greedy search with h^FF: hundreds to thousands of actions."""
    return [
        BenchTask("blocks", "20", g.blocks(20, 1)),
        BenchTask("childsnack", "9", t.childsnack(9, 4, 3, 3, 2)),
        BenchTask("elevators", "12-12", t.elevators(12, 12, 2, 2, 1)),
        BenchTask("ferry", "30-60", g.ferry(30, 60, 1)),
        BenchTask("floortile", "5x5", t.floortile(5, 5, 2, 1)),
        BenchTask("gripper", "60", g.gripper(60)),
        BenchTask("hanoi", "12", g.hanoi(12)),
        BenchTask("logistics", "6-20", g.logistics(6, 4, 20, 2, 1)),
        BenchTask("miconic", "60-60", g.miconic(60, 60, 1)),
        BenchTask("npuzzle", "6x6", g.npuzzle(6, 6, 1)),
        BenchTask("satellite", "10-40", t.satellite(10, 20, 5, 25, 40, 2)),
        BenchTask("transport", "20-12", t.transport(20, 3, 12, 1)),
        BenchTask("visitall", "18x18", g.visitall(18, 18, 1)),
    ]
