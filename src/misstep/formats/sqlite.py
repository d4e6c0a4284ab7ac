"""SQLite files that come from outside: what is larger than the file is not in it, and is never made."""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from misstep.errors import InputError

MAX_VALUE = 64_000_000
"""Bytes of a text or blob; no value that misstep keeps comes near it."""
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What using a damaged file may raise: SQLite's own words may quote bytes of it that are no text."""


def distrust(connection: sqlite3.Connection, *, max_value: int = MAX_VALUE) -> None:
    """Before anything is read: functions of the file are not called, and no value becomes larger than this."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max_value)


def check_schema(connection: sqlite3.Connection, path: Path, statements: Iterable[str]) -> bool:
    """Whether the file has the tables that these statements make, False where it is empty.

    InputError where it has others. Columns that are computed, views, triggers and defaults cost nothing on disk, and
    41 kB of rows can hold gigabytes by them: a file of ours has none.
    """
    found = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master") if sql is not None]
    if found and sorted(map(_bare, found)) != sorted(map(_bare, statements)):
        raise InputError(
            f"{path}: its tables are not those that this version of misstep makes; name another file"
        )
    return bool(found)


def _bare(statement: object) -> str:
    return " ".join(str(statement).split())


def stored_rows(rows: Iterable[tuple[Any, ...]], path: Path) -> Iterator[tuple[Any, ...]]:
    """The rows of a file, as long as they hold no more than the file does; InputError where they do."""
    left = path.stat().st_size
    for row in rows:
        left -= sum(len(value) for value in row if isinstance(value, bytes | str))
        if left < 0:
            raise InputError(f"{path}: its rows hold more than the file; is it made up?")
        yield row
