"""Answers of teachers on disk, by task, state, teacher and limit: runs and seeds share them."""

import hashlib
import json
import sqlite3
from dataclasses import asdict
from pathlib import Path

from misstep import _core
from misstep.errors import InputError
from misstep.formats.sqlite import SQLITE_ERRORS, check_schema, distrust
from misstep.support.plain import read_fields
from misstep.task import Task
from misstep.training.teachers import Answer

_TABLE = "CREATE TABLE answers (key BLOB PRIMARY KEY, answer TEXT NOT NULL)"


class TeacherCache:
    """A SQLite file of answers, which several processes may use at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = sqlite3.connect(path, timeout=60, isolation_level=None)
            distrust(self._file)
            check_schema(self._file, path, [_TABLE])
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = OFF")
            self._file.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
        except SQLITE_ERRORS as error:
            raise InputError(f"{path}: cannot be used to keep teachers' answers: {error}") from None

    def get(self, key: bytes) -> Answer | None:
        """The answer under a key, if there is one."""
        try:
            row = self._file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            answer: Answer = read_fields(Answer, json.loads(row[0]))
            return answer
        except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
            raise InputError(
                f"{self.path}: is damaged ({error}); remove it or name another --cache"
            ) from None

    def put(self, key: bytes, answer: Answer) -> None:
        """Keeps an answer. A full disk is an InputError that says so."""
        text = json.dumps(asdict(answer))
        try:
            self._file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, text))
        except SQLITE_ERRORS as error:
            raise InputError(f"{self.path}: a teacher's answer cannot be written: {error}") from None

    def close(self) -> None:
        """Ends the use of the file."""
        self._file.close()


def task_digest(task: Task) -> bytes:
    """What the answers depend on beside the state: the task as SAS text without its initial state."""
    before, _, rest = task.sas.partition("begin_state")
    return hashlib.sha256((before + rest.partition("end_state")[2]).encode()).digest()


def answer_key(task: bytes, state: _core.State, teacher: str, max_expansions: int) -> bytes:
    """The key of an answer; `task` is a digest."""
    text = "\n".join((*state.facts, teacher, str(max_expansions)))
    return hashlib.sha256(task + text.encode()).digest()
