"""Scaling statements: where drawing ends, what the bounds are of, resuming, refusals."""

import random
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.errors import InputError
from misstep.experiments.scaling import ANSWERS, ScaleConfig, Scaling, SizeResult, open_store
from misstep.plugins import make_part
from misstep.policy import Policy
from misstep.record.store import MemoryStore

GENERATOR = make_part("generator", "miconic")


def weak(_: misstep.Task | None = None) -> Policy:
    """Solves what has at most two passengers: does nothing where there are more."""

    def choose(state: misstep.State) -> misstep.Action | None:
        task: Any = state.task
        if len([name for name in task.pddl.objects if name.startswith("p")]) > 2:
            return None
        found = misstep.search(task, "astar:lmcut", state=state)
        return found.plan[0] if found.plan else None

    return misstep.per_state(choose)


def scaling(config: ScaleConfig, store: MemoryStore | None = None, part: Policy | None = None) -> Scaling:
    return Scaling(
        GENERATOR.domain, GENERATOR, "object:weak", config, part=part or weak(), store=store or MemoryStore()
    )


SMALL = ScaleConfig(sizes=(2, 3, 4), width=0.6, fallen=0.7, instances=8)


def test_it_ends_where_coverage_falls() -> None:
    made = scaling(SMALL)
    results = list(made.results())
    assert [result.size for result in results] == [2, 3]
    assert made.fallen
    assert made.limit is None
    assert all(result.solved == result.instances and result.bugs == 0 for result in results[:1])
    assert (results[1].solved, results[1].bugs) == (0, results[1].instances)
    for result in results:
        assert result.coverage.width <= 0.6
    assert results[1].as_json()["coverage"][1] < 0.7


def test_it_goes_on_where_it_was_stopped() -> None:
    whole = [result.as_json() for result in scaling(SMALL).results()]
    store = MemoryStore()

    class Killed(Exception):
        pass

    seen = 0

    def killed(_: SizeResult) -> None:
        nonlocal seen
        seen += 1
        if seen == 3:
            raise Killed

    with pytest.raises(Killed):
        list(scaling(SMALL, store).results(killed))
    before = len(store.lines(ANSWERS))
    assert [result.as_json() for result in scaling(SMALL, store).results()] == whole
    assert before == 4  # the first line says what it is about
    asked = 0

    def counted(states: misstep.StateBatch) -> list[misstep.Action | None]:
        nonlocal asked
        asked += 1
        return [None] * len(states)

    again = [result.as_json() for result in scaling(SMALL, store, counted).results()]
    assert (again, asked) == (whole, 0)


def test_no_time_is_an_outcome() -> None:
    made = scaling(SMALL)
    made.budget = misstep.Budget(seconds=0)
    assert list(made.results()) == []
    assert made.limit == "seconds"
    enough = scaling(ScaleConfig(sizes=(1,), width=0.6, instances=8))
    assert len(list(enough.results())) == 1
    assert (enough.limit, enough.fallen) == ("sizes", False)


def test_bounds_hold_as_often_as_stated() -> None:
    """Simulated sizes with a known coverage, stopped by the rule that looks at the bounds."""
    rng = random.Random(5)
    missed, trials = 0, 300
    made = scaling(ScaleConfig(width=0.4, instances=60, confidence=0.8))
    for _ in range(trials):
        truth = rng.random()
        result = SizeResult(1, 0.8)
        while not made._enough(result):
            solved = result.solved + (rng.random() < truth)
            result = SizeResult(1, 0.8, result.instances + 1, solved)
        bounds = result.coverage
        missed += not bounds.lo <= truth <= bounds.hi
    assert missed <= 0.2 * trials


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sizes are"):
        ScaleConfig(sizes=(0,))
    with pytest.raises(InputError, match="`width` is 1"):
        ScaleConfig(width=1)
    store = open_store(tmp_path)
    made = scaling(ScaleConfig(sizes=(1,), width=0.6, instances=2))
    made.store = store
    list(made.results())
    other = scaling(ScaleConfig(sizes=(1,), seed=3))
    other.store = open_store(tmp_path)
    with pytest.raises(InputError, match="another policy or other options"):
        list(other.results())
    store.close()
