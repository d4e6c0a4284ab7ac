"""`training`: Table 1 of Eisenhut et al. (2025), selecting policies by testing them, after and while training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from misstep.budget import Budget
from misstep.errors import InputError
from misstep.experiments.pieces import bind_plan, run_pieces
from misstep.experiments.reproduce.beside import beside
from misstep.experiments.reproduce.data import by_size, nothing_in, published, subjects
from misstep.experiments.reproduce.order import CORES, Order, limit_of
from misstep.experiments.reproduce.result import Outcome, left_lines, write_outcome
from misstep.experiments.reproduce.stages import Cell, Found, Stage, bind, by_task, run_stages, test_config
from misstep.experiments.reproduce.table import Table, Value, bounded, share_of_tasks
from misstep.experiments.reproduce.training_units import (
    OFFLINE,
    TEACHER,
    TrainingScale,
    TrainingUnit,
    UnitResult,
    models_made,
    result_in,
    run_training,
    training_scale,
)
from misstep.explain.words import counted
from misstep.judge import Verdict
from misstep.training.tree import MODES

CRITERIA = ("early", "loss", "solved", "pi-test", "best")
COMPARED = ("solved", "pi-test", "best")
"""The choices whose bugs are counted."""
_TRAINING_SHARE = 0.75
_TEST_SECONDS = 16.0
"""What a test takes, on average over the domains; those of blocksworld and transport take several times as long."""
TRAINED, _PLAN = "trained", "plan.json"
_TEST_TASKS = 10
"""Of each domain: on so many tasks at most bugs are looked for."""
LONGEST = ("Transport", "Blocksworld", "Childsnack")
"""Measured to take longest; they begin first, because one that began last would leave the other cores idle."""
Results = Mapping[TrainingUnit, UnitResult]
"""By domain and run; what is not done yet is missing."""


def reproduce_training(order: Order) -> Outcome:
    """Trains in four ways, chooses by five criteria, and tests what was chosen; then all again with other seeds."""
    rows = published("training")["rows"]
    folders = [row for row, about in rows.items() if _has_tasks(about, order)]
    if not folders:
        raise nothing_in(order.data, rows)
    each = CORES * order.seconds * _TRAINING_SHARE / len(folders)
    scale = training_scale(each)
    bind(order)
    (order.out / TRAINED).mkdir(exist_ok=True)
    bind_plan(order.out / TRAINED / _PLAN, asdict(scale))
    units = _units(rows, folders, order, scale)
    each = CORES * order.seconds * (1 - _TRAINING_SHARE) / (len(units) * len(COMPARED))
    tasks = max(1, min(_TEST_TASKS, int(each / _TEST_SECONDS)))
    budget, failed, outcome = order.budget(), list[str](), Outcome(order.out, [])
    for run in range(scale.runs):
        failed += _train(units, run, order, scale, budget)
        results = results_of(units, order)
        found = _test(test_stages(results, order, scale, tasks, limit_of(each / tasks)), order, budget)
        left = len(units) - len(results) - len(failed)
        tables = tables_of(rows, results, found)
        outcome = write_outcome(
            order,
            "Policy selection in training (Eisenhut et al. 2025, Table 1)",
            [
                *_lines(order, scale),
                *left_lines(found, others=left),
                *(f"not done: {reason}" for reason in failed),
            ],
            tables,
            figures_of(tables),
            present={row: any(unit.row == row for unit in results) for row in folders},
            is_whole=left == 0 and not any(each.is_left for each in found),
        )
        if budget.is_over:
            break
    return outcome


def _train(
    units: Sequence[TrainingUnit], run: int, order: Order, scale: TrainingScale, budget: Budget
) -> list[str]:
    """Does one run in all domains; why it could not be done in some of them."""
    folder, mine = order.out / TRAINED, longest_first(unit for unit in units if unit.run == run)

    def under_way() -> str:
        made = sum(models_made(folder / unit.name) for unit in mine)
        return f"{made:,} of at most {len(mine) * scale.models:,} models"

    return run_pieces(
        [(folder / unit.file, unit) for unit in mine],
        partial(run_training, scale=scale, out=folder, seed=order.seed),
        jobs=order.jobs,
        budget=budget,
        progress=lambda text: order.tell(f"training, run {run + 1} of {scale.runs} · {text}"),
        under_way=under_way,
        where=folder,
    )


def longest_first(units: Iterable[TrainingUnit]) -> list[TrainingUnit]:
    """Those that are known to take long in the order of these, then the others."""
    known = {row: at for at, row in enumerate(LONGEST)}
    return sorted(units, key=lambda unit: known.get(unit.row, len(known)))


def _test(stages: Sequence[Stage], order: Order, budget: Budget) -> list[Found]:
    *_, found = run_stages(order, stages, budget)
    return found


def results_of(units: Sequence[TrainingUnit], order: Order) -> Results:
    """What is done already; InputError where it is damaged or about other tasks."""
    folder = order.out / TRAINED
    results = {unit: result_in(folder / unit.file) for unit in units if (folder / unit.file).is_file()}
    for unit, result in results.items():
        if [Path(test).name for test in result.tests] != [test.name for test in unit.tests]:
            raise InputError(
                f"{folder / unit.file}: is about other test tasks than there are in the data now; choose another --out"
            )
    return results


def _lines(order: Order, scale: TrainingScale) -> list[str]:
    line, tree = scale.line(), scale.tree("tree-pi-test")
    inits, more_inits = (counted(each.inits, "initialisation") for each in (line, tree))
    return [
        f"`misstep reproduce {order.name} --seconds {order.seconds:g} --seed {order.seed}`",
        f"means over {counted(scale.runs, 'run')} of the experiment with different seeds (the paper has 4), or over "
        "those that are done; bugs are those of all runs together",
        f"offline {line.epochs} epochs of {scale.batches} minibatches ({inits}; the paper has 240 epochs and 4), "
        f"online {tree.epochs} epochs for each way to train ({more_inits}, {counted(tree.start, 'epoch')} of "
        "each at first; the paper has 4 and 5)",
        f"{scale.training} training tasks, {scale.validation} validation tasks with {scale.pool} states each, "
        f"{scale.tests} test tasks, at most {scale.seconds:g} s for all trainings of a domain in a run; the paper has "
        "20 and 40 tasks, and about 60 test tasks of which most are larger",
        f"teacher: `{TEACHER}`; the paper does not name its planner",
        "`*`: the time ended a training before its last epoch, or a test",
    ]


def _has_tasks(about: Mapping[str, Any], order: Order) -> bool:
    return "zoo" in about if order.data is None else (order.data / about["folder"] / "domain.pddl").is_file()


def _units(
    rows: Mapping[str, Mapping[str, Any]], chosen: Sequence[str], order: Order, scale: TrainingScale
) -> list[TrainingUnit]:
    """By run. Training tasks first, validation tasks spread over the others, as in the paper."""
    first_run = []
    if order.data is None:
        for subject in subjects({row: rows[row] for row in chosen}, None, order.out):
            parts = subject.problems[:4], subject.problems[4:7], subject.problems[7:]
            first_run.append(TrainingUnit(subject.row, 0, subject.domain, *parts))
    for row in () if order.data is None else chosen:
        folder = order.data / rows[row]["folder"]
        easy = sorted((folder / "training" / "easy").glob("*.pddl"))
        tests = by_size((folder / "testing" / "easy").glob("*.pddl"))
        first = min(scale.training, len(easy) // 2)  # at least as many are left to validate on
        first_run.append(
            TrainingUnit(
                row,
                0,
                folder / "domain.pddl",
                tuple(easy[:first]),
                _spread(easy[first:], scale.validation),
                _spread(tests, scale.tests),
            )
        )
    return [replace(unit, run=run) for run in range(scale.runs) for unit in first_run]


def _spread(problems: Sequence[Path], count: int) -> tuple[Path, ...]:
    """So many, evenly spread."""
    if len(problems) <= count:
        return tuple(problems)
    return tuple(problems[int((at + 0.5) * len(problems) / count)] for at in range(count))


def test_stages(
    results: Results, order: Order, scale: TrainingScale, tasks: int, seconds: float
) -> list[Stage]:
    """Tests of the choices on tasks that all of them solve, on the same states; one task of every domain at a time."""
    stages: list[list[Cell]] = [[] for _ in range(tasks)]
    for unit, result in results.items():
        done = result.modes[OFFLINE]
        names = [name for name in COMPARED if name in done.chosen]
        shared = [
            path
            for at, path in enumerate(unit.tests)
            if names and all(done.solved[name][at] for name in names)
        ]
        for problem, cells in zip(_spread(shared, tasks), stages, strict=False):
            for name in names:
                config = test_config(order).replace(
                    domain=unit.domain,
                    problem=problem,
                    policy=f"asnet:{Path(done.chosen[name]).resolve()}",
                    unit_cost=True,
                    pool=scale.pool,
                    seconds=seconds,
                )
                task, policy = f"{problem.stem}, run {unit.run + 1}", Path(done.chosen[name]).name
                cells.append(Cell(unit.row, task, name, policy, config))
    return [_stage(cells) for cells in stages]


def _stage(cells: list[Cell]) -> Stage:
    return lambda _: cells


def tables_of(rows: Mapping[str, Mapping[str, Any]], results: Results, found: Sequence[Found]) -> list[Table]:
    """Offline: coverage by criterion, and states of the choices. Online: coverage by way to train."""
    tests, done = by_task(found), _by_row(results)
    offline, online, states, bugs = {}, {}, {}, {}
    for row, printed in rows.items():
        mine = done.get(row, [])
        offline[row] = {
            "runs": Value(ours=len(mine) or None),
            "tasks": Value(printed["tasks"], len(mine[0].tests) if mine else None),
        } | {
            name: replace(_coverage(mine, OFFLINE, name), published=printed["coverage"][name])
            for name in CRITERIA
        }
        online[row] = {"start": _start(printed["start"], mine)} | {
            mode: replace(_coverage(mine, mode, "pi-test"), published=printed["budget 40"][mode])
            for mode in MODES
        }
        chosen = list(tests.get(row, {}).values())
        states[row] = {
            name: _share(printed["solved states"][name], chosen, name, "solved") for name in COMPARED
        }
        bugs[row] = {name: _share(printed["bug states"][name], chosen, name, "bugs") for name in COMPARED}
    note = (
        "Solved test tasks, mean over runs. The paper's are another set, mostly larger: compare within a line.",
    )
    return [
        Table("Offline: coverage by criterion", offline, note),
        Table("Offline: solved states, %", bounded(states)),
        Table("Offline: bugs, % of the states", bounded(bugs)),
        Table("Online: coverage by way to train (paper: 40 epochs)", online, note),
    ]


def _by_row(results: Results) -> dict[str, list[UnitResult]]:
    """The runs of every domain that has one."""
    rows: dict[str, list[UnitResult]] = {}
    for unit, result in results.items():
        rows.setdefault(unit.row, []).append(result)
    return rows


def _coverage(runs: Sequence[UnitResult], mode: str, name: str) -> Value:
    """Test tasks that the choice of a criterion solves, mean over runs."""
    done = [run.modes[mode] for run in runs]
    counts = [sum(each.solved[name]) for each in done if name in each.solved]
    return Value(ours=_mean(counts), count=len(counts), is_cut=any(each.is_cut for each in done))


def _start(printed: float, results: Sequence[UnitResult]) -> Value:
    """Of the start-up phase alone, which is the same in all ways that have one."""
    counts = [result.modes["tree-pi-test"].start for result in results]
    return Value(printed, _mean([count for count in counts if count is not None]))


def _mean(counts: Sequence[int]) -> float | None:
    return sum(counts) / len(counts) if counts else None


def _share(printed: float, tests: Sequence[Mapping[str, Found]], name: str, what: str) -> Value:
    """Of the states that all choices were tested on."""
    counts, is_cut = [], False
    for by in tests:
        count = min((len(by[each].judged) if each in by else 0) for each in COMPARED)
        events = by[name].first(count) if name in by else []
        is_cut = is_cut or any(each.is_cut for each in by.values())
        good = sum(
            (event.outcome == "solved") if what == "solved" else event.verdict is Verdict.BUG
            for event in events
        )
        counts.append((good, len(events)))
    return share_of_tasks(counts, printed=printed, is_cut=is_cut)


def figures_of(tables: Sequence[Table]) -> dict[str, str]:
    """All of the table in percentages: test tasks that are solved, states that are solved, bugs."""
    offline, states, bugs, online = tables
    tasks = {row: values["tasks"] for row, values in offline.rows.items()}
    return {
        "table1-offline.svg": beside(_shares(offline, tasks), CRITERIA),
        "table1-states.svg": beside(states, COMPARED),
        "table1-bugs.svg": beside(bugs, COMPARED),
        "table1-online.svg": beside(_shares(online, tasks), ("start", *MODES)),
    }


def _shares(table: Table, tasks: Mapping[str, Value]) -> Table:
    """Counts of solved tasks as percentages: there are not as many tasks as in the paper."""

    def share(count: float | None, of: float | None) -> float | None:
        return None if count is None or not of else 100.0 * count / of

    rows = {
        row: {
            name: Value(share(value.published, tasks[row].published), share(value.ours, tasks[row].ours))
            for name, value in values.items()
        }
        for row, values in table.rows.items()
    }
    return Table(f"{table.name}, % of the test tasks", rows)
