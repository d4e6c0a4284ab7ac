"""`misstep safety decide`: is this state r-safe?"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, MemoryMb, Quiet, Seconds
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

if TYPE_CHECKING:
    from misstep._core import JaniGame
    from misstep.safety.model import SafetyTask


def decide(
    model: ModelFile,
    /,
    *,
    state: Annotated[
        str, Parameter(help="initial, start:K (the K-th start state), or a JSON object of values.")
    ] = "initial",
    radius: Radius = "inf",
    policy: Policy = None,
    decider: Annotated[
        str, Parameter(help="level, tarjan, value-iteration, lao, lrtdp or policy-iteration.")
    ] = "level",
    reading: Reading = Reading(),  # noqa: B008
    filter: Filter = None,
    horizon: Horizon = None,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    max_expansions: Annotated[
        int, Parameter(help="Expanded states before the answer is unknown.")
    ] = 10_000_000,
    seed: Annotated[int, Parameter(help="For start states that are drawn at random.")] = 0,
    out: Annotated[
        Path | None, Parameter(help="Write a run directory with the strategy or refutation.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Decide whether a state is r-safe, with a strategy or a refutation as proof.

    Exit code 0: safe; 1: unsafe, or unknown because a limit was hit.

    Example: misstep safety decide model.jani --properties p.jani --state initial --radius inf
    """
    from misstep._core import Budget, Decider

    started = time.perf_counter()
    budget = Budget(seconds=seconds, expansions=max_expansions, memory_mb=memory_mb)
    r = parse_radius(radius)
    task = reading.load(model)
    native_policy = find_policy(policy, task, filter=filter)
    if r is not None and native_policy is None:
        raise InputError("a finite radius counts deviations from a policy; give one with --policy")
    game = task.game(native_policy, horizon=horizon)
    s = _find_state(state, task, game, seed)
    judge = Decider(game, decider)
    verdict, limit, expanded, _ = judge.decide(s, r, budget=budget)
    minimal = None
    if native_policy is not None and verdict != "unknown":
        minimal = judge.minimal_radius(s, budget=budget)
    result: dict[str, Any] = {
        "verdict": verdict,
        "radius": "inf" if r is None else r,
        "minimal_radius": minimal,
        "expanded": expanded,
        "seconds": round(time.perf_counter() - started, 6),
        "limit": limit,
        "horizon": horizon,
    }
    if out is not None and verdict != "unknown":
        result["out"] = str(out)
        _write(out, task, game, judge, s, result, r=r, horizon=horizon, policy=policy)
    if json:
        emit_json(result)
    else:
        _show(result, task, game, judge, s, r, quiet=quiet)
    return ExitCode.NOTHING_FOUND if verdict == "safe" else ExitCode.BUGS_FOUND


def _find_state(text: str, task: "SafetyTask", game: "JaniGame", seed: int) -> int:
    from misstep.formats.jani import parse

    if text == "initial":
        return game.initial()[0]
    if text.startswith("start:"):
        index = text.removeprefix("start:")
        if not index.isdecimal():
            raise InputError(f"--state {text!r}: expected start:K with a number K")
        starts = task.start_states(game, count=max(1000, int(index) + 1), seed=seed)
        if int(index) >= len(starts):
            raise InputError(f"--state {text!r}: there are {len(starts)} start states, counted from 0")
        return starts[int(index)]
    values = parse(text, "--state")
    if not isinstance(values, dict):
        raise InputError("--state: expected initial, start:K or a JSON object of values")
    return game.add(task.to_values(values, default=game.values(game.initial()[0])))


def _write(
    out: Path,
    task: "SafetyTask",
    game: "JaniGame",
    judge: Any,
    s: int,
    result: dict[str, Any],
    *,
    r: int | None,
    horizon: int | None,
    policy: str | None,
) -> None:
    from misstep.safety.campaign import Settings, run_directory
    from misstep.safety.certificate import make_certificate

    settings = Settings(decider=judge.algorithm, radius=r, horizon=horizon)
    folder = run_directory(out, task, settings, policy or "none")
    safe = result["verdict"] == "safe"
    certificate = make_certificate(
        task,
        game,
        judge,
        radius=r,
        horizon=horizon,
        safe=[s] if safe else [],
        not_safe=[] if safe else [s],
    )
    folder.certificate("decision", certificate)
    folder.event({"event": "decision", **result})
    folder.close()


def _show(
    result: dict[str, Any],
    task: "SafetyTask",
    game: "JaniGame",
    judge: Any,
    s: int,
    r: int | None,
    *,
    quiet: bool,
) -> None:
    print(
        result["verdict"] if result["limit"] is None else f"unknown: the limit on {result['limit']} was hit"
    )
    if quiet:
        return
    if result["verdict"] == "safe" and (steps := judge.strategy(s, r)) and steps[0][2] is not None:
        note(f"safe action: {task.labels[steps[0][2]]} (strategy of {len(steps)} states)")
    if result["verdict"] == "unsafe":
        note(f"refutation of {len(judge.refutation(s, r))} steps")
    if result["limit"] and task.model.has_reals and result["horizon"] is None:
        note("the model has real variables: without --horizon its states may never repeat")
    if result["verdict"] == "safe" and (points := task.semantics.box_points):
        note(f"{points} points stand for each box of real values: safe means safe for those")
    if result["minimal_radius"] is not None:
        note(f"minimal radius: {result['minimal_radius']}")
    note(f"{result['expanded']} expanded, {len(game)} states seen, {result['seconds']:.3f} s")
