"""A suite: the same test on several problems, one after the other, each with its share of the time."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from misstep.config import Config
from misstep.errors import InputError
from misstep.record.record import ENVIRONMENT, EVENTS, Record
from misstep.record.store import DirectoryStore
from misstep.session import Session

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

    def sessions(self) -> Iterator[Session]:
        """One session after the other, ready to run."""
        seconds = self.configs[0].seconds
        end = None if seconds is None else time.perf_counter() + seconds
        for number, config in enumerate(self.configs):
            if end is not None:
                left = max(0.0, end - time.perf_counter())
                share = left / (len(self.configs) - number)
                config = config.replace(
                    seconds=share if share >= _LEAST_SECONDS else min(left, _LEAST_SECONDS)
                )
            record, resume = self._record(config)
            yield Session(config, record=record, resume=resume)

    def _record(self, config: Config) -> tuple[Record, bool]:
        stem = Path(config.subject).stem
        if self.out is None:
            if self.resume:
                raise InputError("--resume goes on with a record; name it with --out")
            return Record.create_free(Path("runs") / stem), False
        path = self.out / stem if len(self.configs) > 1 else self.out
        if self.resume and (path / ENVIRONMENT).is_file():
            return Record.open(path), True
        if self.resume and (path / EVENTS).is_file():  # killed before it had begun: begin now
            return Record(DirectoryStore(path)), False
        return Record.create(path), False


def expand(config: Config, problems: list[Path]) -> list[Config]:
    """One configuration a problem; directories stand for the problems in them."""
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
