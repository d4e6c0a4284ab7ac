"""Dominance functions on known tasks: what they must know, files, limits, refusals."""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path

import numpy as np
import pytest

import misstep
from misstep import _core as core
from misstep.errors import InputError
from misstep.formats import dominance as files

TASKS = Path(__file__).parents[1] / "tasks"


@pytest.fixture(scope="module")
def task() -> misstep.Task:
    folder = Path(misstep.__file__).parent / "bundled" / "courier"
    return misstep.load(folder / "domain.pddl", folder / "problem.pddl")


@pytest.fixture(scope="module")
def dominance(task: misstep.Task) -> core.Dominance:
    return core.Dominance(task, max_transitions=500)


def test_a_state_is_as_good_as_itself(task: misstep.Task, dominance: core.Dominance) -> None:
    states = [task.initial_state, *(state for _, state in task.successors(task.initial_state))]
    batch = task.batch(states)
    values = dominance.values(batch, batch)
    assert values.shape == (len(states), len(states))
    assert np.all(np.diag(values) == 0)
    assert dominance.limit is None and not dominance.is_fallback


def test_every_variable_is_in_one_factor(task: misstep.Task, dominance: core.Dominance) -> None:
    variables = sorted(v for factor in dominance.describe() for v in factor["variables"])
    assert variables == list(range(task.num_variables))
    for factor in dominance.describe():
        assert factor["transitions"] <= 500
        assert 0 < factor["finite_share"] <= 1


def test_the_start_state_plan_is_carried_to_a_neighbour(
    task: misstep.Task, dominance: core.Dominance
) -> None:
    plan = core.search(task, "astar:lmcut").plan
    carried = 0
    for _, neighbour in task.successors(task.initial_state):
        value = dominance.value(task.initial_state, neighbour)
        if value > -math.inf:
            answer = dominance.carry(task.initial_state, plan, neighbour)
            assert sum(a.cost for a in answer) <= sum(a.cost for a in plan) - value
            carried += 1
    assert carried > 0


def test_what_cannot_be_carried_is_refused(task: misstep.Task, dominance: core.Dominance) -> None:
    start = task.initial_state
    with pytest.raises(InputError, match="goal"):
        dominance.carry(start, [], start)
    plan = core.search(task, "astar:lmcut").plan
    with pytest.raises(InputError, match="not applicable"):
        dominance.carry(start, plan[::-1], start)


def test_morphs_differ_in_one_variable(task: misstep.Task, dominance: core.Dominance) -> None:
    start = task.initial_state
    morphs = dominance.morph(start, most=4, seed=3)
    assert 0 < len(morphs) <= 4
    for state, value in morphs:
        assert sum(a != b for a, b in zip(state.values, start.values, strict=True)) == 1
        assert value == dominance.value(state, start) > -math.inf
    assert [s for s, _ in dominance.morph(start, most=4, seed=3)] == [s for s, _ in morphs]
    assert len(dominance.morph(start, most=1000)) >= len(morphs)


@pytest.mark.parametrize("factors", ["merged", "atomic"])
def test_files_keep_every_value(task: misstep.Task, tmp_path: Path, factors: str) -> None:
    dominance = core.Dominance(task, factors=factors, max_transitions=500)
    files.save(dominance, tmp_path / "d")
    again = files.load(task, tmp_path / "d")
    assert again.describe() == dominance.describe()
    for i in range(len(dominance.describe())):
        assert np.array_equal(again.factor_values(i), dominance.factor_values(i))


def test_files_of_a_fallback(task: misstep.Task, tmp_path: Path) -> None:
    dominance = core.Dominance(task, budget=core.Budget(seconds=0))
    assert (dominance.limit, dominance.is_fallback) == ("seconds", True)
    files.save(dominance, tmp_path / "d")
    assert files.load(task, tmp_path / "d").is_fallback


