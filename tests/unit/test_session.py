"""A session: what it yields, what it records, how it ends."""

import dataclasses
import json
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.budget import StopFlag
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Event, Finished, Judged, PoolGrown, Progress, Started, Warned, timeless
from misstep.oracle import make_oracles
from misstep.record.record import BUGS, CLEARED, POOL, Record
from misstep.record.verify import verify_record
from misstep.session import Session
from misstep.support.plain import to_plain
from misstep.task import Task


@pytest.fixture(scope="module")
def task() -> Task:
    with as_file(files("misstep") / "bundled" / "courier") as folder:
        return misstep.load(folder / "domain.pddl", folder / "problem.pddl")


def run(session: Session) -> list[Event]:
    return list(session.events())


def test_the_stream(task: Task) -> None:
    session = Session(Config(policy="zoo:courier", pool=12, seed=5), task=task)
    events = run(session)
    assert isinstance(events[0], Started) and isinstance(events[-1], Finished)
    assert sum(isinstance(event, PoolGrown) for event in events) == 1
    judged = [event for event in events if isinstance(event, Judged)]
    assert [event.id for event in judged] == list(range(12))
    assert all(0 <= a.at <= b.at and a.effort <= b.effort for a, b in pairwise(events))
    logged = list(session.record.events())
    assert logged == [event for event in events if not isinstance(event, PoolGrown)]


def test_everything_reported_is_in_the_record_before(task: Task) -> None:
    session = Session(Config(policy="zoo:courier", pool=20), task=task)
    for event in session.events():
        if isinstance(event, Judged):
            store = session.record.store
            assert event.id < len(store.lines(POOL))
            if event.verdict == "bug":
                assert f"{event.id}.json" in store.names(BUGS)
            if event.verdict == "cleared":
                assert store.lines(CLEARED)[-1]["id"] == str(event.id)
            assert session.tally.judged[event.id] == event
    assert verify_record(session.record).invalid == []


def test_landmarks_alone_end_what_they_settle(task: Task) -> None:
    """Once the panel went on after them, since the lab had the claim before it was made."""
    asked: list[int] = []

    @dataclass(frozen=True)
    class Spy:
        """Notes which states it is asked about."""

        name = "spy"

        def bind(self, lab: misstep.Lab, /) -> "Spy":
            return self

        def claims(self, case: misstep.Case, /) -> Sequence[object]:
            asked.append(case.id)
            return ()

    parts = {"oracle": [*make_oracles(["landmarks"]), Spy()]}
    session = Session(Config(policy="zoo:courier", pool=100), task=task, parts=parts)
    run(session)
    cleared = [event for event in session.tally.judged.values() if event.verdict == "cleared"]
    assert cleared and all(event.oracle == "landmarks" for event in cleared)
    assert not {event.id for event in cleared} & set(asked) and asked


def counts_of(task: Task, own: str = "2e4", **options: object) -> tuple[int, float]:
    """Unknown states and effort of a test whose oracle has so little effort of its own that it settles nothing."""
    oracle = (f"planner:astar:blind,effort={own}",)
    config = Config(policy="zoo:courier", pool=6, oracle=oracle, faults=False)
    session = Session(config.replace(**options), task=task)
    run(session)
    assert session.tally.finished is not None
    return session.tally.finished.unknown, session.tally.finished.effort


def test_a_limit_of_time_never_makes_a_test_longer(task: Task) -> None:
    """Unless somebody says so: then what is left of it is used for what is open."""
    usual = counts_of(task, effort=1.0)
    assert usual[0] == 6
    assert counts_of(task, effort=1.0, seconds=600.0) == usual
    assert counts_of(task, effort=1.0, seconds=600.0, extend=False) == usual
    assert counts_of(task, effort=1.0, seconds=600.0, extend=True)[0] == 0
    assert counts_of(task, effort=1.0, extend=True) == usual  # there is no time that could be left


def test_more_than_their_own_effort_is_for_states_that_stay_unknown(task: Task) -> None:
    found = [counts_of(task, "1e6", effort=effort) for effort in (1.0, 4.0, 32.0)]
    assert found[0][0] == 6 and 0 < found[1][0] < 6 and found[2][0] == 0
    assert counts_of(task, "1e6", effort=64.0) == found[2]  # nothing was open any more
    in_vain = [counts_of(task, effort=effort) for effort in (1.0, 16.0, 32.0)]
    assert [unknown for unknown, _ in in_vain] == [6, 6, 6]
    assert in_vain[0][1] < in_vain[1][1] == in_vain[2][1]  # four rounds settled nothing


