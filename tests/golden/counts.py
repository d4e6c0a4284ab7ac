"""Counts of distinct states at depth k of our own tasks; `python -m tests.golden.counts` records them."""

from __future__ import annotations

import json
from pathlib import Path

from misstep.reference import fdr
from tests.taskset import PddlTask, own_tasks

GOLDEN = Path(__file__).parent / "state_counts.json"
MAX_STATES = 1500


def sas_of(task: PddlTask) -> str:
    """With irrelevant variables, so that the counts belong to the PDDL task and not to a translator."""
    return task.sas("--keep-unimportant-variables")


def counts_of(task: fdr.Task) -> list[int]:
    """Whole layers until more than MAX_STATES states were seen or none are left."""
    seen = {task.initial}
    layer = [task.initial]
    counts = []
    while layer and len(seen) <= MAX_STATES:
        counts.append(len(layer))
        layer = list(dict.fromkeys(s for state in layer for _, s in task.successors(state) if s not in seen))
        seen.update(layer)
    return counts


def write() -> None:
    counts = {task.name: counts_of(fdr.parse(sas_of(task))) for task in own_tasks()}
    lines = [f"  {json.dumps(name)}: {json.dumps(numbers)}" for name, numbers in counts.items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    write()
