"""`misstep verify`: all certificates of a record, by the trusted checker, without core and without policy."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from misstep.errors import InputError
from misstep.record.record import BUGS, CLEARED, MODEL, TASK, Record, records_in
from misstep.reference.certificate import check
from misstep.reference.checked import Checked, Refused
from misstep.reference.fdr import parse


@dataclass(slots=True)
class Verified:
    """What the checker said of the certificates of a record."""

    valid: int = 0
    by_search: int = 0
    """Valid ones whose verdict rests on the word of a search."""
    invalid: list[dict[str, str]] = field(default_factory=list)
    """`certificate` and `reason` of each that proves nothing."""

    words: Counter[str] = field(default_factory=Counter)
    """What the checker had to believe, with the number of certificates that rest on it."""

    def add(self, checked: Checked) -> None:
        """Counts a certificate that was accepted."""
        self.valid += 1
        self.by_search += checked.rests_on_search
        self.words.update({word.split(":")[0] for word in checked.words})

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
            "by_search": self.by_search,
            "words": dict(self.words),
        }


def verify_all(folder: Path) -> Verified:
    """The record itself, or those in it where several tasks were tested."""
    total, paths = Verified(), records_in(folder)
    for path in paths:
        found = verify_record(Record.open(path))
        prefix = "" if len(paths) == 1 else f"{path.name}/"
        total.valid += found.valid
        total.by_search += found.by_search
        total.words += found.words
        total.invalid += [{**entry, "certificate": prefix + entry["certificate"]} for entry in found.invalid]
    return total


def verify_record(record: Record) -> Verified:
    """Checks every certificate of one record."""
    if record.store.read(MODEL) is not None:
        from misstep.safety.verify import verify_model_record

        return verify_model_record(record)
    text = record.store.read(TASK)
    try:
        task = parse("" if text is None else text)
    except Refused as error:
        raise InputError(f"{record.where}/{TASK}: the task cannot be read: {error}") from None
    found = Verified()
    for name, verdict, certificate in certificates(record):
        try:
            checked = check(certificate, task)
            if checked.verdict != verdict:
                raise Refused(f"it does not say that the state is {verdict}")
        except Refused as error:
            found.invalid.append({"certificate": name, "reason": str(error)})
        else:
            found.add(checked)
    return found


def certificates(record: Record) -> Iterator[tuple[str, str, Any]]:
    """Name, verdict to be proven and certificate of each; what cannot be read is None."""
    for file in record.store.names(BUGS):
        try:
            yield file.removesuffix(".json"), "bug", record.bug_named(file)
        except InputError:
            yield file.removesuffix(".json"), "bug", None
    for certificate in record.store.lines(CLEARED):
        yield f"cleared {certificate.get('id')}", "cleared", certificate
