"""`misstep safety shield` and `misstep safety retrain`: from faults to a policy without them."""

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.config_options import ModelOptions, ShieldOptions, make_config
from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import MAX_COUNT, Json, MemoryMb, PolicyText, Quiet, Seconds
from misstep.cli.output import continued, emit_json, note, say
from misstep.cli.safety_options import ModelFile
from misstep.cli.training import say_limit
from misstep.errors import InputError
from misstep.explain.rates import share_words
from misstep.explain.words import counted
from misstep.reports.status import StatusLine

if TYPE_CHECKING:
    from misstep.safety.exam import Exam

Count = Number(gt=0, lt=MAX_COUNT)


def shield(
    model: ModelFile,
    /,
    *,
    out: Annotated[Path, Parameter(help="The .json file to write; --policy shield:FILE uses it.")],
    options: Annotated[Any, Parameter(name="*")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Put a shield around a policy: it is overruled where it could become unsafe, or would go round for ever.

    The file holds what is done instead where runs came by; elsewhere policy and decider are asked. From start
    states that are safe no run becomes unsafe; the table shows it, and how many start states were lost
    already.

    Example: misstep safety shield line.jani --policy zoo:two_way_line --out line.shield.json
    """
    from misstep.safety.model import load_model
    from misstep.safety.shield import measure
    from misstep.safety.shield_policy import shield_of, write_shield

    config = make_config(options or ShieldOptions(), model=model)
    if out.suffix != ".json":
        raise InputError(f"{out}: the shield's file ends in .json")
    task = load_model(config)
    made = shield_of(config, task)
    with StatusLine(f"shielding {config.policy} on {config.subject}", quiet=quiet, seconds=config.seconds):
        starts = task.start_states(made.lab.game, count=config.start_states, seed=config.seed)
        found = measure(made, starts, runs=config.runs, max_steps=config.longest_run, seed=config.seed)
    write_shield(out, made, policy=config.policy, decider=config.decider)
    if json:
        emit_json({**found.as_json(), "overruled": len(made.overruled), "out": str(out)})
        return ExitCode.NOTHING_FOUND
    say(f"start states: {found.safe_starts} safe, {found.lost_starts} lost already")
    if found.undecided_starts:
        say(f"  {found.undecided_starts} more are not decided: a limit was hit")
    for line in _table({"policy": found.without, "with shield": found.covered}):
        say(line)
    without_risk = share_words(found.goals_without_risk, found.without.runs)
    say(f"the policy's runs that reach the goal and risk nothing on the way: {without_risk}")
    if found.best_goal_rate is not None:
        say(
            f"no policy that risks nothing reaches the goal in more than {found.best_goal_rate:.1%} of the runs"
        )
    say(f"{counted(found.interventions, 'intervention')} in {counted(found.steps, 'step')}")
    note(f"--policy {shlex.quote(f'shield:{out}')} is the shielded policy", quiet=quiet)
    return ExitCode.NOTHING_FOUND


def retrain(
    model: ModelFile,
    /,
    *,
    policy: PolicyText,
    out: Annotated[Path, Parameter(help="The .jani2nnet file to write; the network goes beside it.")],
    rounds: Annotated[int, Parameter(validator=Count, help="At most so many rounds.")] = 10,
    runs: Annotated[int, Parameter(validator=Count, help="Runs that are learned from, a round.")] = 200,
    epochs: Annotated[int, Parameter(validator=Count, help="Of training, a round.")] = 60,
    exam_runs: Annotated[int, Parameter(validator=Count, help="Runs of each measurement.")] = 1000,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    options: Annotated[Any, Parameter(name="*")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Train a network on its faults: it learns what a shield around it does, round after round.

    The policy is nnet:FILE or zoo:NAME. The network with the fewest unsafe runs of those that reach the goal
    as often as before is written. The same command goes on with a retraining that was stopped.

    Example: misstep safety retrain line.jani --policy nnet:mine.jani2nnet --out better.jani2nnet
    """
    from misstep.safety.model import load_model
    from misstep.safety.policy import policy_part
    from misstep.training.qcheckpoint import prepare
    from misstep.training.repair import RepairSettings
    from misstep.training.repair_checkpoint import retrain_to

    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    config = make_config(options or ModelOptions(), model=model)
    prepare(out)
    files = policy_part(policy).files
    if not files or files[0].suffix != ".jani2nnet":
        raise InputError(f"policy `{policy}`: only networks are retrained; name one with nnet:FILE")
    settings = RepairSettings(rounds=rounds, runs=runs, epochs=epochs, exam_runs=exam_runs, seed=config.seed)

    def progress(number: int, exam: "Exam") -> None:
        unsafe, goal = share_words(exam.unsafe, exam.runs), share_words(exam.goals, exam.runs)
        text = f"round {number}: {unsafe} of runs unsafe, {goal} reach the goal"
        note(text, quiet=quiet or json)

    with limits.watch():
        task = load_model(config)
    tell = partial(note, quiet=quiet)
    with continued(out.parent):
        found = retrain_to(out, task, files[0], settings, watch=limits.watch, progress=progress, tell=tell)
    exams = {"before": found.before, "before, with shield": found.shielded, "after": found.after}
    if json:
        keys = ("before", "shielded", "after")
        result = {key: exam.as_json() for key, exam in zip(keys, exams.values(), strict=True)}
        emit_json({**result, "rounds": len(found.rounds), "policy": f"nnet:{out}", "limit": found.limit})
    else:
        say_limit(found.limit, quiet=quiet)
        for line in _table(exams):
            say(line)
        say(f"nnet:{out} is the policy after it")
    return ExitCode.NOTHING_FOUND if found.is_better else ExitCode.BUGS_FOUND


shield.__annotations__["options"] = Annotated[ShieldOptions | None, Parameter(name="*")]
retrain.__annotations__["options"] = Annotated[ModelOptions | None, Parameter(name="*")]


def _table(exams: "dict[str, Exam]") -> list[str]:
    """Runs from start states that are safe, one line a policy."""
    wide = max(map(len, exams))
    lines = [f"{'runs from safe starts':<{wide}}  unsafe    goal  how they ended"]
    width = len(lines[0]) - len("  unsafe    goal  how they ended")
    for name, exam in exams.items():
        ends = ", ".join(f"{count} {end}" for end, count in exam.ends.items())
        unsafe, goal = share_words(exam.unsafe, exam.runs), share_words(exam.goals, exam.runs)
        lines.append(f"{name:<{width}}  {unsafe:>6}  {goal:>6}  {ends}")
    return lines
