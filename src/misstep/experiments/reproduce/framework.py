"""`framework`: Table 1, parts B to E, and Figure 4 of Steinmetz et al. (2022)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from misstep.bound import NEVER
from misstep.config import DEFAULT_ORACLE
from misstep.events import Judged
from misstep.experiments.figures import coverage
from misstep.experiments.reproduce.beside import beside
from misstep.experiments.reproduce.data import Subject, published, subjects
from misstep.experiments.reproduce.order import Order, Scale, scale_of
from misstep.experiments.reproduce.result import Outcome, about, cpu_table, write_outcome
from misstep.experiments.reproduce.stages import Cell, Found, Stage, by_task, cell_of, reached, run_stages
from misstep.experiments.reproduce.table import Table, Value, bounded, share_of_tasks
from misstep.explain.families import regions, share_with_unique_pair
from misstep.judge import Verdict
from misstep.record.pool_file import read_pool
from misstep.record.record import TASK
from misstep.task import Task

BEST = f"undo+inverse+{DEFAULT_ORACLE}"
"""The union of the published oracles and of ours: what any of them finds."""
USUAL, NO_BIAS, NO_NOVELTY = "pool", "pool without bias", "pool without novelty"
POOLS = {
    USUAL: {"fuzzer": "classic", "bias": "plan-length"},
    NO_BIAS: {"fuzzer": "classic", "bias": "none"},
    NO_NOVELTY: {"fuzzer": "classic:novelty=0", "bias": "plan-length"},
}
ORACLES = {"undo": "undo", "lookahead": "lookahead:2", "inverse": "inverse", "improve": "improve"}
FIGURE = {
    f"{oracle}, bias {state}": {"fuzzer": "classic", "bias": bias, "oracle": (text,)}
    for oracle, text in (("undo", "undo"), ("lookahead", "lookahead:2"))
    for state, bias in (("on", "plan-length"), ("off", "none"))
}
"""Figure 4: every state is tested as soon as it is in the pool."""
STATE_SECONDS = 0.14
"""CPU seconds of testing a state, on average over pools and oracles."""
_FIGURE_ROWS = ("Blocksworld", "Scanalyzer")
_FIGURE_STATES = 2
"""Of the figure, in pools of the table."""
_Choice = Callable[[Judged], bool]


def reproduce_framework(order: Order) -> Outcome:
    """Pools with and without policy-quality bias and novelty filter, and five oracles on them."""
    told = published("framework")
    tested = subjects(told["rows"], order.data, order.out)
    cells = len(tested) * (len(POOLS) + len(ORACLES)) + len(_FIGURE_ROWS) * len(FIGURE)
    scale = scale_of(order.seconds, cells, most_states=told["setting"]["pool"], state_seconds=STATE_SECONDS)
    budget, outcome = order.budget(), Outcome(order.out, [])
    for found in run_stages(order, _stages(tested, scale, order), budget):
        tables = tables_of(told["rows"], found)
        outcome = write_outcome(
            order,
            "The framework (Steinmetz et al. 2022, Table 1 B to E and Figure 4)",
            [
                *about(order, scale, found),
                f"best of all oracles, which also stands for the perfect one: `{BEST}`",
            ],
            tables,
            panels_of(tables) | figures_of(found),
            present=reached(tested, found),
            is_whole=not any(each.is_left for each in found),
            times=cpu_table(found, (*POOLS, *ORACLES)),
        )
    return outcome


def _stages(tested: Sequence[Subject], scale: Scale, order: Order) -> list[Stage]:
    """Pools of one task of every domain, then oracles on them, then the next task; Figure 4 after the first."""

    def pools(at: int) -> Stage:
        def cells(_: Sequence[Found]) -> list[Cell]:
            return [
                cell_of(
                    subject,
                    problem,
                    name,
                    order=order,
                    pool=scale.pool,
                    seconds=scale.seconds,
                    oracle=(BEST,),
                    **options,
                )
                for subject in tested
                for problem in subject.chosen(scale.tasks)[at : at + 1]
                for name, options in POOLS.items()
            ]

        return cells

    def oracles(found: Sequence[Found]) -> list[Cell]:
        return [
            Cell(
                each.cell.row,
                each.cell.task,
                name,
                each.cell.policy,
                each.cell.config.replace(pool_file=each.pool.resolve(), oracle=(text,)),
            )
            for each in found
            if each.cell.column == USUAL and each.judged
            for name, text in ORACLES.items()
        ]

    def figure(_: Sequence[Found]) -> list[Cell]:
        chosen = [subject for subject in tested if subject.row in _FIGURE_ROWS] or list(tested[:1])
        return [
            cell_of(
                subject,
                subject.chosen(1)[0],
                name,
                order=order,
                pool=_FIGURE_STATES * scale.pool,
                seconds=scale.seconds,
                interleave=True,
                **options,
            )
            for subject in chosen
            for name, options in FIGURE.items()
        ]

    rest = [stage for at in range(1, scale.tasks) for stage in (pools(at), oracles)]
    return [pools(0), oracles, figure, *rest]


def tables_of(rows: Mapping[str, Mapping[str, Any]], found: Iterable[Found]) -> list[Table]:
    """Parts B to E."""
    tests = by_task(found)
    parts: dict[str, dict[str, dict[str, Value]]] = {
        "(B) Pools, states a task": {},
        "(C) Oracle recall": {},
        "(D) Policy-quality bias, recall": {},
        "(E) Novelty filter, recall": {},
        "(E) Novelty filter, bugs with a unique fact pair": {},
        "(E) Novelty filter, bug regions a task": {},
    }
    for row, printed in rows.items():
        tasks = list(tests.get(row, {}).values())
        made = (
            _pools(printed["pools"], tasks),
            _oracles(printed["oracles"], tasks),
            _switch(printed["policy quality bias"], tasks, NO_BIAS),
            _switch(printed["novelty: recall"], tasks, NO_NOVELTY),
            *_variety(printed["novelty: unique pairs"], printed["novelty: regions"], tasks),
        )
        for part, values in zip(parts.values(), made, strict=True):
            part[row] = values
    notes = {
        "(C) Oracle recall": (
            "undo, look (qual) and perfect: of the states that the policy does not solve. The others: of those that it "
            "solves. perfect: what all oracles together prove, and states that stay unknown count as no bugs.",
        ),
        "(D) Policy-quality bias, recall": ("qual: of all states. quant: of those that the policy solves.",),
    }
    return [Table(name, bounded(values), notes.get(name, ())) for name, values in parts.items()]


def _is_solved(event: Judged) -> bool:
    return event.outcome == "solved"


def _is_unsolved(event: Judged) -> bool:
    return event.outcome != "solved"


def _any(event: Judged) -> bool:
    return True


def _is_qualitative(event: Judged) -> bool:
    return event.verdict is Verdict.BUG and event.cost == NEVER


def _is_quantitative(event: Judged) -> bool:
    return event.verdict is Verdict.BUG and event.cost != NEVER


def _events(tasks: Sequence[Mapping[str, Found]], column: str) -> list[Judged]:
    return [event for by in tasks if column in by for event in by[column].judged.values()]


def _is_cut(tasks: Sequence[Mapping[str, Found]], column: str) -> bool:
    return any(by[column].is_cut for by in tasks if column in by)


def _recall(
    tasks: Sequence[Mapping[str, Found]], column: str, is_bug: _Choice, among: _Choice, printed: float | None
) -> Value:
    """Bugs of a kind, in percent of some of the states."""
    counts = []
    for by in tasks:
        events = [event for event in _events([by], column) if among(event)]
        counts.append((sum(map(is_bug, events)), len(events)))
    return share_of_tasks(counts, printed=printed, is_cut=_is_cut(tasks, column))


def _pools(printed: Mapping[str, float], tasks: Sequence[Mapping[str, Found]]) -> dict[str, Value]:
    events, cut = _events(tasks, USUAL), _is_cut(tasks, USUAL)
    count = len(tasks)
    return {
        "tasks": Value(None, count if tasks else None),
        "states": Value(printed["states"], len(events) / count if count else None, count=count, is_cut=cut),
        "solved": Value(
            printed["solved"],
            sum(map(_is_solved, events)) / count if count else None,
            count=count,
            is_cut=cut,
        ),
    }


def _oracles(printed: Mapping[str, float], tasks: Sequence[Mapping[str, Found]]) -> dict[str, Value]:
    columns = {
        "undo": ("undo", _is_qualitative, _is_unsolved),
        "look (qual)": ("lookahead", _is_qualitative, _is_unsolved),
        "perfect": (USUAL, _is_qualitative, _is_unsolved),
        "inverse": ("inverse", _is_quantitative, _is_solved),
        "look (quant)": ("lookahead", _is_quantitative, _is_solved),
        "aras": ("improve", _is_quantitative, _is_solved),
    }
    return {name: _recall(tasks, *choice, printed[name]) for name, choice in columns.items()}


def _switch(printed: Mapping[str, float], tasks: Sequence[Mapping[str, Found]], off: str) -> dict[str, Value]:
    kinds = {"qual": (_is_qualitative, _any), "quant": (_is_quantitative, _is_solved)}
    return {
        f"{kind} {state}": _recall(tasks, column, *choice, printed[f"{kind} {state}"])
        for kind, choice in kinds.items()
        for state, column in (("off", off), ("on", USUAL))
    }


def _variety(
    pairs: Mapping[str, float], areas: Mapping[str, float], tasks: Sequence[Mapping[str, Found]]
) -> tuple[dict[str, Value], dict[str, Value]]:
    """How different the bugs are, with the novelty filter and without it."""
    unique, connected = {}, {}
    for kind, is_bug in (("qual", _is_qualitative), ("quant", _is_quantitative)):
        for state, column in (("off", NO_NOVELTY), ("on", USUAL)):
            name, cut = f"{kind} {state}", _is_cut(tasks, column)
            told = [varied(by[column], is_bug) for by in tasks if column in by]
            unique[name] = share_of_tasks(
                [(own, bugs) for bugs, own, _ in told], printed=pairs[name], is_cut=cut
            )
            mean = sum(count for _, _, count in told) / len(told) if told else None
            connected[name] = Value(areas[name], mean, count=len(told), is_cut=cut)
    return unique, connected


def varied(found: Found, is_bug: _Choice) -> tuple[int, int, int]:
    """Of the bugs of a kind: how many, how many with a pair of facts of their own, how many connected regions."""
    ids = {id for id, event in found.judged.items() if is_bug(event)}
    if not ids:
        return 0, 0, 0
    task = Task((found.record / TASK).read_text(encoding="utf-8"))
    states = [entry.state for entry in read_pool(found.pool, task) if entry.id in ids]
    share = share_with_unique_pair(states) or 0.0
    return len(states), round(share * len(states)), len(set(regions(task, states).values()))


def panels_of(tables: Sequence[Table]) -> dict[str, str]:
    """The parts of the table that are percentages."""
    names = ("table1-c", "table1-d", "table1-e-recall", "table1-e-variety")
    return {
        f"{name}.svg": beside(table, list(next(iter(table.rows.values()))))
        for name, table in zip(names, tables[1:], strict=False)  # regions, the last one, are counts
    }


def figures_of(found: Iterable[Found]) -> dict[str, str]:
    """Figure 4: bugs over time with the policy-quality bias and without it."""
    figures = {}
    for row, tasks in by_task(found).items():
        for oracle, kind, is_bug in (
            ("undo", "qualitative", _is_qualitative),
            ("lookahead", "quantitative", _is_quantitative),
        ):
            series = {
                f"bias {state}": [
                    event.at
                    for event in _events(list(tasks.values()), f"{oracle}, bias {state}")
                    if is_bug(event)
                ]
                for state in ("on", "off")
            }
            most = max(map(len, series.values()))
            if most and any(f"{oracle}, bias on" in by for by in tasks.values()):
                title = f"{row}: {kind} bugs over time ({oracle})"
                name = f"figure4-{row.lower()}-{kind}.svg"
                figures[name] = coverage(title, series, most, what="bugs")
    return figures
