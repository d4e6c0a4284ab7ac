"""Kills processes of a campaign at random moments: no finished job is lost or repeated, the result is the same.

`python -m tests.integration.campaign_kills 20 [--engine ray] [--jobs 200] [--seed 0]`; the tests do it on a
small scale.
"""

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import misstep
from misstep.campaign.coordinator import record_path
from misstep.campaign.database import DONE, NAME, Database
from misstep.support.census import descendants
from tests.conftest import COURIER
from tests.integration.cli import command
from tests.integration.kills import record

_PATIENCE_SECONDS = 900.0
_POLICIES = ("heuristic:ff", "heuristic:hadd", "heuristic:hmax", "heuristic:blind")


def write_campaign(folder: Path, jobs: int) -> Path:
    """A campaign of so many short jobs; a SAS file spares each of them the translator."""
    (folder / "courier.sas").write_text(misstep.load(*COURIER).sas)
    policies = ", ".join(f'"{policy}"' for policy in _POLICIES)
    file = folder / "campaign.toml"
    file.write_text(
        f'domain = "courier.sas"\npolicies = [{policies}]\nseeds = {-(-jobs // len(_POLICIES))}\n'
        'pool = 3\noracle = "landmarks+greedy"\ntries = 30\n'
    )
    return file


@dataclass
class Disturbed:
    """A campaign whose processes are killed."""

    file: Path
    out: Path
    engine: str
    rng: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    seen: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """The event logs of jobs that were done at some kill: inode, time and size. They must never change."""

    def start(self) -> "subprocess.Popen[bytes]":
        self.starts += 1
        words = ["campaign", str(self.file), "--out", str(self.out), "--engine", self.engine, "--jobs", "2"]
        log = (self.out.parent / "stderr.txt").open("ab")
        return subprocess.Popen(
            [*command(), *words, "--quiet"], stdout=log, stderr=log, start_new_session=True
        )

    def go(self, kills: int, jobs: int) -> None:
        """Kills so often, or until all jobs are done, then lets it end."""
        process = self.start()
        for _ in range(kills):
            # Most jobs are left to the kills that come.
            goal = self.done_count() + self.rng.randrange(0, max(1, jobs // (kills + 1)) * 2 - 1)
            process = self.wait_until(process, min(goal, jobs - 4), jobs)
            time.sleep(self.rng.uniform(0, 0.2))
            self.remember()
            if len(self.seen) == jobs:  # its workers were faster than we: nothing is left to disturb
                break
            self.kill(process)
            self.compare()
        end = time.monotonic() + _PATIENCE_SECONDS
        while process.poll() is None or self.done_count() < jobs:
            process = self.revived(process)
            assert time.monotonic() < end, "no end"
            time.sleep(0.1)
        assert process.wait() in (0, 1), (self.out.parent / "stderr.txt").read_text()[-2000:]
        self.compare()

    def wait_until(
        self, process: "subprocess.Popen[bytes]", done: int, jobs: int
    ) -> "subprocess.Popen[bytes]":
        """Until so many are done and somebody works on the next ones, or all are done."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while (now := self.done_count()) < jobs and (now < done or not victims(process.pid, self.engine)):
            process = self.revived(process)
            assert time.monotonic() < end, "no progress"
            time.sleep(0.05)
        return process

    def revived(self, process: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes]":
        """The same command again, where it ended although there is work."""
        return process if process.poll() is None else self.start()

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        others = victims(process.pid, self.engine)
        if self.rng.random() < (0.2 if self.engine == "ray" else 0.5) or not others:
            below = [one for one in others if is_worker(one)]
            process.kill()
            process.wait()
            self.kills["coordinator"] += 1
            nothing_left(below)
            return
        kind = self.rng.choice(sorted({kind_of(one) for one in others}))
        victim = self.rng.choice([one for one in others if kind_of(one) == kind] or others)
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:  # it ended by itself meanwhile
            return
        self.kills[kind] += 1

    def done_count(self) -> int:
        return len(done_jobs(self.out))

    def remember(self) -> None:
        for id in done_jobs(self.out):
            self.seen.setdefault(id, _fingerprint(record_path(self.out, id)))

    def compare(self) -> None:
        """Whatever was done is done, and its record was not touched."""
        lost = set(self.seen) - done_jobs(self.out)
        assert not lost, f"lost: {sorted(lost)}"
        for id, before in self.seen.items():
            assert _fingerprint(record_path(self.out, id)) == before, f"repeated: {id}"


def _fingerprint(path: Path) -> tuple[int, int, int]:
    about = (path / "events.jsonl").stat()
    return about.st_ino, about.st_mtime_ns, about.st_size


def done_jobs(out: Path) -> set[str]:
    """As the database itself says it, not our code."""
    try:
        connection = sqlite3.connect(f"file:{out / NAME}?mode=ro", uri=True, timeout=30)
    except sqlite3.OperationalError:  # it has not begun
        return set()
    try:
        return {id for (id,) in connection.execute("SELECT id FROM jobs WHERE state = 'done'")}
    except sqlite3.OperationalError:
        return set()
    finally:
        connection.close()


def victims(coordinator: int, engine: str) -> list[int]:
    """Processes that work for it: its workers, or all that belong to Ray."""
    return [process for process in descendants(coordinator) if engine == "ray" or is_worker(process)]


def _words(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def is_worker(process: int) -> bool:
    """Whether tests run there."""
    return "spawn_main" in _words(process) and "resource_tracker" not in _words(process)


def kind_of(process: int) -> str:
    """What a process is, for people."""
    text = _words(process)
    for name in ("raylet/raylet", "gcs_server", "dashboard", "monitor", "agent", "ray::"):
        if name in text:
            return f"Ray's {name.rpartition('/')[2].replace('ray::', 'worker')}"
    return "worker"


def nothing_left(processes: list[int]) -> None:
    """All of them end soon after the coordinator; Ray's own helpers take their time."""
    end = time.monotonic() + 60
    while left := [one for one in processes if _is_alive(one)]:
        assert time.monotonic() < end, f"left behind: {left}"
        time.sleep(0.05)


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def results(out: Path) -> dict[str, tuple[object, object]]:
    """The counts and the record of every job, without times and places."""
    database = Database.read(out / NAME)
    try:
        found: dict[str, tuple[object, object]] = {}
        for row in database.rows():
            assert row.result is not None, f"job {row.id} is {row.state}: {row.reason}"
            found[row.id] = row.result.counts, record(record_path(out, row.id))
        return found
    finally:
        database.close()


def no_job_was_repeated(out: Path) -> int:
    """Exactly one try of every job ended well, and it is the last one. How many tries there were."""
    database = Database.read(out / NAME)
    tries = database.attempts()
    database.close()
    ends = Counter(job for job, outcome in tries if outcome == DONE)
    assert set(ends.values()) == {1}
    last = dict(tries)
    assert all(outcome == DONE for outcome in last.values())
    return len(tries)


def campaign(kills: int, *, jobs: int, engine: str = "local", seed: int = 0) -> Disturbed:
    """One undisturbed campaign and one that is disturbed so often; both end the same.

    Where all jobs were done before the last kill, more campaigns are disturbed until there were so many.
    """
    with tempfile.TemporaryDirectory(prefix="campaign-kills-") as name:
        folder = Path(name)
        file = write_campaign(folder, jobs)
        quiet = ["campaign", str(file), "--out", str(folder / "quiet"), "--jobs", "2", "--json"]
        subprocess.run([*command(), *quiet], check=False, capture_output=True)
        expected = results(folder / "quiet")
        rng, made = random.Random(seed), Counter[str]()
        for attempt in range(kills):
            out = folder / f"out{attempt}"
            disturbed = Disturbed(file, out, engine, rng, made)
            disturbed.go(kills - made.total(), jobs)
            assert results(out) == expected
            tries = no_job_was_repeated(out)
            print(f"{len(expected)} jobs in {tries} tries, {disturbed.starts} starts of the coordinator")
            if made.total() >= kills:
                return disturbed
        raise AssertionError(f"only {made.total()} kills in {kills} campaigns")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=20)
    parser.add_argument("--engine", default="local", choices=["local", "ray"])
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.monotonic()
    done = campaign(given.kills, jobs=given.jobs, engine=given.engine, seed=given.seed)
    said = ", ".join(f"{count} x {name}" for name, count in done.kills.items())
    print(f"killed: {said}; nothing lost, nothing repeated, same result ({time.monotonic() - began:.0f} s)")
