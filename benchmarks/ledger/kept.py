"""The kept counts: a CSV file, one row a command and commit, and what counts as a regression."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from benchmarks.ledger.counting import Broken, Machine

TOLERATED = 1.03
"""A command may take so many times the instructions that were kept. Repeats differ by 0.1 % at most, two by 0.3 %."""


@dataclass(frozen=True)
class Row:
    """One command at one commit. `words` is a digest of the command: a changed one has no past."""

    commit: str
    date: str
    command: str
    words: str
    instructions: int
    python: str
    compiler: str
    arch: str
    reason: str = ""
    """Why it may take more than before; then this row is the new measure."""

    @property
    def machine(self) -> Machine:
        return Machine(self.python, self.compiler, self.arch)

    def is_like(self, other: Row) -> bool:
        """Whether the two may be compared."""
        return (self.command, self.words, self.machine) == (other.command, other.words, other.machine)


@dataclass(frozen=True)
class Change:
    """A new count beside those that were kept: the last one, and the least one since a rise was accepted."""

    row: Row
    last: Row | None = None
    least: Row | None = None

    @property
    def ratio(self) -> float | None:
        """To the last one."""
        return self.row.instructions / self.last.instructions if self.last else None

    @property
    def is_regression(self) -> bool:
        """Beside the least one: many small rises are a large one, too."""
        return self.least is not None and self.row.instructions > TOLERATED * self.least.instructions


def read(file: Path) -> list[Row]:
    """All rows, oldest first; none where there is no file yet."""
    if not file.exists():
        return []
    names = [field.name for field in fields(Row)]
    with file.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        if reader.fieldnames != names:
            raise Broken(f"{file}: the first line has to be {','.join(names)}")
        rows = []
        for number, line in enumerate(reader, start=2):
            try:
                rows.append(_row(line))
            except (KeyError, TypeError, ValueError):
                raise Broken(
                    f"{file}:{number}: not a row of {len(names)} fields with a whole number"
                ) from None
    return rows


def _row(line: dict[str, str]) -> Row:
    count = int(line.pop("instructions"))
    if count < 1 or None in line.values():
        raise ValueError
    return Row(instructions=count, **line)


def append(file: Path, rows: Iterable[Row]) -> None:
    """Adds rows at the end."""
    is_new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, [field.name for field in fields(Row)], lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def compare(row: Row, kept: Sequence[Row]) -> Change:
    """A new row beside the rows of the same command on the same kind of machine."""
    past = [other for other in kept if row.is_like(other)]
    if not past:
        return Change(row)
    accepted = max((place for place, other in enumerate(past) if other.reason), default=0)
    return Change(row, past[-1], min(past[accepted:], key=lambda other: other.instructions))
