"""`misstep serve`: offers a policy to other programs."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.options import MAX_SECONDS, DomainFile, Json, PolicyText, ProblemFile, Quiet, UnitCost
from misstep.cli.output import warn
from misstep.cli.serving import serve_until_stopped
from misstep.reports.status import StatusLine


def serve(
    domain: DomainFile,
    problem: ProblemFile = None,
    /,
    *,
    policy: PolicyText,
    address: Annotated[
        str,
        Parameter(
            help="host:port, *:port to listen on all networks, or unix:///path; port 0 takes a free port."
        ),
    ] = "127.0.0.1:0",
    unit_cost: UnitCost = False,
    max_seconds: Annotated[
        float,
        Parameter(
            validator=Number(gt=0, lt=MAX_SECONDS),
            help="Time limit for each answer of the policy, in seconds.",
        ),
    ] = 60.0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Offer a policy to other programs over gRPC, until Ctrl-C (exit code 0).

    It prints its address on standard output. Only this machine can reach it unless the address says otherwise.
    Test it with --policy remote:ADDRESS. docs/remote-policy.md describes the protocol.

    Example: misstep serve domain.pddl problem.pddl --policy asnet:trained.policy --address localhost:50051
    """
    from misstep.answers.guard import Guard
    from misstep.bench import set_up
    from misstep.budget import Budget
    from misstep.config import Config
    from misstep.remote.server import PolicyServer

    config = Config(domain=domain, problem=problem, policy=policy, unit_cost=unit_cost)
    with StatusLine(f"loading {config.subject}", quiet=quiet):
        bench = set_up(config, Budget())
    task = bench.task
    warn(*bench.warnings, quiet=quiet)
    if isinstance(bench.policy, Guard):
        bench.policy.max_seconds = max_seconds
    server = PolicyServer(task, bench.policy, address=address)
    return serve_until_stopped(
        server,
        {"task": task.source, "policy": policy},
        what=f"{policy} on {task.source}",
        json=json,
        quiet=quiet,
    )
