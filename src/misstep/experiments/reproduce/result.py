"""What a reproduction writes, the same for every paper."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.experiments.reproduce.order import Order, Scale
from misstep.experiments.reproduce.stages import Found
from misstep.experiments.reproduce.table import CUT, Table, Value, as_json, write_tables
from misstep.explain.words import counted
from misstep.record.store import write_whole
from misstep.reports.text import shorten

_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the tables are, and what they say."""

    out: Path
    rows: list[dict[str, Any]]
    is_whole: bool = True
    """False where the time was up before all tests were made; the same order goes on."""

    def as_json(self) -> dict[str, Any]:
        """What `misstep reproduce --json` prints."""
        limits = [] if self.is_whole else ["seconds"]
        return {"rows": self.rows, "limits_hit": limits, "out": str(self.out)}


def about(order: Order, scale: Scale, found: Sequence[Found]) -> list[str]:
    """What stands above the tables."""
    source = "the papers' policies and tasks" if order.data else "bundled policies, generated tasks"
    return [
        f"`misstep reproduce {order.name} --seconds {order.seconds:g} --seed {order.seed}`, {source}",
        f"up to {counted(scale.tasks, 'task')} of a domain, spread over all sizes, the middle one first; up to "
        f"{scale.pool} states of each; a test takes at most {scale.seconds:g} s",
        f"`{CUT}`: a limit of time ended some of the tests behind the number; without it, it is the same on every "
        "machine",
        *left_lines(found),
    ]


def left_lines(found: Iterable[Found], *, others: int = 0) -> list[str]:
    """What is to be said where something is missing; `others` are pieces of work that are no tests."""
    tests = list(found)
    lines = [
        f"**failed**: {each.cell.row}, {each.cell.task}, {each.cell.column}: "
        f"{shorten(each.failure, _LONGEST_REASON)}; the same command tries again"
        for each in tests
        if each.failure is not None
    ]
    left = others + sum(each.is_left for each in tests)
    if left:
        lines.append(
            f"**unfinished**: the time was up, and {left} pieces of work or more are left; the same command continues"
        )
    return lines


def write_outcome(
    order: Order,
    title: str,
    lines: Sequence[str],
    tables: Sequence[Table],
    figures: Mapping[str, str],
    *,
    times: Table | None = None,
    present: Mapping[str, bool] | None = None,
    is_whole: bool = True,
) -> Outcome:
    """Writes tables and figures. Times stand in a file of their own: they are never the same twice."""
    write_tables(order.out, title, lines, tables, present=present)
    for name, text in figures.items():
        write_whole(order.out / name, text)
    if times is not None:
        write_tables(order.out, f"{title}: times", lines, [times], name="times")
    return Outcome(order.out, as_json(tables), is_whole)


def cpu_table(found: Iterable[Found], columns: Sequence[str]) -> Table:
    """CPU seconds for one tested state, everything included: translation, network, fuzzing, oracles."""
    spent: dict[str, dict[str, tuple[float, int]]] = {}
    for each in found:
        if each.finished is not None and each.judged:
            row = spent.setdefault(each.cell.row, {})
            seconds, states = row.get(each.cell.column, (0.0, 0))
            used = each.finished.seconds.get("cpu", 0.0)
            row[each.cell.column] = seconds + used, states + len(each.judged)
    rows = {
        row: {
            column: Value(ours=by[column][0] / by[column][1], count=by[column][1])
            for column in columns
            if column in by
        }
        for row, by in spent.items()
    }
    return Table("CPU seconds per state", rows, digits=2)
