"""Fuzzers of somebody's own: what they yield is replayed, numbered and freed of duplicates."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep._core import NativeFuzzer
from misstep.biases.published import Detour, NoBias
from misstep.errors import InputError, PartError
from misstep.fuzz import Fuzz, FuzzProgress
from misstep.fuzzer import FuzzContext
from misstep.plugins import make_policy_part
from misstep.pool import PoolEntry
from misstep.task import Task
from tests.unit import broken_fuzzers as broken
from tests.unit.broken_parts import Unbound, Weighing


@pytest.fixture(scope="module")
def task() -> Task:
    folder = Path(misstep.__file__).parent / "bundled" / "courier"
    return misstep.load(folder / "domain.pddl", folder / "problem.pddl")


def session(task: Task, fuzzer: Any, **options: Any) -> Fuzz:
    graph = misstep.PolicyGraph(task, make_policy_part("heuristic:ff").bind(task))
    return Fuzz(graph, fuzzer, options.pop("bias", NoBias()), **{"seed": 3, "size": 20, **options})


def test_entries_are_numbered_and_states_come_once(task: Task) -> None:
    entries = list(session(task, broken.Stepping()))
    assert [entry.id for entry in entries] == list(range(20))
    assert len({entry.state for entry in entries}) == 20
    assert entries[0].state == task.initial_state and entries[0].parent is None
    for entry in entries[1:]:
        assert entry.parent is not None and entry.parent < entry.id
        state = entries[entry.parent].state
        for action in entry.walk:
            state = task.apply(state, action)
        assert state == entry.state


def test_continuing_equals_one_session(task: Task) -> None:
    whole = list(session(task, broken.Stepping()))
    for cut in (1, 7, 20):
        assert list(session(task, broken.Stepping(), known=whole[:cut])) == whole


def test_another_pool_is_not_continued(task: Task) -> None:
    whole = list(session(task, broken.Stepping()))
    with pytest.raises(InputError, match=r"entry \d of the pool that is continued"):
        list(session(task, broken.Stepping(), known=whole, seed=4))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (broken.WrongState(), "leads from entry 0 to"),
        (broken.WrongParent(), "gave entry 1 the parent 99"),
        (broken.NoEntry(), "which is no PoolEntry"),
        (broken.Headless(), "the first entry must be the initial state"),
        (Unbound(), "has no `walk`"),
    ],
)
def test_what_goes_wrong_is_the_fault_of_the_part(task: Task, part: Any, words: str) -> None:
    with pytest.raises(PartError) as caught:
        list(session(task, part))
    assert words in str(caught.value)
    assert f"fuzzer `{part.name}` of the module {type(part).__module__}" in str(caught.value)


@dataclass(frozen=True)
class Unlucky(broken.Stepping):
    """Raises after a while."""

    def found(self, fuzz: FuzzContext, entry: PoolEntry) -> Iterator[Any]:
        if len(fuzz.pool) == 5:
            raise RuntimeError("no luck")
        yield entry


def test_what_was_found_before_an_error_is_there(task: Task) -> None:
    found = []
    with pytest.raises(PartError, match="raised RuntimeError: no luck"):
        for entry in session(task, Unlucky()):
            found.append(entry)  # noqa: PERF402
    assert len(found) == 5


@dataclass(frozen=True)
class NotApplicable(broken.Stepping):
    """Walks where nobody can walk."""

    def found(self, fuzz: FuzzContext, entry: PoolEntry) -> Iterator[Any]:
        yield replace(entry, walk=(*entry.walk, *entry.walk, *entry.walk))


def test_walks_that_cannot_be_walked(task: Task) -> None:
    with pytest.raises(PartError, match="cannot be walked from entry"):
        list(session(task, NotApplicable()))


def test_limits_and_ends(task: Task) -> None:
    stop = misstep.StopFlag()
    stop.set()
    stopped = session(task, broken.Stepping(), budget=misstep.Budget(stop=stop))
    assert len(list(stopped)) == 1 and stopped.stopped == "stopped"
    exhausted = session(task, broken.Stepping(), size=10_000)
    assert 1 < len(list(exhausted)) <= 101 and exhausted.stopped == "exhausted"
    full = session(task, broken.Stepping())
    assert len(list(full)) == 20 and full.stopped == "full"


def test_progress_is_shown(task: Task) -> None:
    seen: list[FuzzProgress] = []
    list(session(task, broken.Stepping(), on_progress=seen.append))
    assert seen[-1].pool == 20 and seen[-1].size == 20


def test_how_the_work_is_cut_does_not_change_when_a_native_fuzzer_gives_up(task: Task) -> None:
    def native() -> NativeFuzzer:
        return NativeFuzzer(
            misstep.PolicyGraph(task, make_policy_part("heuristic:ff").bind(task)),
            kind="refined",
            bias="none",
            distance="ff",
            max_walk=5,
            state_budget=50,
            expansion_budget=200,
            max_steps=10,
            novelty=1,
            max_star_expansions=0,
            max_idle_walks=3000,
            seed=1,
        )

    whole, sliced = native(), native()
    assert whole.extend(1000) == "exhausted"
    while sliced.extend(1000, budget=misstep.Budget(seconds=0.0005)) != "exhausted":
        assert sliced.walks <= whole.walks
    assert sliced.walks == whole.walks and len(sliced) == len(whole)


@dataclass(frozen=True)
class Best(broken.Stepping):
    """To the successor that the bias likes best."""

    def walk(self, fuzz: FuzzContext, /) -> Iterator[Any]:
        yield fuzz.first()
        while not fuzz.budget.is_over:
            parent = fuzz.pool[-1]
            steps = fuzz.task.successors(parent.state)
            scores = fuzz.score([state for _, state in steps])
            assert len(scores) == len(steps)
            for score, (action, _) in sorted(zip(scores, steps, strict=True), key=lambda pair: -pair[0]):
                assert score > float("-inf")
                yield fuzz.after(parent, [action])


def test_a_fuzzer_may_ask_the_bias(task: Task) -> None:
    for bias in (Detour(), Weighing()):
        assert len(list(session(task, Best(), bias=bias))) == 20
