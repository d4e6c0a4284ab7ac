"""`oracles`: Table 1 and Figure 1 of Eisenhut et al. (2023), oracle recall on joint pools, and bugs over time."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from misstep.config import DEFAULT_ORACLE
from misstep.experiments.figures import coverage
from misstep.experiments.reproduce.beside import beside
from misstep.experiments.reproduce.data import Subject, published, subjects
from misstep.experiments.reproduce.order import TASKS_FIRST, Order, Scale, scale_of
from misstep.experiments.reproduce.result import Outcome, about, cpu_table, write_outcome
from misstep.experiments.reproduce.stages import (
    Cell,
    Found,
    Stage,
    by_task,
    cell_of,
    run_stages,
    with_verdict,
)
from misstep.experiments.reproduce.table import Table, Value, bounded, share_of_tasks
from misstep.judge import Verdict

DEFAULT = "default"
"""The column of our usual oracle; its tests also make the pools."""
BEST, COMBINED = "BestOf", "BMO-100+Aras/EHC"
ORACLES = {
    "A*": "planner:astar:lmcut,effort=2e7",
    "EHC": "planner:ehc:ff,effort=2e7",
    "Aras/EHC": "improve/ehc",
    "look+pi": "lookahead:2",
    "GBFS-1000": "planner:gbfs:ff,max_expansions=1000",
    "SMO": "morph:10{dominance}",
    "BMO-0": "bounds:0{dominance}",
    "BMO-10": "bounds:10{dominance}",
    "BMO-100": "bounds:100{dominance}",
    "BMO-1000": "bounds:1000{dominance}",
    COMBINED: "bounds:100{dominance}+improve/ehc",
}
POOLS = {"fuzzer": "classic:novelty=0", "bias": "none"}
"""Random walks with uniformly random actions, no bias and no novelty filter: the baseline of Steinmetz et al. (2022),
which the paper takes because biases have side effects on oracles (section 2.3)."""
_DOMINANCE_SHARE = 1 / 3
"""Of the time of a test, at most so much goes into the dominance function; states are left to be tested then."""
STATE_SECONDS = 0.08
"""CPU seconds of testing a state, on average over all oracles."""
COLUMNS = (*ORACLES, BEST, DEFAULT)
CLEARED, UNKNOWN = Verdict.CLEARED.value, Verdict.UNKNOWN.value
"""What our usual oracle says of the others: proven to be no bugs, so that nobody could flag them; or nothing."""
_FEWEST_STATES = 25
"""Printed: an oracle that met fewer states a task does not count. Ours: in proportion to the pool."""


def reproduce_oracles(order: Order) -> Outcome:
    """Eleven published oracles and our usual one on the same pools."""
    told, order = published("oracles"), replace(order, pools=POOLS)
    tested = subjects(told["rows"], order.data, order.out)
    scale = scale_of(
        order.seconds,
        len(tested) * (len(ORACLES) + 1),
        most_states=told["setting"]["pool"],
        state_seconds=STATE_SECONDS,
        into_tasks=TASKS_FIRST,
    )
    budget, outcome = order.budget(), Outcome(order.out, [])
    for found in run_stages(order, _stages(tested, scale, order), budget):
        tables = tables_of(told, found)
        outcome = write_outcome(
            order,
            "Test oracles (Eisenhut et al. 2023, Table 1 and Figure 1)",
            [
                *about(order, scale, found),
                f"pools: `--fuzzer {POOLS['fuzzer']} --bias {POOLS['bias']}`, random walks that nothing guides",
                *(f"{name}: `{oracle}`" for name, oracle in texts(scale).items()),
            ],
            tables,
            {"table1.svg": beside(tables[0], COLUMNS)} | figures_of(found),
            present={
                subject.row: tables[0].rows[subject.row]["states"].ours is not None for subject in tested
            },
            is_whole=not any(each.is_left for each in found),
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
                    pool=scale.pool,
                    seconds=scale.seconds,
                    oracle=(DEFAULT_ORACLE,),
                    **POOLS,
                )
                for subject in tested
                for problem in subject.chosen(scale.tasks)[at : at + 1]
            ]

        return cells

    return [stage for at in range(scale.tasks) for stage in (pools(at), lambda found: on_pools(found, scale))]


def texts(scale: Scale) -> dict[str, str]:
    """The oracles as they are asked for."""
    seconds = f",max_seconds={_DOMINANCE_SHARE * scale.seconds:.1f}"
    return {name: text.format(dominance=seconds) for name, text in ORACLES.items()}


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
        for name, oracle in texts(scale).items()
    ]


def left_out(tasks: Iterable[Mapping[str, Found]]) -> list[str]:
    """The oracles that met too few states to be compared, by the paper's rule: on average over a domain's tasks."""
    pools = [by for by in tasks if by.keys() >= {DEFAULT, *ORACLES}]
    most = sum(len(by[DEFAULT].judged) for by in pools)
    least = min(_FEWEST_STATES * len(pools), most / 2)
    met = {name: sum(len(by[name].judged) for by in pools if name in by) for name in ORACLES}
    return [name for name, states in met.items() if states < least or not states]


def joint(by: Mapping[str, Found], without: Collection[str]) -> list[int]:
    """The states of a task that every oracle looked at; all oracles take them in the same order."""
    if not by.keys() >= {DEFAULT, *ORACLES}:  # the time was up meanwhile
        return []
    return sorted(set.intersection(*(set(each.judged) for name, each in by.items() if name not in without)))


def tables_of(told: Mapping[str, Any], found: Iterable[Found]) -> list[Table]:
    """Recall of every oracle on the joint pool, and the best ones beside the best of all that the paper prints."""
    tests = by_task(found)
    rows = bounded({row: _recall(printed, tests.get(row, {})) for row, printed in told["rows"].items()})
    notes = (
        f"{BEST}: flagged by any of the published oracles. {DEFAULT}: our usual one, which does not count in {BEST}. "
        f"{CLEARED}: states that it proves to be no bugs, so that no oracle can flag them. {UNKNOWN}: the rest.",
        "A number of ours is missing where an oracle met less than half of the states, or of 25, on the average of the "
        "domain's tasks; the others are compared on the states that all of them met.",
    )
    beside = {
        row: _beside(values, told["rows"][row]["recall"][BEST])
        for row, values in rows.items()
        if values[DEFAULT].ours is not None
    }
    compared = (
        f"paper: its {BEST} in all columns. missing: by how many percentage points the upper 95 % bound of ours is "
        f"below it; 0 where it is reached. at most: states that are not proven to be no bugs; no oracle can flag more.",
    )
    return [
        Table("Oracle recall, % of the joint pool", rows, notes),
        Table(f"Our best oracles beside the published {BEST}", beside, compared),
    ]


def _beside(values: Mapping[str, Value], printed: float) -> dict[str, Value]:
    """The combined and our usual oracle; and whether they reach what the paper's oracles find together."""
    row = {}
    for name in (COMBINED, DEFAULT):
        value = values[name]
        row[name] = replace(value, published=printed)
        if value.high is not None:
            row[f"{name}, missing"] = Value(ours=max(0.0, printed - value.high), is_cut=value.is_cut)
    cleared = values[CLEARED].ours
    row["at most"] = Value(
        printed, None if cleared is None else 100.0 - cleared, is_cut=values[CLEARED].is_cut
    )
    return row


