"""`misstep safety test`: unsafe runs, bugs and faults of a policy."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import MAX_COUNT, Json, MemoryMb, Quiet, Seconds
from misstep.cli.output import emit_json, note
from misstep.cli.safety_options import (
    Filter,
    Horizon,
    ModelFile,
    Policy,
    Radius,
    Reading,
    find_policy,
    parse_radius,
)
from misstep.errors import InputError

Count = Number(gt=0, lt=MAX_COUNT)


def test(
    model: ModelFile,
    /,
    *,
    policy: Policy = None,
    runs: Annotated[int, Parameter(validator=Count, help="Policy runs.")] = 100,
    fuzzer: Annotated[str, Parameter(help="greedy, sampling or uniform.")] = "greedy",
    depth: Annotated[str, Parameter(help="Look-ahead of the fuzzer: a number, or inf.")] = "1",
    radius: Radius = "inf",
    decider: Annotated[
        str, Parameter(help="level, tarjan, value-iteration, lao, lrtdp or policy-iteration.")
    ] = "level",
    reading: Reading = Reading(),  # noqa: B008
    filter: Filter = None,
    horizon: Horizon = None,
    start_states: Annotated[
        int, Parameter(validator=Count, help="States drawn where the start is a condition.")
    ] = 1000,
    max_steps: Annotated[int, Parameter(validator=Count, help="Steps of one run.")] = 1000,
    max_expansions: Annotated[
        int, Parameter(validator=Count, help="Expanded states of one decision.")
    ] = 1_000_000,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    seed: Annotated[int, Parameter(help="Everything random comes from it.")] = 0,
    shield: Annotated[bool, Parameter(negative="", help="Also measure the policy behind a shield.")] = False,
    out: Annotated[Path | None, Parameter(help="The run directory; by default nothing is written.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Look for unsafe runs of a policy, and for the states and decisions that are to blame.

    A bug is a state from which the policy can get into an unsafe state although a safe policy exists; a fault
    is a decision that leaves the region where one exists.

    Example: misstep safety test model.jani --properties p.jani --policy nnet:net.jani2nnet --runs 1000
    """
    from misstep.safety.campaign import SafetyTest, Settings, run_directory

    task = reading.load(model)
    native_policy = find_policy(policy, task, filter=filter)
    if native_policy is None:
        raise InputError("no policy to test; give one with --policy")
    settings = Settings(
        runs=runs,
        fuzzer=fuzzer,
        depth=parse_radius(depth),
        decider=decider,
        radius=parse_radius(radius),
        horizon=horizon,
        max_steps=max_steps,
        start_states=start_states,
        max_expansions=max_expansions,
        seconds=seconds,
        memory_mb=memory_mb,
        seed=seed,
        shield=shield,
    )
    folder = None if out is None else run_directory(out, task, settings, policy or str(task.files.network))
    safety_test = SafetyTest(task, native_policy, settings, out=folder)
    try:
        for event in safety_test.events():
            for fault in event.get("fault_list", []):
                note(
                    f"fault: {fault['action']} instead of {fault['alternative']} in {fault['state']}",
                    quiet=quiet or json,
                )
    finally:
        if folder is not None:
            folder.close()
    summary = {**safety_test.summary(), "out": None if out is None else str(out)}
    if json:
        emit_json(summary)
    else:
        _show(summary)
    if summary["runs"] == 0:
        return ExitCode.NOTHING_TESTED
    return ExitCode.BUGS_FOUND if summary["bugs"] or summary["faults"] else ExitCode.NOTHING_FOUND


def _show(summary: dict[str, Any]) -> None:
    print(
        f"{summary['unsafe_runs']} of {summary['runs']} runs are unsafe; {summary['states']} states on them:"
    )
    print(f"  {summary['bugs']} bugs, {summary['cleared']} unavoidable, {summary['unknown']} unknown")
    print(f"  {summary['faults']} faults, {summary['possible_faults']} possible faults")
    for limit in summary["limits_hit"]:
        print(f"  the limit on {limit} was hit")
    if summary["out_of_bounds"]:
        print(f"  real values left their bounds {summary['out_of_bounds']} times")
    if shield := summary.get("shield"):
        print(
            f"  shield: {shield['unsafe_without']} unsafe runs without, {shield['unsafe_with']} with it; "
            f"{shield['interventions']} interventions in {shield['steps']} steps"
        )
    if summary["out"]:
        print(f"written to {summary['out']}; check it with: misstep verify {summary['out']}")
