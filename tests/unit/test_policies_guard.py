"""A policy that raises, hangs or answers nonsense ends as a clear outcome, with its reason."""

import itertools
import os
import random
import signal
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from misstep import State, Task, load
from misstep._core import HeuristicPolicy, PolicyGraph
from misstep.answers.answer import NO_NUMBER, NO_SUCH_ACTION, BadAnswer, bad_answer
from misstep.answers.asking import Asker, Ended
from misstep.answers.guard import (
    Guard,
    bind_guarded,
    failure_share,
    guarded,
    reason_of,
    reason_of_run,
    warnings_of,
)
from misstep.errors import FlakyPolicy, InputError, PolicyError
from misstep.policies.heuristic import Heuristic
from misstep.policy import per_state
from tests.conftest import COURIER


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


@pytest.fixture(scope="module")
def states(task: Task) -> Any:
    """The initial state and all its successors."""
    first = task.initial_state
    return task.batch([first, *(state for _, state in task.successors(first))])


def first_applicable(task: Task) -> Any:
    return per_state(lambda state: task.applicable(state)[0])


def run_one(task: Task, policy: Any, **options: Any) -> Any:
    guard = Guard(policy, task, **options)
    (run,) = PolicyGraph(task, guard).run(task.batch([task.initial_state]), max_steps=50)
    return run, guard


def test_a_sound_policy_is_not_changed(task: Task, states: Any) -> None:
    policy = first_applicable(task)
    guard = Guard(policy, task)
    assert guard(states) == policy(states)
    assert not guard.failures
    assert guard.batches_split == 0
    assert guard(task.batch([])) == []


def test_native_policies_need_no_guard(task: Task) -> None:
    native = HeuristicPolicy(task, "ff")
    assert guarded(native, task) is native
    assert isinstance(bind_guarded(Heuristic(), task), HeuristicPolicy)
    guard = guarded(first_applicable(task), task, max_seconds=3)
    assert isinstance(guard, Guard)
    assert guard.max_seconds == 3
    assert guarded(guard, task) is guard


def test_raising_on_one_state_leaves_the_others_answered(task: Task, states: Any) -> None:
    bad = states[2]

    def choose(state: State) -> Any:
        if state == bad:
            raise ValueError("cannot\nthink")
        return task.applicable(state)[0]

    guard = Guard(per_state(choose), task)
    answers = guard(states)
    assert [at for at, answer in enumerate(answers) if isinstance(answer, BadAnswer)] == [2]
    assert None not in answers
    assert guard.batches_split == 1
    assert list(guard.failures) == [bad]
    assert "raised ValueError: cannot think (test_policies_guard.py:" in guard.failures[bad]
    assert reason_of(guard, bad) == guard.failures[bad] and reason_of(guard, states[0]) is None
    assert (guard.asked, guard.failed, guard.unknown) == (len(states), 1, 0)
    assert failure_share(guard) == 1 / len(states)


def test_raising_everywhere_is_failed(task: Task) -> None:
    def policy(states: Any) -> None:
        raise RuntimeError

    run, guard = run_one(task, policy)
    assert (run.outcome, run.steps, run.answer) == ("failed", 0, None)
    assert "raised RuntimeError (" in guard.failures[task.initial_state]
    assert reason_of_run(guard, run) == guard.failures[task.initial_state]
    assert failure_share(guard) == 1


@pytest.mark.parametrize("error", [SystemExit(3), MemoryError(), RecursionError("deep"), StopIteration()])
def test_whatever_is_raised_is_contained(task: Task, error: Any) -> None:
    def policy(states: Any) -> None:
        raise error

    run, guard = run_one(task, policy)
    assert run.outcome == "failed"
    assert type(error).__name__ in guard.failures[task.initial_state]


def test_an_error_that_cannot_be_shown(task: Task) -> None:
    class Nasty(Exception):
        def __str__(self) -> str:
            raise ValueError

    def policy(states: Any) -> None:
        raise Nasty

    run, guard = run_one(task, policy)
    assert run.outcome == "failed"
    assert "Nasty: (its text cannot be shown)" in guard.failures[task.initial_state]


def test_a_policy_error_ends_the_policy(task: Task, states: Any) -> None:
    calls = []

    def policy(states: Any) -> None:
        calls.append(len(states))
        raise PolicyError("the server is gone")

    guard = Guard(policy, task)
    assert guard(states) == [bad_answer("the server is gone")] * len(states)
    assert guard(states) == [bad_answer("the server is gone")] * len(states)
    assert calls == [1]
    assert guard.dead == "the server is gone"


