"""What the trusted checker said of the certificates of a record, and which certificates there are."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from misstep.errors import InputError
from misstep.record.record import BUGS, CLEARED, CONFIG, ENVIRONMENT, EVENTS, Record
from misstep.reference.checked import Checked, Refused
from misstep.reference.log import Entry
from misstep.support.forked import in_order

Named: TypeAlias = tuple[str, str | None, Any]
"""A certificate with its name and the verdict that it must prove, if any."""


@dataclass(slots=True)
class Verified:
    """What the checker said of the certificates of a record."""

    records: int = 1
    valid: int = 0
    by_search: int = 0
    """Valid ones whose verdict rests on the word of a search."""
    invalid: list[dict[str, str]] = field(default_factory=list)
    """`certificate` and `reason` of each that proves nothing."""

    words: Counter[str] = field(default_factory=Counter)
    """What the checker had to believe, with the number of certificates that rest on it."""

    problems: list[str] = field(default_factory=list)
    """What is wrong with the record as a whole: its files contradict each other."""
    questions: list[str] = field(default_factory=list)
    """What the certificates are about: each of them may be true of another task, model or question only."""
    remarks: list[str] = field(default_factory=list)
    """What is unusual: a test without an end, a policy that is another one by now."""

    @property
    def is_sound(self) -> bool:
        """Whether everything was accepted."""
        return not self.invalid and not self.problems

    def include(self, other: "Verified", *, prefix: str) -> None:
        """Adds what was said of another record, by its name."""
        self.valid += other.valid
        self.by_search += other.by_search
        self.words += other.words
        self.invalid += [{**entry, "certificate": prefix + entry["certificate"]} for entry in other.invalid]
        self.problems += [prefix + text for text in other.problems]
        self.questions += [prefix + text for text in other.questions]
        self.remarks += [prefix + text for text in other.remarks]

    def check(self, named: Iterable[Named], check: Callable[[Any], Checked], *, jobs: int = 1) -> list[Entry]:
        """Has the checker look at certificates, in so many processes. Returns those that were accepted."""
        entries, all_named = [], list(named)
        for (name, _, certificate), found in zip(
            all_named, side_by_side(all_named, check, jobs), strict=True
        ):
            if isinstance(found, str):
                self.invalid.append({"certificate": name, "reason": found})
            else:
                self._add(found)
                entries.append(Entry(name, certificate, found))
        return entries

    def _add(self, checked: Checked) -> None:
        """Counts a certificate that was accepted."""
        self.valid += 1
        self.by_search += checked.rests_on_search
        self.words.update({word.split(":")[0] for word in checked.words})

    @property
    def notes(self) -> list[str]:
        """All that a user should know."""
        return [*self.questions, *self.remarks]

    @property
    def certificates(self) -> int:
        """How many there are."""
        return self.valid + len(self.invalid)

    def as_json(self) -> dict[str, Any]:
        """As `misstep verify --json` prints it."""
        return {
            "certificates": self.certificates,
            "valid": self.valid,
            "invalid": self.invalid,
            "problems": self.problems,
            "notes": self.notes,
            "by_search": self.by_search,
            "words": dict(self.words),
        }


def side_by_side(
    named: Sequence[Named], check: Callable[[Any], Checked], jobs: int
) -> Iterator[Checked | str]:
    """What the checker says of each certificate, or why it refuses it."""

    def checked(at: int) -> Checked | str:
        _, verdict, certificate = named[at]
        try:
            found = check(certificate)
        except Refused as error:
            return str(error)
        if verdict is not None and found.verdict != verdict:
            return f"it does not say that the state is {verdict}"
        return found

    return in_order(checked, len(named), jobs=jobs)


def certificates(record: Record) -> Iterator[Named]:
    """Name, verdict to be proven and certificate of each; what cannot be read is None."""
    for file in record.store.names(BUGS):
        try:
            yield file.removesuffix(".json"), "bug", record.bug_named(file)
        except InputError:
            yield file.removesuffix(".json"), "bug", None
    for certificate in record.store.lines(CLEARED):
        yield f"cleared {certificate.get('id')}", "cleared", certificate


def other_start(record: Record) -> Iterator[str]:
    """Where the first event is not about the test that was asked for."""
    config, events = record.config(), record.store.lines(EVENTS)
    asked = {"policy": config.policy, "seed": config.seed, "task": config.subject}
    for event in events[:1]:
        for name, value in asked.items():
            if event.get(name) != value:
                yield f"the log is about another {name} than {CONFIG}"
    if record.environment().get("seed") != config.seed:
        yield f"{ENVIRONMENT} is about another seed than {CONFIG}"


def unfinished(record: Record) -> Iterator[str]:
    """Says so where the log has no end."""
    if not any(event.get("event") == "finished" for event in record.store.lines(EVENTS)):
        yield "the log has no end: the test was stopped, or is still under way"
