"""Mutations that know what they change: JSON, TOML, safetensors, zip files with pickles, SQLite, protocol buffers."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import re
import sqlite3
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

from tests.mutants.texts import NUMBERS, ODD, damage
from tests.property.tampering import places
from tests.unit.onnx_model import varint

GARBAGE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 0.5, -0.0, 1e308, 2**31, -(2**31) - 1, 2**53 + 1, 2**63, 2**64, 10**40),
    *(
        "",
        "nonsense",
        "\0",
        "\x1b[2J",
        "\ud800",
        "x" * 100_000,
        "(",
        "()",
        "(a b)",
        "inf",
        "NaN",
        "-1",
        "../../x",
    ),
    *([], {}, [[]], [None], {"": 0}, [0] * 1000, {"op": "+", "left": 1, "right": True}),
)


def json_text(data: bytes, rng: random.Random) -> bytes:
    """One document: values replaced, left out, repeated, exchanged, nested deeply; odd but legal writing."""
    return _json(json.loads(data), rng).encode("utf-8", "surrogatepass")


def json_lines(data: bytes, rng: random.Random) -> bytes:
    """One document a line: a line changes, or lines are left out, repeated, exchanged."""
    rows = data.splitlines()
    if not rows:
        return b"{}\n"
    at, other = rng.randrange(len(rows)), rng.randrange(len(rows))
    sort = rng.randrange(8)
    if sort == 0:
        del rows[at]
    elif sort == 1:
        rows.insert(other, rows[at])
    elif sort == 2:
        rows[at], rows[other] = rows[other], rows[at]
    else:
        rows[at] = json_text(rows[at], rng)
    return b"".join(row + b"\n" for row in rows)


def _json(value: Any, rng: random.Random) -> str:
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        value = _changed(value, rng)
    text = json.dumps(value)
    sort = rng.randrange(12)
    if sort == 0:
        return re.sub(r"-?\b\d+\b", lambda _: rng.choice(NUMBERS), text, count=rng.choice((1, 3)))
    if sort == 1:
        return text.replace("{", '{"format": 7, ', 1)  # a key may come twice
    return text


def _changed(value: Any, rng: random.Random) -> Any:
    found = places(value)
    if not found:
        return rng.choice(GARBAGE)
    holder, key = rng.choice(found)
    sort = rng.randrange(9)
    if sort == 0:
        del holder[key]
    elif sort == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif sort == 2:
        other, there = rng.choice(found)
        holder[key], other[there] = copy.deepcopy(other[there]), copy.deepcopy(holder[key])
    elif sort == 3:
        for _ in range(rng.choice((1, 60, 400))):
            holder[key] = [holder[key]] if rng.random() < 0.5 else {"exp": holder[key], "op": "¬"}
    elif sort == 4 and isinstance(holder, dict):
        holder[rng.choice(("", "op", "unheard of", "\0", "x" * 5000))] = holder.pop(key)
    elif sort == 5 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
        holder[key] += rng.choice((-1, 1, 1000, -(2**31), 2**31, 0.5))
    elif sort == 6 and isinstance(holder[key], str):
        at = rng.randrange(len(holder[key]) + 1)
        holder[key] = holder[key][:at] + rng.choice(ODD) + holder[key][at:]
    else:
        holder[key] = copy.deepcopy(rng.choice(GARBAGE))
    return value


_TOML_VALUES = (
    *(
        '"x"',
        "''",
        "1",
        "-1",
        "0.5",
        "inf",
        "nan",
        "true",
        "[]",
        "{}",
        "[1, 2]",
        '["a", "b"]',
        "1979-05-27",
        "07:32:00",
    ),
    *(
        "1979-05-27T07:32:00Z",
        "{a = {b = 1}}",
        '"\\u0000"',
        '"""a\nb"""',
        "9" * 400,
        "[" * 3000 + "]" * 3000,
        "0x7f",
    ),
)
_TOML_KEYS = (
    *(
        "seconds",
        "memory_mb",
        "pool",
        "seed",
        "policy",
        "oracle",
        "bias",
        "fuzzer",
        "objective",
        "radius",
        "out",
    ),
    *(
        "constant",
        "model",
        "domain",
        "problem",
        "jobs",
        "fail",
        "misstep",
        "tool",
        "a.b.c",
        '""',
        "misstep.fail.x",
    ),
)


def toml(data: bytes, rng: random.Random) -> bytes:
    """Values of other types, keys twice, tables in the wrong place."""
    rows = data.decode().split("\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(rows) + 1)
        sort = rng.randrange(6)
        if sort < 3 and at < len(rows) and "=" in rows[at]:
            rows[at] = f"{rows[at].partition('=')[0]}= {rng.choice(_TOML_VALUES)}"
        elif sort == 3:
            rows.insert(at, f"{rng.choice(_TOML_KEYS)} = {rng.choice(_TOML_VALUES)}")
        elif sort == 4:
            rows.insert(
                at, rng.choice(("[misstep]", "[tool.misstep]", "[[misstep]]", "[misstep.fail]", "[a]", "[]"))
            )
        elif at < len(rows):
            rows[at] = damage(rows[at].encode(), rng).decode(errors="replace")
    return "\n".join(rows).encode()


def safetensors(data: bytes, rng: random.Random) -> bytes:
    """The header as JSON, its length, or the numbers behind it."""
    size = int.from_bytes(data[:8], "little")
    header, body = data[8 : 8 + size], data[8 + size :]
    sort = rng.randrange(8)
    if sort == 0:
        return (
            rng.choice((0, 1, size - 1, size + 1, 2**31, 2**63, 2**64 - 1)).to_bytes(8, "little") + data[8:]
        )
    if sort == 1:
        body = damage(body, rng)
    elif sort == 2:
        body = bytes(rng.choice((b"\xff", b"\0\0\x80\x7f", b"\0\0\xc0\x7f", b"\xff\xff\x7f\x7f"))) * (
            len(body) // 4
        )
    else:
        header = _tensor_header(json.loads(header), rng)
    return len(header).to_bytes(8, "little") + header + body


def _tensor_header(header: dict[str, Any], rng: random.Random) -> bytes:
    """Also texts of the metadata that are JSON themselves."""
    about = header.get("__metadata__", {})
    inner = [key for key, text in about.items() if text[:1] in "{["]
    if inner and rng.random() < 0.4:
        key = rng.choice(inner)
        about[key] = _json(json.loads(about[key]), rng)
        return json.dumps(header).encode()
    return _json(header, rng).encode("utf-8", "surrogatepass")


def archive(data: bytes, rng: random.Random) -> bytes:
    """Members of a zip file are left out, repeated, renamed, packed, cut short; pickles and headers change inside."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        members = [(info.filename, source.read(info)) for info in source.infolist()]
    at = rng.randrange(len(members)) if rng.random() < 0.4 else 0
    name, content = members[at]
    packing = zipfile.ZIP_STORED
    sort = rng.randrange(8)
    if sort == 0:
        del members[at]
    elif sort == 1:
        members.append(members[at])
    elif sort == 2:
        members[at] = rng.choice(("/", "../x", "data.pkl", name + "\0", name.upper(), "x" * 60_000)), content
    elif sort == 3:
        packing = zipfile.ZIP_DEFLATED
        members[at] = name, content + bytes(rng.choice((0, 10_000, 50_000_000)))
    else:
        members[at] = name, pickled(content, rng) if content[:1] == b"\x80" else damage(content, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as target, warnings.catch_warnings(action="ignore"):
        for name, content in members:
            target.writestr(name, content)
    return out.getvalue() if rng.random() < 0.9 else damage(out.getvalue(), rng)


def pickled(data: bytes, rng: random.Random) -> bytes:
    """Numbers, names and instructions of a pickle."""
    sort = rng.randrange(5)
    if sort == 0:  # a number of four bytes: sizes, offsets, shapes, strides
        return _replaced(
            data,
            rng,
            rb"J....",
            b"J" + rng.choice((b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", rng.randbytes(4))),
        )
    if sort == 1:
        return _replaced(
            data,
            rng,
            rb"c[^\n]+\n[^\n]+\n",
            rng.choice((b"cos\nsystem\n", b"cbuiltins\neval\n", b"ctorch\nX\n")),
        )
    if sort == 2:
        at = rng.randrange(len(data))
        return (
            data[:at]
            + rng.choice(
                (
                    b"(",
                    b"t",
                    b"R",
                    b"b",
                    b"Q",
                    b"0",
                    b"2",
                    b"N",
                    b"}",
                    b"]",
                    b")",
                    b".",
                    b"e",
                    b"u",
                    b"h\0",
                    b"q\0",
                )
            )
            + data[at:]
        )
    if sort == 3:
        return _replaced(
            data, rng, rb"X....", b"X" + rng.choice((b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\x01\0\0\0"))
        )
    return damage(data, rng)


def _replaced(data: bytes, rng: random.Random, pattern: bytes, new: bytes) -> bytes:
    found = list(re.finditer(pattern, data, re.DOTALL))
    if not found:
        return damage(data, rng)
    match = rng.choice(found)
    return data[: match.start()] + new + data[match.end() :]


_SQL_VALUES = (
    *(
        "NULL",
        "-1",
        "0",
        "1",
        "4294967296",
        "9223372036854775807",
        "0.5",
        "1e308",
        "'x'",
        "''",
        "x'00'",
        "x'0000c07f'",
    ),
    *(
        "zeroblob(1)",
        "zeroblob(4000000)",
        "randomblob(64)",
        "CAST('a' AS BLOB)",
        "char(27)",
        "printf('%.*c', 100000, 'x')",
    ),
)


def sqlite(data: bytes, rng: random.Random) -> bytes:
    """Rows, columns and tables by SQL; a view, a trigger or a generated column in the place of a table."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            for _ in range(rng.choice((1, 1, 2))):
                _change_tables(connection, rng)
        finally:
            connection.close()
        changed = path.read_bytes()
    return changed if rng.random() < 0.8 else damage(changed, rng)


def _change_tables(connection: sqlite3.Connection, rng: random.Random) -> None:
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if not tables:
        return
    table = rng.choice(tables)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    column, some = (
        rng.choice(columns),
        f"rowid IN (SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {rng.randrange(9)})",
    )
    value = rng.choice(_SQL_VALUES)
    statement = rng.choice(
        (
            *[f"UPDATE {table} SET {column} = {value} WHERE {some}"] * 6,
            f"UPDATE {table} SET {column} = {value}",
            f"DELETE FROM {table} WHERE {some}",
            f"INSERT INTO {table} SELECT * FROM {table} WHERE {some}",
            f"DROP TABLE {table}",
            f"ALTER TABLE {table} RENAME COLUMN {column} TO other",
            f"ALTER TABLE {table} ADD COLUMN big GENERATED ALWAYS AS (zeroblob(60000000)) VIRTUAL",
            f"ALTER TABLE {table} RENAME TO hidden; CREATE VIEW {table} AS SELECT * FROM hidden a, hidden b, hidden c",
            f"ALTER TABLE {table} RENAME TO hidden; CREATE VIEW {table} AS WITH RECURSIVE r(n) AS "
            f"(SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT hidden.* FROM hidden, r",
        )
    )
    with contextlib.suppress(sqlite3.Error):  # some changes are refused, twice the same key, for example
        connection.executescript(statement)


def protocol(data: bytes, rng: random.Random) -> bytes:
    """Fields of a message, at any depth: left out, repeated, of another number, of an extreme value."""
    fields = _fields(data)
    if not fields:
        return damage(data, rng)
    at = rng.randrange(len(fields))
    number, value = fields[at]
    sort = rng.randrange(8)
    if isinstance(value, bytes) and value and sort < 4:
        fields[at] = number, protocol(value, rng)
    elif sort == 4:
        del fields[at]
    elif sort == 5:
        fields.insert(rng.randrange(len(fields)), fields[at])
    elif sort == 6:
        fields[at] = rng.choice((0, 1, 2, 7, 20, 2**29 - 1)), value
    else:
        fields[at] = number, rng.choice((0, 1, 2**31, 2**63, 2**64 - 1, b"", b"\xff" * 20, rng.randbytes(9)))
    return b"".join(_field(*one) for one in fields)


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """The fields of a message; none where it is not one."""
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        if key & 7 == 0:
            value, at = _read_varint(data, at)
            found.append((key >> 3, value))
        elif key & 7 == 2:
            length, at = _read_varint(data, at)
            if at + length > len(data):
                return []
            found.append((key >> 3, data[at : at + length]))
            at += length
        else:
            return []
    return found


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            break
    return value, at


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value
