"""`misstep fuzz`: a pool of test states, without testing them."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from misstep.cli.config_options import FuzzOptions, make_config
from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import DomainFile, Json, ProblemFile, Quiet
from misstep.cli.output import continued, emit_json, say, warn
from misstep.errors import InputError
from misstep.explain.words import counted
from misstep.reports.status import StatusLine, clock

if TYPE_CHECKING:
    from misstep.bench import Bench
    from misstep.fuzz import Fuzz, FuzzProgress

# Walks need no policy where nothing is biased; where one is needed, this one is at hand.
_DEFAULT_POLICY = "heuristic:ff"


def fuzz(
    domain: DomainFile,
    problem: ProblemFile = None,
    /,
    *,
    out: Annotated[Path, Parameter(help="The pool file to write, with one JSON object in each line.")],
    options: Annotated[FuzzOptions, Parameter(name="*")] = FuzzOptions(),  # noqa: B008
    resume: Annotated[
        bool, Parameter(negative="", show_default=False, help="Continue the pool in the file --out.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Make a pool of test states by random walks; a bias guides them to where the policy may fail.

    Example: misstep fuzz domain.pddl problem.pddl --policy gnn:net.ckpt --bias detour --out pool.jsonl
    """
    from misstep.bench import set_up
    from misstep.record.pool_file import PoolWriter, read_made_by, read_pool
    from misstep.record.store import read_lines

    start = time.perf_counter()
    config = make_config(options, domain=domain, problem=problem)
    config = config.replace(policy=config.policy or _DEFAULT_POLICY)
    budget = config.budget()
    with StatusLine(f"loading {config.subject}", quiet=quiet, seconds=config.seconds):
        bench = set_up(config, budget)
    warn(*bench.warnings, quiet=quiet)
    pool = bench.fuzz(budget)
    made_by = _made_by(bench, pool)
    if resume and out.exists() and read_lines(out):  # else it was killed before it had begun: begin now
        _check_settings(out, read_made_by(out), made_by)
        pool = bench.fuzz(budget, known=read_pool(out, bench.task))
    found = len(pool.known)
    status = StatusLine("fuzzing", quiet=quiet, ticking=False)
    with PoolWriter(out, made_by=made_by, keep=found, resume=resume) as writer, status:
        pool.on_progress = lambda progress: status.show(_status(progress, config.seconds))
        with continued(out, *(() if resume else ("--resume",))):
            for entry in pool:
                writer.write(entry)
                found = max(found, entry.id + 1)
    _sum_up(bench, pool, found, out, time.perf_counter() - start, json=json, quiet=quiet)
    return ExitCode.NOTHING_FOUND


def _made_by(bench: "Bench", pool: "Fuzz") -> dict[str, object]:
    return {
        "fuzzer": repr(pool.fuzzer),
        "bias": repr(pool.bias),
        "policy": bench.config.policy,
        "seed": bench.config.seed,
        "unit_cost": bench.unit_cost,
    }


def _sum_up(
    bench: "Bench", pool: "Fuzz", found: int, out: Path, seconds: float, *, json: bool, quiet: bool
) -> None:
    from misstep.answers.guard import failures_of

    if pool.bound_hit:
        warn("some exact distances were too far to search; lower bounds took their place", quiet=quiet)
    if failures := failures_of(bench.policy):
        state, reason = next(iter(failures.items()))
        warn(f"the policy failed on {len(failures)} states, such as {state}: {reason}", quiet=quiet)
    if json:
        result: dict[str, Any] = {
            "pool": found,
            "seed": bench.config.seed,
            "stopped": pool.stopped,
            "bound_hit": pool.bound_hit,
            "states_asked": bench.graph.states_asked,
            "seconds": round(seconds, 6),
            "policy_seconds": round(bench.graph.policy_seconds, 6),
            "out": str(out),
        }
        emit_json(result)
        return
    why = {"full": "", "exhausted": "; walks lead to no other states any more"}
    reason = why.get(pool.stopped, f"; the limit on {pool.stopped} was hit")
    say(f"{counted(found, 'state')} in {out} (seed {bench.config.seed}, {seconds:.2f} s{reason})")


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
