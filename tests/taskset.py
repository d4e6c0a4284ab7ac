"""The PDDL tasks that tests run on: our own, and real ones where they are present."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.data import data_folder
from tests.sas import kept

OWN = Path(__file__).parent / "tasks"
# Real tasks that every search used in tests solves within about a second, by folder under the data folder.
_SHARED = {
    "asnets/elevators/problems": ("opt08-p01",),
    "asnets/gripper/problems": ("problem03", "problem04"),
    "asnets/matching-blocksworld/problems": ("mbw-b08-t2-s1296",),
    "asnets/satellite/problems": ("pfile3", "pfile4"),
    "asnets/scanalyzer/problems": ("p11-opt-p02",),
    "asnets/transport/problems": ("opt-p01",),
    "asnets/visitall/problems": ("opt11-problem03-half", "opt11-problem03-full"),
    "gnn/blocks/problems": ("probBLOCKS-5-2",),
    "gnn/delivery/problems": ("instance_3_2_0", "instance_3_3_1"),
    "gnn/gripper/problems": ("prob01",),
    "gnn/miconic/problems": ("s1-0",),
    "gnn/visitall/problems": ("problem03-full",),
    "ipc23-learning/blocksworld/training/easy": ("p07", "p31"),
    "ipc23-learning/childsnack/training/easy": ("p09",),
    "ipc23-learning/ferry/training/easy": ("p06", "p30"),
    "ipc23-learning/floortile/training/easy": ("p07", "p08"),
    "ipc23-learning/miconic/training/easy": ("p12", "p30"),
    "ipc23-learning/rovers/training/easy": ("p08", "p31"),
    "ipc23-learning/satellite/training/easy": ("p05", "p34"),
    "ipc23-learning/sokoban/training/easy": ("p23", "p43"),
    "ipc23-learning/spanner/training/easy": ("p08", "p47"),
    "ipc23-learning/transport/training/easy": ("p05",),
}


@dataclass(frozen=True)
class PddlTask:
    """A domain and a problem file."""

    domain: Path
    problem: Path

    @property
    def name(self) -> str:
        folder = self.domain.parent
        place = folder.name if self.is_own else f"{folder.parent.name}/{folder.name}"
        return f"{place}/{self.problem.stem}"

    @property
    def is_own(self) -> bool:
        return OWN in self.domain.parents

    def sas(self, *flags: str) -> str:
        """What the translator makes of the files themselves."""
        command = [sys.executable, "-m", "fast_downward.translate", self.domain, self.problem]

        def translated() -> str:
            with TemporaryDirectory() as folder:
                path = Path(folder) / "task.sas"
                subprocess.run(
                    [*command, "--sas-file", path, *flags], check=True, capture_output=True, timeout=120
                )
                return path.read_text()

        return kept((self.domain.read_bytes(), self.problem.read_bytes(), *flags), translated)


def own_tasks() -> list[PddlTask]:
    """The tasks in tests/tasks, by domain and number."""
    return [PddlTask(path.parent / "domain.pddl", path) for path in sorted(OWN.glob("*/p*.pddl"))]


def shared_tasks() -> list[PddlTask]:
    """A selection of real tasks; empty where they are absent."""
    root = data_folder()
    if root is None:
        return []
    found = [root / folder / f"{name}.pddl" for folder, names in _SHARED.items() for name in names]
    return [PddlTask(_domain_of(path), path) for path in found]


def sampled(tasks: list[PddlTask], *, most: int = 40) -> list[PddlTask]:
    """Some for the peers, which take their time: of every folder as many, in an order by digest.

    With MISSTEP_PEER_TASKS=all (for a night) the peers get all of them.
    """
    if os.environ.get("MISSTEP_PEER_TASKS") == "all":
        return tasks
    seen = Counter[Path]()
    order = list[tuple[int, str, PddlTask]]()
    for task in sorted(tasks, key=_digest):
        order.append((seen[task.domain], _digest(task), task))
        seen[task.domain] += 1
    chosen = {task for *_, task in sorted(order, key=lambda each: each[:2])[:most]}
    return [task for task in tasks if task in chosen]


def _digest(task: PddlTask) -> str:
    return hashlib.sha256(task.name.encode()).hexdigest()


def _domain_of(problem: Path) -> Path:
    return next(folder / "domain.pddl" for folder in problem.parents if (folder / "domain.pddl").exists())
