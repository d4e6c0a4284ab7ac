"""A suite: the same test on several problems, one after the other or side by side, each with its share."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from misstep.config import Config
from misstep.corpus import Corpus
from misstep.errors import InputError
from misstep.record.record import open_record
from misstep.session import Session
from misstep.workers import Job

# Less than this is no useful share of the time, since loading takes about as long: where there is less for
# each, the first problems get it and the others are reported as not tested.
_LEAST_SECONDS = 2.0


@dataclass(slots=True)
class Suite:
    """Tests of one policy on several problems; a single one is a suite too.

    Time that a problem leaves over is shared by those after it. Every problem gets a useful share, or is a
    session that ends at once and says so.
    """

    configs: list[Config]
    out: Path | None = None
    """The record of one problem, or the directory in which there is one for each."""
    resume: bool = False
    jobs: int = 1
    """How many problems are tested at the same time; the results are the same."""
    jobs_each: int = 1
    """How many helpers each of them has; where it is one, they help each other in the end."""

    def sessions(self) -> Iterator[Session]:
        """One session after the other, ready to run."""
        for _, config, path in self._shares():
            record, resume = open_record(path, is_free=self.out is None, resume=self.resume)
            yield Session(config, record=record, resume=resume, jobs=self.jobs_each)

    def all_jobs(self, corpus: Corpus | None = None) -> Iterator[Job]:
        """The same for workers; take one when it can begin, since that decides about its time."""
        is_sharing = self.jobs_each == 1
        for number, config, path in self._shares():
            known = () if corpus is None else corpus.of(config.subject)
            yield Job(
                number,
                config,
                path,
                is_free=self.out is None,
                resume=self.resume,
                known=known,
                jobs=self.jobs if is_sharing else self.jobs_each,
                is_sharing=is_sharing,
            )

    def _shares(self) -> Iterator[tuple[int, Config, Path]]:
        """Each problem with its share of the time that is left when its turn comes, and its record's place."""
        if self.out is None and self.resume:
            raise InputError("--resume goes on with a record; name it with --out")
        seconds = self.configs[0].seconds
        end = None if seconds is None else time.perf_counter() + seconds
        for at, number in enumerate(self._order(is_timed=end is not None)):
            config = self.configs[number]
            if end is not None:
                left = max(0.0, end - time.perf_counter())
                # Those that are not begun yet, and those that the other workers are busy with meanwhile.
                others = len(self.configs) - at + min(at, self.jobs - 1)
                share = left * min(self.jobs, others) / others
                config = config.replace(
                    seconds=share if share >= _LEAST_SECONDS else min(left, _LEAST_SECONDS)
                )
            stem = Path(config.subject).stem
            if self.out is None:
                yield number, config, Path("runs") / stem
            else:
                yield number, config, self.out / stem if len(self.configs) > 1 else self.out

    def _order(self, *, is_timed: bool) -> list[int]:
        """The problems in the order in which they begin.

        Side by side, what takes longest should begin first, and a long problem file says as much before
        anything is known. Where the time is limited, the order decides who gets how much of it: it stays.
        """
        numbers = list(range(len(self.configs)))
        if is_timed or self.jobs == 1:
            return numbers
        return sorted(numbers, key=lambda number: -_size(self.configs[number].problem))


def _size(problem: Path | None) -> int:
    """Of a file; one that is not there is told about by whoever reads it."""
    try:
        return 0 if problem is None else problem.stat().st_size
    except OSError:
        return 0


def expand(config: Config, problems: list[Path]) -> list[Config]:
    """One configuration a problem; directories stand for the problems in them."""
    if not problems and config.problem is not None and config.problem.is_dir():
        problems = [config.problem]
    found = problem_files(config.domain, problems)
    if len(found) > 1 and config.pool_file is not None:
        raise InputError("--pool-file holds states of one task; give one problem")
    return [config.replace(problem=problem) for problem in found] or [config]


def problem_files(domain: Path | None, problems: list[Path]) -> list[Path]:
    """The files; a directory stands for the problems in it, without the domain's file."""
    found: list[Path] = []
    for problem in problems:
        if not problem.is_dir():
            found.append(problem)
            continue
        own = "" if domain is None else domain.name
        inside = sorted(path for path in problem.glob("*.pddl") if path.name != own)
        if not inside:
            raise InputError(f"{problem}: there is no problem (*.pddl) in this directory")
        found += inside
    return found
