"""`misstep run`: follow a policy from the initial state."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.loading import load_task
from misstep.cli.options import DomainFile, Json, PolicyText, ProblemFile, Quiet, Seconds, UnitCost
from misstep.cli.output import emit_json, note, warn

if TYPE_CHECKING:
    from misstep._core import Run

_MEANING = {
    "solved": "the goal is reached",
    "loop": "the policy came back to a state where it was before: it never reaches the goal",
    "stuck": "the policy gave no action",
    "illegal": "the policy's answer is not an applicable action",
    "failed": "the policy gave no decision",
    "dead-end": "from here the goal cannot be reached any more (h^max is infinite)",
    "cut-off": "a limit ended the run",
}


def run(
    domain: DomainFile,
    problem: ProblemFile = None,
    /,
    *,
    policy: PolicyText,
    max_steps: Annotated[int, Parameter(validator=Number(gt=0, lt=2**31), help="The longest run.")] = 10_000,
    seconds: Seconds = None,
    unit_cost: UnitCost = False,
    recheck: Annotated[bool, Parameter(help="Ask some states twice to notice randomness.")] = True,
    states: Annotated[bool, Parameter(negative="", help="Show the state after each action.")] = False,
    out: Annotated[Path | None, Parameter(help="Write the plan to this file.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run a policy from the initial state and show the trace.

    Example: misstep run domain.pddl problem.pddl --policy asnet:trained.policy
    """
    from misstep._core import PolicyGraph
    from misstep.answers.guard import bind_guarded, reason_of_run, warnings_of
    from misstep.cli.output import write_plan
    from misstep.policy import make_policy_part, wants_unit_cost

    start = time.perf_counter()
    part = make_policy_part(policy)
    task = load_task(domain, problem, unit_cost=unit_cost or wants_unit_cost(part), seconds=seconds)
    if not quiet:
        warn(task.warnings)
    bound = bind_guarded(part, task)
    if not quiet:
        warn(warnings_of(bound))
    graph = PolicyGraph(task, bound, recheck=recheck)
    left = None if seconds is None else max(0.0, seconds - (time.perf_counter() - start))
    runs = graph.run(task.batch([task.initial_state]), max_steps=max_steps, max_seconds=left)
    found = runs[0] if runs else None
    reason = None if found is None else reason_of_run(bound, found)
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
    if reason is not None and not quiet:
        warn([reason])
    return ExitCode.NOTHING_FOUND


def _show(run: "Run | None", *, states: bool, seconds: float, policy_seconds: float, quiet: bool) -> None:
    if run is None:
        print("cut-off")
        note("the time was up before the run ended; give more --seconds", quiet=quiet)
        return
    trace = run.states
    for at, action in enumerate(run.actions):
        print(action.name)
        if states:
            print(f"  {trace[at + 1]}")
    if run.outcome != "solved":
        print(run.outcome)
    cost = f", cost {run.spent}" if run.outcome == "solved" else ""
    note(
        f"{run.outcome}: {_MEANING[run.outcome]} ({run.steps} steps{cost}, {seconds:.2f} s, "
        f"policy {policy_seconds:.2f} s)",
        quiet=quiet,
    )
