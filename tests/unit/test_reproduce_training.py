"""Reproducing the paper on training: how much is trained, in which order, and what is counted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from misstep.errors import InputError
from misstep.experiments.reproduce import training
from misstep.experiments.reproduce.data import published
from misstep.experiments.reproduce.training_units import (
    TrainingUnit,
    UnitResult,
    WayResult,
    result_in,
    training_scale,
)
from misstep.support.plain import to_plain
from misstep.training.tree import MODES
from tests.unit.reproduced import found, order


def result_of(way: WayResult, *tests: str, **others: WayResult) -> UnitResult:
    """The same of all ways to train but for the others."""
    return UnitResult({**dict.fromkeys(("offline", *MODES), way), **others}, tests, training_scale(270))


def test_more_time_means_more_training() -> None:
    small, large = training_scale(10), training_scale(8000)
    assert small.offline < large.offline == 240
    assert small.online < large.online == 40
    assert small.runs < large.runs == 4
    assert (large.line().inits, large.line().effective.start, large.line().main) == (4, 60, 0)
    assert training_scale(600).line().effective.start >= 20, "as many as `early` wants in a row"
    assert large.tree("tree").epochs == large.tree("line").effective.epochs == 40
    assert (large.tree("tree").inits, large.tree("tree").start, large.tree("tree").main) == (4, 5, 20)
    # All but `line` share a start-up phase of four models with five epochs each: 24 files, copied twice.
    assert large.online_models == 4 * 44 - 2 * 24
    assert large.models == 4 + 240 + 4 * 44, "what is copied counts, too"


def test_half_an_hour_has_whole_start_up_phases() -> None:
    half = training_scale(270)
    assert half.line().effective.start >= 20, "as many as `early` wants in a row"
    assert half.tree("tree").start == 5, "five epochs before anything is chosen"


def test_one_task_of_every_domain_is_tested_before_the_second_of_any(tmp_path: Path) -> None:
    problems = tuple(Path(f"p{number}.pddl") for number in range(6))
    way = WayResult(
        models=1,
        is_cut=False,
        chosen=dict.fromkeys(training.COMPARED, "n0001.asnet"),
        solved=dict.fromkeys(training.COMPARED, (True,) * 6),
    )
    results = {
        TrainingUnit(row, 0, Path("domain.pddl"), (), (), problems): result_of(way, *map(str, problems))
        for row in ("Ferry", "Spanner")
    }
    stages = training.test_stages(results, order(tmp_path, name="training"), training_scale(270), 3, 10.0)
    found = [[(cell.row, cell.task) for cell in stage([])] for stage in stages]
    assert [len(each) for each in found] == [2 * len(training.COMPARED)] * 3
    assert all({row for row, _ in each} == {"Ferry", "Spanner"} for each in found)
    assert len({task for each in found for _, task in each}) == 3


def test_trainings_that_take_longest_begin_first() -> None:
    rows = list(published("training")["rows"])
    units = [TrainingUnit(row, 0, Path("domain.pddl"), (), (), ()) for row in rows]
    ordered = [unit.row for unit in training.longest_first(units)]
    assert tuple(ordered[: len(training.LONGEST)]) == training.LONGEST
    assert ordered[len(training.LONGEST) :] == [row for row in rows if row not in training.LONGEST]


def test_training_counts_solved_tasks_and_compares_choices_on_shared_states() -> None:
    rows = {"Ferry": published("training")["rows"]["Ferry"]}
    line = WayResult(
        models=3,
        is_cut=True,
        chosen={"solved": "a", "pi-test": "b", "best": "b"},
        solved={"solved": (True, False), "pi-test": (True, True), "best": (True, True)},
        start=1,
    )
    result = result_of(line, "one", "two", tree=WayResult(models=0, is_cut=True, chosen={}, solved={}))
    unit = TrainingUnit("Ferry", 0, Path("domain.pddl"), (), (), (Path("one"), Path("two")))
    results = {unit: result}
    tests = [found("Ferry", "one", "solved", "bbq"), found("Ferry", "one", "pi-test", "cc")]
    tests += [found("Ferry", "one", "best", "bc")]
    coverage, states, bugs, online = (
        table.rows["Ferry"] for table in training.tables_of(rows, results, tests)
    )
    assert (coverage["solved"].ours, coverage["pi-test"].ours, coverage["tasks"].ours) == (1, 2, 2)
    assert coverage["loss"].ours is None
    assert coverage["pi-test"].is_cut
    assert [bugs[name].ours for name in training.COMPARED] == [100.0, 0.0, 50.0]
    assert states["solved"].ours == 100.0
    assert (online["line"].ours, online["tree"].ours, online["start"].ours) == (2, None, 1)
    solved = {"solved": (False, False), "pi-test": (True, False), "best": (True, True)}
    worse = {**result.modes, "offline": replace(line, solved=solved)}
    results[replace(unit, run=1)] = replace(result, modes=worse)
    coverage = training.tables_of(rows, results, tests)[0].rows["Ferry"]
    means = [coverage[name].ours for name in ("runs", "tasks", "solved", "pi-test", "best")]
    assert means == [2, 2, 0.5, 1.5, 2.0]


def test_results_come_back_as_they_were_written(tmp_path: Path) -> None:
    way = WayResult(models=3, is_cut=True, chosen={"loss": "a"}, solved={"loss": (True, False)}, start=1)
    result, file = result_of(way, "one", "two"), tmp_path / "ferry-0.json"
    file.write_text(json.dumps(to_plain(result)))
    assert result_in(file) == result
    plain = to_plain(result)
    for damaged in (
        {**plain, "modes": {}},
        {**plain, "modes": {**plain["modes"], "line": {}}},
        {
            **plain,
            "modes": {**plain["modes"], "line": {**plain["modes"]["line"], "solved": {"loss": [True]}}},
        },
        {**plain, "modes": {**plain["modes"], "line": {**plain["modes"]["line"], "chosen": {}}}},
        {**plain, "tests": ["one"]},
        {},
        [],
        None,
    ):
        file.write_text(json.dumps(damaged))
        with pytest.raises(InputError, match=r"ferry-0\.json: is damaged"):
            result_in(file)


def test_results_on_other_tasks_are_refused(tmp_path: Path) -> None:
    unit = TrainingUnit("Ferry", 0, Path("domain.pddl"), (), (), (Path("data/one"), Path("data/two")))
    asked, way = order(tmp_path, name="training"), WayResult(models=0, is_cut=True, chosen={}, solved={})
    assert training.results_of([unit], asked) == {}
    folder = tmp_path / training.TRAINED
    folder.mkdir()
    result = result_of(way, "data/one", "data/two")
    (folder / unit.file).write_text(json.dumps(to_plain(result)))
    assert training.results_of([unit], asked) == {unit: result}
    with pytest.raises(InputError, match="about other test tasks"):
        training.results_of([replace(unit, tests=unit.tests[:1])], asked)
