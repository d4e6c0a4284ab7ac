"""What is said, predicted, drawn and exported."""

import csv
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from misstep.campaign.cost import Costs
from misstep.campaign.database import Row
from misstep.campaign.engine import Assignment, Ended
from misstep.campaign.export import COLUMNS, write_csv, write_parquet
from misstep.campaign.groups import grouped, is_dead_job, read_by, totals
from misstep.campaign.plot import rate_chart, time_chart
from misstep.campaign.result import Result
from misstep.campaign.words import duration, failure_lines, group_table, prediction_words
from misstep.errors import InputError
from misstep.statistics import rate_bounds
from tests.unit.campaign.made import TOML, Pretended, opened, ran

EVIL = '<script>alert("x")</script>\x1b[2J'


def row(task: str, policy: str, seed: int, result: Result | None, *, state: str = "done") -> Row:
    return Row(f"{task}-{policy}-{seed}", task, policy, "default", seed, state, 1, None, 2.0, result)


ROWS = [
    row("p1", "one", 0, Result(tested=10, solved=9, bugs=2, cleared=7, unknown=1, bug_seconds=(0.5, 1.0), seconds=2)),
    row("p1", "one", 1, Result(tested=10, solved=9, bugs=1, cleared=9, effective=5.0, bug_seconds=(1.5,), seconds=2)),
    row("p2", "two", 0, Result(tested=4, bugs=4, bug_seconds=(0.1,) * 4, seconds=1)),
    row("p2", "two", 1, None, state="failed"),
]  # fmt: skip


def test_groups_add_up_and_state_exact_bounds() -> None:
    one, two = grouped(ROWS, ("policy",))
    assert (one.names, one.jobs, one.done, one.tested, one.bugs, one.effective) == (
        ("one",),
        2,
        2,
        20,
        3,
        15.0,
    )
    assert one.rate() == rate_bounds(3, 16, 1, effective=15.0)
    assert one.rate().lo < 3 / 20 < one.rate().hi < rate_bounds(3, 16, 1, effective=7.0).hi
    assert (two.jobs, two.done, two.failed, two.share) == (2, 1, 1, 1.0)
    assert totals(ROWS).bugs == 7
    shown = one.as_json(("policy",))
    assert shown["policy"] == "one" and shown["rate"] == list(one.rate())


def test_runs_on_models_are_counted_by_unsafe_runs() -> None:
    found = Result(kind="model", tested=5, bugs=2, runs=50, unsafe_runs=10, unanswered=5)
    group = totals([row("line", "net", 0, found)])
    assert group.share == 0.2
    assert group.rate() == rate_bounds(10, 35, 5)
    lines = group_table(grouped([*ROWS, row("line", "net", 0, found)], ("task",)), ("task",), width=80)
    assert lines[0].split() == ["task", "jobs", "tested", "bugs", "cleared", "unknown", "rate"]
    assert lines[4].split() == ["task", "jobs", "runs", "unsafe", "bugs", "faults", "rate"]


def test_tables_leave_out_columns_that_say_nothing() -> None:
    lines = group_table(grouped(ROWS, ("task", "configuration")), ("task", "configuration"), width=80)
    assert "configuration" not in lines[0]
    assert lines[2].split()[:2] == ["p2", "1/2"]


def test_long_names_have_a_line_of_their_own_where_a_row_does_not_fit() -> None:
    rows = [
        row(f"a/very/long/way/to/the/problem/{i}", f"asnet:models/checkpoint-{i:09d}", 0, Result())
        for i in (1, 2)
    ]
    groups = grouped(rows, ("task", "policy"))
    lines = group_table(groups, ("task", "policy"), width=80)
    assert max(map(len, lines)) <= 80 and len(lines) == 6
    assert lines[2].split() == ["a/very/long/way/to/the/problem/1", "asnet:models/checkpoint-000000001"]
    assert lines[3].split() == ["1", "0", "0", "0", "0", "?"]
    wide = group_table(groups, ("task", "policy"), width=None)
    assert [line.split() for line in wide] == [lines[at].split() + lines[at + 1].split() for at in (0, 2, 4)]


def test_what_jobs_are_put_together_by() -> None:
    assert read_by("policy, seed") == ("policy", "seed")
    with pytest.raises(InputError, match="by `polcy`; did you mean `policy`"):
        read_by("polcy")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59, "59 s"), (150, "2.5 min"), (7200, "2.0 h"), (86400, "24 h"), (30 * 86400, "30 days")],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_predictions(tmp_path: Path) -> None:
    plan, database = opened(tmp_path, TOML + "seeds = 4\n")
    assert "no job is done yet" in prediction_words(None, 2, 0)
    count = 0

    def stop_after_three(job: Assignment) -> Ended:
        nonlocal count
        count += 1
        if count > 3:
            raise KeyboardInterrupt
        return Ended(job.id, Result(tested=1))

    with pytest.raises(KeyboardInterrupt):
        ran(plan, database, Pretended(stop_after_three))
    with database.transaction():
        database._execute("UPDATE jobs SET wall_seconds = size / 10.0 WHERE state = 'done'")
    costs = Costs.of(database)
    assert costs.jobs == 3
    assert costs.left(database) == pytest.approx(3 * (1 + 2 + 3))  # of each problem three seeds are left
    assert costs.predict("p1", "another", 30, None) == pytest.approx(3.0)
    assert costs.predict("unknown", "default", 40, None) == pytest.approx(2.0 * 40 / 20)
    assert costs.predict("unknown", "default", 4000, 9.0) == 9.0
    assert costs.most(database) is None
    assert prediction_words(18.0, 2, 3) == "about 9 s with 2 jobs at a time, from 3 jobs that are done"


