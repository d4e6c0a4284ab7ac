"""`misstep dominance`: how much states of a task say about each other."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import (
    MAX_COUNT,
    DomainFile,
    Json,
    MemoryMb,
    ProblemFile,
    Quiet,
    Seconds,
    UnitCost,
)
from misstep.cli.output import emit_json, note, say_plain, warn
from misstep.cli.timing import left_of
from misstep.errors import LimitReached
from misstep.loading import load_task
from misstep.reports.status import StatusLine
from misstep.reports.text import listed, screen_width, table, table_width

if TYPE_CHECKING:
    from misstep._core import Dominance
    from misstep.task import Task

_SHOWN_FACTS = 3


def dominance(
    domain: DomainFile,
    problem: ProblemFile = None,
    /,
    *,
    factors: Annotated[
        Literal["merged", "atomic"],
        Parameter(
            help="merged: factors by merge-and-shrink in DFP order; atomic: one factor for each variable."
        ),
    ] = "merged",
    max_transitions: Annotated[
        int, Parameter(validator=Number(gt=0, lt=MAX_COUNT), help="The most transitions of a merged factor.")
    ] = 10_000,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    save: Annotated[Path | None, Parameter(help="Write the function to this file.")] = None,
    load: Annotated[
        Path | None,
        Parameter(
            help="Read the function from this file instead of computing it; the file must belong to this task."
        ),
    ] = None,
    unit_cost: UnitCost = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compute the dominance function of a task, show its factors, save it and reuse it.

    D(s, t) <= h*(s) - h*(t) says how much cheaper t is to solve than s, at least. If a limit is reached, the
    output says so, and the function is weaker but still correct. For each factor it shows the number of states
    and transitions, how many moves no other factor notices, and the share of pairs of states that compare.

    Example: misstep dominance domain.pddl problem.pddl --save task.dominance
    """
    from misstep._core import Dominance
    from misstep.budget import process_budget
    from misstep.formats import dominance as files

    budget = process_budget(seconds=left_of(seconds), memory_mb=memory_mb)
    try:
        with StatusLine(f"translating {problem or domain}", quiet=quiet, seconds=seconds):
            task = load_task(domain, problem, unit_cost=unit_cost, budget=budget)
    except LimitReached as reached:
        return _no_result(reached, json=json, quiet=quiet)
    warn(*task.warnings, quiet=quiet)
    start = time.perf_counter()
    if load is not None:
        function = files.load(task, load)
    else:
        with StatusLine(f"computing the dominance function of {task.name}", quiet=quiet):
            function = Dominance(task, factors=factors, max_transitions=max_transitions, budget=budget)
    spent = time.perf_counter() - start
    if save is not None:
        files.save(function, save)
    if json:
        emit_json(_as_json(task, function, spent))
    else:
        _show(task, function)
        _summarise(function, spent, quiet=quiet)
    return ExitCode.NOTHING_FOUND


def _no_result(reached: LimitReached, *, json: bool, quiet: bool) -> int:
    if json:
        emit_json({"limit": reached.limit, "details": [], "warnings": [str(reached)]})
    else:
        say_plain("limit")
        note(str(reached), quiet=quiet)
    return ExitCode.NOTHING_FOUND


def _variable_text(task: "Task", variable: int) -> str:
    """A variable by its first facts: numbers would mean nothing outside this process."""
    names = [task.fact_name(variable, value) for value in range(task.domain_sizes[variable])]
    shown = [name or "none of those" for name in names[:_SHOWN_FACTS]]
    return ", ".join(shown) + (", ..." if len(names) > _SHOWN_FACTS else "")


def _factors(task: "Task", function: "Dominance") -> list[dict[str, Any]]:
    return [
        {**factor, "variables": [_variable_text(task, variable) for variable in factor["variables"]]}
        for factor in function.describe()
    ]


def _as_json(task: "Task", function: "Dominance", seconds: float) -> dict[str, object]:
    return {
        "factors": function.factors,
        "max_transitions": function.max_transitions,
        "order": function.order,
        "labels": function.num_labels,
        "limit": function.limit,
        "fallback": function.is_fallback,
        "seconds": round(seconds, 6),
        "details": _factors(task, function),
        "warnings": task.warnings,
    }


def _show(task: "Task", function: "Dominance") -> None:
    factors = _factors(task, function)
    rows: list[tuple[str, ...]] = [
        ("factor", "states", "transitions", "own moves", "comparable", "variables")
    ]
    for number, factor in enumerate(factors, start=1):
        counts = (factor["states"], factor["transitions"], factor["tau_moves"])
        share = f"{factor['finite_share']:.1%}"
        rows.append((str(number), *map(str, counts), share, str(len(factor["variables"]))))
    say_plain(*table(rows, table_width()))
    for number, factor in enumerate(factors, start=1):
        say_plain(f"variables of factor {number}:", *listed(factor["variables"], screen_width()))


def _summarise(function: "Dominance", seconds: float, *, quiet: bool) -> None:
    if function.limit is not None:
        kept = "distances by tau moves" if function.is_fallback else f"{function.factors} factors"
        note(
            f"the limit on {function.limit} was hit: what is left ({kept}) is sound, but weaker", quiet=quiet
        )
    note(f"{function.factors} factors, {function.num_labels} labels, {seconds:.3f} s", quiet=quiet)
