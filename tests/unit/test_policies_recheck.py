"""Random policies and policies with memory are noticed, in a single short run too."""

import random
from typing import Any

import pytest

from misstep import State, Task, load
from misstep._core import Budget, HeuristicPolicy, PolicyGraph, StopFlag
from misstep.answers.guard import Guard
from misstep.errors import FlakyPolicy
from misstep.policy import per_state
from tests.conftest import COURIER

PLAN_LENGTH = 3


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


def run_once(task: Task, policy: Any, **options: Any) -> Any:
    """One run of a few steps from the initial state, as `misstep run` makes it."""
    graph = PolicyGraph(task, Guard(policy, task))
    return graph.run(task.batch([task.initial_state]), max_steps=PLAN_LENGTH, **options), graph


@pytest.mark.parametrize("seed", range(50))
def test_a_random_policy_in_one_short_run(task: Task, seed: int) -> None:
    chance = random.Random(seed)
    with pytest.raises(FlakyPolicy, match="not deterministic"):
        run_once(task, per_state(lambda state: chance.choice(task.applicable(state))))


def test_a_policy_that_counts_its_calls(task: Task) -> None:
    calls = 0

    def choose(state: State) -> Any:
        nonlocal calls
        calls += 1
        actions = task.applicable(state)
        return actions[calls % len(actions)]

    with pytest.raises(FlakyPolicy):
        run_once(task, per_state(choose))


def test_a_policy_that_counts_batches(task: Task) -> None:
    calls = 0

    def policy(states: Any) -> Any:
        nonlocal calls
        calls += 1
        return [task.applicable(state)[0 if calls <= PLAN_LENGTH else -1] for state in states]

    with pytest.raises(FlakyPolicy):
        run_once(task, policy)


def test_a_policy_that_avoids_where_it_was(task: Task) -> None:
    """The usual cycle avoidance: it remembers states and takes the first action that leads to a new one."""
    seen = {task.initial_state}

    def choose(state: State) -> Any:
        for action, after in task.successors(state):
            if after not in seen:
                seen.add(after)
                return action
        return None

    with pytest.raises(FlakyPolicy):
        run_once(task, per_state(choose))


def test_an_answer_that_depends_on_the_place_in_the_batch(task: Task) -> None:
    def policy(states: Any) -> Any:
        return [task.applicable(state)[at % 2] for at, state in enumerate(states)]

    with pytest.raises(FlakyPolicy):
        run_once(task, policy)


def test_the_message_says_where_what_and_what_to_do(task: Task) -> None:
    answers = iter([task.actions[1].name, None])
    first = task.initial_state
    with pytest.raises(FlakyPolicy) as caught:
        run_once(task, lambda states: [next(answers)])
    text = str(caught.value)
    assert f"in the state {first} it first chose {task.actions[1].name}, later nothing" in text
    for advice in ("switch off sampling", "misstep.argmax", "--no-recheck"):
        assert advice in text


def test_the_check_can_be_skipped_and_leaves_sound_policies_alone(task: Task) -> None:
    chance = random.Random(0)
    policy = per_state(lambda state: chance.choice(task.applicable(state)))
    start = task.batch([task.initial_state])
    assert len(PolicyGraph(task, policy, recheck=False).run(start, max_steps=5)) == 1
    sound, loose = (
        PolicyGraph(task, HeuristicPolicy(task, "ff"), recheck=recheck) for recheck in (True, False)
    )
    assert [run.actions for run in sound.run(start)] == [run.actions for run in loose.run(start)]
    assert sound.states_asked == loose.states_asked


def test_first_states_are_asked_again_once_and_no_more(task: Task) -> None:
    asked = []

    def choose(state: State) -> Any:
        asked.append(state)
        return task.applicable(state)[0]

    graph = PolicyGraph(task, per_state(choose))
    graph.run(task.batch([task.initial_state]), max_steps=PLAN_LENGTH)
    states = list(dict.fromkeys(asked))
    assert asked[: len(states)] == states
    assert all(asked.count(state) >= 2 for state in states)
    before = len(asked)
    graph.run(task.batch([task.initial_state]), max_steps=PLAN_LENGTH)
    assert len(asked) == before, "nothing new was asked, so nothing has to be checked"


def test_a_failure_is_not_another_answer(task: Task) -> None:
    calls = 0

    def policy(states: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise MemoryError("CUDA out of memory")
        return [task.applicable(state)[0] for state in states]

    (run,), _ = run_once(task, policy)
    assert (run.outcome, run.steps) == ("failed", 1)


def test_a_stop_ends_the_checking_and_keeps_the_run(task: Task) -> None:
    """The flag is set while the last new state is answered: the run is complete, so it is returned."""
    stop = StopFlag()
    calls = []

    def policy(states: Any) -> Any:
        calls.append(len(states))
        if len(calls) == 1:
            stop.set()
        return [None] * len(states)

    graph = PolicyGraph(task, policy)
    runs = graph.run(task.batch([task.initial_state]), budget=Budget(stop=stop))
    assert calls == [1]
    assert [run.outcome for run in runs] == ["stuck"]
