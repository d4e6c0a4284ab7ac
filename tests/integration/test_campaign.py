"""Campaigns as users run them: limits that hold, workers that die, interrupts, Ray, all views."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import misstep as library
from misstep.campaign.coordinator import record_path
from misstep.campaign.database import NAME, Database, Row
from misstep.support.census import descendants
from tests.conftest import COURIER
from tests.integration.campaign_kills import campaign, done_jobs, is_worker, nothing_left
from tests.integration.cli import command, misstep
from tests.integration.kills import record

ROOT = Path(__file__).parents[2]
POLICIES = """
import os, time

def fine(state):
    return next(iter(sorted(state.task.applicable(state), key=str)), None)

def deadly(state):
    os.kill(os.getpid(), 9)

def hanging(state):
    time.sleep(1000)

def greedy(state):
    greedy.kept = bytearray(os.urandom(1)) * 900_000_000
    time.sleep(1000)
"""
OPTIONS = 'pool = 3\noracle = "landmarks+greedy"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a task that needs no translator, and policies of all kinds."""
    (tmp_path / "courier.sas").write_text(library.load(*COURIER).sas)
    (tmp_path / "mine.py").write_text(POLICIES)
    return tmp_path


def written(folder: Path, *policies: str, more: str = "") -> Path:
    file = folder / "small.toml"
    names = ", ".join(f'"{policy}"' for policy in policies)
    file.write_text(f'domain = "courier.sas"\npolicies = [{names}]\n{OPTIONS}{more}')
    return file


def rows(folder: Path) -> dict[str, Row]:
    database = Database.read(folder / "small-runs" / NAME)
    try:
        return {row.policy: row for row in database.rows()}
    finally:
        database.close()


def test_from_the_file_to_the_table(folder: Path) -> None:
    file = written(folder, "heuristic:ff", "heuristic:hadd", more="seeds = 2\n")
    planned = misstep("campaign", file, "--dry-run", "--json")
    assert planned.json["jobs"] == planned.json["left"] == planned.json["new"] == 4
    assert not (folder / "small-runs").exists()  # a dry run leaves nothing
    ended = misstep("campaign", file, "--jobs", "2", "--json", timeout=300)
    assert ended.code == 1
    out = str(folder / "small-runs")
    assert ended.json == {
        "jobs": 4,
        "done": 4,
        "failed": 0,
        "left": 0,
        "bugs": ended.json["bugs"],
        "without_answers": 0,
        "limits_hit": [],
        "out": out,
    }
    assert misstep("campaign", file, "--json", timeout=300).json == ended.json
    assert misstep("campaign", "status", file, "--json").json["is_running"] is False
    for what in (file, folder / "small-runs", folder / "small-runs" / NAME):
        groups = misstep("campaign", "table", what, "--by", "policy", "--json").json["groups"]
        assert [group["policy"] for group in groups] == ["heuristic:ff", "heuristic:hadd"]
        assert sum(group["bugs"] for group in groups) == ended.json["bugs"]
        assert all(
            group["rate"][0] <= group["bugs"] / group["tested"] <= group["rate"][1] for group in groups
        )
    assert misstep("campaign", "plot", file, "--kind", "time", "--json").json["groups"] == 2
    assert (folder / "small-runs" / "time.svg").is_file()
    assert misstep("campaign", "export", file, "--csv", folder / "jobs.csv", "--json").json["rows"] == 4
    first = next((folder / "small-runs" / "records").glob("*/*"))
    assert misstep("verify", first, "--json").json["invalid"] == []


def test_limits_hold_and_a_dead_worker_costs_one_job(folder: Path) -> None:
    policies = [f"python:mine.py:{name}" for name in ("deadly", "greedy", "fine")]
    more = "isolate = false\ncall_seconds = 2000\ntries = 2\nlimit_memory_mb = 600\n"
    file = written(folder, *policies, "heuristic:ff", "asnet:none.policy", more=more)
    ended = misstep("campaign", file, "--jobs", "3", "--json", timeout=600)
    assert (ended.json["done"], ended.json["failed"]) == (2, 3)
    found = rows(folder)
    deadly, greedy, fine = (found[policy] for policy in policies)
    assert deadly.reason.endswith("was killed by signal 9 (out of memory?), in all of 2 tries")
    assert greedy.reason.endswith("more than 600 MB, and was ended")
    assert fine.state == found["heuristic:ff"].state == "done"
    assert "none.policy" in found["asnet:none.policy"].reason
    shown = misstep("campaign", "status", file).out
    assert "jobs      5: 2 done, 3 failed, 0 under way, 0 waiting" in shown


