"""The database of a campaign: every job with its state and result, in one SQLite file that only grows wiser.

A transaction that has ended is on the disk: it survives killed processes and power failures (write-ahead log,
`synchronous = FULL`). One coordinator writes; anybody may read at the same time.
"""

import dataclasses
import itertools
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from misstep.campaign.job import CampaignJob
from misstep.campaign.result import COUNTS, Result
from misstep.config import Config
from misstep.errors import InputError
from misstep.formats.sqlite import SQLITE_ERRORS, check_schema, distrust
from misstep.support.plain import from_plain, read_fields, reading, to_plain

T = TypeVar("T")

NAME = "campaign.sqlite"
FORMAT = 1
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
STATES = (WAITING, RUNNING, DONE, FAILED)
_AT_ONCE = 1000
"""Jobs that are entered together."""
_MAX_COPY = 1_000_000_000
"""Bytes of a database that is copied to memory."""
_SCHEMA = f"""
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    task TEXT NOT NULL, policy TEXT NOT NULL, configuration TEXT NOT NULL, seed INTEGER NOT NULL,
    config TEXT NOT NULL,
    is_asked INTEGER NOT NULL,
    turn INTEGER NOT NULL, size INTEGER NOT NULL, number INTEGER NOT NULL, expected REAL, limit_seconds REAL,
    state TEXT NOT NULL DEFAULT '{WAITING}', tries INTEGER NOT NULL DEFAULT 0, is_fresh INTEGER NOT NULL DEFAULT 0,
    reason TEXT, began REAL, ended REAL, wall_seconds REAL,
    {", ".join(f"{name} NUMERIC" for name in COUNTS)},
    seconds REAL, limits_hit TEXT, bug_seconds TEXT
) WITHOUT ROWID;
CREATE INDEX next_jobs ON jobs (state, is_asked, turn, expected, number);
CREATE INDEX kinds_of_jobs ON jobs (task, configuration, size);
CREATE TABLE attempts (
    job TEXT NOT NULL, began REAL NOT NULL, ended REAL, outcome TEXT, PRIMARY KEY (job, began)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A job as the database knows it."""

    id: str
    task: str
    policy: str
    configuration: str
    seed: int
    state: str
    tries: int
    reason: str | None
    wall_seconds: float | None
    result: Result | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that may begin."""

    id: str
    task: str
    policy: str
    config: Config
    tries: int
    is_fresh: bool
    """Whether what an earlier try left must not be continued."""


class Database:
    """An open database. `create` is for the coordinator; `read` never writes."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        with self._named():
            distrust(connection)

    @classmethod
    def create(cls, path: Path) -> "Database":
        """Opens the database for writing, and makes it where there is none."""
        path.parent.mkdir(parents=True, exist_ok=True)
        database = cls(path, sqlite3.connect(path, isolation_level=None, timeout=30))
        database._has_tables()
        database._execute("PRAGMA journal_mode = WAL")
        database._execute("PRAGMA synchronous = FULL")
        database._set_up()
        return database

    @classmethod
    def in_memory(cls, path: Path) -> "Database":
        """A copy of a database, or an empty one where there is none, to try out what would happen."""
        database = cls(path, sqlite3.connect(":memory:", isolation_level=None))
        if path.is_file():
            if path.stat().st_size > _MAX_COPY:
                raise InputError(f"{path}: is too large to be tried out in memory; run it without --dry-run")
            before = cls.read(path)
            before._connection.backup(database._connection)
            before.close()
        database._set_up()
        return database

    @classmethod
    def read(cls, path: Path) -> "Database":
        """Opens an existing database."""
        if not path.is_file():
            raise _no_campaign(path)
        database = cls(
            path, sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None, timeout=30)
        )
        if not database._has_tables():  # it is being made just now
            raise _no_campaign(path)
        database._check()
        return database

    def close(self) -> None:
        """Closes it."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing of what is written inside; on the disk when it ends."""
        self._execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._execute("ROLLBACK")
            raise
        self._execute("COMMIT")

    def enrol(self, jobs: Iterable[CampaignJob]) -> tuple[int, int]:
        """Takes the jobs of a plan in: how many there are, and how many are new.

        Jobs that the plan does not have any more keep their results, but are no longer asked for.
        """
        asked = 0
        with self.transaction():
            before = self._count("SELECT count(*) FROM jobs")
            self._execute("UPDATE jobs SET is_asked = 0")
            numbered = enumerate(jobs)
            while batch := list(itertools.islice(numbered, _AT_ONCE)):
                self._connection.executemany(
                    "INSERT INTO jobs (id, task, policy, configuration, seed, config, is_asked, turn, size, number,"
                    " limit_seconds) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)"
                    " ON CONFLICT (id) DO UPDATE SET is_asked = 1, configuration = excluded.configuration,"
                    " config = excluded.config, turn = excluded.turn, number = excluded.number",
                    [_values(job, number) for number, job in batch],
                )
                asked += len(batch)
            new = self._count("SELECT count(*) FROM jobs") - before
        return asked, new

    def expect(self, seconds: Iterable[tuple[str, str, int, float]]) -> None:
        """Sets how long waiting jobs of a task and configuration, of a size, are expected to take."""
        with self.transaction():
            self._connection.executemany(
                "UPDATE jobs SET expected = ?4 WHERE task = ?1 AND configuration = ?2 AND size = ?3",
                seconds,
            )

    def next_jobs(self, most: int) -> list[Waiting]:
        """The jobs that come next: a seed of everything before the next seed, short ones before long ones."""
        rows = self._typed(
            tuple[str, str, str, str, int, int],
            "SELECT id, task, policy, config, tries, is_fresh FROM jobs WHERE state = ? AND is_asked = 1"
            " ORDER BY turn, expected, number LIMIT ?",
            (WAITING, most),
        )
        with reading(self.path):
            return [
                Waiting(
                    id,
                    task,
                    policy,
                    Config.from_table(json.loads(config), where=f"{self.path}: job {id}"),
                    tries,
                    bool(is_fresh),
                )
                for id, task, policy, config, tries, is_fresh in rows
            ]

    def begin(self, id: str) -> None:
        """A job begins; inside a transaction."""
        now = time.time()
        self._execute(
            "UPDATE jobs SET state = ?, tries = tries + 1, began = ? WHERE id = ? AND state = ?",
            (RUNNING, now, id, WAITING),
        )
        self._execute("INSERT OR REPLACE INTO attempts (job, began) VALUES (?, ?)", (id, now))

    def done(self, id: str, result: Result) -> None:
        """A job has its result; inside a transaction."""
        values = result.counts | {
            "seconds": result.seconds,
            "limits_hit": json.dumps(result.limits_hit),
            "bug_seconds": json.dumps(result.bug_seconds),
        }
        self._end(id, DONE, None, values)

    def failed(self, id: str, reason: str) -> None:
        """A job has no result, and is not tried again; inside a transaction."""
        self._end(id, FAILED, reason, {})

    def again(self, id: str, reason: str, *, is_fresh: bool, counts: bool = True) -> None:
        """A job waits once more; `counts` says whether the try was one of those that it has."""
        self._end(id, WAITING, reason, {"is_fresh": int(is_fresh)})
        if not counts:
            self._execute("UPDATE jobs SET tries = tries - 1 WHERE id = ?", (id,))

    def _end(self, id: str, state: str, reason: str | None, values: dict[str, Any]) -> None:
        now = time.time()
        fields = {"state": state, "reason": reason, "ended": now, **values}
        sets = ", ".join(f"{name} = ?" for name in fields)
        self._execute(
            f"UPDATE jobs SET {sets}, wall_seconds = ? - began WHERE id = ? AND state = '{RUNNING}'",
            (*fields.values(), now, id),
        )
        self._execute(
            "UPDATE attempts SET ended = ?, outcome = ? WHERE job = ? AND ended IS NULL", (now, state, id)
        )

    def retry_failed(self, *, before: float) -> int:
        """Lets jobs that failed before a moment (of `time.time`) wait again; how many."""
        with self.transaction():
            return self._execute(
                "UPDATE jobs SET state = ?, tries = 0, is_fresh = 1 WHERE state = ? AND is_asked AND ended <= ?",
                (WAITING, FAILED, before),
            ).rowcount

    def running(self) -> list[str]:
        """The jobs that a coordinator has begun and not ended."""
        rows = self._typed(tuple[str], "SELECT id FROM jobs WHERE state = ?", (RUNNING,))
        return [id for (id,) in rows]

    def counts(self) -> dict[str, int]:
        """How many of the jobs that are asked for are in each state."""
        found = dict.fromkeys(STATES, 0)
        query = "SELECT state, count(*) FROM jobs WHERE is_asked = 1 GROUP BY state"
        for state, count in self._typed(tuple[str, int], query):
            found[state] = count
        return found

    def dropped(self) -> int:
        """How many jobs the file does not ask for any more."""
        return self._count("SELECT count(*) FROM jobs WHERE NOT is_asked")

    def bugs(self) -> int:
        """How many bugs were found so far."""
        return self._count("SELECT coalesce(sum(bugs), 0) FROM jobs WHERE is_asked")

    def durations(self) -> list[tuple[str, str, int, int, float]]:
        """Task, configuration, size, how many jobs are done, and how long one took."""
        return self._typed(
            tuple[str, str, int, int, float],
            "SELECT task, configuration, size, count(*), coalesce(avg(wall_seconds), 0.0) FROM jobs"
            " WHERE state = ? GROUP BY task, configuration, size",
            (DONE,),
        )

    def open_groups(self) -> list[tuple[str, str, int, float | None, int]]:
        """Task, configuration, size, limit, and how many jobs of such a kind are not done."""
        return self._typed(
            tuple[str, str, int, float | None, int],
            "SELECT task, configuration, size, limit_seconds, count(*) FROM jobs WHERE is_asked AND state IN (?, ?)"
            " GROUP BY task, configuration, size, limit_seconds",
            (WAITING, RUNNING),
        )

    def rows(self) -> Iterator[Row]:
        """All jobs that are asked for, in the order of the plan."""
        names = [field.name for field in dataclasses.fields(Result)]
        about = [field.name for field in dataclasses.fields(Row)][:-1]
        rows = self._select(f"SELECT {', '.join((*about, *names))} FROM jobs WHERE is_asked ORDER BY number")
        for row in rows:
            with reading(f"{self.path}: job {row[0]}"):
                job = dict(zip(about, row, strict=False))
                result = dict(zip(names, row[len(about) :], strict=True))
                job["result"] = _result(result) if job["state"] == DONE else None
                found: Row = read_fields(Row, job)
            yield found

    def attempts(self) -> list[tuple[str, str | None]]:
        """Every try of every job, and how it ended."""
        return self._typed(tuple[str, str | None], "SELECT job, outcome FROM attempts ORDER BY began")

    def _count(self, query: str) -> int:
        [(count,)] = self._typed(tuple[int], query)
        return count

    def _execute(self, query: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        with self._named():
            return self._connection.execute(query, values)

    def _typed(self, kind: type[T], query: str, values: Sequence[Any] = ()) -> list[T]:
        """All rows as tuples of this type: a column of SQLite takes values of any."""
        with reading(self.path):
            return [from_plain(kind, list(row)) for row in self._select(query, values)]

    def _select(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Row by row: a damaged file may show itself at any of them."""
        cursor = self._execute(query, values)
        while True:
            with self._named():
                row = cursor.fetchone()
            if row is None:
                return
            yield row  # outside: who stops here may have closed the file already

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Around every use of the file: InputError with its name where it is damaged or the disk is full."""
        try:
            yield
        except SQLITE_ERRORS as error:
            raise InputError(
                f"{self.path}: {error}; is it the database of a campaign, and is there room on the disk?"
            ) from None

    def _has_tables(self) -> bool:
        with self._named():
            return check_schema(self._connection, self.path, _statements())

    def _set_up(self) -> None:
        with self.transaction():
            if not self._has_tables():
                for statement in _statements():
                    self._execute(statement)
                self._execute("INSERT INTO about VALUES ('format', ?)", (FORMAT,))
        self._check()

    def _check(self) -> None:
        found = next(self._select("SELECT value FROM about WHERE name = 'format'"), None)
        if found is None or found[0] != str(FORMAT):
            raise InputError(
                f"{self.path}: the database has format {found and found[0]}, this version of misstep reads {FORMAT}; "
                "choose another --out"
            )


def _statements() -> list[str]:
    return [statement.strip() for statement in _SCHEMA.split(";\n") if statement.strip()]


def _no_campaign(path: Path) -> InputError:
    return InputError(f"{path}: there is no campaign yet; start it with `misstep campaign FILE.toml`")


def _values(job: CampaignJob, number: int) -> tuple[object, ...]:
    table = json.dumps(to_plain(job.config.as_table()))
    names = (job.id, job.task, job.policy, job.configuration, job.seed)
    return *names, table, job.turn, job.size, number, job.config.seconds


def _result(values: dict[str, Any]) -> dict[str, Any]:
    """The table of a result."""
    for name in ("limits_hit", "bug_seconds"):
        values[name] = json.loads(values[name] or "[]")
    return values
