"""SQLite files from outside: what they make up is never made, in campaigns, caches and policies alike."""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from misstep.campaign.database import NAME, Database
from misstep.errors import InputError
from misstep.formats.asnet_policy import read_asnet
from misstep.formats.sqlite import MAX_VALUE, check_schema, distrust, stored_rows
from misstep.training.teacher_cache import TeacherCache
from misstep.training.teachers import Answer

_TABLE = "CREATE TABLE some (number INTEGER)"


def run(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def create(path: Path) -> None:
    Database.create(path).close()


def read(path: Path) -> None:
    Database.read(path).close()


def try_out(path: Path) -> None:
    Database.in_memory(path).close()


def cache(path: Path) -> None:
    TeacherCache(path).close()


def rebuilt(path: Path, table: str, column: str, instead: str) -> None:
    """The same tables, but one column is computed: nothing on disk, 60 MB in memory, row after row."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        statement = "SELECT sql FROM sqlite_master WHERE name = ?"
        ((sql,),) = connection.execute(statement, (table,))
        assert column in sql
        connection.execute(f"DROP TABLE {table}")
        connection.execute(sql.replace(column, instead))


@pytest.mark.parametrize("opened", [create, read, try_out])
def test_a_campaign_with_computed_columns_is_refused(opened: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / NAME
    create(path)
    opened(path)
    made_up = "reason TEXT GENERATED ALWAYS AS (hex(zeroblob(30000000))) VIRTUAL"
    rebuilt(path, "jobs", "reason TEXT", made_up)
    run(
        path,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 400) INSERT INTO jobs (id, task, "
        "policy, configuration, seed, config, is_asked, turn, size, number) SELECT i, '', '', '', 0, '', 1, 0, 0, i "
        "FROM n",
    )
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError, match="tables are not those"):
        opened(path)


@pytest.mark.parametrize(
    "trick",
    [
        "CREATE VIEW more AS SELECT zeroblob(60000000) AS value",
        "CREATE TRIGGER more AFTER INSERT ON {} BEGIN SELECT zeroblob(60000000); END",
        "ALTER TABLE {} ADD COLUMN more TEXT DEFAULT 'long'",
        "CREATE INDEX more ON {} (hex(zeroblob(30000000)))",
        "CREATE TABLE more (value)",
    ],
)
@pytest.mark.parametrize(("opened", "table"), [(read, "attempts"), (create, "attempts"), (cache, "answers")])
def test_tables_of_others_are_refused(
    opened: Callable[[Path], None], table: str, trick: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    (cache if opened is cache else create)(path)
    run(path, trick.format(table))
    with pytest.raises(InputError, match="tables are not those"):
        opened(path)


def test_a_cache_with_computed_answers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    TeacherCache(path).close()
    made_up = "answer TEXT GENERATED ALWAYS AS (hex(zeroblob(30000000))) VIRTUAL"
    rebuilt(path, "answers", "answer TEXT NOT NULL", made_up)
    with pytest.raises(InputError, match="tables are not those"):
        TeacherCache(path)


def test_caches_and_campaigns_of_ours_open_again(tmp_path: Path) -> None:
    answers = TeacherCache(tmp_path / "cache")
    answers.put(b"key", Answer(("(a)",), optimal=True))
    answers.close()
    answers = TeacherCache(tmp_path / "cache")
    assert answers.get(b"key") == Answer(("(a)",), optimal=True)
    answers.close()
    for opened in (create, create, read, try_out):
        opened(tmp_path / NAME)


@pytest.mark.parametrize("opened", [create, read, try_out, cache])
def test_files_that_are_no_databases_are_named(opened: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("this is no database, but it is long enough to look at\n" * 20)
    with pytest.raises(InputError, match="file: "):
        opened(tmp_path / "file")


@pytest.mark.parametrize("opened", [create, read, try_out, cache, read_asnet])
def test_words_of_sqlite_that_are_no_text(opened: Callable[[Path], object], tmp_path: Path) -> None:
    """It quotes the bytes that it cannot make sense of (found by a mutant of a campaign's database)."""
    path = tmp_path / "file"
    run(path, _TABLE)
    path.write_bytes(path.read_bytes().replace(b"some (", b"some \xea"))
    with pytest.raises(InputError, match="file: "):
        opened(path)


def test_damage_that_shows_late_is_named(tmp_path: Path) -> None:
    path = tmp_path / NAME
    create(path)
    run(
        path,
        "INSERT INTO jobs (id, task, policy, configuration, seed, config, is_asked, turn, size, number, state) "
        "VALUES ('a', '', '', '', 0, '{', 1, 0, 0, 1, 'waiting')",
    )
    database = Database.read(path)
    with pytest.raises(InputError, match="is damaged"):
        database.next_jobs(1)
    database.close()
    run(path, "UPDATE jobs SET state = 'done', limits_hit = '['")
    database = Database.read(path)
    with pytest.raises(InputError, match="job a: is damaged"):
        list(database.rows())
    database.close()


def test_values_and_rows_have_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    run(path, _TABLE, "INSERT INTO some VALUES (1), (2), (3)")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        distrust(connection)
        with pytest.raises(sqlite3.DataError, match="too big"):
            connection.execute(f"SELECT zeroblob({MAX_VALUE + 1})").fetchone()
        assert check_schema(connection, path, [f"  {_TABLE.replace(' ', '  ')}"])
        assert list(stored_rows(connection.execute("SELECT number FROM some"), path)) == [(1,), (2,), (3,)]
        with pytest.raises(InputError, match="hold more than the file"):
            list(stored_rows(connection.execute("SELECT hex(zeroblob(2000)) FROM some"), path))
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        assert not check_schema(connection, path, [_TABLE])
