"""`oracles`: Table 1 and Figure 1 of Eisenhut et al. (2023), oracle recall on joint pools, and bugs over time."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from misstep.config import DEFAULT_ORACLE
from misstep.experiments.figures import coverage
from misstep.experiments.reproduce.data import Subject, published, subjects
from misstep.experiments.reproduce.order import Order, Scale, scale_of
from misstep.experiments.reproduce.result import Outcome, about, cpu_table, write_outcome
from misstep.experiments.reproduce.stages import Cell, Found, Stage, by_task, cell_of, run_stages
from misstep.experiments.reproduce.table import Table, Value, percent

DEFAULT = "default"
"""The column of our usual oracle; its tests also make the pools."""
ORACLES = {
    "A*": "planner:astar:lmcut,effort=2e7",
    "EHC": "planner:ehc:ff,effort=2e7",
    "Aras/EHC": "improve/ehc",
    "look+pi": "lookahead:2",
    "GBFS-1000": "planner:gbfs:ff,max_expansions=1000",
    "SMO": "morph:10",
    "BMO-0": "bounds:0",
    "BMO-10": "bounds:10",
    "BMO-100": "bounds:100",
    "BMO-1000": "bounds:1000",
    "BMO-100+Aras/EHC": "bounds:100+improve/ehc",
}
BEST = "BestOf"
COLUMNS = (*ORACLES, BEST, DEFAULT)
CLEARED, UNKNOWN = "cleared", "unknown"
"""What our usual oracle says of the others: proven to be no bugs, so that nobody could flag them; or nothing."""
_FEWEST_STATES = 25
"""Printed: an oracle that met fewer states a task does not count. Ours: in proportion to the pool."""


def reproduce_oracles(order: Order) -> Outcome:
    """Eleven published oracles and our usual one on the same pools."""
    told = published("oracles")
    tested = subjects(told["rows"], order.data, order.out)
    scale = scale_of(order.seconds, len(tested) * (len(ORACLES) + 1), most_states=told["setting"]["pool"])
    outcome = Outcome(order.out, [])
    for found in run_stages(order, _stages(tested, scale, order)):
        outcome = write_outcome(
            order,
            "Test oracles (Eisenhut et al. 2023, Table 1 and Figure 1)",
            [*about(order, scale), *(f"{name}: `{oracle}`" for name, oracle in ORACLES.items())],
            [table_of(told, found)],
            figures_of(found),
            times=cpu_table(found, COLUMNS),
        )
    return outcome


def _stages(tested: Sequence[Subject], scale: Scale, order: Order) -> list[Stage]:
    """Pools of one task of every domain, then all oracles on them; then the next task."""

    def pools(at: int) -> Stage:
        def cells(_: Sequence[Found]) -> list[Cell]:
            return [
                cell_of(
                    subject,
                    problem,
                    DEFAULT,
                    order=order,
                    fuzzer="classic",
                    pool=scale.pool,
                    seconds=scale.seconds,
                    oracle=(DEFAULT_ORACLE,),
                )
                for subject in tested
                for problem in subject.chosen(scale.tasks)[at : at + 1]
            ]

        return cells

    return [stage for at in range(scale.tasks) for stage in (pools(at), lambda found: on_pools(found, scale))]


def on_pools(found: Sequence[Found], scale: Scale) -> list[Cell]:
    """The other oracles on every pool that is there."""
    return [
        Cell(
            each.cell.row,
            each.cell.task,
            name,
            each.cell.policy,
            each.cell.config.replace(pool_file=each.pool.resolve(), oracle=(oracle,), seconds=scale.seconds),
        )
        for each in found
        if each.cell.column == DEFAULT and each.judged
        for name, oracle in ORACLES.items()
    ]


def joint(by: Mapping[str, Found]) -> tuple[list[int], list[str]]:
    """The states that every oracle looked at, and the oracles that looked at too few to be compared."""
    pool = len(by[DEFAULT].judged) if DEFAULT in by else 0
    least = min(_FEWEST_STATES, pool / 2)
    left_out = [name for name in ORACLES if name not in by or len(by[name].judged) < least]
    sets = [set(each.judged) for name, each in by.items() if name not in left_out]
    return sorted(set.intersection(*sets)) if sets else [], left_out


def table_of(told: Mapping[str, Any], found: Iterable[Found]) -> Table:
    """Recall of every oracle on the joint pool."""
    tests = by_task(found)
    rows = {row: _recall(printed, tests.get(row, {})) for row, printed in told["rows"].items()}
    notes = (
        f"{BEST}: flagged by any of the published oracles. {DEFAULT}: our usual one, which does not count in {BEST}. "
        f"{CLEARED}: states that it proves to be no bugs, so that no oracle can flag them. {UNKNOWN}: the rest.",
        "An empty number of ours where an oracle met less than half of a pool, or of 25 states, on every task.",
    )
    return Table("Oracle recall, % of the joint pool", rows, notes)


def _recall(printed: Mapping[str, Any], tests: Mapping[str, Mapping[str, Found]]) -> dict[str, Value]:
    flagged = dict.fromkeys(COLUMNS, 0)
    met = dict.fromkeys(COLUMNS, 0)
    cut = dict.fromkeys(COLUMNS, False)
    rest = {CLEARED: 0, UNKNOWN: 0}
    total = 0
    for by in tests.values():
        states, left_out = joint(by)
        for id in states:
            verdict = by[DEFAULT].judged[id].verdict.value
            rest[verdict] = rest.get(verdict, 0) + 1
        total += len(states)
        bugs = {name: each.bugs() & set(states) for name, each in by.items() if name not in left_out}
        best = frozenset[int]().union(*(ids for name, ids in bugs.items() if name != DEFAULT))
        for name, ids in [*bugs.items(), (BEST, best)]:
            flagged[name] += len(ids)
            met[name] += len(states)
            cut[name] = cut[name] or (by[name].is_cut if name in by else any(e.is_cut for e in by.values()))
    row = {
        "tasks": Value(printed["tasks"], len(tests) if tests else None),
        "states": Value(printed["states"], total if tests else None),
    }
    for name in COLUMNS:
        row[name] = percent(flagged[name], met[name], printed=printed["recall"].get(name), is_cut=cut[name])
    return row | {name: percent(rest[name], total, is_cut=cut[DEFAULT]) for name in (CLEARED, UNKNOWN)}


def figures_of(found: Iterable[Found]) -> dict[str, str]:
    """Figure 1 for every domain: which share of the tested states each oracle has flagged after so many seconds."""
    figures = {}
    for row, tasks in by_task(found).items():
        states = sum(len(by[DEFAULT].judged) for by in tasks.values() if DEFAULT in by)
        times = {
            name: [by[name].judged[id].at for by in tasks.values() if name in by for id in by[name].bugs()]
            for name in (*ORACLES, DEFAULT)
        }
        title = f"{row}: bugs over time"
        figures[f"figure1-{row.lower().replace(' ', '-')}.svg"] = coverage(title, times, max(1, states))
    return figures
