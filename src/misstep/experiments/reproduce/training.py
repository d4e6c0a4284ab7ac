"""`training`: Table 1 of Eisenhut et al. (2025), selecting policies by testing them, after and while training."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from misstep.experiments.figures import bars
from misstep.experiments.pieces import run_pieces
from misstep.experiments.reproduce.data import by_size, published, subjects
from misstep.experiments.reproduce.order import CORES, Order
from misstep.experiments.reproduce.result import Outcome, left_lines, write_outcome
from misstep.experiments.reproduce.stages import Cell, Found, bind, by_task, run_stages, test_config
from misstep.experiments.reproduce.table import Table, Value, percent
from misstep.experiments.reproduce.training_units import (
    OFFLINE,
    TrainingScale,
    TrainingUnit,
    run_training,
    training_scale,
)
from misstep.explain.words import counted
from misstep.judge import Verdict
from misstep.support.plain import reading
from misstep.training.tree import MODES

CRITERIA = ("early", "loss", "solved", "pi-test", "best")
COMPARED = ("solved", "pi-test", "best")
"""The choices whose bugs are counted."""
_TRAINING_SHARE = 0.85
_TEST_SECONDS = 6.0
_TEST_TASKS = 10
"""Of each domain: on so many tasks at most bugs are looked for."""
Results = Mapping[str, Mapping[str, Any]]


def reproduce_training(order: Order) -> Outcome:
    """Trains in four ways, chooses by five criteria, and tests what was chosen."""
    told = published("training")
    order.out.mkdir(parents=True, exist_ok=True)
    bind(order)
    rows = told["rows"]
    folders = [row for row, about in rows.items() if _has_tasks(about, order)]
    each = CORES * order.seconds * _TRAINING_SHARE / max(1, len(folders))
    scale = training_scale(each)
    units = _units(rows, folders, order, scale)
    folder = order.out / "trained"
    folder.mkdir(exist_ok=True)
    work = partial(run_training, scale=scale, out=folder, seed=order.seed)
    budget = order.budget()
    failed = run_pieces(
        [(folder / unit.file, unit) for unit in units],
        work,
        jobs=order.jobs,
        budget=budget,
        progress=lambda text: order.tell(f"training · {text}"),
        where=folder,
    )
    with reading(folder):
        results = {
            unit.row: json.loads((folder / unit.file).read_text(encoding="utf-8"))
            for unit in units
            if (folder / unit.file).is_file()
        }
    each = CORES * order.seconds * (1 - _TRAINING_SHARE) / max(1, len(units) * len(COMPARED))
    tasks = max(1, min(_TEST_TASKS, int(each / _TEST_SECONDS)))
    seconds = max(2.0, each / tasks)
    cells = test_cells(units, results, order, scale, tasks, seconds)
    found = next(run_stages(order, [lambda _: cells], budget))
    left = len(units) - len(results) - len(failed)
    return write_outcome(
        order,
        "Policy selection in training (Eisenhut et al. 2025, Table 1)",
        [
            *_lines(order, scale),
            *left_lines(found, others=left),
            *(f"not done: {reason}" for reason in failed),
        ],
        tables_of(rows, results, found),
        figures_of(results),
        present={row: row in results for row in folders},
        is_whole=left == 0 and not any(each.is_left for each in found),
    )


def _lines(order: Order, scale: TrainingScale) -> list[str]:
    line, tree = scale.line(), scale.tree("tree-pi-test")
    return [
        f"`misstep reproduce {order.name} --seconds {order.seconds:g} --seed {order.seed}`",
        f"offline {line.epochs} epochs of {scale.batches} minibatches ({counted(line.inits, 'initialisation')}; the "
        f"paper has 240 epochs and 4), online {tree.epochs} epochs for each way to train "
        f"({counted(tree.inits, 'initialisation')}, "
        f"{tree.start} epochs of each at first; the paper has 4 and 5)",
        f"{scale.training} training tasks, {scale.validation} validation tasks with {scale.pool} states each, "
        f"{scale.tests} test tasks, at most {scale.seconds:g} s for all trainings of a domain; the paper has 20 and 40 "
        "tasks, and about 60 test tasks of which most are larger",
        "`*`: the time ended the training before its last epoch",
    ]


def _has_tasks(about: Mapping[str, Any], order: Order) -> bool:
    return "zoo" in about if order.data is None else (order.data / about["folder"] / "domain.pddl").is_file()


def _units(
    rows: Mapping[str, Mapping[str, Any]], chosen: Sequence[str], order: Order, scale: TrainingScale
) -> list[TrainingUnit]:
    """Training tasks first, validation tasks spread over the others, as in the paper."""
    units = []
    if order.data is None:
        for subject in subjects({row: rows[row] for row in chosen}, None, order.out):
            parts = subject.problems[:4], subject.problems[4:7], subject.problems[7:]
            units.append(TrainingUnit(subject.row, subject.domain, *parts))
        return units
    for row in chosen:
        folder = order.data / rows[row]["folder"]
        easy = sorted((folder / "training" / "easy").glob("*.pddl"))
        tests = by_size((folder / "testing" / "easy").glob("*.pddl"))
        first = min(scale.training, len(easy) // 2)  # at least as many are left to validate on
        units.append(
            TrainingUnit(
                row,
                folder / "domain.pddl",
                tuple(easy[:first]),
                _spread(easy[first:], scale.validation),
                _spread(tests, scale.tests),
            )
        )
    return units


def _spread(problems: Sequence[Path], count: int) -> tuple[Path, ...]:
    """So many, evenly spread."""
    if len(problems) <= count:
        return tuple(problems)
    return tuple(problems[int((at + 0.5) * len(problems) / count)] for at in range(count))


def test_cells(
    units: Sequence[TrainingUnit],
    results: Results,
    order: Order,
    scale: TrainingScale,
    tasks: int,
    seconds: float,
) -> list[Cell]:
    """Tests of the choices on tasks that all of them solve, on the same states."""
    cells = []
    for unit in units:
        done = results.get(unit.row, {}).get("modes", {}).get(OFFLINE, {})
        solved = [done["solved"][name] for name in COMPARED if name in done.get("solved", {})]
        shared = [path for at, path in enumerate(unit.tests) if solved and all(each[at] for each in solved)]
        for problem in _spread(shared, tasks):
            for name in COMPARED:
                config = test_config(order).replace(
                    domain=unit.domain,
                    problem=problem,
                    policy=f"asnet:{Path(done['chosen'][name]).resolve()}",
                    unit_cost=True,
                    pool=scale.pool,
                    seconds=round(seconds, 1),
                )
                cells.append(Cell(unit.row, problem.stem, name, Path(done["chosen"][name]).name, config))
    return cells


def tables_of(rows: Mapping[str, Mapping[str, Any]], results: Results, found: Sequence[Found]) -> list[Table]:
    """Offline: coverage by criterion, and states of the choices. Online: coverage by way to train."""
    tests = by_task(found)
    offline, online, states, bugs = {}, {}, {}, {}
    for row, printed in rows.items():
        modes = results.get(row, {}).get("modes", {})
        offline[row] = {"tasks": _tasks(printed, results.get(row))} | {
            name: _coverage(printed["coverage"][name], modes.get(OFFLINE), name) for name in CRITERIA
        }
        online[row] = {"start": _start(printed, modes.get("tree-pi-test"))} | {
            mode: _coverage(printed["budget 40"][mode], modes.get(mode), "pi-test") for mode in MODES
        }
        chosen = list(tests.get(row, {}).values())
        states[row] = {
            name: _share(printed["solved states"][name], chosen, name, "solved") for name in COMPARED
        }
        bugs[row] = {name: _share(printed["bug states"][name], chosen, name, "bugs") for name in COMPARED}
    note = ("Solved test tasks. The paper's are another set, mostly larger: compare within a line.",)
    return [
        Table("Offline: coverage by criterion", offline, note),
        Table("Offline: solved states, %", states),
        Table("Offline: bugs, % of the states", bugs),
        Table("Online: coverage by way to train (paper: 40 epochs)", online, note),
    ]


def _tasks(printed: Mapping[str, Any], result: Mapping[str, Any] | None) -> Value:
    return Value(printed["tasks"], None if result is None else len(result["tests"]))


def _start(printed: Mapping[str, Any], done: Mapping[str, Any] | None) -> Value:
    return Value(printed["start"], None if done is None else done.get("start"))


def _coverage(printed: float, done: Mapping[str, Any] | None, name: str) -> Value:
    if done is None or name not in done["solved"]:
        return Value(printed, is_cut=done is not None)
    solved = done["solved"][name]
    return Value(printed, sum(solved), count=len(solved), is_cut=done["is_cut"])


def _share(printed: float, tests: Sequence[Mapping[str, Found]], name: str, what: str) -> Value:
    """Of the states that all choices were tested on."""
    good = all_ = 0
    is_cut = False
    for by in tests:
        count = min((len(by[each].judged) if each in by else 0) for each in COMPARED)
        events = by[name].first(count) if name in by else []
        all_ += len(events)
        is_cut = is_cut or any(each.is_cut for each in by.values())
        good += sum(
            (event.outcome == "solved") if what == "solved" else event.verdict is Verdict.BUG
            for event in events
        )
    return percent(good, all_, printed=printed, is_cut=is_cut)


def figures_of(results: Results) -> dict[str, str]:
    """Solved test tasks by way to train."""
    groups: dict[str, dict[str, float]] = {
        row: {mode: float(sum(result["modes"][mode]["solved"].get("pi-test", []))) for mode in MODES}
        for row, result in results.items()
    }
    return {"table1-online.svg": bars("Solved test tasks by way to train, ours", "tasks", groups)}