def _recall(printed: Mapping[str, Any], tests: Mapping[str, Mapping[str, Found]]) -> dict[str, Value]:
    without = left_out(tests.values())
    compared = [(by, states) for by in tests.values() if (states := set(joint(by, without)))]
    row = {
        "tasks": Value(printed["tasks"], len(compared) or None),
        "states": Value(printed["states"], sum(len(states) for _, states in compared) or None),
    }
    for name in COLUMNS:
        parts = [each for each in ORACLES if each not in without] if name == BEST else [name]
        used = [] if name in without else compared
        counts = [(len(_flagged(by, parts) & states), len(states)) for by, states in used]
        is_cut = any(by[part].is_cut for by, _ in used for part in parts)
        row[name] = share_of_tasks(counts, printed=printed["recall"].get(name), is_cut=is_cut)
    for verdict in (Verdict.CLEARED, Verdict.UNKNOWN):
        events = [[by[DEFAULT].judged[id] for id in states] for by, states in compared]
        counts = [(with_verdict(each, verdict), len(each)) for each in events]
        row[verdict.value] = share_of_tasks(counts, is_cut=row[DEFAULT].is_cut)
    return row


def _flagged(by: Mapping[str, Found], names: Iterable[str]) -> frozenset[int]:
    """States of a task that any of these oracles proves to be bugs."""
    return frozenset[int]().union(*(by[name].bugs() for name in names))


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
