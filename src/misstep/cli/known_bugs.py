"""Known bugs around the tests of one command: tried first, healed, added to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from misstep.cli.output import say
from misstep.config import Config
from misstep.corpus import Asked, Corpus, ask_again
from misstep.errors import InputError
from misstep.reports.corpus_lines import asked_line, corpus_json, corpus_line
from misstep.reports.report import Report
from misstep.session import Session


@dataclass(slots=True)
class KnownBugs:
    """The corpus of a command. `families` are those that were known before the test."""

    file: Path
    config: Config
    silent: bool
    corpus: Corpus = field(init=False)
    families: set[tuple[str, str | None]] = field(init=False)
    _asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.config.is_safety:
            raise InputError("--corpus holds bugs on PDDL tasks; leave it out for a JANI model")
        self.corpus = Corpus.read(self.file)
        self.families = self.corpus.families

    def try_first(self, session: Session) -> None:
        """Asks the policy about the known bugs of a session's problem; the session goes on with the rest."""
        bugs = self.corpus.of(session.config.subject)
        if not bugs:
            return
        asked, session.task, session.config = ask_again(session.config, bugs)
        self.heard(asked)
        if not self.silent:
            say(asked_line(asked), hang=10)

    def heard(self, asked: Sequence[Asked]) -> None:
        """Takes in what became of known bugs."""
        self._asked += asked

    @property
    def is_any_left(self) -> bool:
        """Whether a known bug is still there."""
        return any(each.is_bug for each in self._asked)

    def take_over(self, reports: Sequence[Report]) -> None:
        """Heals the corpus, adds what was found, and writes it."""
        self.corpus.heal(self._asked)
        for report in reports:
            started = report.tally.started
            if started is not None and report.families:
                self.corpus.add(report.record, started.task, report.families)
        self.corpus.write()
        if not self.silent:
            say(corpus_line(self.corpus), hang=10)

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return corpus_json(self.corpus, self._asked)
