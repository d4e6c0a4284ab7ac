"""All jobs of a campaign as one table for other programs: CSV, or Parquet with the extra `parquet`."""

import csv
import dataclasses
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from misstep.campaign.coordinator import record_path
from misstep.campaign.database import Database, Row
from misstep.campaign.result import Result
from misstep.errors import InputError
from misstep.record.store import write_whole
from misstep.reports.text import harmless
from misstep.support.extras import require_extra
from misstep.support.whole_files import whole_file

_NAMES = ("id", "task", "policy", "configuration", "seed", "state", "tries", "reason", "wall_seconds")
_FOUND = tuple(field.name for field in dataclasses.fields(Result) if field.name != "bug_seconds")
COLUMNS = (*_NAMES, *_FOUND, "record")
_TEXTS = ("id", "task", "policy", "configuration", "state", "reason", "kind", "limits_hit", "record")
_NUMBERS = ("wall_seconds", "effort", "effective", "seconds")
# Rows that are written at once.
_AT_ONCE = 10_000


def write_csv(path: Path, database: Database) -> int:
    """One line a job under the names of the columns; how many jobs there are.

    People look at such files in terminals: control characters in names are written out.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    count = 0
    for line in _lines(database):
        writer.writerow(
            {name: harmless(value) if isinstance(value, str) else value for name, value in line.items()}
        )
        count += 1
    write_whole(path, text.getvalue())
    return count


def write_parquet(path: Path, database: Database) -> int:
    """The same with types, written group by group of rows."""
    arrow = require_extra("pyarrow", extra="parquet", purpose="--parquet")
    parquet = require_extra("pyarrow.parquet", extra="parquet", purpose="--parquet")
    kinds = {name: arrow.string() for name in _TEXTS} | {name: arrow.float64() for name in _NUMBERS}
    schema = arrow.schema([(name, kinds.get(name, arrow.int64())) for name in COLUMNS])
    count, batch = 0, list[dict[str, Any]]()
    try:
        with (
            whole_file(path) as descriptor,
            os.fdopen(os.dup(descriptor), "wb") as file,
            parquet.ParquetWriter(file, schema) as writer,
        ):
            for line in _lines(database):
                batch.append(line)
                count += 1
                if len(batch) == _AT_ONCE:
                    writer.write_table(arrow.Table.from_pylist(batch, schema))
                    batch.clear()
            writer.write_table(arrow.Table.from_pylist(batch, schema))
    except OSError as error:
        raise InputError(f"{path}: cannot write there: {error}; choose another file") from None
    return count


def _lines(database: Database) -> Iterator[dict[str, Any]]:
    for row in database.rows():
        yield _line(row, record_path(database.path.parent, row.id))


def _line(row: Row, record: Path) -> dict[str, Any]:
    line: dict[str, Any] = {name: getattr(row, name) for name in _NAMES}
    for name in _FOUND:
        line[name] = None if row.result is None else getattr(row.result, name)
    if row.result is not None:
        line["limits_hit"] = "; ".join(row.result.limits_hit)
    return line | {"record": str(record) if record.exists() else None}
