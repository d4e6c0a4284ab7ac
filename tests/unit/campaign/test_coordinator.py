"""What the coordinator does with jobs that end well, badly, by accident, or not at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from misstep.campaign.coordinator import Coordinator, is_running, limits_of, open_campaign
from misstep.campaign.database import NAME, Database
from misstep.campaign.engine import Assignment, Ended
from misstep.campaign.plan import Limits, read_plan
from misstep.campaign.result import Result
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Finished, Started
from misstep.record.record import Record
from tests.unit.campaign.made import TOML, Pretended, opened, ran, written


def test_all_jobs_run_once(tmp_path: Path) -> None:
    plan, database = opened(tmp_path, TOML + "seeds = 2\n")
    engine = Pretended(slots=2)
    rows = ran(plan, database, engine)
    assert [row.state for row in rows] == ["done"] * 6
    assert all(row.result is not None and row.result.bugs == 1 for row in rows)
    again = Pretended()
    assert ran(plan, database, again) == rows
    assert again.begun == []


def test_a_seed_of_everything_comes_first_and_small_tasks_before_large_ones(tmp_path: Path) -> None:
    plan, database = opened(tmp_path, TOML + "seeds = 2\n")
    engine = Pretended()
    ran(plan, database, engine)
    order = [(job.config.seed, job.config.subject) for job in engine.begun]
    small_first = ["p2.pddl", "p3.pddl", "p1.pddl"]
    assert order == [(seed, name) for seed in (0, 1) for name in small_first]


def test_what_is_added_is_all_that_runs_and_what_is_dropped_is_kept(tmp_path: Path) -> None:
    plan, database = opened(tmp_path)
    ran(plan, database, Pretended())
    engine = Pretended()
    more = read_plan(written(tmp_path, TOML.replace('"heuristic:ff"', '"heuristic:ff", "heuristic:hadd"')))
    assert len(ran(more, database, engine)) == 6
    assert {job.config.policy for job in engine.begun} == {"heuristic:hadd"} and len(engine.begun) == 3
    less = read_plan(written(tmp_path, TOML.replace("p*", "p1")))
    none = Pretended()
    assert len(ran(less, database, none)) == 1 and not none.begun
    assert database.dropped() == 5
    back = Pretended()
    ran(more, database, back)
    assert not back.begun


def accident(job: Assignment) -> Ended:
    return Ended(job.id, reason="the worker died", is_accident=True)


def test_accidents_are_tried_again_so_often_and_no_more(tmp_path: Path) -> None:
    plan, database = opened(tmp_path, TOML.replace("p*", "p1") + "tries = 4\n")
    engine = Pretended(accident)
    (row,) = ran(plan, database, engine)
    assert (row.state, row.tries, len(engine.begun)) == ("failed", 4, 4)
    assert row.reason == "the worker died, in all of 4 tries"
    idle = Pretended()
    ran(plan, database, idle)
    assert not idle.begun  # a failed job stays so
    (row,) = ran(plan, database, Pretended(), retry=True)
    assert (row.state, row.reason) == ("done", None)


def test_errors_of_the_test_itself_are_not_tried_again(tmp_path: Path) -> None:
    plan, database = opened(tmp_path, TOML.replace("p*", "p1"))
    engine = Pretended(lambda job: Ended(job.id, reason="p1.pddl: no PDDL"))
    (row,) = ran(plan, database, engine)
    assert (row.state, row.reason, len(engine.begun)) == ("failed", "p1.pddl: no PDDL", 1)


def test_an_error_of_a_record_that_an_accident_left_leads_to_a_fresh_start(tmp_path: Path) -> None:
    plan, database = opened(tmp_path, TOML.replace("p*", "p1"))
    seen: list[bool] = []

    def end(job: Assignment) -> Ended:
        seen.append(job.record.exists())
        if len(seen) == 1:
            (job.record / "bugs").mkdir(parents=True)
            return accident(job)
        if len(seen) == 2:
            return Ended(job.id, reason="the record is damaged")
        return Ended(job.id, Result())

    (row,) = ran(plan, database, Pretended(end))
    assert seen == [False, True, False] and row.state == "done"


def test_jobs_under_way_when_the_coordinator_was_killed(tmp_path: Path) -> None:
    """One has its end in the record, one does not; neither counts as a try."""
    plan, database = opened(tmp_path, TOML + "tries = 1\n")
    coordinator = Coordinator(plan, database)
    coordinator.prepare()
    with database.transaction():
        one, other, third = (job.id for job in database.next_jobs(3))
        for id in (one, other):
            database.begin(id)
    record = Record.create(coordinator.record_of(one))
    record.begin("", environment={}, files={})
    record.event(Started(task="p", policy="p", seed=0, oracles=()))
    record.event(Finished(tested=3, bugs=3))
    record.close()
    engine = Pretended()
    rows = {row.id: row for row in ran(plan, database, engine)}
    assert {job.id for job in engine.begun} == {other, third}
    assert rows[one].result is not None and rows[one].result.bugs == 3
    assert [rows[id].tries for id in (one, other)] == [1, 1]
    assert [outcome for _, outcome in database.attempts()] == ["done", "waiting", "done", "done"]


def test_files_that_change_meanwhile_are_noticed(tmp_path: Path) -> None:
    plan, database = opened(tmp_path)

    def end(job: Assignment) -> Ended:
        (tmp_path / "p3.pddl").write_text("another problem")
        (tmp_path / "p1.pddl").unlink(missing_ok=True)
        return Ended(job.id, Result(tested=1))

    engine = Pretended(end)
    rows = {row.task: row for row in ran(plan, database, engine)}
    assert [job.config.subject for job in engine.begun] == ["p2.pddl"]
    assert rows["p2"].state == "done" and rows["p3"].state == rows["p1"].state == "failed"
    assert "its files have changed" in rows["p3"].reason
    assert "p1.pddl: cannot be read: No such file" in rows["p1"].reason
    rows = {row.task: row for row in ran(plan, database, Pretended())}
    assert {task: row.state for task, row in rows.items()} == {"p2": "done", "p3": "done"}


@pytest.mark.parametrize("keep", ["all", "bugs"])
def test_records_of_tests_that_found_nothing_may_be_dropped(tmp_path: Path, keep: str) -> None:
    plan, database = opened(tmp_path, TOML + f'keep_records = "{keep}"\n')

    def end(job: Assignment) -> Ended:
        job.record.mkdir(parents=True)
        return Ended(job.id, Result(tested=1, bugs=int(job.config.subject == "p1.pddl")))

    rows = ran(plan, database, Pretended(end))
    kept = [row.task for row in rows if Coordinator(plan, database).record_of(row.id).exists()]
    assert kept == (["p1", "p2", "p3"] if keep == "all" else ["p1"])
    assert {row.state for row in ran(plan, database, Pretended())} == {"done"}


def test_interrupted_jobs_wait_again(tmp_path: Path) -> None:
    plan, database = opened(tmp_path)

    def end(job: Assignment) -> Ended:
        raise KeyboardInterrupt

    engine = Pretended(end)
    coordinator = Coordinator(plan, database)
    coordinator.prepare()
    with pytest.raises(KeyboardInterrupt):
        coordinator.run(engine)
    assert engine.is_closed
    assert database.counts() == {"waiting": 3, "running": 0, "done": 0, "failed": 0}


def test_only_one_coordinator_and_readers_meanwhile(tmp_path: Path) -> None:
    with open_campaign(tmp_path) as database:
        assert is_running(tmp_path)
        with (
            pytest.raises(InputError, match=f"is being run already, by process {os.getpid()}"),
            open_campaign(tmp_path),
        ):
            pass
        assert Database.read(tmp_path / NAME).counts()["done"] == 0
        assert database.bugs() == 0
    assert not is_running(tmp_path)


def test_a_transaction_that_ended_survives_a_kill(tmp_path: Path) -> None:
    plan, database = opened(tmp_path)
    Coordinator(plan, database).prepare()
    database.close()
    script = (
        "import os, sys; from pathlib import Path; from misstep.campaign.database import *\n"
        "database = Database.create(Path(sys.argv[1]))\n"
        "with database.transaction():\n"
        "    one, other, _ = database.next_jobs(3); database.begin(one.id); database.begin(other.id)\n"
        "with database.transaction():\n"
        "    database.done(one.id, Result(tested=5, bugs=5))\n"
        "database._execute('BEGIN IMMEDIATE'); database.done(other.id, Result(tested=7, bugs=7))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(plan.out / NAME)], check=False)
    assert ended.returncode == -signal.SIGKILL
    found = Database.read(plan.out / NAME)
    assert found.counts() == {"waiting": 1, "running": 1, "done": 1, "failed": 0}
    assert found.bugs() == 5


def test_limits_that_the_file_does_not_give_come_from_those_of_the_test() -> None:
    config = Config(domain=Path("d.sas"), policy="zoo:a")
    assert limits_of(Limits(), config) == Limits()
    assert limits_of(Limits(), config.replace(seconds=10.0, memory_mb=100)) == Limits(45.0, 1200)
    assert limits_of(Limits(3.0, 5), config.replace(seconds=10.0, memory_mb=100)) == Limits(3.0, 5)


def test_no_database_and_one_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no campaign yet"):
        Database.read(tmp_path / NAME)
    (tmp_path / NAME).write_text("not a database at all, but long enough to be looked at")
    with pytest.raises(InputError, match="is it the database of a campaign"):
        Database.read(tmp_path / NAME)


def test_a_campaign_whose_time_is_up_continues_where_it_was(tmp_path: Path) -> None:
    plan, database = opened(tmp_path)
    coordinator = Coordinator(plan, database, seconds=0.0)
    coordinator.prepare()
    engine = Pretended()
    assert not coordinator.run(engine)
    assert engine.is_closed and not engine.begun
    assert database.counts() == {"waiting": 3, "running": 0, "done": 0, "failed": 0}
    coordinator = Coordinator(plan, database, seconds=1e6)
    coordinator.prepare()
    assert coordinator.run(Pretended())
    assert database.counts()["done"] == 3
