"""What may differ between two runs of one build: how long things took, and nothing else."""

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

TIMES = frozenset({"at", "seconds", "policy_seconds", "cpu", "memory_mb", "seconds_left", "date", "created"})
"""Keys of JSON objects whose values are times, or depend on them."""
_TEXT = (
    (re.compile(r"\b\d+(\.\d+)? (s|ms|min|h|seconds|minutes)\b"), "TIME"),
    (re.compile(r"\b\d+:\d\d(:\d\d)?\b"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? (kB|MB)\b"), "SIZE"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?"), "DATE"),
)


def timeless(value: Any) -> Any:
    """A JSON value without times."""
    if isinstance(value, dict):
        return {key: "TIME" if key in TIMES else timeless(each) for key, each in value.items()}
    if isinstance(value, list):
        return [timeless(each) for each in value]
    return value


def masked_text(text: str) -> str:
    """A text for people without times; lines that are JSON objects keep the order of their keys."""
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    if line.startswith(("{", "[")):
        try:
            return json.dumps(timeless(json.loads(line)))
        except ValueError:
            pass
    for pattern, word in _TEXT:
        line = pattern.sub(word, line)
    return line


def masked_file(path: Path) -> str | bytes:
    """The content of a file, without times."""
    data = path.read_bytes()
    if data.startswith(b"SQLite format 3"):
        return _database(path)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    if path.suffix == ".json":
        try:
            return json.dumps(timeless(json.loads(text)))
        except ValueError:
            return text
    return masked_text(text)


def _database(path: Path) -> str:
    """All rows of all tables; columns of times are left out."""
    lines = []
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name"):
            cursor = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description]
            for row in sorted(cursor, key=repr):
                kept = {n: _line(str(v)) for n, v in zip(names, row, strict=True) if not _is_time(n)}
                lines.append(f"{table} {json.dumps(kept)}")
    return "\n".join(lines)


def _is_time(column: str) -> bool:
    return (
        column in TIMES
        or column.endswith(("_at", "_seconds", "_mb"))
        or column in ("started", "ended", "owner")
    )
