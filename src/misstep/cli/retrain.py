"""`misstep retrain`: test a policy, train it on its bugs, test again."""

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import MAX_COUNT, Json, MemoryMb, PolicyText, Quiet, Seconds
from misstep.cli.output import continued, emit_json, note, say
from misstep.cli.training import Domain, load_tasks
from misstep.explain.rates import percent
from misstep.explain.words import counted
from misstep.reports.status import StatusLine

if TYPE_CHECKING:
    from misstep.formats.asnet_model import AsnetModel
    from misstep.training.retraining import RetrainResult, Round
    from misstep.training.standing import Change, Standing

Count = Number(gte=1, lt=MAX_COUNT)


def retrain(
    domain: Domain,
    problems: Annotated[list[Path], Parameter(help="PDDL problems whose bugs are learned, or directories.")],
    /,
    *,
    policy: PolicyText,
    out: Annotated[Path, Parameter(help="Directory for models and bugs; what is there goes on.")],
    validation: Annotated[
        list[Path] | None,
        Parameter(negative="", consume_multiple=True, help="Problems that decide which model is better."),
    ] = None,
    held_out: Annotated[
        list[Path] | None,
        Parameter(negative="", consume_multiple=True, help="Problems on which the result is measured."),
    ] = None,
    rounds: Annotated[int, Parameter(validator=Count, help="At most so many rounds.")] = 6,
    pool: Annotated[int, Parameter(validator=Count, help="States of every task in a round.")] = 50,
    epochs: Annotated[int, Parameter(validator=Count, help="Of training, a round.")] = 4,
    batches: Annotated[int, Parameter(validator=Count, help="Minibatches an epoch.")] = 150,
    rate: Annotated[float, Parameter(validator=Number(gt=0, lt=1), help="Learning rate.")] = 3e-4,
    oracle: Annotated[
        list[str] | None, Parameter(negative="", help="Oracles that find the bugs, instead of the usual.")
    ] = None,
    even_if_worse: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Give the learned policy also where it is no better than the one that came in, or was not compared.",
        ),
    ] = False,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    seed: Annotated[int, Parameter(validator=Number(gte=0, lt=2**32), help="Same seed, same model.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Train an ASNet on its own bugs until their rate stops falling.

    Every bug brings a better plan; the states along it are learned, the more the more is paid too much. What
    got better and what was forgotten is measured on states, and best on problems, that were never trained on.
    Where the learned policy is worse there, or better in nothing, the given policy is the result.

    Example: misstep retrain domain.pddl train/ --policy asnet:ferry.asnet --held-out test/ --out better
    """
    from misstep.training.retraining import RetrainConfig
    from misstep.training.retraining import retrain as learn

    model = _model(policy)
    config = RetrainConfig(rounds=rounds, pool=pool, epochs=epochs, batches=batches, rate=rate, seed=seed)
    if oracle:
        config = replace(config, oracle=tuple(oracle))
    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    with limits.watch():
        training, choosing, measuring = (
            load_tasks(domain, given or []) for given in (problems, validation, held_out)
        )
    with continued(out), StatusLine("testing", quiet=quiet or json) as status:
        result = learn(
            model,
            training,
            choosing,
            measuring,
            config,
            out=out,
            max_seconds=limits.seconds_left,
            even_if_worse=even_if_worse,
            watch=limits.watch,
            progress=lambda told: _show(status, told, quiet=quiet or json),
        )
    if json:
        emit_json(result.as_json())
        return ExitCode.NOTHING_FOUND
    if not quiet:
        _sum_up(result)
    say(f"asnet:{result.final}")
    return ExitCode.NOTHING_FOUND


def _model(policy: str) -> "AsnetModel":
    """The weights behind `asnet:FILE` or `zoo:NAME`."""
    from misstep.errors import InputError
    from misstep.plugins import make_policy_part
    from misstep.policies.asnet import Asnet
    from misstep.policies.zoo import Zoo

    part = make_policy_part(policy)
    if isinstance(part, Zoo):
        with part.opened() as inner:
            if isinstance(inner, Asnet):
                return inner.model
    if isinstance(part, Asnet):
        return part.model
    raise InputError(f"policy `{policy}`: only ASNets can be retrained; give asnet:FILE")


def _show(status: StatusLine, told: "Round", *, quiet: bool) -> None:
    note(
        f"round {told.number}: {counted(told.bugs, 'new bug')} in {counted(told.tested, 'state')}, "
        f"{counted(told.learned, 'state')} learned; "
        f"{'kept' if told.kept else 'no better, dropped'}: {counted(told.standing.bugs, 'proven bug')} in "
        f"{counted(told.standing.states, 'validation state')}, {told.seconds:.0f} s",
        quiet=quiet,
    )
    status.show(f"round {told.number + 1}")


def _sum_up(result: "RetrainResult") -> None:
    change = result.change
    if change is None:
        note(
            f"The limit on {result.limit} was hit before the result was measured; the same command with more goes on."
        )
    else:
        _say_change(change, result.of_tasks)
    _say_kept(result)


def _say_change(change: "Change", of_tasks: str) -> None:
    before, after = change.before, change.after
    say(f"measured on {of_tasks}: {counted(before.tasks, 'task')}, {counted(before.states, 'state')}")
    rows = [
        ("", "before", "after"),
        ("solved tasks", str(before.solved_tasks), str(after.solved_tasks)),
        ("solved states", str(before.solved_states), str(after.solved_states)),
        ("proven bugs", str(before.bugs), str(after.bugs)),
        ("unknown", str(before.unknown), str(after.unknown)),
        ("bug rate", *((_rate(before), _rate(after)) if before.states else ("no state was compared", ""))),
    ]
    if change.both_solved:
        one, other = (cost / change.both_solved for cost in (change.cost_before, change.cost_after))
        rows.append(("mean cost", f"{one:.2f}", f"{other:.2f}"))
    width = max(len(row[1]) for row in rows)
    for name, left, right in rows:
        say(f"{name:<15}{left:<{width}}  {right}".rstrip())
    if change.both_solved:
        both = counted(change.both_solved, "state")
        say(f"(mean cost: of the {both} that both solve; bug rate: 95 % confidence)")
    unsolved = f" ({change.unsolved} of them unsolved now)" if change.unsolved else ""
    say(
        f"{counted(change.fixed, 'bug')} fixed, {counted(change.forgotten, 'state')} forgotten{unsolved}; "
        f"better on {counted(change.better_tasks, 'task')}, worse on {change.worse_tasks} (sign test: "
        f"p = {change.p_value:.2g})",
    )


def _say_kept(result: "RetrainResult") -> None:
    """Which policy is given, and why, where it is not simply the learned one."""
    reasons = "; ".join(result.why_input)
    if result.kept == "learned":
        if reasons:
            say(f"The learned policy is given although {reasons}: --even-if-worse asks for it.")
        return
    say(f"The policy that came in is given unchanged: {reasons}.")
    if result.learned != result.original:
        say(f"The learned policy stays in {result.learned}; --even-if-worse gives it all the same.")


def _rate(standing: "Standing") -> str:
    lo, hi = standing.bug_rate
    return f"{percent(lo, math.floor)} to {percent(hi, math.ceil)}"
