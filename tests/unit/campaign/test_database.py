"""A database whose columns hold values that no campaign writes: refused with its name, never an internal error."""

import sqlite3
from pathlib import Path

import pytest

from misstep.campaign.cost import Costs
from misstep.campaign.database import Database
from misstep.campaign.export import write_csv
from misstep.campaign.groups import BY, grouped
from misstep.campaign.words import duration, group_table
from misstep.errors import InputError
from tests.unit.campaign.made import Pretended, opened, ran

COLUMNS = (
    "task policy configuration seed size expected limit_seconds state tries is_fresh reason wall_seconds kind tested "
    "bugs effective effort seconds limits_hit bug_seconds config number turn"
).split()
ODD = [None, -1, 2**62, 1e300, float("inf"), -0.5, "", "text", b"\xff\x00", "[1]", "{}", '["a"]', "[null]"]


def views(path: Path) -> None:
    """All that reads a database."""
    database = Database.read(path)
    costs = Costs.of(database)
    for seconds in (costs.left(database), costs.most(database)):
        if seconds is not None:
            duration(seconds)
    list(costs.expected(database))
    database.next_jobs(9)
    database.counts(), database.bugs(), database.running(), database.attempts(), database.dropped()
    rows = list(database.rows())
    group_table(grouped(rows, BY), BY, width=80)
    for group in grouped(rows, BY):
        group.as_json(BY)
    write_csv(path.parent / "all.csv", database)
    database.close()


@pytest.mark.parametrize("column", COLUMNS)
def test_odd_values_are_shown_or_refused(column: str, tmp_path: Path) -> None:
    plan, database = opened(tmp_path)
    ran(plan, database, Pretended())
    views(database.path)
    for value in ODD:
        for state in ("done", "waiting"):
            with sqlite3.connect(database.path) as connection:
                before = connection.execute(f"SELECT id, state, {column} FROM jobs").fetchall()
                try:
                    connection.execute("UPDATE jobs SET state = ?", (state,))
                    connection.execute(f"UPDATE jobs SET {column} = ?", (value,))
                except sqlite3.IntegrityError:
                    continue
            try:
                views(database.path)
            except InputError as error:
                assert str(database.path) in str(error)
            with sqlite3.connect(database.path) as connection:
                for id, old_state, old in before:
                    connection.execute(
                        f"UPDATE jobs SET state = ?, {column} = ? WHERE id = ?", (old_state, old, id)
                    )
                    connection.execute("UPDATE jobs SET state = ? WHERE id = ?", (old_state, id))
    views(database.path)
    database.close()