def test_a_job_that_takes_too_long_is_ended(folder: Path) -> None:
    more = "isolate = false\ncall_seconds = 2000\ntries = 2\nlimit_seconds = 3\n"
    file = written(folder, "python:mine.py:hanging", more=more)
    ended = misstep("campaign", file, "--json", timeout=600)
    assert (ended.json["done"], ended.json["failed"]) == (0, 1)
    (hanging,) = rows(folder).values()
    assert (hanging.tries, hanging.reason) == (1, "it took longer than 3 seconds and was ended")
    shown = misstep("campaign", "status", file).out
    assert "(courier, python:mine.py:hanging): it took longer than" in shown


@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_and_the_same_command_goes_on(folder: Path, word: signal.Signals) -> None:
    file = written(
        folder, "heuristic:ff", "python:mine.py:hanging", more="isolate = false\ncall_seconds = 2000\n"
    )
    process = subprocess.Popen(
        [*command(), "campaign", str(file), "--jobs", "2", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: len(done_jobs(folder / "small-runs")) == 1)
    assert "is being run already" in misstep("campaign", file).err
    assert misstep("campaign", "status", file, "--json").json["is_running"] is True
    workers = [one for one in descendants(process.pid) if is_worker(one)]
    process.send_signal(word)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (-9 if word is signal.SIGKILL else 2)
    assert (b"the same command goes on" in said) == (word is not signal.SIGKILL)
    nothing_left(workers)
    assert misstep("campaign", "status", file, "--json").json["left"] == 1
    (folder / "mine.py").write_text(POLICIES.replace("time.sleep(1000)", "return fine(state)"))
    ended = misstep("campaign", file, "--json", timeout=300)
    assert (ended.json["done"], ended.json["left"]) == (2, 0)


def test_the_time_of_a_campaign_is_an_outcome(folder: Path) -> None:
    more = "isolate = false\ncall_seconds = 2000\n"
    file = written(folder, "heuristic:ff", "python:mine.py:hanging", more=more)
    misstep("campaign", file, "--jobs", "2", "--seconds", "0.001", "--json")  # too short for any job
    ended = misstep("campaign", file, "--jobs", "2", "--seconds", "3", "--json")
    assert ended.json["left"] in (1, 2) and ended.json["limits_hit"] == ["seconds"]
    assert "The time was up" in misstep("campaign", file, "--seconds", "1").out
    (folder / "mine.py").write_text(POLICIES.replace("time.sleep(1000)", "return fine(state)"))
    ended = misstep("campaign", file, "--seconds", "1000", "--json")
    assert (ended.json["done"], ended.json["left"], ended.json["limits_hit"]) == (2, 0, [])


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_killed_and_continued_is_undisturbed() -> None:
    """A few kills; `python -m tests.integration.campaign_kills 20` makes as many as one likes."""
    done = campaign(4, jobs=24, seed=2)
    assert done.kills.total() >= 4 and done.seen


def test_without_ray_the_command_says_how_to_get_it(folder: Path) -> None:
    (folder / "hidden").mkdir()
    (folder / "hidden" / "ray.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'ray'\", name='ray')\n"
    )
    file = written(folder, "heuristic:ff")
    ended = misstep("campaign", file, "--engine", "ray", env={"PYTHONPATH": str(folder / "hidden")})
    assert ended.code == 4
    assert '--engine ray needs ray, which is not installed; pip install "misstep[ray]"' in ended.err
    assert "add --engine ray" in misstep("campaign", file, "--address", "auto").err


def test_ray_brings_back_what_local_processes_would_have_made(folder: Path) -> None:
    """Records name the files here, not those on the machine that made them."""
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    file = written(folder, "heuristic:ff", "python:mine.py:fine", "python:mine.py:deadly", more="tries = 2\n")
    local = misstep("campaign", file, "--jobs", "2", "--out", folder / "local", "--json", timeout=600)
    there = misstep(
        "campaign", file, "--engine", "ray", "--jobs", "2", "--out", folder / "there", "--json", timeout=600
    )
    assert local.json | {"out": ""} == there.json | {"out": ""}
    one, other = Database.read(folder / "local" / NAME), Database.read(folder / "there" / NAME)
    for left, right in zip(one.rows(), other.rows(), strict=True):
        assert (left.id, left.state, left.reason) == (right.id, right.state, right.reason)
        if left.result is not None:
            assert left.result.counts == right.result.counts
            places = [record_path(folder / name, left.id) for name in ("local", "there")]
            assert record(places[0]) == record(places[1])
            configs = [(place / "config.toml").read_text() for place in places]
            assert configs[0] == configs[1]
            assert misstep("verify", places[1], "--json").json["invalid"] == []


def test_the_guide_quotes_what_the_simulation_prints() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.campaign", "--simulate"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    page = (ROOT / "docs" / "campaigns.md").read_text()
    assert len(done.stdout.splitlines()) == 8
    for line in done.stdout.splitlines():
        assert f"    {line}\n" in page
