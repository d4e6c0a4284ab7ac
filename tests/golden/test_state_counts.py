"""Native and reference both see the recorded number of distinct states at every depth."""

from __future__ import annotations

import json

import pytest

from misstep import _core as core
from misstep.reference import fdr
from tests.golden.counts import GOLDEN, counts_of, sas_of
from tests.taskset import PddlTask, own_tasks

COUNTS: dict[str, list[int]] = json.loads(GOLDEN.read_text())


def test_every_task_is_recorded() -> None:
    assert list(COUNTS) == [task.name for task in own_tasks()]


@pytest.mark.parametrize("task", own_tasks(), ids=lambda t: t.name)
def test_counts(task: PddlTask) -> None:
    expected = COUNTS[task.name]
    sas = sas_of(task)
    assert core.count_states(core.Task(sas), len(expected) - 1) == expected
    assert counts_of(fdr.parse(sas)) == expected
