"""`misstep scale`: coverage and bug rate by instance size, with confidence."""

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import MAX_COUNT, Json, MemoryMb, PolicyText, Quiet, Seconds, UnitCost
from misstep.cli.output import continued, emit_json, note, say
from misstep.reports.status import StatusLine

if TYPE_CHECKING:
    from misstep.experiments.scaling import Scaling, SizeResult

Count = Number(gte=1, lt=MAX_COUNT)
Share = Number(gt=0, lt=1)


def scale(
    *,
    generator: Annotated[
        str,
        Parameter(
            help="A part such as ferry, or `command:PROGRAM {size} {seed}`; see `misstep parts generator`."
        ),
    ],
    policy: PolicyText,
    domain: Annotated[
        Path | None, Parameter(help="The PDDL domain, where the generator does not bring it.")
    ] = None,
    start: Annotated[int, Parameter(validator=Count, help="The first size.")] = 2,
    step: Annotated[int, Parameter(validator=Count, help="From size to size.")] = 2,
    largest: Annotated[int, Parameter(validator=Count, help="The last size.")] = 100,
    fallen: Annotated[
        float, Parameter(validator=Share, help="End where coverage is below this for sure.")
    ] = 0.5,
    confidence: Annotated[float, Parameter(validator=Share, help="Of every bound.")] = 0.95,
    width: Annotated[float, Parameter(validator=Share, help="How closely coverage is to be known.")] = 0.3,
    instances: Annotated[int, Parameter(validator=Count, help="At most so many of a size.")] = 60,
    oracle: Annotated[
        list[str] | None, Parameter(negative="", help="Oracles that find bugs, instead of the usual.")
    ] = None,
    unit_cost: UnitCost = False,
    seed: Annotated[int, Parameter(validator=Number(gte=0, lt=2**32), help="Of the instances.")] = 0,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    out: Annotated[
        Path | None, Parameter(help="Directory for the answers; the same command goes on there.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Raise the size of random instances until the policy's coverage falls.

    At every size instances are drawn until coverage is known closely enough. The bounds hold with the stated
    confidence although the drawing stops because of what was seen.

    Example: misstep scale --generator ferry --policy zoo:ferry --seconds 300
    """
    from misstep.budget import Budget
    from misstep.errors import InputError
    from misstep.experiments.scaling import ScaleConfig, Scaling, open_store
    from misstep.plugins import make_part

    part = make_part("generator", generator)
    text = _read(domain) if domain is not None else part.domain
    if text is None:
        raise InputError(f"generator `{generator}` brings no domain; name it with --domain")
    config = ScaleConfig(
        sizes=tuple(range(start, largest + 1, step)),
        fallen=fallen,
        confidence=confidence,
        width=width,
        instances=instances,
        unit_cost=unit_cost,
        seed=seed,
    )
    if oracle:
        config = replace(config, oracle=tuple(oracle))
    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    scaling = Scaling(
        text,
        part,
        policy,
        config,
        store=open_store(out),
        budget=Budget(seconds=limits.seconds_left),
        watch=limits.watch,
    )
    results: list[SizeResult] = []
    if not json:
        say(f"size  instances  solved  {'coverage':<24}  bugs  unknown  bug rate")
    try:
        with (
            continued(out),
            StatusLine("drawing instances", quiet=quiet or json, seconds=seconds) as status,
        ):
            for result in scaling.results(lambda so_far: _show(status, so_far)):
                results.append(result)
                if not json:
                    say(_row(result))
    finally:
        scaling.store.close()
    if json:
        emit_json(_json(scaling, results))
    elif not quiet:
        _sum_up(scaling, results, is_kept=out is not None)
    return ExitCode.NOTHING_FOUND if results else ExitCode.NOTHING_TESTED


def _read(domain: Path) -> str:
    from misstep.errors import InputError

    try:
        return domain.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{domain}: cannot be read: {error}") from None


def _show(status: StatusLine, result: "SizeResult") -> None:
    status.show(f"size {result.size}: {result.solved} of {result.instances} instances solved")


def _row(result: "SizeResult") -> str:
    from misstep.explain.rates import Rate

    sure = result.confidence
    coverage = Rate(result.solved, result.instances - result.solved, 0, result.coverage, sure)
    rate = Rate(result.bugs, result.cleared, result.unknown, result.bug_rate, sure)
    return (
        f"{result.size:4}  {result.instances:9}  {result.solved:6}  {coverage.brief:<24}  "
        f"{result.bugs:4}  {result.unknown:7}  {rate.brief}"
    )


def _json(scaling: "Scaling", results: "list[SizeResult]") -> dict[str, object]:
    return {
        "sizes": [result.as_json() for result in results],
        "policy": scaling.policy,
        "confidence": scaling.config.confidence,
        "fallen": scaling.fallen,
        "limit": scaling.limit,
    }


def _sum_up(scaling: "Scaling", results: "list[SizeResult]", *, is_kept: bool) -> None:
    from misstep.explain.rates import percent

    sure = f"{percent(scaling.config.confidence, math.floor)} confidence"
    if scaling.fallen:
        most = percent(scaling.config.fallen, math.ceil)
        say(f"At size {results[-1].size} coverage is below {most} ({sure}).")
    elif scaling.limit != "sizes":
        how = "the same command" if is_kept else "with --out the same command"
        note(f"The limit on {scaling.limit} was hit before coverage fell; {how} goes on.")
    else:
        note("Coverage has not fallen at any of the sizes; --largest allows more.")
    good = [result for result in results if result.coverage.lo >= scaling.config.fallen]
    if good:
        least = percent(good[-1].coverage.lo, math.floor)
        say(f"Up to size {good[-1].size} it is at least {least} ({sure}).")
