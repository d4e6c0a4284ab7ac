"""`misstep fuzz`: a pool of test states, without testing them."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.loading import load_task
from misstep.cli.options import (
    MAX_COUNT,
    DomainFile,
    Json,
    PolicyText,
    ProblemFile,
    Quiet,
    Seconds,
    UnitCost,
)
from misstep.cli.output import emit_json, note, warn
from misstep.cli.status import StatusLine, clock
from misstep.errors import InputError

if TYPE_CHECKING:
    from misstep.fuzz import FuzzProgress


def fuzz(
    domain: DomainFile,
    problem: ProblemFile = None,
    /,
    *,
    policy: PolicyText = "heuristic:ff",
    out: Annotated[Path, Parameter(help="The pool file, one JSON object a line.")],
    fuzzer: Annotated[str, Parameter(help="`refined` or `classic`, with options.")] = "refined",
    bias: Annotated[
        str, Parameter(help="`none`, `plan-length`, `loopiness`, `detour`, `surface`; h=ff or h=star.")
    ] = "none",
    pool: Annotated[int, Parameter(validator=Number(gt=0, lt=2**31), help="The size of the pool.")] = 100,
    seconds: Seconds = None,
    seed: Annotated[int, Parameter(validator=Number(gte=0, lt=MAX_COUNT), help="Same seed, same pool.")] = 0,
    resume: Annotated[bool, Parameter(negative="", help="Continue the pool in --out.")] = False,
    unit_cost: UnitCost = False,
    recheck: Annotated[bool, Parameter(help="Ask some states twice to notice randomness.")] = True,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Make a pool of test states by random walks that a bias steers to where the policy may fail.

    Example: misstep fuzz domain.pddl problem.pddl --policy gnn:net.ckpt --bias detour --out pool.jsonl
    """
    from misstep._core import PolicyGraph
    from misstep.answers.guard import bind_guarded, failures_of, warnings_of
    from misstep.fuzz import Fuzz
    from misstep.plugins import make_part
    from misstep.policy import make_policy_part, wants_unit_cost
    from misstep.pool import PoolWriter, read_made_by, read_pool

    start = time.perf_counter()
    part = make_policy_part(policy)
    unit_cost = unit_cost or wants_unit_cost(part)
    session_fuzzer, session_bias = make_part("fuzzer", fuzzer), make_part("bias", bias)
    task = load_task(domain, problem, unit_cost=unit_cost, seconds=seconds)
    if not quiet:
        warn(task.warnings)
    made_by = {
        "fuzzer": repr(session_fuzzer),
        "bias": repr(session_bias),
        "policy": policy,
        "seed": seed,
        "unit_cost": unit_cost,
    }
    known = []
    if resume:
        _check_settings(out, read_made_by(out), made_by)
        known = read_pool(out, task)
    left = None if seconds is None else max(0.0, seconds - (time.perf_counter() - start))
    bound = bind_guarded(part, task)
    if not quiet:
        warn(warnings_of(bound))
    graph = PolicyGraph(task, bound, recheck=recheck)
    with PoolWriter(out, made_by=made_by, keep=len(known)) as writer, StatusLine(quiet=quiet) as status:
        session = Fuzz(
            graph,
            session_fuzzer,
            session_bias,
            seed=seed,
            size=pool,
            max_seconds=left,
            known=known,
            on_progress=lambda progress: status.show(_status(progress, left)),
        )
        found = len(known)
        try:
            for entry in session:
                writer.write(entry)
                found = max(found, entry.id + 1)
        except KeyboardInterrupt:
            note(f"interrupted: {found} states are saved in {out}; --resume continues", quiet=quiet)
            return ExitCode.INTERRUPTED
    spent = time.perf_counter() - start
    if session.bound_hit:
        warn(["some exact distances were too far to search; lower bounds took their place"])
    if failures := failures_of(bound):
        state, reason = next(iter(failures.items()))
        warn([f"the policy failed on {len(failures)} states, such as {state}: {reason}"])
    if json:
        emit_json(
            {
                "pool": found,
                "seed": seed,
                "stopped": session.stopped,
                "bound_hit": session.bound_hit,
                "states_asked": graph.states_asked,
                "seconds": round(spent, 6),
                "policy_seconds": round(graph.policy_seconds, 6),
                "out": str(out),
            }
        )
    else:
        why = {"full": "", "exhausted": "; no new states were found for a long time"}
        reason = why.get(session.stopped, f"; the limit on {session.stopped} was hit")
        note(f"{found} states in {out} (seed {seed}, {spent:.2f} s{reason})", quiet=quiet)
    return ExitCode.NOTHING_FOUND


def _status(progress: "FuzzProgress", seconds: float | None) -> str:
    rate = progress.pool / progress.seconds if progress.seconds > 0 else 0
    asked = progress.states_asked / progress.policy_seconds if progress.policy_seconds > 0 else 0
    words = [f"pool {progress.pool}/{progress.size}", f"{rate:,.0f} states/s"]
    if progress.states_asked:
        words.append(f"policy {asked:,.0f} states/s")
    if progress.known:
        words.append(f"solved {progress.solved / progress.known:.0%} of {progress.known}")
    remaining = (progress.size - progress.pool) / rate if rate > 0 else None
    if seconds is not None:
        remaining = max(0.0, min(seconds - progress.seconds, remaining or seconds))
    if remaining is not None:
        words.append(f"{clock(remaining)} left")
    return " · ".join(words)


def _check_settings(path: Path, before: dict[str, object], now: dict[str, object]) -> None:
    if not before:
        raise InputError(f"{path} does not say how it was made, so it cannot be continued")
    for key, value in now.items():
        if before.get(key) != value:
            raise InputError(
                f"{path} was made with {key} = {before.get(key)}, not {value}; "
                "use the same settings or another --out"
            )