def test_a_hang_is_given_up_and_the_policy_counts_as_dead(task: Task, states: Any) -> None:
    calls, ended = [], []
    released = threading.Event()

    def policy(states: Any) -> Any:
        calls.append(len(states))
        released.wait(60)
        ended.append(len(states))
        return [None] * len(states)

    guard = Guard(policy, task, max_seconds=0.2)
    (reason,) = {answer.reason for answer in guard(states)}
    assert (
        f"no answer for 1 states (the state {states[0]}) within 0.2 seconds and is not asked again" in reason
    )
    for _ in range(3):
        assert guard(task.batch([task.initial_state])) == [BadAnswer(reason, "failed")]
    assert guard.dead == reason
    assert failure_share(guard) == 1
    assert (calls, ended) == ([1], [])  # it hangs still
    released.set()


def test_a_hang_in_one_state_names_it(task: Task) -> None:
    released = threading.Event()

    def choose(state: State) -> None:
        released.wait(30)

    run, guard = run_one(task, per_state(choose), max_seconds=0.2)
    assert run.outcome == "failed"
    assert str(task.initial_state) in reason_of_run(guard, run)
    released.set()


def test_a_policy_that_dies_on_the_way_keeps_its_answers(task: Task, states: Any) -> None:
    """What was answered before stands, and asking again later is no different answer."""
    calls = 0

    def policy(states: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise PolicyError("the server is gone")
        return [task.applicable(state)[0] for state in states]

    graph = PolicyGraph(task, Guard(policy, task))
    (run,) = graph.run(task.batch([task.initial_state]), max_steps=20)
    assert (run.outcome, run.steps) in (("failed", 3), ("loop", 2), ("loop", 3))
    runs = graph.run(states, max_steps=20)
    assert {run.outcome for run in runs} <= {"failed", "loop"}
    assert "failed" in {run.outcome for run in runs}


def test_answers_that_hang_or_never_end(task: Task, states: Any) -> None:
    def endless(states: Any) -> Any:
        return itertools.repeat(None)

    guard = Guard(endless, task)
    assert all(isinstance(answer, BadAnswer) for answer in guard(states))
    assert guard.failures[states[0]] == "the policy was asked for 1 state and gave more answers"

    released = threading.Event()

    def slow(states: Any) -> Iterator[Any]:
        for _ in states:
            released.wait(30)
            yield None

    guard = Guard(slow, task, max_seconds=0.2)
    assert all(isinstance(answer, BadAnswer) for answer in guard(states))
    assert "is not asked again" in guard.dead
    released.set()


@pytest.mark.parametrize("answer", [float("nan"), 3, np.int64(3), True, object(), [], b"x"])
def test_answers_that_are_no_actions_are_failed(task: Task, answer: Any) -> None:
    run, guard = run_one(task, lambda states: [answer] * len(states))
    assert run.outcome == "failed"
    assert run.steps == 0
    assert run.answer is None
    assert type(answer).__name__ in guard.failures[task.initial_state]
    assert "answer with an Action" in guard.failures[task.initial_state]
    assert guard.failed == guard.asked > 0


def test_names_of_actions_are_answers(task: Task) -> None:
    def policy(states: Any) -> Any:
        return [task.applicable(state)[0] for state in states]

    (expected,) = PolicyGraph(task, policy).run(task.batch([task.initial_state]), max_steps=50)
    for write in (
        str,
        lambda action: action.name.strip("()"),
        lambda action: f" {action.name.upper()} ".replace(" ", "  "),
        lambda action: np.str_(action.name),
    ):
        run, guard = run_one(task, lambda states, write=write: [write(action) for action in policy(states)])
        assert (run.outcome, run.actions) == (expected.outcome, expected.actions)
        assert not guard.failures


def test_names_that_no_action_has_are_illegal(task: Task) -> None:
    run, guard = run_one(task, lambda states: ["(fly red home)"] * len(states))
    assert (run.outcome, run.answer) == ("illegal", None)
    reason = reason_of_run(guard, run)
    assert "'(fly red home)' (str), which is no action of the task" in reason
    assert task.actions[0].name in reason
    assert (guard.failed, guard.unknown) == (0, guard.asked)
    assert failure_share(guard) == 1


def test_an_answer_whose_repr_raises(task: Task) -> None:
    class Nasty:
        def __repr__(self) -> str:
            raise ValueError

    run, guard = run_one(task, lambda states: [Nasty() for _ in states])
    assert run.outcome == "failed"
    assert "Nasty" in guard.failures[task.initial_state]


def test_actions_of_another_task_are_illegal(task: Task) -> None:
    other = load(
        task.problem.domain,
        task.problem.source.name,
        unit_cost=True,
    )
    run, guard = run_one(task, lambda states: [other.applicable(other.initial_state)[0]] * len(states))
    assert run.outcome == "illegal"
    assert "an action of another task" in guard.failures[task.initial_state]


def test_inapplicable_actions_are_illegal_and_known(task: Task) -> None:
    wrong = next(a for a in task.actions if a not in task.applicable(task.initial_state))
    run, guard = run_one(task, lambda states: [wrong] * len(states))
    assert run.outcome == "illegal"
    assert run.answer == wrong
    assert not guard.failures
    missing = [
        task.fact_name(variable, value)
        for variable, value in wrong.precondition
        if task.initial_state.values[variable] != value
    ]
    reason = f"the policy answered {wrong.name}, which is not applicable: {', '.join(missing)} does not hold"
    assert reason_of_run(guard, run) == reason


@pytest.mark.parametrize("length", [0, 1, 100])
def test_a_wrong_number_of_answers_is_asked_again_one_by_one(task: Task, states: Any, length: int) -> None:
    guard = Guard(lambda states: [None] * length, task)
    answers = guard(states)
    assert guard.batches_split == 1
    if length == 1:
        assert answers == [None] * len(states)
        assert not guard.failures
    else:
        assert all(isinstance(answer, BadAnswer) for answer in answers)
        assert "asked for 1 state and gave" in guard.failures[states[0]]


@pytest.mark.parametrize("whole", [None, 7, "abc", {}, set(), float("nan")])
def test_no_list_at_all_is_failed(task: Task, whole: Any) -> None:
    run, guard = run_one(task, lambda states: whole)
    assert run.outcome == "failed"
    assert "where a list with one answer for each state was expected" in guard.failures[task.initial_state]


def test_a_policy_may_give_reasons_itself(task: Task, states: Any) -> None:
    reasons = [bad_answer("the score is not a number"), bad_answer("no such operator", outcome="illegal")]

    def policy(batch: Any) -> Any:
        return [reasons[0] if state == states[0] else reasons[1] for state in batch]

    guard = Guard(policy, task)
    two = task.batch([states[0], states[1]])
    answers = guard(two)
    assert answers == reasons
    assert guard.failures == {states[0]: "the score is not a number", states[1]: "no such operator"}
    assert (guard.asked, guard.failed, guard.unknown) == (2, 1, 1)
    outcomes = [run.outcome for run in PolicyGraph(task, policy, recheck=False).run(two)]
    assert outcomes == ["failed", "illegal"]


def test_other_outcomes_have_no_reason(task: Task) -> None:
    run, guard = run_one(task, lambda states: [None] * len(states))
    assert run.outcome == "stuck"
    assert reason_of_run(guard, run) is None and not guard.failures
    assert failure_share(guard) == failure_share(HeuristicPolicy(task, "ff")) == 0
    assert warnings_of(guard) == warnings_of(HeuristicPolicy(task, "ff")) == []


def test_a_random_policy_is_flaky(task: Task, states: Any) -> None:
    chance = random.Random(0)
    graph = PolicyGraph(task, Guard(per_state(lambda state: chance.choice(task.applicable(state))), task))
    with pytest.raises(FlakyPolicy, match="not deterministic"):
        for _ in range(100):
            graph.run(states, max_steps=50)
            states = task.batch([state for state in states for _, state in task.successors(state)][:50])


def test_a_policy_with_memory_is_flaky(task: Task, states: Any) -> None:
    seen = []

    def choose(state: State) -> Any:
        seen.append(state)
        actions = task.applicable(state)
        return actions[len(seen) % len(actions)]

    graph = PolicyGraph(task, Guard(per_state(choose), task))
    with pytest.raises(FlakyPolicy):
        for _ in range(100):
            graph.run(states, max_steps=50)
            states = task.batch([state for state in states for _, state in task.successors(state)][:50])


def test_interrupts_pass_through_while_the_policy_works(task: Task, states: Any) -> None:
    asked, released = threading.Event(), threading.Event()

    def policy(states: Any) -> Any:
        asked.set()
        released.wait(600)
        return [None] * len(states)

    def interrupt() -> None:
        asked.wait()
        os.kill(os.getpid(), signal.SIGINT)

    guard = Guard(policy, task)
    graph = PolicyGraph(task, guard)
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        graph.run(states)
    assert not released.is_set()
    released.set()
    assert [run.outcome for run in graph.run(states)] == ["stuck"] * len(states), "the guard still works"


def test_an_interrupt_raised_by_the_policy_passes_through(task: Task, states: Any) -> None:
    def policy(states: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Guard(policy, task)(states)


def test_batch_sizes(task: Task, states: Any) -> None:
    def policy(states: Any) -> Any:
        return [None] * len(states)

    assert Guard(policy, task).best_batch == 256
    setattr(policy, "best_batch", 2)  # noqa: B010
    sizes = []

    def counting(states: Any) -> Any:
        sizes.append(len(states))
        return policy(states)

    setattr(counting, "best_batch", 2)  # noqa: B010
    PolicyGraph(task, Guard(counting, task), recheck=False).run(states)
    assert max(sizes) == 2
    for wrong in (0, -1, "many", None, True):
        setattr(policy, "best_batch", wrong)  # noqa: B010
        with pytest.raises(PolicyError, match="best_batch"):
            Guard(policy, task)


def test_a_slow_policy_is_asked_for_fewer_states_at_once(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call should take half a second. A call that takes less is followed by one of 4 times the size."""
    now, sizes, each = 0.0, list[int](), 0.001
    monkeypatch.setattr("misstep.answers.guard.time", SimpleNamespace(perf_counter=lambda: now))

    def policy(states: Any) -> Any:
        nonlocal now
        now += each * len(states)
        sizes.append(len(states))
        return [None] * len(states)

    guard, many = Guard(policy, task), task.batch([task.initial_state] * 85)
    guard(many)
    assert sizes == [1, 4, 16, 64]
    sizes.clear()
    each = 3 / 64
    guard(many)
    assert sizes == [85]  # 4 s
    sizes.clear()
    guard(many)
    assert sizes == [10, 40, 10, 25]  # 10 states take 0.47 s, 40 of them 1.9 s
    sizes.clear()
    each = 10.0
    guard(task.batch([task.initial_state] * 18))
    assert sizes == [10, *[1] * 8]


@pytest.mark.parametrize(
    ("outcome", "reason"), [("failed", NO_NUMBER.reason), ("illegal", NO_SUCH_ACTION.reason)]
)
def test_a_run_without_an_answer_has_a_reason_all_the_same(task: Task, outcome: str, reason: str) -> None:
    """As of native policies, which keep none."""
    run: Any = SimpleNamespace(outcome=outcome, states=[task.initial_state], answer=None)
    assert reason_of_run(HeuristicPolicy(task, "ff"), run) == reason != ""


def test_wrong_use(task: Task) -> None:
    with pytest.raises(InputError, match="max_seconds is 0"):
        Guard(first_applicable(task), task, max_seconds=0)
    with pytest.raises(InputError, match="max_seconds is nan"):
        Guard(first_applicable(task), task, max_seconds=float("nan"))
    with pytest.raises(PolicyError, match="a policy is a callable"):
        Guard(7, task)


def test_the_worker_ends_with_its_guard(task: Task, states: Any) -> None:
    guard = Guard(first_applicable(task), task)
    guard(states)
    worker: Any = vars(guard._asker)["_thread"]
    assert worker.is_alive()
    del guard
    worker.join(timeout=10)
    assert not worker.is_alive()


class Ending(Asker):
    """A policy in a process that ends on every batch of several states, and on the initial state."""

    def __init__(self, bad: State, answer: Any) -> None:
        self.best_batch, self.warnings = 256, []
        self._bad, self._answer = bad, answer
        self.asked = 0

    def ask(self, states: Any, *, seconds: float | None, budget: Any) -> Any:
        self.asked += 1
        if len(states) > 1 or states[0] == self._bad:
            raise Ended("the policy's process ended with exit code 7")
        return [self._answer] * len(states)


def test_a_process_that_ends_has_failed_in_the_state_that_it_was_asked_about(task: Task, states: Any) -> None:
    bad, action = states[0], task.actions[0]
    guard = Guard(Ending(bad, action), task)
    first, *others = guard(states)
    assert isinstance(first, BadAnswer) and first.outcome == "failed"
    assert others == [action] * (len(states) - 1)
    assert dict(guard.failures) == {bad: "the policy's process ended with exit code 7"}
    assert guard.dead is None


def test_a_process_that_ends_ten_times_in_a_row_is_not_asked_again(task: Task, states: Any) -> None:
    bad = states[0]
    asker = Ending(bad, None)
    guard = Guard(asker, task)
    for _ in range(20):
        (answer,) = guard(task.batch([bad]))
        assert isinstance(answer, BadAnswer)
    assert asker.asked == 10
    assert guard.dead is not None and "10 times in a row" in guard.dead
