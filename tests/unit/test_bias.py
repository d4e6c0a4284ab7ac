"""Biases of somebody's own steer the native fuzzer, and what goes wrong in them is said to be theirs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep import PartialRun
from misstep._core import NativeFuzzer
from misstep.biases.published import PlanLength
from misstep.errors import InputError, PartError
from misstep.fuzz import Fuzz
from misstep.fuzzers.published import Classic, Refined
from misstep.plugins import make_policy_part
from misstep.pool import PoolEntry
from misstep.task import Task
from tests.unit import broken_parts as broken


@pytest.fixture(scope="module")
def task() -> Task:
    folder = Path(misstep.__file__).parent / "bundled" / "courier"
    return misstep.load(folder / "domain.pddl", folder / "problem.pddl")


def pool(task: Task, bias: Any, fuzzer: Any = None, **options: Any) -> list[PoolEntry]:
    graph = misstep.PolicyGraph(task, make_policy_part("heuristic:hadd").bind(task))
    return list(Fuzz(graph, fuzzer or Refined(**options), bias, seed=5, size=40))


@dataclass(frozen=True)
class Listening:
    """Weighs like plan-length and keeps what it heard."""

    heard: list[PartialRun]
    name = "listening"

    def score(self, run: PartialRun, /) -> float:
        self.heard.append(run)
        return float(sum(run.costs))


def test_a_python_bias_that_weighs_like_a_native_one_makes_the_same_pool(task: Task) -> None:
    for budget in (1, 3, 50):
        native = pool(task, PlanLength(), state_budget=budget, expansion_budget=2 * budget)
        assert pool(task, Listening([]), state_budget=budget, expansion_budget=2 * budget) == native


def test_partial_runs_are_what_the_policy_does(task: Task) -> None:
    heard: list[PartialRun] = []
    pool(task, Listening(heard), state_budget=7)
    graph = misstep.PolicyGraph(task, make_policy_part("heuristic:hadd").bind(task))
    assert {run.outcome for run in heard} == {"solved", "cut-off"}
    for run in heard[:300]:
        assert 1 <= len(run.actions) <= 7 and len(run.states) == len(run.actions) + 1
        (again,) = graph.run(task.batch([run.states[0]]), max_steps=len(run.actions))
        assert (tuple(again.states), tuple(again.actions)) == (run.states, run.actions)
        assert again.outcome == run.outcome or again.outcome == "cut-off"


@dataclass(frozen=True)
class Prepared:
    """Prepares a heuristic for the task."""

    name = "prepared"

    def bind(self, task: Task, /) -> "PreparedScorer":
        return PreparedScorer(misstep.Heuristic(task, "ff"))


@dataclass(frozen=True)
class PreparedScorer:
    heuristic: misstep.Heuristic

    def score(self, run: PartialRun, /) -> float:
        return self.heuristic(run.states[-1])


def test_a_bias_may_prepare_something_for_the_task(task: Task) -> None:
    entries = pool(task, Prepared())
    assert len(entries) == 40 and entries == pool(task, Prepared())
    assert entries != pool(task, PlanLength())


def test_all_runs_of_an_expansion_come_in_one_call(task: Task) -> None:
    calls: list[int] = []

    def counted(runs: list[Any]) -> list[float]:
        calls.append(len(runs))
        return [1.0] * len(runs)

    fuzzer = native(task, counted)
    fuzzer.extend(2)
    assert 1 < calls[0] <= len(task.successors(task.initial_state))
    assert len(calls) == fuzzer.walks  # walks of one step


@pytest.mark.parametrize(
    ("answers", "words"),
    [([], "and gave 0 answers"), (["much"] * 99, "not a number"), ([float("nan")] * 99, "not a number")],
)
def test_the_core_takes_only_numbers(task: Task, answers: list[Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        native(task, lambda runs: answers).extend(5)


def native(task: Task, bias: Any) -> NativeFuzzer:
    graph = misstep.PolicyGraph(task, make_policy_part("heuristic:hadd").bind(task))
    return NativeFuzzer(
        graph,
        kind="refined",
        bias=bias,
        distance="ff",
        max_walk=1,
        state_budget=3,
        expansion_budget=1000,
        max_steps=10,
        novelty=0,
        max_star_expansions=0,
        max_idle_walks=10,
        seed=0,
    )


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (broken.Nan(), "gave nan"),
        (broken.Wordy(), "gave 'much'"),
        (broken.Failing(), "raised KeyError: 'no such weight' (broken_parts.py:"),
        (broken.Scoreless(), "has no method `score`"),
    ],
)
def test_what_goes_wrong_is_the_fault_of_the_part(task: Task, part: Any, words: str) -> None:
    with pytest.raises(PartError) as caught:
        pool(task, part, state_budget=1000)
    assert words in str(caught.value)
    assert f"bias `{part.name}` of the module tests.unit.broken_parts" in str(caught.value)


def test_the_classic_fuzzer_takes_no_bias_of_your_own(task: Task) -> None:
    with pytest.raises(InputError, match="needs the refined one"):
        pool(task, broken.Weighing(), Classic())


def test_numpy_numbers_are_numbers(task: Task) -> None:
    import numpy

    @dataclass(frozen=True)
    class Numpy(broken.Weighing):
        def score(self, run: PartialRun, /) -> Any:
            return numpy.float32(sum(run.costs))

    assert pool(task, Numpy()) == pool(task, PlanLength())
