"""`misstep safety decide`: is this state r-safe?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from misstep.cli.config_options import DecideOptions, make_config
from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, note, say
from misstep.cli.safety_options import MaxExpansions, ModelFile, with_option
from misstep.explain.words import counted
from misstep.reports.status import StatusLine

if TYPE_CHECKING:
    from misstep.safety.decision import Decision

# One question may take more than one of the many that a test asks.
_MAX_EXPANSIONS = 10_000_000


def decide(
    model: ModelFile,
    /,
    *,
    state: Annotated[
        str, Parameter(help="The state: initial, start:K (the K-th start state), or a JSON object of values.")
    ] = "initial",
    options: Annotated[Any, Parameter(name="*")] = None,
    max_expansions: MaxExpansions = None,
    out: Annotated[
        Path | None,
        Parameter(help="Write a record with the proof, for `misstep verify`."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Decide whether a state is safe if the policy may be overruled --radius times; with a proof.

    The proof is a strategy that stays safe, or a refutation, which shows that every strategy can fail.

    Exit code 0: safe; 1: unsafe, or unknown because a limit was reached.

    Example: misstep safety decide model.jani --properties p.jani --state initial --radius inf
    """
    from misstep.safety.decision import decide as ask

    config = make_config(options or DecideOptions(), model=model)
    if max_expansions is not None or "max_expansions" not in config.decider:
        most = _MAX_EXPANSIONS if max_expansions is None else max_expansions
        config = config.replace(decider=with_option(config.decider, "max_expansions", most))
    with StatusLine(f"deciding about {config.subject}", quiet=quiet, seconds=config.seconds):
        found = ask(config, state)
    result = found.as_json()
    if out is not None and found.verdict != "unknown":
        result["out"] = str(out)
        found.save(out)
    if json:
        emit_json(result)
    else:
        _show(found, quiet=quiet)
    return ExitCode.NOTHING_FOUND if found.verdict == "safe" else ExitCode.BUGS_FOUND


decide.__annotations__["options"] = Annotated[DecideOptions | None, Parameter(name="*")]


def _show(found: "Decision", *, quiet: bool) -> None:
    lab, s, radius = found.lab, found.state, found.config.radius
    say(found.verdict if found.limit is None else f"unknown: the limit on {found.limit} was hit")
    if quiet:
        return
    if found.verdict == "safe" and (steps := lab.decider.strategy(s, radius)) and steps[0][2] is not None:
        note(f"safe action: {lab.task.labels[steps[0][2]]} (a strategy of {counted(len(steps), 'state')})")
    if found.verdict == "unsafe":
        note(f"refutation of {counted(len(lab.decider.refutation(s, radius)), 'step')}")
    if found.limit and lab.task.model.has_reals and found.config.horizon is None:
        note("the model has real variables: without --horizon its states may never repeat")
    if found.verdict == "safe" and (points := found.config.box_points):
        note(f"{points} points stand for each box of real values: safe means safe for those")
    if found.minimal_radius is not None:
        note(f"minimal radius: {found.minimal_radius}")
    note(f"{counted(found.expanded, 'state')} expanded, {len(lab.game)} seen, {found.seconds:.3f} s")
