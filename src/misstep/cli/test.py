"""`misstep test`: fuzz, run, claim, judge; every bug with a certificate in a run directory."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import MAX_COUNT, DomainFile, Json, MemoryMb, PolicyText, Quiet, Seconds, UnitCost
from misstep.cli.output import emit_json, note

DEFAULT_ORACLE = "landmarks+planner:astar:lmcut,effort=5e6+improve/ehc+lookahead"


def test(
    domain: DomainFile,
    /,
    *problems: Annotated[Path, Parameter(help="PDDL problems, or directories of them.")],
    policy: PolicyText,
    oracle: Annotated[
        list[str] | None,
        Parameter(negative="", help="NAME[:option=value][+NAME], asked in order; may be repeated."),
    ] = None,
    objective: Annotated[
        str, Parameter(help="`quantitative`: least cost; `qualitative`: reach the goal at all.")
    ] = "quantitative",
    pool: Annotated[int, Parameter(validator=Number(gt=0, lt=2**31), help="The size of the pool.")] = 100,
    pool_file: Annotated[Path | None, Parameter(help="Test exactly the states of this pool.")] = None,
    fuzzer: Annotated[str, Parameter(help="`refined` or `classic`, with options.")] = "refined",
    bias: Annotated[
        str, Parameter(help="`none`, `plan-length`, `loopiness`, `detour`, `surface`; h=ff or h=star.")
    ] = "none",
    interleave: Annotated[
        bool, Parameter(negative="", help="Test each state as soon as it is in the pool.")
    ] = False,
    gap: Annotated[bool, Parameter(negative="", help="Go on with known bugs to prove larger gaps.")] = False,
    max_steps: Annotated[int, Parameter(validator=Number(gt=0, lt=2**31), help="The longest run.")] = 10_000,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    seed: Annotated[int, Parameter(validator=Number(gte=0, lt=MAX_COUNT), help="Same seed, same pool.")] = 0,
    out: Annotated[Path | None, Parameter(help="The run directory; runs/PROBLEM-NUMBER by default.")] = None,
    unit_cost: UnitCost = False,
    recheck: Annotated[bool, Parameter(help="Ask some states twice to notice randomness.")] = True,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Test a policy: find states in which it does worse than is possible, and prove it.

    Example: misstep test domain.pddl problem.pddl --policy asnet:trained.policy --pool 200 --out run
    """
    from misstep.cli.testing import Request, test_all

    request = Request(
        domain=domain,
        problems=problems,
        policy=policy,
        oracles=tuple(oracle or [DEFAULT_ORACLE]),
        objective=objective,
        pool=pool,
        pool_file=pool_file,
        fuzzer=fuzzer,
        bias=bias,
        interleave=interleave,
        gap=gap,
        max_steps=max_steps,
        seconds=seconds,
        memory_mb=memory_mb,
        seed=seed,
        out=out,
        unit_cost=unit_cost,
        recheck=recheck,
        quiet=quiet,
    )
    results, interrupted = test_all(request)
    if json:
        emit_json(results[0] if len(results) == 1 and not request.is_many else {"tasks": results})
    if interrupted:
        note("interrupted: what was found is saved", quiet=quiet)
        return ExitCode.INTERRUPTED
    if not any(result["tested"] for result in results):
        return ExitCode.NOTHING_TESTED
    bugs = sum(result["bugs"]["qualitative"] + result["bugs"]["quantitative"] for result in results)
    return ExitCode.BUGS_FOUND if bugs else ExitCode.NOTHING_FOUND
