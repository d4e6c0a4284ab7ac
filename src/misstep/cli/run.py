"""`misstep run`: follow a policy from the initial state."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from misstep.cli.config_options import RunOptions, make_config
from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import DomainFile, Json, ProblemFile, Quiet
from misstep.cli.output import emit_json, note, say_plain, warn
from misstep.explain.words import counted
from misstep.reports.status import StatusLine

if TYPE_CHECKING:
    from misstep._core import Run

_MEANING = {
    "solved": "the goal is reached",
    "loop": "the policy came back to a state where it was before: it never reaches the goal",
    "stuck": "the policy gave no action",
    "illegal": "the policy's answer is not an applicable action",
    "dead-end": "from here the goal cannot be reached any more",
    "cut-off": "a limit ended the run",
    "failed": "the policy failed to answer",
}


def run(
    domain: DomainFile,
    problem: ProblemFile = None,
    /,
    *,
    options: Annotated[RunOptions, Parameter(name="*")] = RunOptions(),  # noqa: B008
    states: Annotated[
        bool, Parameter(negative="", show_default=False, help="Show the state after each action.")
    ] = False,
    out: Annotated[Path | None, Parameter(help="Write the plan to this file.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run a policy from the initial state and show the trace.

    Example: misstep run domain.pddl problem.pddl --policy asnet:trained.policy
    """
    from misstep.answers.guard import reason_of_run
    from misstep.bench import set_up
    from misstep.cli.output import write_plan

    start = time.perf_counter()
    config = make_config(options, domain=domain, problem=problem)
    budget = config.budget()
    with StatusLine(f"loading {config.subject}", quiet=quiet, seconds=config.seconds) as status:
        bench = set_up(config, budget)
        warn(*bench.warnings, quiet=quiet)
        graph, task = bench.graph, bench.task
        status.show(f"running {config.policy} on {config.subject}")
        runs = graph.run(task.batch([task.initial_state]), max_steps=config.longest_run, budget=budget)
    found = runs[0] if runs else None
    reason = None if found is None else reason_of_run(bench.policy, found)
    spent = time.perf_counter() - start
    solved = found is not None and found.outcome == "solved"
    plan = [] if found is None else found.actions
    if out is not None and solved and found is not None:
        write_plan(out, plan, found.spent)
    if json:
        emit_json(
            {
                "outcome": "cut-off" if found is None else found.outcome,
                "cost": found.spent if solved and found is not None else None,
                "steps": 0 if found is None else found.steps,
                "plan": [action.name for action in plan],
                "seconds": round(spent, 6),
                "policy_seconds": round(graph.policy_seconds, 6),
                "reason": reason,
            }
        )
        return ExitCode.NOTHING_FOUND
    _show(found, states=states, seconds=spent, policy_seconds=graph.policy_seconds, quiet=quiet)
    if reason is not None:
        warn(reason, quiet=quiet)
    return ExitCode.NOTHING_FOUND


def _show(run: "Run | None", *, states: bool, seconds: float, policy_seconds: float, quiet: bool) -> None:
    if run is None:
        say_plain("cut-off")
        note("the time was up before the run ended; give more --seconds", quiet=quiet)
        return
    trace = run.states
    for at, action in enumerate(run.actions):
        say_plain(action.name)
        if states:
            say_plain(f"  {trace[at + 1]}")
    if run.outcome != "solved":
        say_plain(run.outcome)
    cost = f", cost {run.spent}" if run.outcome == "solved" else ""
    note(
        f"{run.outcome}: {_MEANING[run.outcome]} ({counted(run.steps, 'step')}{cost}, {seconds:.2f} s, "
        f"policy {policy_seconds:.2f} s)",
        quiet=quiet,
    )
