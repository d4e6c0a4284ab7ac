"""What more effort settles: unknown states and CPU seconds of tests with real policies, effort by effort.

python -m benchmarks.effort [--pool N] [--seeds S ...] [--only WORD] [--most E] [--out FILE.csv]

One test of a task with the largest effort shows what tests with less would find: they are the same as far as they go.
With effort 1 oracles spend their own effort and no more. Two pools have the size that they had when they were
named as too hard; the others have N states.
"""

import argparse
import csv
import os
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from benchmarks.peer_pools import DATA
from benchmarks.quantiles import chosen
from misstep.config import Config
from misstep.events import Progress
from misstep.session import Session

NAMED = {"asnets/transport": ("opt-p03", 40), "asnets/visitall": ("opt14-p-1-7", 30)}
# Domains of the learning track whose actions are those of an ASNet's domain, with tasks of two sizes.
IPC23, IPC23_TASKS = ("satellite", "transport"), ("p04", "p15")
# The round in which oracles spend their own effort for the first time.
_OWN_ROUND = 4


@dataclass(frozen=True, slots=True)
class Level:
    """Where a test stands when oracles have spent so many times their own effort."""

    task: str
    seed: int
    effort: int
    tested: int
    bugs: int
    cleared: int
    unknown: int
    cpu_seconds: float
    """With loading and the policy."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=int, default=int(Config().effort))
    parser.add_argument("--out", type=Path, help="also write the table as a CSV file")
    options = parser.parse_args()
    efforts = [2**n for n in range(16) if 2**n <= options.most]
    print(
        f"{'bugs, cleared, unknown (CPU s) by effort':40} seed" + "".join(f"{each:>19}" for each in efforts)
    )
    rows: list[Level] = []
    for seed in options.seeds:
        for name, problem, pool in tasks(options.pool):
            if options.only in f"{name}/{problem.stem}":
                found = levels(name, problem, seed=seed, pool=pool, efforts=efforts)
                print(
                    f"{f'{name}/{problem.stem}'[-40:]:40} {seed:4}" + "".join(map(_words, found)), flush=True
                )
                rows += found
                if options.out is not None:
                    _write(options.out, rows)
    for effort in efforts:
        those = [row for row in rows if row.effort == effort]
        unknown, tested = sum(row.unknown for row in those), sum(row.tested for row in those)
        seconds = sum(row.cpu_seconds for row in those)
        print(f"effort {effort}: {unknown} of {tested} states unknown, {seconds:.1f} CPU s")


def tasks(pool: int) -> Iterator[tuple[str, Path, int]]:
    """Two tasks of every domain with a policy, and those with a name, with the sizes of their pools."""
    for folder in sorted([*(DATA / "asnets").iterdir(), *(DATA / "gnn").iterdir()]):
        name = f"{folder.parent.name}/{folder.name}"
        if name in NAMED:
            stem, size = NAMED[name]
            yield name, folder / "problems" / f"{stem}.pddl", size
        if (folder / "problems").is_dir():
            yield from ((name, problem, pool) for problem in chosen(folder, largest=False))
    for domain in IPC23:
        folder = DATA / "ipc23-learning" / domain / "testing" / "easy"
        yield from ((f"ipc23-learning/{domain}", folder / f"{stem}.pddl", pool) for stem in IPC23_TASKS)


def levels(name: str, problem: Path, *, seed: int, pool: int, efforts: list[int]) -> list[Level]:
    """Where a test stands at every effort; where nothing is left to do, that is where it ended."""
    kind, domain = name.split("/")
    folder = DATA / ("asnets" if kind == "ipc23-learning" else kind) / domain
    policy = next(path for path in sorted(folder.iterdir()) if path.suffix in (".policy", ".ckpt"))
    text = f"asnet:{policy}" if policy.suffix == ".policy" else f"gnn:{policy},threads=1"
    config = Config(
        domain=DATA / name / "domain.pddl",
        problem=problem,
        policy=text,
        pool=pool,
        seed=seed,
        effort=efforts[-1],
    )
    session, begin, at_round = Session(config, progress_seconds=0.0), _cpu_seconds(), dict[int, Level]()

    def level(effort: int) -> Level:
        said, spent = session.tally.counts(), round(_cpu_seconds() - begin, 2)
        tested, bugs, cleared, unknown = (said[each] for each in ("tested", "bugs", "cleared", "unknown"))
        return Level(f"{name}/{problem.stem}", seed, effort, tested, bugs, cleared, unknown, spent)

    for event in session.events():
        if isinstance(event, Progress):
            effort = 2 ** max(0, event.round - _OWN_ROUND)
            at_round[effort] = level(effort)
    at_round[max(at_round, default=1)] = level(1)  # with what is found out at the end
    found = list[Level]()
    for effort in efforts:
        here = at_round[effort] if effort in at_round else found[-1]
        found.append(replace(here, effort=effort))
    return found


def _cpu_seconds() -> float:
    return sum(os.times()[:4])


def _words(level: Level) -> str:
    return f"{level.bugs:4}{level.cleared:4}{level.unknown:4} ({level.cpu_seconds:.1f})".rjust(19)


def _write(file: Path, rows: list[Level]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(each.name for each in fields(Level))
        writer.writerows(map(astuple, rows))


if __name__ == "__main__":
    main()