@pytest.mark.parametrize("at", [1, 4, 7])
def test_a_test_that_was_stopped_in_a_late_round_goes_on_to_the_same(
    task: Task, at: int, tmp_path: Path
) -> None:
    """Whether oracles spend their own effort or more, and whether the test ended for lack of effort or of cases."""
    oracle = ("planner:astar:blind,effort=1e6",)
    for effort in (4.0, 32.0):
        config = Config(policy="zoo:courier", pool=6, oracle=oracle, effort=effort, faults=False)
        whole = Session(config, task=task)
        run(whole)
        stop, out = StopFlag(), tmp_path / f"{effort:g}"
        session = Session(config, task=task, record=Record.create(out), stop=stop, progress_seconds=0.0)
        for event in session.events():
            if isinstance(event, Progress) and event.round >= at:
                stop.set()
        session.record.close()
        again = Session(config, task=task, record=Record.open(out), resume=True)
        run(again)
        again.record.close()
        once_more = Session(config, task=task, record=Record.open(out), resume=True)  # one that is done
        run(once_more)
        once_more.record.close()
        last = [timeless(to_plain(each.tally.finished)) for each in (whole, again, once_more)]
        assert last[0] == last[1] == last[2]


@pytest.mark.parametrize("is_done", [True, False])
def test_stopping_again_while_a_test_repeats_what_it_had_loses_nothing(
    task: Task, is_done: bool, tmp_path: Path
) -> None:
    """Ctrl-C comes after the second verdict of the record; the log keeps all that it had."""
    config, out = Config(policy="zoo:courier", pool=8), tmp_path / "out"
    whole = run(Session(config, task=task))
    record = Record.create(out)
    stop_after(Session(config, task=task, record=record), 99 if is_done else 5)
    record.close()
    before = (out / "events.jsonl").read_bytes()
    record = Record.open(out)
    again = Session(config, task=task, record=record, resume=True)
    stop_after(again, 2)
    record.close()
    assert again.tally.finished is not None and again.tally.finished.limits_hit == ("interrupted",)
    assert (out / "events.jsonl").read_bytes() == before
    record = Record.open(out)
    run(Session(config, task=task, record=record, resume=True))
    record.close()
    found = [timeless(json.loads(line)) for line in (out / "events.jsonl").read_text().splitlines()]
    assert found == [timeless(to_plain(event)) for event in whole if not isinstance(event, PoolGrown)]


def stop_after(session: Session, verdicts: int) -> None:
    """Ctrl-C after so many verdicts, or the whole test."""
    events, seen = session.events(), 0
    assert isinstance(events, Generator)
    for event in events:
        seen += isinstance(event, Judged)
        if seen == verdicts:
            with pytest.raises(KeyboardInterrupt):
                events.throw(KeyboardInterrupt)
            return


@pytest.mark.parametrize("seconds", [600.0, None])
def test_a_record_of_before_goes_on_as_it_began(task: Task, seconds: float | None, tmp_path: Path) -> None:
    """There was no `effort` then, and a limit of time was used up by default."""
    oracle, out = ("planner:astar:blind,effort=2e4",), tmp_path / "out"
    before = Config(policy="zoo:courier", pool=6, oracle=oracle, faults=False)
    extended = before.replace(seconds=600.0, extend=True)
    whole, stop = Session(extended, task=task), StopFlag()
    run(whole)
    record = Record.create(out)
    session = Session(extended, task=task, record=record, stop=stop, progress_seconds=0.0)
    for event in session.events():
        if isinstance(event, Progress) and event.round >= (7 if seconds else 13):
            stop.set()
    record.close()
    (out / "config.toml").write_text(before.replace(seconds=600.0).to_toml())
    environment = json.loads((out / "env.json").read_text())
    del environment["effort"]
    (out / "env.json").write_text(json.dumps(environment))
    again = Session(
        dataclasses.replace(before, seconds=seconds), task=task, record=Record.open(out), resume=True
    )
    run(again)
    again.record.close()
    found = [each.tally.finished for each in (whole, again, session)]
    assert found[0] is not None and found[1] is not None and found[2] is not None
    if seconds is None:  # as far as it went, to the end of that round
        assert found[2].effort <= found[1].effort <= found[0].effort
        assert found[1].unknown <= found[2].unknown
    else:
        assert timeless(to_plain(found[0])) == timeless(to_plain(found[1]))
        assert found[0].unknown == 0


def test_a_stop_flag_ends_it(task: Task) -> None:
    stop = StopFlag()
    session = Session(Config(policy="zoo:courier", pool=50), task=task, stop=stop)
    for event in session.events():
        if isinstance(event, Judged) and event.id == 3:
            stop.set()
    assert session.tally.finished is not None
    assert "stopped" in session.tally.finished.limits_hit
    assert session.tally.finished.tested <= 5


