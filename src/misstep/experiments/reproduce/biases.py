"""`biases`: Table 1 of Eisenhut et al. (2024), oracle coverage by fuzzing bias."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from misstep.experiments.figures import bars
from misstep.experiments.reproduce.data import Subject, published, subjects
from misstep.experiments.reproduce.order import Order, Scale, scale_of
from misstep.experiments.reproduce.result import Outcome, about, cpu_table, write_outcome
from misstep.experiments.reproduce.stages import Cell, Found, Stage, by_task, cell_of, run_stages
from misstep.experiments.reproduce.table import Table, Value, difference, percent
from misstep.judge import Verdict

PRACTICAL = ("none", "plan-length", "detour", "surface", "loopiness")
ALL = (
    "none",
    "plan-length",
    "detour",
    "detour:star",
    "surface",
    "surface:star",
    "loopiness",
    "loopiness:star",
)
_EXPANSIONS_A_SECOND = {"detour:star": 2000, "surface:star": 100, "loopiness:star": 200}
"""Exact distances come from searches: blind ones, one for a run (detour) or one for each of its states (loopiness),
or two with LM-cut (surface). A search gets so many expansions for each second that a test may take."""
_FEWEST_EXPANSIONS = 200
_SETS = {"practical": PRACTICAL, "all": ALL}
_TITLES = {"practical": "Oracle coverage, practical biases", "all": "Oracle coverage, all biases"}


def reproduce_biases(order: Order) -> Outcome:
    """Every bias on the same tasks with the same oracle: which of them leads to more bugs."""
    told = published("biases")
    tested = subjects(told["rows"], order.data, order.out)
    scale = scale_of(order.seconds, len(tested) * len(ALL), most_states=told["setting"]["pool"])
    outcome = Outcome(order.out, [])
    for found in run_stages(order, _stages(tested, scale, order)):
        outcome = write_outcome(
            order,
            "Fuzzing biases (Eisenhut et al. 2024, Table 1)",
            [*about(order, scale), _searches(scale)],
            tables_of(told["rows"], found),
            figures_of(found),
            times=cpu_table(found, ALL),
        )
    return outcome


def _searches(scale: Scale) -> str:
    given = ", ".join(f"{bias} {star_expansions(bias, scale)}" for bias in _EXPANSIONS_A_SECOND)
    return f"expansions of one search for an exact distance, after which a lower bound stands for it: {given}"


def _stages(tested: Sequence[Subject], scale: Scale, order: Order) -> list[Stage]:
    """One task of every domain with every bias, then the next."""

    def stage(at: int) -> Stage:
        def cells(_: Sequence[Found]) -> list[Cell]:
            made = []
            for subject in tested:
                for problem in subject.chosen(scale.tasks)[at : at + 1]:
                    for bias in ALL:
                        options = _options(bias, scale)
                        made.append(cell_of(subject, problem, bias, order=order, **options))
            return made

        return cells

    return [stage(at) for at in range(scale.tasks)]


def star_expansions(bias: str, scale: Scale) -> int:
    """Of one search for an exact distance; where it is not enough, the bias sees a lower bound."""
    return max(_FEWEST_EXPANSIONS, int(_EXPANSIONS_A_SECOND[bias] * scale.seconds))


def _options(bias: str, scale: Scale) -> dict[str, object]:
    options: dict[str, object] = {"pool": scale.pool, "bias": bias, "seconds": scale.seconds}
    if bias in _EXPANSIONS_A_SECOND:
        options["fuzzer"] = f"refined:max_star_expansions={star_expansions(bias, scale)}"
    return options


def tables_of(rows: Mapping[str, Mapping[str, Any]], found: Iterable[Found]) -> list[Table]:
    """Coverage for both sets of biases, and by how much each bias does better than none."""
    tests = by_task(found)
    tables = [
        Table(
            _TITLES[part],
            {row: _coverage(printed, part, tests.get(row, {})) for row, printed in rows.items()},
            ("Every bias has the same number of states of each task: the first ones of its pool.",),
        )
        for part in _SETS
    ]
    trend = {
        row: {bias: difference(values[bias], values["none"]) for bias in PRACTICAL[1:]}
        for row, values in tables[0].rows.items()
        if values["none"].ours is not None
    }
    note = "In percentage points; above 0 where the bias leads to more bugs than no bias."
    settled = {row: _unknown(tests[row]) for row in rows if row in tests}
    return [
        *tables,
        Table("Coverage beyond that without a bias", trend, (note,)),
        Table("States that stay unknown, %", settled, ("All others are bugs, or are proven to be none.",)),
    ]


def _unknown(tests: Mapping[str, Mapping[str, Found]]) -> dict[str, Value]:
    """Of all tested states; where there are few, coverage could hardly be higher."""
    row = {}
    for bias in PRACTICAL:
        chosen = [by[bias] for by in tests.values() if bias in by]
        events = [event for each in chosen for event in each.judged.values()]
        unknown = sum(event.verdict is Verdict.UNKNOWN for event in events)
        row[bias] = percent(unknown, len(events), is_cut=any(each.is_cut for each in chosen))
    return row


def _coverage(
    printed: Mapping[str, Any], part: str, tests: Mapping[str, Mapping[str, Found]]
) -> dict[str, Value]:
    columns, numbers = _SETS[part], printed[part]
    counts = {
        task: min((len(by[bias].judged) if bias in by else 0) for bias in columns)
        for task, by in tests.items()
    }
    total = sum(counts.values())
    used = sum(count > 0 for count in counts.values())
    row = {
        "tasks": Value(printed["tasks"], used if tests else None),
        "states": Value(numbers["states"], total if tests else None),
    }
    for bias in columns:
        chosen = [(by[bias], counts[task]) for task, by in tests.items() if bias in by and counts[task]]
        bugs = sum(event.verdict is Verdict.BUG for each, count in chosen for event in each.first(count))
        is_cut = any(each.is_cut for each, _ in chosen)
        row[bias] = percent(bugs, total, printed=numbers[bias], is_cut=is_cut)
    return row


def figures_of(found: Iterable[Found]) -> dict[str, str]:
    """Coverage by domain and practical bias."""
    rows = published("biases")["rows"]
    table = tables_of(rows, found)[0]
    ours = {
        row: {bias: values[bias].ours or 0.0 for bias in PRACTICAL}
        for row, values in table.rows.items()
        if values["none"].ours is not None
    }
    printed = {row: {bias: rows[row]["practical"][bias] for bias in PRACTICAL} for row in ours}
    return {
        "table1-ours.svg": bars("Oracle coverage, ours", "%", ours),
        "table1-paper.svg": bars("Oracle coverage, as printed", "%", printed),
    }
