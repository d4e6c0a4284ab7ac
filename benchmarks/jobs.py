"""One problem, or a directory, with several jobs: how long it takes, and whether the records are the same.

python -m benchmarks.jobs [--only NAME] [--pool N] [--jobs 1,2] [--times K]
python -m benchmarks.jobs --directory [--pool N] [--jobs 1,2] [--times K]

Numbers of jobs take turns, `--times` over; the least wall time of each counts, since whatever else the machine
does only adds to it. The last column is its share of the wall time of the first number of jobs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peer_pools import DATA
from misstep.api import make_session
from misstep.events import timeless
from misstep.record.record import BUGS, CLEARED, EVENTS, EVIDENCE, POOL, Record
from misstep.record.store import DirectoryStore

TASKS = {
    "asnets/elevators": "opt08-p03",
    "asnets/transport": "sat-p06",
    "asnets/scanalyzer": "p08-p03",
    "asnets/blocksworld": "prob-blocks-blocks-nblk35-seed2107726020-seq1",
}
# Problems of different size.
DIRECTORY = ("asnets/elevators", [f"opt08-p{number:02}" for number in (1, 2, 3, 4, 5, 6, 9, 13)])


def content(record: Record) -> list[Any]:
    """Everything that is recorded, but for the times."""
    store = record.store
    bugs = {name: store.read(f"{BUGS}/{name}") for name in store.names(BUGS)}
    events = [timeless(line) for line in store.lines(EVENTS)]
    return [events, bugs, *(store.lines(log) for log in (CLEARED, EVIDENCE, POOL))]


def measure(folder: Path, problem: str, *, pool: int, jobs: int) -> tuple[list[Any], float, str]:
    """The content of the record, the wall time, and what was found."""
    task = (folder / "domain.pddl", folder / "problems" / f"{problem}.pddl")
    session = make_session(task, f"asnet:{policy_in(folder)}", pool=pool)
    session.jobs = jobs
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in session.events():
        pass
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    counts = session.tally.counts()
    found = f"{counts['bugs']:4d} {counts['cleared']:7d} {counts['unknown']:7d} {cpu:8.1f}"
    return content(session.record), wall, found


def measure_directory(
    folder: Path, problems: list[str], *, pool: int, jobs: int
) -> tuple[list[Any], float, str]:
    """The same for several problems and the command, as users start it."""
    with tempfile.TemporaryDirectory(prefix="jobs-") as name:
        folder = folder.resolve()
        files = [str(folder / "problems" / f"{problem}.pddl") for problem in problems]
        words = ["--policy", f"asnet:{policy_in(folder)}", "--pool", str(pool), "--jobs", str(jobs)]
        command = [sys.executable, "-m", "misstep", "test", str(folder / "domain.pddl"), *files, *words]
        wall, before = time.perf_counter(), os.times()
        ended = subprocess.run(
            # Certificates name the record, so it has the same name each time.
            [*command, "--quiet", "--out", "out"],
            stdout=subprocess.DEVNULL,
            check=False,
            cwd=name,
        )
        wall, after = time.perf_counter() - wall, os.times()
        if ended.returncode not in (0, 1):
            raise SystemExit(f"misstep test ended with exit code {ended.returncode}")
        records = [content(Record(DirectoryStore(Path(name) / "out" / problem))) for problem in problems]
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return records, wall, f"{'':20} {cpu:8.1f}"


def policy_in(folder: Path) -> Path:
    """The trained policy of a domain."""
    return next(path for path in sorted(folder.iterdir()) if path.suffix == ".policy")


def compare(
    name: str, test: Callable[..., tuple[list[Any], float, str]], jobs: list[int], times: int
) -> None:
    """Runs a test with each number of jobs in turn, and prints a line for each."""
    walls: dict[int, float] = {}
    said: dict[int, str] = {}
    found: list[list[Any]] = []
    for _ in range(times):
        for number in jobs:
            records, wall, said[number] = test(jobs=number)
            found.append(records)
            walls[number] = min(wall, walls.get(number, wall))
    is_same = all(each == found[0] for each in found)
    for number in jobs:
        share = walls[number] / walls[jobs[0]]
        print(
            f"{name:40} {number:4d} {said[number]} {walls[number]:8.1f} {share:6.2f}  {is_same}", flush=True
        )


def main() -> None:
    """Measures one task after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--directory", action="store_true")
    parser.add_argument("--pool", type=int, default=100)
    parser.add_argument("--jobs", default="1,2")
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    jobs = [int(word) for word in options.jobs.split(",")]
    print(f"{'task':40} jobs bugs cleared unknown      cpu     wall  share  same record")
    if options.directory:
        domain, problems = DIRECTORY
        test = partial(measure_directory, DATA / domain, problems, pool=options.pool)
        compare(f"{len(problems)} problems of {domain}", test, jobs, options.times)
        return
    for domain, problem in TASKS.items():
        if options.only in f"{domain}/{problem}":
            one = partial(measure, DATA / domain, problem, pool=options.pool)
            compare(f"{domain}/{problem[-20:]}", one, jobs, options.times)


if __name__ == "__main__":
    main()
