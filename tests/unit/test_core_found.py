"""What other tests have found, in its smallest form."""

from __future__ import annotations

import gc
import weakref

import misstep
from misstep.reference import fdr
from misstep.testing.random_tasks import to_sas
from tests.unit.core_tasks import DELIVERY


def test_a_batch_of_states_without_variables() -> None:
    action = fdr.Action("(wait)", {}, {}, 3)
    task = misstep.Task(to_sas(fdr.Task(facts=(), initial=(), goal={}, actions=(action,))))
    batch = task.batch([task.initial_state, task.initial_state])
    assert len(batch) == 2
    assert misstep.Heuristic(task, "hmax").evaluate(batch).tolist() == [0, 0]


def test_a_task_that_keeps_one_of_its_states_is_collected() -> None:
    task = misstep.Task(to_sas(DELIVERY))
    task.kept = task.initial_state  # type: ignore[attr-defined]
    gone = weakref.ref(task)
    del task
    gc.collect()
    assert gone() is None
