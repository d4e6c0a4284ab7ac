"""One problem with several jobs: wall and CPU time beside one job's, and whether the records are the same.

python -m benchmarks.jobs [--only NAME] [--pool N] [--jobs 1,2]

Threads that do nothing but help take CPU time beside the one that decides; the last column is the share of
the CPU time that this one took itself, below which the wall time cannot fall.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks.peer_pools import DATA
from misstep.api import make_session
from misstep.events import timeless
from misstep.record.record import BUGS, CLEARED, EVENTS, EVIDENCE, POOL, Record

TASKS = {
    "asnets/elevators": "opt08-p03",
    "asnets/transport": "sat-p06",
    "asnets/scanalyzer": "p08-p03",
    "asnets/blocksworld": "prob-blocks-blocks-nblk35-seed2107726020-seq1",
}


def content(record: Record) -> list[Any]:
    """Everything that is recorded, but for the times."""
    store = record.store
    bugs = {name: store.read(f"{BUGS}/{name}") for name in store.names(BUGS)}
    events = [timeless(line) for line in store.lines(EVENTS)]
    return [events, bugs, *(store.lines(log) for log in (CLEARED, EVIDENCE, POOL))]


def measure(folder: Path, problem: str, *, pool: int, jobs: int) -> tuple[list[Any], str]:
    """The content of the record, and a line of figures."""
    policy = next(path for path in sorted(folder.iterdir()) if path.suffix == ".policy")
    task = (folder / "domain.pddl", folder / "problems" / f"{problem}.pddl")
    session = make_session(task, f"asnet:{policy}", pool=pool)
    session.jobs = jobs
    wall, cpu, own = time.perf_counter(), time.process_time(), time.thread_time()
    for _ in session.events():
        pass
    wall, cpu, own = time.perf_counter() - wall, time.process_time() - cpu, time.thread_time() - own
    counts = session.tally.counts()
    found = f"{counts['bugs']:4d} {counts['cleared']:7d} {counts['unknown']:7d}"
    return content(session.record), f"{jobs:4d} {found} {wall:8.1f} {cpu:8.1f} {own / cpu:6.0%}"


def main() -> None:
    """Measures one task after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--pool", type=int, default=100)
    parser.add_argument("--jobs", default="1,2")
    options = parser.parse_args()
    print(f"{'task':40} jobs bugs cleared unknown     wall      cpu    own  same record")
    for domain, problem in TASKS.items():
        first: list[Any] = []
        for jobs in map(int, options.jobs.split(",")):
            if options.only in f"{domain}/{problem}":
                found, line = measure(DATA / domain, problem, pool=options.pool, jobs=jobs)
                first = first or found
                print(f"{domain + '/' + problem[-20:]:40} {line}  {found == first}", flush=True)


if __name__ == "__main__":
    main()
