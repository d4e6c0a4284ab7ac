"""Heuristics of the native core on a task small enough to work out by hand."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from misstep import InputError
from misstep import _core as core
from tests.unit.core_tasks import counter, delivery


@pytest.mark.parametrize(("name", "value"), [("blind", 0), ("hmax", 3), ("hadd", 4), ("ff", 4), ("lmcut", 4)])
def test_values_worked_out_by_hand(name: str, value: int) -> None:
    """drive 3 and load 1 are independent, unload is free."""
    task = delivery()
    h = core.Heuristic(task, name)
    assert h.name == name
    assert h(task.initial_state) == value
    assert h(task.state(["(at lorry b)", "(at parcel b)"])) == 0
    dead = task.state(["(broken lorry)", "(at lorry a)", "(at parcel a)"])
    assert h(dead) == (0 if name == "blind" else math.inf)
    assert isinstance(h(task.initial_state), float)


def test_only_some_are_admissible() -> None:
    task = delivery()
    admissible = [
        n for n in ("blind", "hmax", "hadd", "ff", "lmcut") if core.Heuristic(task, n).is_admissible
    ]
    assert admissible == ["blind", "hmax", "lmcut"]


def test_relaxed_plan_and_landmarks() -> None:
    task = delivery()
    plan = core.Heuristic(task, "ff").relaxed_plan(task.initial_state)
    assert plan is not None
    assert sorted(map(str, plan)) == ["(drive lorry a b)", "(load parcel a)", "(unload parcel b)"]
    landmarks = core.Heuristic(task, "lmcut").landmarks(task.initial_state)
    assert landmarks is not None
    assert sorted((sorted(map(str, actions)), cost) for actions, cost in landmarks) == [
        (["(drive lorry a b)"], 3),
        (["(load parcel a)"], 1),
    ]
    broken = task.state(["(broken lorry)", "(at lorry a)", "(at parcel a)"])
    assert core.Heuristic(task, "ff").relaxed_plan(broken) is None
    assert core.Heuristic(task, "lmcut").landmarks(broken) is None


def test_estimates_between_states() -> None:
    task = delivery()
    there = task.state(["(at lorry b)", "(at parcel a)"])
    for name in ("hmax", "hadd", "ff"):
        h = core.Heuristic(task, name)
        assert h.to(task.initial_state, there) == 3
        assert h.to(there, task.initial_state) == 2
        assert h.to(there, there) == 0
        assert h.to(task.state(["(lit)", "(at lorry b)", "(at parcel a)"]), there) == math.inf
        both = task.batch([task.initial_state, there])
        assert h.pairwise(both, both).tolist() == [[0, 3], [2, 0]]
        assert h.pairwise(both, task.batch([])).shape == (2, 0)
        assert h.pairwise(task.batch([]), both).shape == (0, 2)
    for name in ("lmcut", "blind"):
        with pytest.raises(InputError, match=name):
            core.Heuristic(task, name).to(there, there)
        with pytest.raises(InputError, match=name):
            core.Heuristic(task, name).pairwise(both, both)


def test_what_a_heuristic_does_not_have_is_refused() -> None:
    task = delivery()
    with pytest.raises(InputError, match="hff"):
        core.Heuristic(task, "hff")
    with pytest.raises(InputError, match="hmax"):
        core.Heuristic(task, "hmax").relaxed_plan(task.initial_state)
    with pytest.raises(InputError, match="ff"):
        core.Heuristic(task, "ff").landmarks(task.initial_state)


@pytest.mark.parametrize("name", ["hmax", "hadd", "ff", "lmcut"])
def test_one_heuristic_serves_many_threads(name: str) -> None:
    """Scratch memory is not shared while another thread works with it."""
    task = counter(12)
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, size=(3000, 12), dtype=np.int32)
    batch = core.StateBatch(task, values)
    h = core.Heuristic(task, name)
    expected = 12 - values.sum(axis=1)
    if name == "hmax":
        expected = np.minimum(expected, 1)
    wrong: list[int] = []

    def work() -> None:
        for _ in range(5):
            wrong.append(int((h.evaluate(batch) != expected).sum()))
            wrong.append(int(h(batch[7]) != expected[7]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [0] * 40
