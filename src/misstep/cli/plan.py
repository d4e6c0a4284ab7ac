"""`misstep plan`: the native planner."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    Seed,
    UnitCost,
)
from misstep.cli.output import emit_json, note, say_plain, warn, write_plan
from misstep.cli.timing import left_of
from misstep.errors import LimitReached
from misstep.explain.words import counted
from misstep.loading import load_task
from misstep.reports.status import StatusLine

if TYPE_CHECKING:
    from misstep._core import SearchResult
    from misstep.planners.fast_downward import ExternalResult, FastDownward
    from misstep.planners.native import NativeSearch


def plan(
    domain: DomainFile,
    problem: ProblemFile = None,
    /,
    *,
    search: Annotated[
        str, Parameter(help="NAME:HEURISTIC; `misstep parts search` lists all searches.")
    ] = "astar:lmcut",
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    max_expansions: Annotated[
        int | None, Parameter(validator=Number(gte=0, lt=MAX_COUNT), help="How many states may be expanded.")
    ] = None,
    seed: Seed = None,
    unit_cost: UnitCost = False,
    out: Annotated[Path | None, Parameter(help="Write the plan to this file.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Plan with the native searches, from PDDL files or from one SAS file.

    Example: misstep plan domain.pddl problem.pddl --search astar:lmcut --seconds 60
    """
    from misstep.budget import process_budget
    from misstep.plugins import make_part

    start = time.perf_counter()
    budget = process_budget(seconds=left_of(seconds), expansions=max_expansions, memory_mb=memory_mb)
    algorithm: NativeSearch | FastDownward = make_part("search", search)
    result: SearchResult | ExternalResult | None = None
    warnings: list[str] = []
    try:
        with StatusLine(f"translating {problem or domain}", quiet=quiet, seconds=seconds) as status:
            task = load_task(domain, problem, unit_cost=unit_cost, budget=budget)
            warnings = task.warnings
            status.show(f"searching with {algorithm}")
            result = algorithm.run(task, budget=budget, seed=seed)
    except LimitReached as reached:
        warnings = [*warnings, str(reached)]
        limit: str | None = reached.limit
    else:
        limit = result.limit
        # What an external planner has to say for itself.
        warnings = [*warnings, *filter(None, [getattr(result, "note", "")])]
    warn(*warnings, quiet=quiet)
    if out is not None and result is not None and result.outcome == "solved":
        write_plan(out, result.plan, result.cost or 0)
    if json:
        emit_json(_as_json(result, limit, warnings, total_seconds=time.perf_counter() - start))
    else:
        show(result, limit, algorithm=str(algorithm), quiet=quiet)
    return ExitCode.NOTHING_FOUND


def _as_json(
    result: "SearchResult | ExternalResult | None",
    limit: str | None,
    warnings: list[str],
    *,
    total_seconds: float,
) -> dict[str, object]:
    solved = result is not None and result.outcome == "solved"
    return {
        "outcome": "limit" if result is None else result.outcome,
        "cost": result.cost if result is not None and solved else None,
        "plan": [action.name for action in result.plan] if result is not None and solved else None,
        "expanded": 0 if result is None else result.expanded,
        "evaluated": 0 if result is None else result.evaluated,
        "seconds": 0.0 if result is None else round(result.seconds, 6),
        "total_seconds": round(total_seconds, 6),
        "limit": limit,
        "warnings": warnings,
    }


def show(
    result: "SearchResult | ExternalResult | None",
    limit: str | None,
    *,
    algorithm: str,
    quiet: bool = False,
) -> None:
    """The plan on standard output, a summary on standard error."""
    if result is None:
        say_plain("limit")
        note(f"no result: the limit on {limit} was hit before the search", quiet=quiet)
        return
    spent = f"{algorithm}: {result.expanded} expanded, {result.evaluated} evaluated, {result.seconds:.3f} s"
    if result.outcome == "solved":
        say_plain(*(action.name for action in result.plan))
        note(f"solved: {counted(len(result.plan), 'action')}, cost {result.cost} ({spent})", quiet=quiet)
    elif result.outcome == "unsolvable":
        say_plain("unsolvable")
        note(f"unsolvable: no plan exists ({spent})", quiet=quiet)
    else:
        say_plain("limit")
        note(f"no plan found: {_said(limit)} ({spent})", quiet=quiet)


def _said(limit: str | None) -> str:
    if limit == "incomplete":
        return "the search is incomplete and got stuck; try gbfs or astar"
    if limit == "failed":
        return "the planner failed"
    return f"the limit on {limit} was hit"
