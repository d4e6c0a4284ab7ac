"""Batches of states: arrays are shared, not converted, and every value is checked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from misstep import InputError
from misstep import _core as core
from tests.unit.core_tasks import counter, delivery


def test_the_array_is_shared() -> None:
    task = delivery()
    array = np.array([[0, 0, 1, 1], [1, 2, 0, 0]], dtype=np.int32)
    batch = core.StateBatch(task, array)
    assert np.shares_memory(batch.values, array)
    array[0, 0] = 1
    assert batch[0].values == [1, 0, 1, 1]
    assert batch.values[0, 0] == 1


def test_a_batch_is_a_sequence() -> None:
    task = delivery()
    states = [task.initial_state, task.state_from_values([1, 2, 0, 0])]
    batch = task.batch(states)
    assert len(batch) == 2
    assert list(batch) == [batch[0], batch[1]] == states
    assert batch[-1] == states[1]
    assert batch.task is task
    assert batch.values.dtype == np.int32
    for index in (2, -3):
        with pytest.raises(IndexError):
            batch[index]
    assert len(task.batch([])) == 0
    assert task.batch([]).values.shape == (0, 4)


def test_a_batch_outlives_its_array_and_its_task() -> None:
    batch = core.StateBatch(delivery(), np.zeros((3, 4), dtype=np.int32))
    values = delivery().batch([delivery().initial_state]).values
    assert [s.values for s in batch] == [[0, 0, 0, 0]] * 3
    assert values.tolist() == [[0, 0, 1, 1]]


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 4), dtype=np.int64),
        np.zeros((2, 4), dtype=np.uint8),
        np.zeros((2, 4), dtype=np.float32),
        np.zeros(4, dtype=np.int32),
        np.zeros((1, 2, 4), dtype=np.int32),
        np.zeros((2, 8), dtype=np.int32)[:, ::2],
        np.zeros((4, 2), dtype=np.int32).T,
        [[0, 0, 0, 0]],
    ],
    ids=["int64", "uint8", "float", "1d", "3d", "strided", "transposed", "list"],
)
def test_other_arrays_are_refused_instead_of_copied(array: object) -> None:
    with pytest.raises(TypeError):
        core.StateBatch(delivery(), array)


def test_read_only_arrays_are_fine() -> None:
    array = np.zeros((1, 4), dtype=np.int32)
    array.flags.writeable = False
    assert core.StateBatch(delivery(), array)[0].values == [0, 0, 0, 0]


def test_the_wrong_number_of_columns_is_refused() -> None:
    with pytest.raises(InputError, match=r"5 columns.* 4"):
        core.StateBatch(delivery(), np.zeros((2, 5), dtype=np.int32))


@pytest.mark.parametrize("value", [-1, 3, 2**31 - 1, -(2**31)])
def test_values_outside_of_the_domain_are_refused_when_used(value: int) -> None:
    """Even when they were written after the batch was made."""
    task = delivery()
    array = np.zeros((2, 4), dtype=np.int32)
    batch = core.StateBatch(task, array)
    array[1, 1] = value
    uses: list[Callable[[], object]] = [
        lambda: core.Heuristic(task, "ff").evaluate(batch),
        lambda: core.Heuristic(task, "ff").pairwise(batch, batch),
        lambda: core.StateRegistry(task).insert_batch(batch),
        lambda: list(batch),
        lambda: batch[1],
    ]
    for use in uses:
        with pytest.raises(InputError, match=f"row 1.*{value}.*variable 1"):
            use()


def test_the_registry() -> None:
    task = counter(10)
    registry = core.StateRegistry(task)
    states = [s for _, s in task.successors(task.initial_state)]
    assert registry.insert_batch(task.batch(states)).dtype == np.uint32
    assert len(registry) == 10
    assert registry.insert(task.initial_state) == 10
    assert registry.find(states[3]) == 3
    assert registry.state(10) == task.initial_state
    assert list(registry.batch([3, 3, 0])) == [states[3], states[3], states[0]]
    assert registry.bytes > 0
    for wrong in (11, 2**31):
        with pytest.raises((InputError, IndexError)):
            registry.state(wrong)
        with pytest.raises((InputError, IndexError)):
            registry.batch([0, wrong])


def test_the_registry_grows() -> None:
    """Many more states than the table starts with."""
    task = counter(17)
    numbers = np.arange(2**17, dtype=np.int32)
    array = np.ascontiguousarray((numbers[:, None] >> np.arange(17, dtype=np.int32)) & 1)
    registry = core.StateRegistry(task)
    assert np.array_equal(registry.insert_batch(core.StateBatch(task, array)), numbers)
    assert np.array_equal(registry.insert_batch(core.StateBatch(task, array[::-1].copy())), numbers[::-1])
    assert np.array_equal(registry.batch(numbers.tolist()).values, array)
    assert registry.bytes / len(registry) < 100