def test_an_interrupt_is_recorded(task: Task) -> None:
    calls = 0

    def policy(states: misstep.StateBatch) -> list[None]:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise KeyboardInterrupt
        return [None] * len(states)

    session = Session(Config(policy="object:policy", pool=40, recheck=False), task=task, policy=policy)
    with pytest.raises(KeyboardInterrupt):
        run(session)
    assert session.tally.finished is not None and "interrupted" in session.tally.finished.limits_hit
    assert list(session.record.events())[-1] == session.tally.finished


def test_a_slow_policy_has_results_when_the_time_is_over(task: Task) -> None:
    def slow(states: misstep.StateBatch) -> list[misstep.Action]:
        time.sleep(0.02 * len(states))
        return [task.applicable(state)[0] for state in states]

    config = Config(policy="object:slow", pool=200, seconds=2.0, recheck=False)
    session = Session(config, task=task, policy=slow)
    run(session)
    assert session.tally.finished is not None
    assert 0 < session.tally.finished.tested < 200
    assert "seconds" in session.tally.finished.limits_hit


def test_a_policy_that_fails_everywhere_is_given_up(task: Task) -> None:
    def broken(states: misstep.StateBatch) -> list[None]:
        raise RuntimeError("CUDA out of memory")

    session = Session(Config(policy="object:broken", pool=100, recheck=False), task=task, policy=broken)
    events = run(session)
    finished = session.tally.finished
    assert finished is not None and finished.bugs == 0 and finished.failed == finished.tested < 100
    warnings = [event.text for event in events if isinstance(event, Warned)]
    assert any("CUDA out of memory" in text and "given up" in text for text in warnings)


def test_a_policy_is_needed(task: Task) -> None:
    with pytest.raises(InputError, match="no policy to test"):
        run(Session(Config(), task=task))
    with pytest.raises(InputError, match="no task to test"):
        run(Session(Config(policy="heuristic:ff")))


def test_limits_of_the_translator_are_an_outcome() -> None:
    with as_file(files("misstep") / "bundled" / "courier") as folder:
        config = Config(
            domain=folder / "domain.pddl",
            problem=folder / "problem.pddl",
            policy="zoo:courier",
            seconds=0.001,
        )
        session = Session(config, record=Record.in_memory())
        run(session)
    assert session.tally.finished is not None
    assert session.tally.finished.limits_hit == ("translate: seconds",)
    assert session.tally.finished.tested == 0


@dataclass
class Restless:
    """Is asked again in every round, claims nothing, and notes of whom and in which round."""

    notes: list[tuple[int, int]]
    name = "restless"
    is_anytime = True
    may_exceed = True

    def bind(self, lab: misstep.Lab, /) -> "Restless":
        self.lab = lab
        return self

    def claims(self, case: misstep.Case, /) -> Sequence[object]:
        self.lab.spend(1.0)
        self.notes.append((self.lab.round, case.id))
        return ()


def asked_in_rounds(task: Task, **options: Any) -> tuple[Session, dict[int, list[int]]]:
    """The states that are asked about in every round, of a test that settles some of them in the first one."""
    notes: list[tuple[int, int]] = []
    parts = {"oracle": [*make_oracles(["landmarks+inverse+undo:failing=true"]), Restless(notes)]}
    session = Session(Config(policy="zoo:courier", pool=40, faults=False, **options), task=task, parts=parts)
    run(session)
    return session, {at: [id for number, id in notes if number == at] for at in {at for at, _ in notes}}


def test_late_rounds_are_about_unknown_states_and_begin_with_those_nearly_settled(task: Task) -> None:
    session, rounds = asked_in_rounds(task)
    judged = session.tally.judged
    assert max(rounds) == 8 and len(rounds[5]) > 2  # four rounds in vain
    gaps = [judged[id].cost.lo - judged[id].best.lo for id in rounds[5]]
    assert gaps == sorted(gaps) and gaps[0] < gaps[-1]
    assert rounds[4] == sorted(rounds[4]) and set(rounds[5]) <= set(rounds[4])


def test_gaps_of_bugs_get_no_more_than_the_oracles_own_effort(task: Task) -> None:
    session, rounds = asked_in_rounds(task, gap=True)
    bugs = {id for id, event in session.tally.judged.items() if event.verdict == "bug"}
    assert bugs & set(rounds[4]) and set(rounds[5]) == set(rounds[4]) - bugs


def test_where_the_rate_is_known_closely_enough_nothing_more_is_spent(task: Task) -> None:
    session, rounds = asked_in_rounds(task, until_width=0.99)
    assert session.tally.finished is not None and "until-width" in session.tally.finished.limits_hit
    assert max(rounds) == 4 and session.tally.finished.unknown


def test_extend_without_a_limit_of_time_is_told(task: Task) -> None:
    session = Session(Config(policy="zoo:courier", pool=2, extend=True), task=task)
    assert any(isinstance(event, Warned) and "without `seconds`" in event.text for event in run(session))
