"""Helpers: the result of a test is the same whatever their number, and none is left when it ends."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep import ahead
from misstep.ahead import Ahead
from misstep.api import make_session
from misstep.budget import StopFlag
from misstep.config import DEFAULT_ORACLE
from misstep.events import Judged, timeless
from misstep.lab import Lab
from misstep.record.record import ANSWERS, BUGS, CLEARED, EVENTS, EVIDENCE, POOL, Record
from misstep.session import Session
from misstep.testing.random_tasks import random_sas
from tests.conftest import COURIER

TASKS = Path(__file__).parents[1] / "tasks"
FERRY = TASKS / "ferry" / "domain.pddl", TASKS / "ferry" / "p03.pddl"
FLOORTILE = TASKS / "floortile" / "domain.pddl", TASKS / "floortile" / "p01.pddl"


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> list[Ahead]:
    """All that are made."""
    made: list[Ahead] = []
    start = Ahead.__init__

    def note(self: Ahead, *arguments: Any, **options: Any) -> None:
        start(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(Ahead, "__init__", note)
    return made


def content(record: Record) -> list[Any]:
    """Everything in a record but the times."""
    store = record.store
    bugs = {name: store.read(f"{BUGS}/{name}") for name in store.names(BUGS)}
    logs = [store.lines(log) for log in (CLEARED, EVIDENCE, POOL, ANSWERS)]
    return [[timeless(line) for line in store.lines(EVENTS)], bugs, *logs]


loaded = cache(misstep.load)


def session_of(task: tuple[Path, Path], policy: Any, jobs: int, **options: Any) -> Session:
    session = make_session(loaded(*task), policy, **options)
    session.jobs = jobs
    return session


def outcome(*arguments: Any, **options: Any) -> list[Any]:
    session = session_of(*arguments, **options)
    assert list(session.events())
    return content(session.record)


def are_none_left() -> bool:
    return not any(thread.name.startswith("ahead") for thread in threading.enumerate())


@pytest.mark.parametrize(
    ("task", "policy", "options"),
    [
        (FERRY, "heuristic:hadd", {"pool": 30}),
        (FERRY, "zoo:ferry", {"pool": 30, "unit_cost": True, "oracle": ("lookahead", "improve/ehc")}),
        (FERRY, "heuristic:blind", {"pool": 20, "gap": True, "seed": 3}),
        (COURIER, "zoo:courier", {"pool": 60, "bias": "detour"}),
        (COURIER, "zoo:courier", {"pool": 20, "interleave": True}),
        (COURIER, "zoo:courier", {"pool": 6, "faults": False, "oracle": ("planner:astar:blind,effort=1e6",)}),
        (FLOORTILE, "heuristic:ff", {"pool": 20, "max_steps": 9}),
        (FERRY, "heuristic:ff", {"pool": 20, "oracle": ("bounds:100+" + DEFAULT_ORACLE,)}),
        (FERRY, "heuristic:blind", {"pool": 12, "oracle": ("lookahead+improve", "undo", "planner:gbfs:ff")}),
    ],
)
def test_the_same_record_whatever_the_number(
    helpers: list[Ahead], task: tuple[Path, Path], policy: str, options: dict[str, Any]
) -> None:
    alone = outcome(task, policy, 1, **options)
    assert not helpers
    assert outcome(task, policy, 3, **options) == alone
    assert helpers[0].failures == []
    assert helpers[0].used or options.get("interleave")
    assert are_none_left()


def test_the_same_on_random_tasks(helpers: list[Ahead]) -> None:
    """Dead ends, unsolvable states, zero costs; all of it is small, so that helpers and the test race."""
    for seed in range(20):
        records = []
        for jobs in (1, 4):
            task = misstep.Task(random_sas(seed))
            session = make_session(task, "heuristic:blind", pool=12, max_steps=20, seed=seed)
            session.jobs = jobs
            assert list(session.events())
            records.append(content(session.record))
        assert records[0] == records[1], f"task {seed}"
    assert not [failure for one in helpers for failure in one.failures]
    assert any(one.used for one in helpers)


def test_other_peoples_policies_are_asked_by_one_thread(helpers: list[Ahead]) -> None:
    threads: list[str] = []

    def policy(state: misstep.State) -> misstep.Action | None:
        threads.append(threading.current_thread().name)
        task = loaded(*FERRY)
        return min(task.applicable(state), key=str, default=None)

    alone = outcome(FERRY, misstep.per_state(policy), 1, pool=12)
    threads.clear()
    assert outcome(FERRY, misstep.per_state(policy), 3, pool=12) == alone
    assert threads and not any(name.startswith("ahead") for name in threads)
    assert helpers[0].used


def _fails(*_: Any, **__: Any) -> None:
    raise RuntimeError("not today")


def _is_wrong(play: Callable[..., None], self: Any, coming: Any) -> None:
    """Plays the case through with another effort than the test is going to have."""
    play(self, replace(coming, scale=coming.scale / 3))


def test_helpers_that_fail_change_nothing(helpers: list[Ahead], monkeypatch: pytest.MonkeyPatch) -> None:
    alone = outcome(FERRY, "heuristic:hadd", 1, pool=20)
    monkeypatch.setattr(ahead, "localise", _fails)
    assert outcome(FERRY, "heuristic:hadd", 2, pool=20) == alone
    assert "not today" in str(helpers[0].failures[0])


def test_helpers_that_guess_wrong_change_nothing(
    helpers: list[Ahead], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = outcome(FERRY, "heuristic:hadd", 1, pool=20)
    play = ahead._Helper._play
    monkeypatch.setattr(ahead._Helper, "_play", lambda self, coming: _is_wrong(play, self, coming))
    assert outcome(FERRY, "heuristic:hadd", 2, pool=20) == alone
    assert not helpers[0].failures


def test_none_is_left_where_nobody_listens_any_more() -> None:
    session = session_of(FERRY, "heuristic:hadd", 3, pool=40)
    events = session.events()
    assert next(event for event in events if isinstance(event, Judged))
    assert not are_none_left()
    events.close()  # type: ignore[attr-defined]
    assert are_none_left()


def test_none_is_left_after_ctrl_c() -> None:
    session = session_of(FERRY, "heuristic:hadd", 3, pool=40)
    with pytest.raises(KeyboardInterrupt):
        for event in session.events():
            if isinstance(event, Judged) and event.id == 5:
                session._helpers.expect = _interrupt  # type: ignore[method-assign]
                session._helpers.begin = _interrupt  # type: ignore[method-assign]
    assert are_none_left()
    assert session.tally.finished is not None and "interrupted" in session.tally.finished.limits_hit


def _interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_a_stopped_test_goes_on_with_helpers(tmp_path: Path) -> None:
    alone = outcome(FERRY, "heuristic:hadd", 1, pool=20)
    stop = StopFlag()
    session = session_of(FERRY, "heuristic:hadd", 2, pool=20)
    session.record, session.stop = Record.create(tmp_path / "record"), stop
    for event in session.events():
        if isinstance(event, Judged) and event.id == 7:
            stop.set()
    session.record.close()
    assert session.tally.finished is not None and session.tally.finished.tested < 20
    again = session_of(FERRY, "heuristic:hadd", 2, pool=20)
    again.record, again.resume = Record.open(tmp_path / "record"), True
    assert list(again.events())
    again.record.close()
    events, bugs, *_ = content(again.record)
    assert events == alone[0]
    assert set(bugs) == set(alone[1])


class _Result:
    def __init__(self, limit: str | None) -> None:
        self.limit = limit


@pytest.fixture
def shelf() -> Ahead:
    """Helpers that never begin, for a look at what they leave."""
    session = session_of(COURIER, "zoo:courier", 2, pool=2)
    subject = session.open_task(misstep.Budget())
    assert isinstance(subject.lab, Lab) and subject.helpers is not None
    return subject.helpers


def test_what_a_helper_is_at_is_waited_for(shelf: Ahead) -> None:
    begun = threading.Event()

    def slow() -> str:
        begun.set()
        time.sleep(0.2)
        return "by the helper"

    helper = threading.Thread(target=lambda: shelf.take_ahead("key", slow, place=0, owner=7))
    helper.start()
    begun.wait()
    assert shelf.take("key", lambda: "by the test") == "by the helper"
    helper.join()
    shelf.end(7)
    assert shelf.take("key", lambda: "by the test") == "by the test"


@pytest.mark.parametrize("limit", ["memory", "stopped"])
def test_work_that_was_cut_short_is_done_again(shelf: Ahead, limit: str) -> None:
    whole = _Result(None)
    shelf.take_ahead("key", lambda: _Result(limit), place=0, owner=7)
    assert shelf.take("key", lambda: whole) is whole


def test_a_helper_leaves_a_case_that_is_tested(shelf: Ahead) -> None:
    shelf._places[7] = 0
    shelf.begin(7)
    with pytest.raises(ahead._InVain):
        shelf.take_ahead("key", lambda: "in vain", place=0, owner=7)
    assert shelf.take_ahead("key", lambda: "for the next", place=1, owner=8) == "for the next"


def test_helpers_wait_for_a_place() -> None:
    places = threading.Semaphore(0)
    session = session_of(COURIER, "zoo:courier", 2, pool=2)
    session.places = places
    subject = session.open_task(misstep.Budget())
    helpers = subject.helpers
    assert helpers is not None
    served = threading.Semaphore(0)
    wait = helpers.next

    def noted() -> Any:
        served.release()
        return wait()

    helpers.next = noted  # type: ignore[method-assign]
    helpers.expect([], size=2)
    assert not served.acquire(timeout=0.5)
    places.release()
    assert served.acquire(timeout=60) and served.acquire(timeout=60), "one place is enough for two"
    helpers.close()
    assert places.acquire(timeout=60), "it was given back"
    assert are_none_left()


def test_what_later_rounds_need_is_prepared_when_a_round_has_no_more_cases(shelf: Ahead) -> None:
    made = set[tuple[int, float]]()
    shelf._threads = [threading.current_thread()]  # nobody else begins
    lab = shelf.lab
    shelf.expect([], size=0)
    while shelf._preparations or shelf._early:
        thing = shelf.next()
        assert isinstance(thing, ahead._Preparation)
        made.add((thing.round, thing.scale))
    assert made == {(0, lab.scale), (1, 2 * lab.scale), (2, 4 * lab.scale)}
    assert shelf.take_ahead("large", lambda: "once", place=0, owner=None) == "once"
    assert shelf.take_ahead("small", lambda: "once", place=0, owner=7) == "once"
    lab.scale = 1.0  # the last round
    shelf.expect_again([], bugs=())
    assert not shelf._early
    assert shelf.take("large", lambda: "twice") == "once"
    assert shelf.take("small", lambda: "twice") == "twice"