def test_a_limit_ends_merging_and_what_was_known_before_is_kept() -> None:
    """Products of factors are not begun where there is no memory for them."""
    folder = TASKS / "blocks"
    task = misstep.load(folder / "domain.pddl", folder / "p05.pddl")
    dominance = core.Dominance(task, max_transitions=10**6, budget=core.Budget(memory_mb=2, growth_mb=2))
    assert (dominance.limit, dominance.is_fallback) == ("memory", False)
    atomic = core.Dominance(task, factors="atomic")
    assert [len(one) for one in map(dominance.factor_values, range(len(dominance.describe())))] == [
        len(one) for one in map(atomic.factor_values, range(len(atomic.describe())))
    ]


def test_files_of_other_tasks_are_refused(dominance: core.Dominance, tmp_path: Path) -> None:
    files.save(dominance, tmp_path / "d")
    folder = Path(misstep.__file__).parent / "bundled" / "courier"
    other = misstep.load(folder / "domain.pddl", folder / "problem.pddl", unit_cost=True)
    if [a.cost for a in other.actions] == [a.cost for a in dominance.task.actions]:
        pytest.skip("the bundled task has unit costs")
    with pytest.raises(InputError, match="another task"):
        files.load(other, tmp_path / "d")


def test_garbage_is_refused(task: misstep.Task, dominance: core.Dominance, tmp_path: Path) -> None:
    path = tmp_path / "d"
    files.save(dominance, path)
    good = path.read_bytes()
    head, _, body = good.partition(b"\n")
    header = json.loads(head)
    bad = [b"", b"\n", b"[]\n", good[: len(good) // 2], head, head + b"\n", b"\x80\x04garbage", good[1:]]
    bad += [head + b"\n" + zlib.compress(b"\0" * n) for n in (0, 4, 4000)]
    for key, value in [("sizes", [3]), ("sizes", "x"), ("merges", -1), ("factors", 7), ("format", "other")]:
        bad.append(json.dumps({**header, key: value}).encode() + b"\n" + body)
    for content in bad:
        path.write_bytes(content)
        with pytest.raises(InputError, match=str(path)):
            files.load(task, path)
    with pytest.raises(InputError, match="cannot be read"):
        files.load(task, tmp_path / "absent")


def test_values_that_promise_too_much_are_refused(
    task: misstep.Task, dominance: core.Dominance, tmp_path: Path
) -> None:
    path = tmp_path / "d"
    files.save(dominance, path)
    head, _, body = path.read_bytes().partition(b"\n")
    values = np.frombuffer(zlib.decompress(body), "<i4").copy()
    worst = int(np.flatnonzero(values == values.min())[0])
    for better in (0, 1, 2**30):
        changed = values.copy()
        changed[worst] = max(changed[worst] + 1, better)
        path.write_bytes(head + b"\n" + zlib.compress(changed.tobytes()))
        with pytest.raises(InputError, match="not those of a dominance function"):
            files.load(task, path)


def test_options_are_checked(task: misstep.Task) -> None:
    with pytest.raises(InputError, match="factors"):
        core.Dominance(task, factors="some")
    with pytest.raises(InputError, match="order"):
        core.Dominance(task, order="any")


def test_bounds_refuse_what_is_no_run(task: misstep.Task, dominance: core.Dominance) -> None:
    store = core.BoundStore(dominance)
    start = task.initial_state
    plan = core.search(task, "astar:lmcut").plan
    with pytest.raises(InputError, match="not a goal"):
        store.add_run([start], [], "solved")
    with pytest.raises(InputError, match="one more state"):
        store.add_run([start, start], [], "loop")
    with pytest.raises(InputError, match="goal"):
        store.add_plan(start, plan[:-1])
    with pytest.raises(InputError, match="nothing is known"):
        store.plan_of(start)
    assert store.bound(start) == math.inf
    store.add_plan(start, plan)
    assert store.bound(start) == sum(a.cost for a in plan)
    assert store.plan_of(start) == plan
