"""Tables of ours beside the printed ones, for people (Markdown) and for programs (CSV)."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from misstep.record.store import write_whole
from misstep.statistics import cluster_correlation, clustered_size, rate_bounds

CUT = "*"
"""After a number: a limit of time ended some of the tests behind it early."""
_COLUMNS = ("table", "row", "column", "published", "ours", "low", "high", "count", "cut_off")


@dataclass(frozen=True, slots=True)
class Value:
    """One number of a table, as printed and as found."""

    published: float | None = None
    ours: float | None = None
    low: float | None = None
    """95 % bounds of a share."""
    high: float | None = None
    count: int | None = None
    """How many states, or tasks, it is a share of."""
    is_cut: bool = False
    by_task: tuple[tuple[int, int], ...] = ()
    """Of a share: its states and all states, task by task."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the rows may have different columns, in the order of the first."""

    name: str
    rows: Mapping[str, Mapping[str, Value]]
    notes: tuple[str, ...] = field(default=())
    digits: int = 1


def percent(bad: int, all_: int, *, printed: float | None = None, is_cut: bool = False) -> Value:
    """A share in percent of independent states or runs, with exact bounds; nothing of ours without states."""
    if all_ == 0:
        return Value(printed, count=0, is_cut=is_cut)
    low, high = rate_bounds(bad, all_ - bad, 0)
    return Value(printed, 100 * bad / all_, 100 * low, 100 * high, all_, is_cut)


def share_of_tasks(
    counts: Iterable[tuple[int, int]], *, printed: float | None = None, is_cut: bool = False
) -> Value:
    """A share in percent of the states of several tasks; `bounded` gives it bounds."""
    by_task = tuple(counts)
    bad, all_ = (sum(column) for column in zip(*by_task, strict=True)) if by_task else (0, 0)
    return Value(printed, 100 * bad / all_ if all_ else None, count=all_, is_cut=is_cut, by_task=by_task)


def bounded(rows: Mapping[str, Mapping[str, Value]]) -> dict[str, dict[str, Value]]:
    """The rows of a table with bounds for all shares of tasks: what they say of the domain, not of these tasks alone.

    States of a task are alike, so that many states of few tasks say little. How much they are alike is measured in the
    row and in the whole table, and the larger counts: tasks are few, and a row's own measure is often too small by
    chance (`python -m benchmarks.task_bounds`). Where it cannot be measured, a task counts as one state.
    """
    overall = cluster_correlation(value.by_task for values in rows.values() for value in values.values())
    return {row: _bounded(values, overall) for row, values in rows.items()}


def _bounded(values: Mapping[str, Value], overall: float | None) -> dict[str, Value]:
    own = cluster_correlation(value.by_task for value in values.values())
    measured = [found for found in (own, overall) if found is not None]
    correlation = max(measured, default=1.0)
    return {column: _with_bounds(value, correlation) for column, value in values.items()}


def _with_bounds(value: Value, correlation: float) -> Value:
    if not value.count or not value.by_task:
        return value
    bad = sum(bad for bad, _ in value.by_task)
    effective = clustered_size((size for _, size in value.by_task), correlation)
    low, high = rate_bounds(bad, value.count - bad, 0, effective=effective)
    return replace(value, low=100 * low, high=100 * high)


def difference(value: Value, base: Value) -> Value:
    """How much more a number is than another one, printed and found."""

    def minus(one: float | None, other: float | None) -> float | None:
        return None if one is None or other is None else one - other

    return Value(
        minus(value.published, base.published),
        minus(value.ours, base.ours),
        count=value.count,
        is_cut=value.is_cut or base.is_cut,
    )


def write_tables(
    out: Path,
    title: str,
    about: Sequence[str],
    tables: Sequence[Table],
    *,
    name: str = "table",
    present: Mapping[str, bool] | None = None,
) -> None:
    """Writes NAME.md and NAME.csv; `present` are the rows that can be tested, and whether they were."""
    lines = [f"# {title}", "", *(f"- {line}" for line in about)]
    for table in tables:
        if table.rows:
            lines += ["", f"## {table.name}", "", *_markdown(table, present)]
            lines += [f"\n{note}" for note in table.notes]
    write_whole(out / f"{name}.md", "\n".join(lines) + "\n")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for table in tables:
        writer.writerows(_lines(table))
    write_whole(out / f"{name}.csv", text.getvalue())


def as_json(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Every row of every table, printed numbers and ours."""
    return [
        {
            "table": table.name,
            "row": row,
            "published": {column: value.published for column, value in values.items()},
            "ours": {column: value.ours for column, value in values.items()},
        }
        for table in tables
        for row, values in table.rows.items()
    ]


def _lines(table: Table) -> Iterator[dict[str, Any]]:
    for row, values in table.rows.items():
        for column, value in values.items():
            yield {
                "table": table.name,
                "row": row,
                "column": column,
                "published": value.published,
                "ours": _rounded(value.ours),
                "low": _rounded(value.low),
                "high": _rounded(value.high),
                "count": value.count,
                "cut_off": int(value.is_cut),
            }


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 3)


def _markdown(table: Table, present: Mapping[str, bool] | None) -> Iterator[str]:
    columns = list(dict.fromkeys(column for values in table.rows.values() for column in values))
    yield _line("", "", *columns)
    yield _line(*["---"] * (len(columns) + 2))
    for row, values in table.rows.items():
        given = [values.get(column, Value()) for column in columns]
        if any(value.published is not None for value in given):
            yield _line(row, "paper", *(_number(value.published, table.digits) for value in given))
        is_tested = any(value.ours is not None for value in given)
        yield _line(
            row,
            "ours" if is_tested else _whose(row, present),
            *(_ours(value, table.digits) for value in given),
        )
        if any(value.low is not None for value in given):
            yield _line("", "95 %", *(_bounds(value) for value in given))


def _whose(row: str, present: Mapping[str, bool] | None) -> str:
    """Of a row without numbers; one that was tested has shares of nothing."""
    if present is None:
        return "not tested"
    if row not in present:
        return "no data"
    return "ours" if present[row] else "not reached"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _number(number: float | None, digits: int) -> str:
    if number is None:
        return ""
    return str(number) if isinstance(number, int) else f"{number:.{digits}f}"


def _ours(value: Value, digits: int) -> str:
    return _number(value.ours, digits) + (CUT if value.is_cut and value.ours is not None else "")


def _bounds(value: Value) -> str:
    return "" if value.low is None or value.high is None else f"{value.low:.0f}-{value.high:.0f}"
