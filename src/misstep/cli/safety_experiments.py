"""`misstep safety experiments`: the paper's experiments on our benchmarks, or on a model of your own."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.config_options import ExperimentOptions, make_config
from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import MAX_COUNT, MAX_SECONDS, Json, Quiet
from misstep.cli.output import continued, emit_json, note, say
from misstep.errors import InputError

Count = Number(gt=0, lt=MAX_COUNT)


def experiments(
    names: Annotated[
        tuple[str, ...],
        Parameter(help="Benchmarks, or one JANI file with --policy; by default all benchmarks."),
    ] = (),
    /,
    *,
    out: Annotated[
        Path, Parameter(help="The directory for results and figures; an unfinished one is continued.")
    ],
    runs: Annotated[int, Parameter(validator=Count, help="The number of policy runs of each fuzzer.")] = 1000,
    states: Annotated[
        int, Parameter(validator=Count, help="How many states of each benchmark to decide.")
    ] = 200,
    paths: Annotated[
        int, Parameter(validator=Count, help="How many unsafe runs of each benchmark to analyse.")
    ] = 50,
    max_steps: Annotated[int, Parameter(validator=Count, help="The most steps of a run.")] = 300,
    seconds: Annotated[
        float,
        Parameter(
            validator=Number(gt=0, lt=MAX_SECONDS),
            help="Time limit of one decision, and of the fault analysis of one run, in seconds.",
        ),
    ] = 2.0,
    max_expansions: Annotated[
        int,
        Parameter(validator=Count, help="The most states that one decision may expand; the same for a run."),
    ] = 200_000,
    memory_mb: Annotated[int, Parameter(validator=Count, help="Memory limit of one decision, in MB.")] = 4000,
    jobs: Annotated[
        int,
        Parameter(
            validator=Number(gt=0, lte=1024),
            help="How many processes run at the same time; measured times get longer.",
        ),
    ] = 1,
    options: Annotated[Any, Parameter(name="*")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compare fuzzers, deciders and fault analyses; draw the paper's figures 2 to 4.

    The same command continues after a stop.

    Example: misstep safety experiments --out results --jobs 2
    """
    from misstep.experiments.safety import bundled_instances, run_experiments
    from misstep.experiments.safety_units import Instance, Plan

    given = options or ExperimentOptions()
    plan = Plan(
        runs=runs,
        states=states,
        paths=paths,
        max_steps=max_steps,
        max_seconds=seconds,
        max_expansions=max_expansions,
        memory_mb=memory_mb,
        seed=given.seed or 0,
    )
    if given.policy is None:
        instances = bundled_instances(names)
    elif len(names) == 1:
        model = Path(names[0])
        instances = [Instance(model.stem, make_config(given, model=model))]
    else:
        raise InputError("--policy is for a model of your own: name its JANI file, and nothing else")
    with continued(out):
        found = run_experiments(out, plan, instances, jobs=jobs, tell=lambda text: note(text, quiet=quiet))
    if json:
        emit_json({**found, "out": str(out)})
        return ExitCode.NOTHING_FOUND
    for title, entries in found.items():
        _show(title.replace("_", " "), entries)
    say(f"results and figures are in {out}")
    return ExitCode.NOTHING_FOUND


experiments.__annotations__["options"] = Annotated[ExperimentOptions | None, Parameter(name="*")]


def _show(title: str, entries: Any) -> None:
    if not entries:
        return
    say(title)
    rows = entries.items() if isinstance(entries, dict) else enumerate(entries, start=1)
    for name, value in rows:
        told = (
            ", ".join(f"{key.replace('_', ' ')} {v}" for key, v in value.items())
            if isinstance(value, dict)
            else value
        )
        say(f"  {str(name).replace('_', ' ') if isinstance(value, list) else name}: {told}")
