"""Reproducing the paper on training: how much is trained, in which order, and what is counted."""

from dataclasses import replace
from pathlib import Path

from misstep.experiments.reproduce import training
from misstep.experiments.reproduce.data import published
from misstep.experiments.reproduce.training_units import TrainingUnit, training_scale
from tests.unit.reproduced import found, order


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
    solved = dict.fromkeys(training.COMPARED, [True] * 6)
    chosen = dict.fromkeys(training.COMPARED, "n0001.asnet")
    results = {
        TrainingUnit(row, 0, Path("domain.pddl"), (), (), problems): {
            "modes": {"offline": {"solved": solved, "chosen": chosen}}
        }
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
    line = {
        "models": 3,
        "is_cut": True,
        "chosen": {"solved": "a", "pi-test": "b", "best": "b"},
        "solved": {"solved": [True, False], "pi-test": [True, True], "best": [True, True]},
        "start": 1,
    }
    nothing = {"models": 0, "is_cut": True, "chosen": {}, "solved": {}}
    modes = {"offline": line, "line": line, "line-pi-test": line, "tree": nothing, "tree-pi-test": line}
    unit = TrainingUnit("Ferry", 0, Path("domain.pddl"), (), (), (Path("one"), Path("two")))
    results = {unit: {"modes": modes, "tests": ["one", "two"]}}
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
    worse = {**line, "solved": {"solved": [False, False], "pi-test": [True, False], "best": [True, True]}}
    results[replace(unit, run=1)] = {"modes": {**modes, "offline": worse}, "tests": ["one", "two"]}
    coverage = training.tables_of(rows, results, tests)[0].rows["Ferry"]
    means = [coverage[name].ours for name in ("runs", "tasks", "solved", "pi-test", "best")]
    assert means == [2, 2, 0.5, 1.5, 2.0]
