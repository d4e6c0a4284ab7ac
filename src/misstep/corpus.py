"""A corpus: a file of known bugs that are tried before new ones are looked for, and that heals itself.

Each line is one bug with the plan that proves it, so that asking the policy again is enough: no oracle is
needed. A bug that the policy does not show any more is fixed; after some tests in which it stays away it is
dropped. The file is one JSON object a line, made to be kept under version control.
"""

import dataclasses
import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from misstep.bench import set_up
from misstep.budget import Budget
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Family
from misstep.lab import Lab
from misstep.record.record import Record
from misstep.record.replay import Replay
from misstep.record.store import read_lines, write_whole
from misstep.support.plain import read_fields, to_plain
from misstep.task import Task

PASSES = 3
"""Tests in a row in which a bug has to stay away until it is dropped."""
_STILL = ("bug", "changed")
_GONE = ("fixed", "stale")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A bug of the corpus. `task` is the digest of the task that it is about, `problem` the file's name."""

    problem: str
    task: str
    state: tuple[str, ...]
    plan: tuple[str, ...]
    """What would be better than what the policy did."""
    run: tuple[str, ...]
    """What the policy did when the bug was found."""
    outcome: str
    schema: str | None = None
    passes: int = 0
    """Tests in a row in which it was fixed."""

    def as_certificate(self) -> dict[str, Any]:
        """What is needed to ask the policy again."""
        return {"state": list(self.state), "witness": list(self.plan), "run": {"actions": list(self.run)}}


@dataclass(frozen=True, slots=True)
class Asked:
    """A known bug after the policy was asked again: `bug` or `changed` where it is still one, `fixed`,
    `stale` where the task is another one now, `failed` or `unknown` where nothing can be said."""

    known: Known
    status: str

    @property
    def is_bug(self) -> bool:
        """Whether it is still a bug."""
        return self.status in _STILL


@dataclass(slots=True)
class Corpus:
    """The bugs of a file. Nothing is written before `write`."""

    file: Path
    bugs: list[Known] = field(default_factory=list)
    dropped: int = 0
    added: int = 0

    @classmethod
    def read(cls, file: Path) -> "Corpus":
        """The bugs of a file; none where there is no file yet, or something that keeps nothing, such as a device."""
        bugs = []
        keeps = file.is_file() or file.is_dir() or not file.exists()
        for number, line in enumerate(read_lines(file, missing_is_empty=True) if keeps else (), start=1):
            try:
                known: Known = read_fields(Known, line)
            except ValueError as error:
                raise InputError(
                    f"{file}:{number}: this is no bug of a corpus: {error}; `misstep test --corpus` writes them"
                ) from None
            bugs.append(known)
        return cls(file, bugs)

    def of(self, problem: str) -> tuple[Known, ...]:
        """The known bugs of a problem."""
        return tuple(known for known in self.bugs if known.problem == problem)

    @property
    def families(self) -> set[tuple[str, str | None]]:
        """What kinds of bugs are known."""
        return {(known.outcome, known.schema) for known in self.bugs}

    def heal(self, asked: Iterable[Asked]) -> None:
        """Marks the bugs that are fixed, and drops those that stay fixed."""
        for each in asked:
            at = self.bugs.index(each.known)
            passes = (
                each.known.passes + 1 if each.status in _GONE else 0 if each.is_bug else each.known.passes
            )
            if passes >= PASSES:
                del self.bugs[at]
                self.dropped += 1
            else:
                self.bugs[at] = dataclasses.replace(each.known, passes=passes)

    def add(self, record: Record, problem: str, families: Sequence[Family]) -> None:
        """Adds one bug of each family, unless it is known."""
        there = {(known.problem, known.task, frozenset(known.state)) for known in self.bugs}
        for family in families:
            certificate = record.bug_named(str(family.representative))
            known = Known(
                problem=problem,
                task=str(record.environment().get("task_sha256")),
                state=tuple(certificate["state"]),
                plan=tuple(certificate["witness"]),
                run=tuple(certificate["run"]["actions"]),
                outcome=family.outcome,
                schema=family.schema,
            )
            if (known.problem, known.task, frozenset(known.state)) not in there:
                self.bugs.append(known)
                self.added += 1

    def write(self) -> None:
        """Writes the file, complete or not at all."""
        write_whole(self.file, "".join(json.dumps(to_plain(known)) + "\n" for known in self.bugs))


def ask_again(config: Config, bugs: Sequence[Known]) -> tuple[list[Asked], Task, Config]:
    """Asks the policy about known bugs; also the task that was loaded for it, and what is left of the time."""
    begin = time.perf_counter()
    budget = Budget(seconds=config.seconds, memory_mb=config.memory_mb)
    bench = set_up(config, budget)
    lab = Lab(
        task=bench.task, graph=bench.graph, budget=budget, max_steps=config.longest_run, seed=config.seed
    )
    again = Replay(Record.in_memory(), config, bench.task, bench.policy, lab, bench.objective)
    digest = hashlib.sha256(bench.task.sas.encode()).hexdigest()
    fitting = {str(at): known for at, known in enumerate(bugs) if known.task == digest}
    answers = again.ask({name: known.as_certificate() for name, known in fitting.items()})
    status = {answer.id: answer.status for answer in answers}
    asked = [
        Asked(known, "stale" if known.task != digest else status.get(str(at), "unknown"))
        for at, known in enumerate(bugs)
    ]
    if config.seconds is not None:
        config = config.replace(seconds=max(0.0, config.seconds - (time.perf_counter() - begin)))
    return asked, bench.task, config
