"""`misstep safety experiments`: the paper's experiments on our benchmarks."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import MAX_COUNT, Json, Quiet
from misstep.cli.output import emit_json, note, say

Count = Number(gt=0, lt=MAX_COUNT)


def experiments(
    names: Annotated[tuple[str, ...], Parameter(help="Benchmarks; all without any.")] = (),
    /,
    *,
    out: Annotated[Path, Parameter(help="Where results and figures go.")],
    runs: Annotated[int, Parameter(validator=Count, help="Policy runs of each fuzzer.")] = 1000,
    states: Annotated[int, Parameter(validator=Count, help="States to decide, for each benchmark.")] = 200,
    paths: Annotated[
        int, Parameter(validator=Count, help="Unsafe runs to analyse, for each benchmark.")
    ] = 50,
    seconds: Annotated[float, Parameter(help="Time limit of one decision.")] = 2.0,
    seed: Annotated[int, Parameter(help="Everything random comes from it.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compare fuzzers, deciders and fault analyses on bundled benchmarks; draw the paper's figures 2 to 4.

    Example: misstep safety experiments --out results
    """
    from misstep.experiments.safety import Plan, run_experiments

    plan = Plan(runs=runs, states=states, paths=paths, max_seconds=seconds, seed=seed)
    summary = run_experiments(out, plan, names=names, progress=lambda text: note(text, quiet=quiet))
    if json:
        emit_json({**summary, "out": str(out)})
    else:
        for title, entries in summary.items():
            say(title.replace("_", " "))
            for name, value in entries.items():
                say(f"  {name}: {value}")
        say(f"results and figures are in {out}")
    return ExitCode.NOTHING_FOUND
