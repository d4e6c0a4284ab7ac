"""`safety`: Figures 2 to 4 of Jain et al., by the safety experiments, on all benchmarks that come with a policy."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from misstep.bundled.models import BUNDLED, generate
from misstep.config import Config
from misstep.experiments.reproduce.data import published
from misstep.experiments.reproduce.order import CORES, LEAST_SECONDS, Order
from misstep.experiments.reproduce.result import Outcome, left_lines, write_outcome
from misstep.experiments.reproduce.stages import Cell, Found, run_stages
from misstep.experiments.reproduce.table import Table, Value, percent
from misstep.experiments.safety import RESULTS, bundled_instances, run_experiments
from misstep.experiments.safety_units import DECIDERS, FUZZERS, Plan, label
from misstep.record.store import write_whole

# Of the time, what goes into tests that leave run directories; the rest is for the paper's three experiments.
_TESTS_SHARE = 0.2
_PIECES = len(FUZZERS) + 2 * len(DECIDERS)
# With more seconds than this for a fuzzer or decider on a benchmark, single decisions may take more, too: the paper's
# number of states is not far, and what is left of the time would not be used.
_AMPLE_SECONDS = 4.7
_UNLIMITED = "∞-tarjan"


def plan_of(order: Order, names: Sequence[str] = tuple(BUNDLED)) -> Plan:
    """What the time allows; the paper has 1000 runs, 1000 states and 30 minutes a state.

    A run takes about a millisecond. Most decisions do, too, but those of value iteration and on the control problems
    meet the limit of expansions; that of seconds is a safety net.
    """
    printed = published("safety")["setting"]
    each = CORES * order.seconds * (1 - _TESTS_SHARE) / (len(names) * _PIECES)
    states = max(3, min(printed["states"], round(100 * each)))
    growth = max(1.0, each / _AMPLE_SECONDS)
    return Plan(
        runs=max(20, min(printed["runs"], round(1500 * each))),
        states=states,
        paths=max(2, states // 5),
        max_seconds=round(min(30.0, max(0.2, growth * each / 8)), 2),
        max_expansions=round(int(growth * Plan.max_expansions), -4),
        seed=order.seed,
    )


def reproduce_safety(order: Order, names: Sequence[str] = tuple(BUNDLED)) -> Outcome:
    """Fuzzers, deciders and fault analyses; and a test of every benchmark, with its certificates."""
    plan, told = plan_of(order, names), published("safety")
    budget = order.budget()
    [found] = run_stages(order, [lambda _: test_cells(order, plan, names)], budget)
    answer = run_experiments(
        order.out, plan, bundled_instances(names), jobs=order.jobs, budget=budget, progress=order.tell
    )
    left = answer.get("left", 0)
    results = json.loads((order.out / RESULTS).read_text(encoding="utf-8"))
    lines = [
        f"`misstep reproduce {order.name} --seconds {order.seconds:g} --seed {order.seed}`; our benchmarks after the "
        "paper's B1 to B3, and policies that we trained: the paper's are not public",
        f"{plan.runs} runs a fuzzer, {plan.states} states and {plan.paths} unsafe runs a benchmark, a decision at most "
        f"{plan.max_seconds:g} s or {plan.max_expansions} expansions",
        *left_lines(found, others=left),
        *(f"paper, {text}" for text in told["findings"].values()),
    ]
    tables = tables_of(results, found, printed=told["faults_percent"])
    return write_outcome(
        order,
        "Safety (Jain et al., Figures 2 to 4)",
        lines,
        tables,
        {},
        times=times_of(results),
        is_whole=left == 0 and not any(each.is_left for each in found),
    )


def test_cells(order: Order, plan: Plan, names: Sequence[str]) -> list[Cell]:
    """A test of every benchmark; the models are written to files first."""
    # Nearly all take a second or two, so one that is heavy may have half of all their time.
    seconds = max(LEAST_SECONDS, CORES * order.seconds * _TESTS_SHARE / 2)
    folder = order.out / "models"
    folder.mkdir(parents=True, exist_ok=True)
    return [_test_cell(name, folder, order, plan, seconds) for name in names]


def _test_cell(name: str, folder: Path, order: Order, plan: Plan, seconds: float) -> Cell:
    file = (folder / f"{name}.jani").resolve()
    if not file.is_file():
        write_whole(file, json.dumps(generate(name)))
    config = Config(
        model=file,
        policy=f"zoo:{name}",
        runs=min(100, plan.runs),
        max_steps=plan.max_steps,
        seed=order.seed,
        seconds=round(seconds, 1),
    )
    return Cell(name, name, "test", f"zoo:{name}", config)


def tables_of(
    results: Mapping[str, Sequence[Mapping[str, Any]]], found: Sequence[Found], *, printed: float
) -> list[Table]:
    """Unsafe runs by fuzzer, decided states by decider, faults; and the tests' counts."""
    names = list(dict.fromkeys(row["bench"] for row in results["fuzzing"]))
    fuzzing = {
        name: {
            row["by"]: percent(row["unsafe"], row["runs"])
            for row in results["fuzzing"]
            if row["bench"] == name
        }
        for name in names
    }
    return [
        Table("Figure 2: unsafe runs, % of all runs, by fuzzer", fuzzing),
        Table("Figure 3: decided states, %, by decider", _decided(results["deciding"], names)),
        Table("Figure 4: unsafe runs with at least one fault, %", _faulty(results["faults"], names, printed)),
        Table("Tests with certificates", _tests(found)),
    ]


def _decided(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, dict[str, Value]]:
    table: dict[str, dict[str, Value]] = {}
    for name in names:
        for decider in DECIDERS:
            mine = [row for row in rows if row["bench"] == name and row["by"] == label(*decider)]
            known = sum(row["verdict"] != "unknown" for row in mine)
            is_cut = any(row["limit"] == "seconds" for row in mine)
            table.setdefault(name, {})[label(*decider)] = percent(known, len(mine), is_cut=is_cut)
    return table


def _faulty(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], printed: float
) -> dict[str, dict[str, Value]]:
    deciders = [label("tarjan", radius) for radius in (None, 1, 2)]

    def share(by: str, chosen: Sequence[str], paper: float | None) -> Value:
        mine = [row for row in rows if row["bench"] in chosen and row["by"] == by]
        is_cut = any(row["unknown"] for row in mine)
        return percent(sum(row["faults"] > 0 for row in mine), len(mine), printed=paper, is_cut=is_cut)

    table = {name: {by: share(by, [name], None) for by in deciders} for name in names}
    return table | {"all": {by: share(by, names, printed if by == _UNLIMITED else None) for by in deciders}}


def _tests(found: Sequence[Found]) -> dict[str, dict[str, Value]]:
    table = {}
    for each in found:
        ended = each.finished
        if ended is not None:
            counts = {
                "runs": ended.runs,
                "unsafe runs": ended.unsafe_runs,
                "states": ended.tested,
                "bugs": ended.bugs,
                "faults": ended.faults,
                "unknown": ended.unknown,
            }
            table[each.cell.row] = {
                name: Value(ours=count, is_cut=each.is_cut) for name, count in counts.items()
            }
    return table


def times_of(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> Table:
    """Seconds of every fuzzer and decider, all benchmarks together."""
    rows = {
        experiment: {
            label(*part): Value(
                ours=sum(row["seconds"] for row in results[experiment] if row["by"] == label(*part))
            )
            for part in parts
        }
        for experiment, parts in (("fuzzing", FUZZERS), ("deciding", DECIDERS), ("faults", DECIDERS))
    }
    return Table("Seconds of all benchmarks together", rows, digits=2)
