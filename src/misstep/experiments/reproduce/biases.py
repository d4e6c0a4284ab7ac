"""`biases`: Table 1 of Eisenhut et al. (2024), oracle coverage by fuzzing bias."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from misstep.config import DEFAULT_ORACLE
from misstep.experiments.reproduce.beside import beside
from misstep.experiments.reproduce.data import Subject, published, subjects
from misstep.experiments.reproduce.order import FEWEST_STATES, TASKS_FIRST, Order, Scale, scale_of
from misstep.experiments.reproduce.result import Outcome, about, cpu_table, write_outcome
from misstep.experiments.reproduce.stages import (
    Cell,
    Found,
    Stage,
    by_task,
    cell_of,
    reached,
    run_stages,
    with_verdict,
)
from misstep.experiments.reproduce.table import Table, Value, bounded, difference, share_of_tasks
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
SLOW_POLICY_ORACLE = DEFAULT_ORACLE.removesuffix("+lookahead")
STATE_SECONDS = 0.4
"""CPU seconds of fuzzing and testing a state, on average."""
_SEARCHES_A_STATE = {"detour:star": 30, "surface:star": 60, "loopiness:star": 600}
"""Exact distances come from searches: one for a run (detour), two (surface), or one for each of its states (loopiness).
So many are made for a state of the pool, about, where runs have twenty steps."""
_EFFORT_A_SECOND = 1e8
# Of the states that the other biases get: those with exact distances take longer, and have fewer in the paper, too.
_STAR_POOL_SHARE = 0.5
_SETS = {"practical": PRACTICAL, "all": ALL}
_TITLES = {"practical": "Oracle coverage, practical biases", "all": "Oracle coverage, all biases"}


def reproduce_biases(order: Order) -> Outcome:
    """Every bias on the same tasks with the same oracle: which of them leads to more bugs."""
    told = published("biases")
    tested = subjects(told["rows"], order.data, order.out)
    scale = scale_of(
        order.seconds,
        len(tested) * len(ALL),
        most_states=told["setting"]["pool"],
        state_seconds=STATE_SECONDS,
        into_tasks=TASKS_FIRST,
    )
    budget, outcome = order.budget(), Outcome(order.out, [])
    for found in run_stages(order, _stages(tested, scale, order), budget):
        tables = tables_of(told["rows"], found)
        outcome = write_outcome(
            order,
            "Fuzzing biases (Eisenhut et al. 2024, Table 1)",
            [*about(order, scale, found), *_lines(scale)],
            tables,
            figures_of(tables),
            present=reached(tested, found),
            is_whole=not any(each.is_left for each in found),
            times=cpu_table(found, ALL),
        )
    return outcome


def _lines(scale: Scale) -> list[str]:
    given = ", ".join(f"{bias} {star_effort(bias, scale):g}" for bias in _SEARCHES_A_STATE)
    return [
        f"oracle: `{DEFAULT_ORACLE}`; for GNNs, which are slow, `{SLOW_POLICY_ORACLE}`",
        f"exact distances: {star_pool(scale)} states a task; a search has a counted effort, after which a lower bound "
        f"stands for the distance: {given}",
    ]


def _stages(tested: Sequence[Subject], scale: Scale, order: Order) -> list[Stage]:
    """One task of every domain with every bias, then the next."""

    def stage(at: int) -> Stage:
        def cells(_: Sequence[Found]) -> list[Cell]:
            made = []
            for subject in tested:
                for problem in subject.chosen(scale.tasks)[at : at + 1]:
                    for bias in ALL:
                        options = _options(bias, scale) | {"oracle": (oracle_for(subject),)}
                        made.append(cell_of(subject, problem, bias, order=order, **options))
            return made

        return cells

    return [stage(at) for at in range(scale.tasks)]


def oracle_for(subject: Subject) -> str:
    """Our usual one; without asking the policy about thousands of states where that takes minutes for each state."""
    return SLOW_POLICY_ORACLE if subject.is_slow else DEFAULT_ORACLE


def star_pool(scale: Scale) -> int:
    """States for a bias with exact distances."""
    return max(FEWEST_STATES, int(_STAR_POOL_SHARE * scale.pool))


def star_effort(bias: str, scale: Scale) -> float:
    """Of one search for an exact distance: all searches together take about as long as testing the states does."""
    whole = _EFFORT_A_SECOND * STATE_SECONDS * scale.pool
    return float(f"{whole / (star_pool(scale) * _SEARCHES_A_STATE[bias]):.2g}")


def _options(bias: str, scale: Scale) -> dict[str, object]:
    options: dict[str, object] = {"pool": scale.pool, "bias": bias, "seconds": scale.seconds}
    if bias in _SEARCHES_A_STATE:
        options["pool"] = star_pool(scale)
        options["fuzzer"] = f"refined:max_star_effort={star_effort(bias, scale):g}"
    return options


def tables_of(rows: Mapping[str, Mapping[str, Any]], found: Iterable[Found]) -> list[Table]:
    """Coverage for both sets of biases, by how much each bias does better than none, and what the numbers rest on."""
    tests = by_task(found)
    tables = [
        Table(
            _TITLES[part],
            bounded({row: _coverage(printed, part, tests.get(row, {})) for row, printed in rows.items()}),
            (
                "As in the paper, every bias has the same number of states of each task: as many as the bias with the "
                "fewest has, the first ones of its pool.",
            ),
        )
        for part in _SETS
    ]
    own = bounded({row: _own(rows[row], tests[row]) for row in rows if row in tests})
    trend = {
        row: {bias: difference(values[bias], values["none"]) for bias in PRACTICAL[1:]}
        for row, values in own.items()
    }
    settled = bounded({row: _unknown(tests[row]) for row in rows if row in tests})
    return [
        *tables,
        Table(
            "Oracle coverage, all states of every pool",
            own,
            ("Every bias with all its states, as many as it found: not the paper's rule, but more states.",),
        ),
        Table(
            "Coverage beyond that without a bias",
            trend,
            (
                "In percentage points, from the table above; above 0 where the bias leads to more bugs than no bias.",
            ),
        ),
        Table(
            "Coverage below the published one",
            {row: {bias: _missing(values[bias]) for bias in PRACTICAL} for row, values in own.items()},
            (
                "By how many percentage points the upper 95 % bound of ours is below the published number; 0 where it "
                "is reached.",
            ),
        ),
        Table("States that stay unknown, %", settled, ("All others are bugs, or are proven to be none.",)),
    ]


def _own(printed: Mapping[str, Any], tests: Mapping[str, Mapping[str, Found]]) -> dict[str, Value]:
    """Coverage on all states of a bias, of all tasks together."""
    row = {}
    for bias in PRACTICAL:
        chosen = [by[bias] for by in tests.values() if bias in by]
        counts = [(len(each.bugs()), len(each.judged)) for each in chosen]
        is_cut = any(each.is_cut for each in chosen)
        row[bias] = share_of_tasks(counts, printed=printed["practical"][bias], is_cut=is_cut)
    return row


def _missing(value: Value) -> Value:
    if value.high is None or value.published is None:
        return Value()
    return Value(ours=max(0.0, value.published - value.high), count=value.count, is_cut=value.is_cut)


def _unknown(tests: Mapping[str, Mapping[str, Found]]) -> dict[str, Value]:
    """Of all tested states; where there are few, coverage could hardly be higher."""
    row = {}
    for bias in PRACTICAL:
        chosen = [by[bias] for by in tests.values() if bias in by]
        counts = [(with_verdict(each.judged.values(), Verdict.UNKNOWN), len(each.judged)) for each in chosen]
        row[bias] = share_of_tasks(counts, is_cut=any(each.is_cut for each in chosen))
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
        "tasks": Value(printed["tasks"], used or None),
        "states": Value(numbers["states"], total or None),
    }
    for bias in columns:
        chosen = [(by[bias], counts[task]) for task, by in tests.items() if bias in by and counts[task]]
        bugs = [(with_verdict(each.first(count), Verdict.BUG), count) for each, count in chosen]
        is_cut = any(each.is_cut for each, _ in chosen)
        row[bias] = share_of_tasks(bugs, printed=numbers[bias], is_cut=is_cut)
    return row


def figures_of(tables: Sequence[Table]) -> dict[str, str]:
    """Coverage by domain and bias."""
    practical, everything = tables[: len(_SETS)]
    return {"table1-practical.svg": beside(practical, PRACTICAL), "table1-all.svg": beside(everything, ALL)}