def test_with_limits_there_is_a_bound_before_the_start(tmp_path: Path) -> None:
    plan, database = opened(tmp_path, TOML + "seconds = 5\n")
    database.enrol(plan.jobs())
    costs = Costs.of(database)
    assert costs.left(database) == costs.most(database) == 15.0


def test_reasons_are_counted() -> None:
    failed = [
        Row(str(i), "p", "q", "c", i, "failed", 1, "because" if i else EVIL, 1.0, None) for i in range(4)
    ]
    lines = failure_lines(failed)
    assert lines[0] == "failed    3 (p, q): because"
    assert len(lines) == 2
    (line,) = failure_lines([replace(failed[0], task=EVIL * 1000, reason=EVIL * 100_000)])
    assert len(line) < 2000 and "\x1b" not in line


@pytest.mark.parametrize("kind", ["rate", "time"])
def test_charts_are_svg_whatever_the_names(kind: str) -> None:
    rows = [*ROWS, row(EVIL, EVIL, 0, Result(tested=3, bugs=3, bug_seconds=(0.1, 0.2, 0.3), seconds=1))]
    if kind == "rate":
        text, count = rate_chart(grouped(rows, ("policy",)))
    else:
        text, count = time_chart(rows, ("policy",))
    assert count == 3
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not root.findall(".//{*}script")
    assert "\x1b" not in text


def test_dots_lie_between_the_bounds() -> None:
    root = ElementTree.fromstring(rate_chart(grouped(ROWS, ("policy",)))[0])
    bounds = root.findall(".//*[@class='bound']")
    dots = root.findall(".//*[@class='share']")
    assert len(bounds) == 2
    # Of policy `one`, 3 of 20 states are bugs and 1 is unknown: it has a dot at 15 % and one at 20 %.
    low, high, two = (float(dot.attrib["cx"]) for dot in dots)
    assert low < high < two
    for dot, bound in zip(dots, [bounds[0], *bounds], strict=True):
        assert float(bound.attrib["x1"]) <= float(dot.attrib["cx"]) <= float(bound.attrib["x2"])
        assert dot.attrib["cy"] == bound.attrib["y1"]


def test_curves_end_at_the_mean_number_of_bugs() -> None:
    text, _ = time_chart(ROWS, ("policy",))
    assert "one: 1.5 bugs a job" in text and "two: 4.0 bugs a job" in text


def test_csv(tmp_path: Path) -> None:
    plan, database = opened(tmp_path)
    ran(plan, database, Pretended())
    assert write_csv(tmp_path / "new" / "jobs.csv", database) == 3
    with (tmp_path / "new" / "jobs.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert tuple(lines[0]) == COLUMNS
    assert [line["task"] for line in lines] == ["p1", "p2", "p3"]
    assert {line["bugs"] for line in lines} == {"1"}


def test_csv_does_nothing_to_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "p\x1b[31m.pddl").write_text("a problem")
    plan, database = opened(tmp_path)
    ran(plan, database, Pretended())
    write_csv(tmp_path / "jobs.csv", database)
    text = (tmp_path / "jobs.csv").read_text()
    assert "p\\x1b[31m" in text and "\x1b" not in text


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    plan, database = opened(tmp_path, TOML + "seeds = 2\n")
    ran(plan, database, Pretended())
    assert write_parquet(tmp_path / "jobs.parquet", database) == 6
    table = parquet.read_table(tmp_path / "jobs.parquet")
    assert table.column_names == list(COLUMNS)
    assert table.column("cleared").to_pylist() == [3] * 6
    with pytest.raises(InputError, match="cannot write there"):
        write_parquet(tmp_path / "none" / "jobs.parquet", database)


def test_jobs_without_answers_are_named() -> None:
    half = row("p1", "silent", 0, Result(tested=10, unknown=5, cleared=5, unanswered=5))
    runs = row("line", "silent", 1, Result(kind="model", runs=9, unanswered=5))
    fine = row("p2", "well", 0, Result(tested=10, unknown=4, cleared=6, unanswered=4))
    assert [is_dead_job(each) for each in (half, runs, fine, row("p", "q", 0, None))] == [
        True,
        True,
        False,
        False,
    ]
    (line,) = failure_lines([fine, half, runs])
    assert line.startswith("no answer 2 jobs (p1, silent): the policy gave no usable answer in half")
