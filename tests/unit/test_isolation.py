"""Services in a process of their own: frames, starting again, limits, and nothing left behind."""

import gc
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import misstep
from misstep import Budget, load
from misstep.answers.asking import Ended, Overdue
from misstep.answers.guard import Guard
from misstep.config import Config
from misstep.errors import FlakyPolicy, InputError, LimitReached, PolicyError
from misstep.isolation.frames import Closed, Connection, ControlConnection
from misstep.isolation.host import Host
from misstep.isolation.keeper import BEGUN, KILL, OPEN
from misstep.isolation.policy import IsolatedPolicy
from misstep.support.census import descendants
from misstep.task import Task
from tests import hostile

HOSTILE = Path(hostile.__file__)
FERRY = Path(__file__).parents[1] / "tasks" / "ferry"


@dataclass(frozen=True)
class Echo:
    """Answers with what it was told; some words mean more."""

    fails: str | None = None

    def open(self) -> tuple[dict[str, Any], Callable[[bytes], bytes]]:
        if self.fails == "input":
            raise InputError("no such policy")
        if self.fails == "value":
            raise ValueError("boom")
        if self.fails == "exit":
            os._exit(9)
        if self.fails == "hang":
            time.sleep(3600)
        return {"pid": os.getpid()}, self.answer

    @staticmethod
    def answer(question: bytes) -> bytes:
        if question == b"exit":
            print("good bye")
            os._exit(3)
        if question == b"hang":
            time.sleep(3600)
        if question == b"pid":
            return str(os.getpid()).encode()
        return question


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    yield host
    host.close()


@pytest.fixture(scope="module")
def task() -> Task:
    return load(FERRY / "domain.pddl", FERRY / "p02.pddl")


def ask(host: Host, question: bytes, *, seconds: float | None = 60.0, budget: Budget | None = None) -> bytes:
    return host.ask(question, seconds=seconds, budget=budget)


def test_frames_come_as_they_were_sent_however_they_are_cut() -> None:
    here, there = socket.socketpair()
    receiver = Connection(there)
    assert receiver.receive(seconds=0.01) is None
    data = b"".join(
        kind + len(text).to_bytes(4, "little") + text for kind, text in [(b"a", b"xyz"), (b"b", b"")]
    )
    for byte in data[:-1]:
        here.send(bytes([byte]))
    assert receiver.receive(seconds=1) == (b"a", b"xyz")
    assert receiver.receive(seconds=0.01) is None
    here.send(data[-1:])
    assert receiver.receive(seconds=1) == (b"b", b"")
    here.send(b"c" + (2**31).to_bytes(4, "little"))
    with pytest.raises(Closed):
        receiver.receive(seconds=1)
    here.close()
    with pytest.raises(Closed):
        Connection(there).receive(seconds=1)


def test_who_stays_awake_gets_the_same_frames() -> None:
    here, there = socket.socketpair()
    receiver = Connection(there)
    for number in range(300):  # in vain more and more rarely, and then never late
        assert receiver.receive(seconds=0, is_near=True) is None
        here.send(b"a" + (1).to_bytes(4, "little"))
        assert receiver.receive(seconds=0, is_near=True) is None
        here.send(bytes([number % 256]))
        assert receiver.receive(seconds=1, is_near=True) == (b"a", bytes([number % 256]))
    here.close()
    with pytest.raises(Closed):
        receiver.receive(seconds=1, is_near=True)


def test_a_service_answers_from_another_process_and_large_questions_too(host: Host) -> None:
    about = host.open(Echo())
    assert about["pid"] != os.getpid()
    assert int(ask(host, b"pid")) == about["pid"]
    large = np.random.default_rng(0).bytes(3_000_000)
    assert ask(host, large) == large


def test_a_process_that_ended_is_started_again(host: Host) -> None:
    first = host.open(Echo())["pid"]
    with pytest.raises(Ended, match=r"exit code 3; the last that it printed: good bye"):
        ask(host, b"exit")
    assert int(ask(host, b"pid")) != first
    with pytest.raises(Overdue):
        ask(host, b"hang", seconds=0.3)
    assert ask(host, b"hello") == b"hello"
    os.kill(int(ask(host, b"pid")), signal.SIGTERM)
    time.sleep(0.2)
    with pytest.raises(Ended, match="killed by SIGTERM"):
        ask(host, b"hello")
    assert host.starts == 3


def test_a_budget_ends_a_question(host: Host) -> None:
    host.open(Echo())
    with pytest.raises(Overdue):
        ask(host, b"hang", seconds=None, budget=Budget(seconds=0.3))


