"""Tables of ours beside the printed ones: bounds that know about tasks, and what is written."""

from pathlib import Path

import pytest

from benchmarks.task_bounds import simulate
from misstep.experiments.reproduce.table import (
    Table,
    Value,
    bounded,
    difference,
    percent,
    share_of_tasks,
    write_tables,
)


def test_bounds_are_about_tasks_and_not_about_states() -> None:
    alike = share_of_tasks([(20, 20), (0, 20), (20, 20), (0, 20)])
    mixed = share_of_tasks([(11, 20), (9, 20), (10, 20), (10, 20)])
    nothing = share_of_tasks([(0, 20)] * 4)
    no_states = share_of_tasks([], printed=3.0)
    assert alike.ours == mixed.ours == 50.0
    assert no_states == Value(3.0, count=0)

    def bounds(value: Value) -> tuple[float | None, float | None]:
        return value.low, value.high

    # Four tasks that are all or nothing are four observations.
    four, eighty = percent(2, 4), percent(40, 80)
    assert bounds(bounded({"a": {"x": alike}})["a"]["x"]) == pytest.approx(bounds(four))
    # Tasks that are as different as chance makes them leave all their states.
    assert bounds(bounded({"a": {"x": mixed}})["a"]["x"]) == pytest.approx(bounds(eighty))
    # A row without any bug learns from the others how much its tasks may differ; alone, a task is one observation.
    both = bounded({"a": {"x": alike}, "b": {"x": mixed}, "c": {"x": nothing}, "d": {"x": no_states}})
    assert both["d"]["x"].high is None
    high, alone = both["c"]["x"].high, bounded({"c": {"x": nothing}})["c"]["x"].high
    plain, single = percent(0, 80).high, percent(0, 4).high
    assert high is not None and alone is not None and plain is not None and single is not None
    assert plain < high < alone == pytest.approx(single)
    # A share that is no share of tasks stays as it is.
    assert bounded({"a": {"x": four, "n": Value(3, 4)}})["a"] == {"x": four, "n": Value(3, 4)}


@pytest.mark.parametrize(("tasks", "states"), [(3, 21), (12, 21)])
def test_bounds_hold_as_often_as_they_say(tasks: int, states: int) -> None:
    """Of 280 bounds each; plain ones of independent states hold in about half of the cases, so this can fail."""
    ours, plain = simulate(tasks, states, tables=20, seed=1)
    assert ours.share > 0.94
    assert plain.share < 0.7


def test_tables_are_for_people_and_for_programs(tmp_path: Path) -> None:
    rows = {
        "a": {"x": percent(1, 4, printed=50.0, is_cut=True), "y": Value(3)},
        "b": {"x": percent(0, 0, printed=7.0)},
        "c": {"x": percent(0, 0)},
        "d": {"x": percent(0, 0)},
    }
    write_tables(
        tmp_path,
        "Title",
        ["line"],
        [Table("one", rows, ("A note.",))],
        present={"a": True, "c": False, "d": True},
    )
    assert (tmp_path / "table.md").read_text().splitlines()[4:] == [
        "## one",
        "",
        "|  |  | x | y |",
        "| --- | --- | --- | --- |",
        "| a | paper | 50.0 | 3 |",
        "| a | ours | 25.0* |  |",
        "|  | 95 % | 1-81 |  |",
        "| b | paper | 7.0 |  |",
        "| b | no data |  |  |",
        "| c | not reached |  |  |",
        "| d | ours |  |  |",
        "",
        "A note.",
    ]
    assert (tmp_path / "table.csv").read_text().splitlines()[:2] == [
        "table,row,column,published,ours,low,high,count,cut_off",
        "one,a,x,50.0,25.0,0.631,80.588,4,1",
    ]
    assert difference(Value(5.0, 2.0), Value(3.0, None)) == Value(2.0, None)