@pytest.mark.parametrize(
    ("fails", "error", "text"),
    [
        ("input", InputError, "no such policy"),
        ("value", PolicyError, "loading the policy failed: ValueError: boom"),
        ("exit", PolicyError, "ended while the policy was loaded: .*exit code 9"),
        ("hang", LimitReached, "the time was up while the policy was loaded"),
    ],
)
def test_what_opening_raises_is_raised_here(
    host: Host, fails: str, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        host.open(Echo(fails), budget=Budget(seconds=2) if fails == "hang" else None)
    assert host.open(Echo())["pid"]


def test_a_keeper_obeys_all_that_it_reads_at_once() -> None:
    """A busy machine: the word to end a process, which ended by itself, and the next one come in one piece."""
    ours, theirs = socket.socketpair()
    opened = pickle.dumps((sys.path, None, pickle.dumps(Echo())))
    frames = [(KILL, json.dumps("it gave no answer").encode()), (OPEN, opened)]
    ours.sendall(b"".join(kind + len(data).to_bytes(4, "little") + data for kind, data in frames))
    program = [sys.executable, "-c", "from misstep.isolation.keeper import main; main()"]
    with theirs:
        numbers = [str(theirs.fileno()), str(os.getpid())]
        keeper = subprocess.Popen([*program, *numbers], pass_fds=[theirs.fileno()], start_new_session=True)
    control = ControlConnection(ours)
    frame = control.receive(seconds=30)
    control.close()
    assert keeper.wait(30) == 0
    assert frame is not None and frame[0] == BEGUN


def test_a_keeper_that_was_killed_is_started_again(host: Host) -> None:
    worker = host.open(Echo())["pid"]
    assert host._keeper is not None
    os.kill(host._keeper.pid, signal.SIGKILL)
    with pytest.raises(Ended):
        ask(host, b"hang", seconds=30)
    deadline = time.monotonic() + 60
    while Path(f"/proc/{worker}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert ask(host, b"hello") == b"hello"


def test_nothing_is_left_when_a_host_is_forgotten() -> None:
    before = set(descendants(os.getpid()))
    host = Host()
    host.open(Echo())
    assert set(descendants(os.getpid())) - before
    del host
    gc.collect()
    assert not set(descendants(os.getpid())) - before


def test_the_isolated_policy_answers_like_the_one_inside(task: Task) -> None:
    states = task.batch([task.initial_state, *(state for _, state in task.successors(task.initial_state))])
    for name in ("good", "out_of_memory"):
        host = Host()
        outside = Guard(IsolatedPolicy.open(host, task, f"python:{HOSTILE}:{name}"), task)
        inside = Guard(misstep.per_state(getattr(hostile, name)), task)
        assert outside(states) == inside(states)
        assert outside.failures == inside.failures
        host.close()


def test_a_test_outside_is_the_test_inside(task: Task) -> None:
    results = []
    before = set(descendants(os.getpid()))
    for isolate in (True, False):
        report = misstep.test(task, f"python:{HOSTILE}:good", pool=15, isolate=isolate)
        results.append([(event.id, event.verdict, event.cost) for event in report.tally.judged.values()])
    assert results[0] == results[1]
    assert not set(descendants(os.getpid())) - before


def test_objects_cannot_be_isolated(task: Task) -> None:
    with pytest.raises(InputError, match="a policy that is a Python object lives in this process"):
        misstep.test(task, misstep.per_state(hostile.good), isolate=True)


@pytest.mark.parametrize("seed", range(5))
def test_a_policy_that_is_random_now_and_then_is_noticed(task: Task, seed: int) -> None:
    rng = np.random.default_rng(seed)

    def choose(state: Any) -> Any:
        actions = task.applicable(state)
        return actions[int(rng.integers(len(actions)))] if rng.random() < 0.2 else actions[0]

    with pytest.raises(FlakyPolicy, match="not deterministic"):
        misstep.test(task, misstep.per_state(choose), pool=30)


def test_how_sure_one_can_be_is_said(task: Task) -> None:
    report = misstep.test(task, misstep.per_state(hostile.good), pool=3)
    said = report.as_json()["recheck"]
    assert said["compared"] >= 90 and said["missed"] == pytest.approx(0.95 ** said["compared"], abs=1e-6)
    assert misstep.test(task, "heuristic:ff", pool=3).as_json()["recheck"] is None


@pytest.mark.skipif(
    "MISSTEP_SANITIZED" in os.environ,
    reason="what is freed stays in the quarantine of the sanitizer for a while",
)
def test_the_process_may_grow_only_so_much() -> None:
    budget = Budget(growth_mb=50)
    assert budget.over is None
    hoard = np.ones(20_000_000)  # 160 MB
    assert budget.over == "memory" and budget.is_over
    assert budget.part(seconds=10).over == "memory"
    del hoard
    assert budget.over is None
    with pytest.raises(InputError, match="growth_mb is -1"):
        Budget(growth_mb=-1)
    assert Config(memory_mb=7).budget().memory_mb == 7


def test_a_search_ends_where_the_process_is_too_large() -> None:
    large = load(FERRY.parent / "npuzzle" / "domain.pddl", FERRY.parent / "npuzzle" / "p05.pddl")
    budget = Budget(growth_mb=0)
    hoard = np.ones(2_000_000)
    found = misstep.search(large, "astar:blind", budget=budget)
    assert (found.outcome, found.limit) == ("limit", "memory")
    assert json.dumps(found.expanded) and hoard.size
