"""`misstep replay`: ask the policy again about known bugs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, note


def replay(
    run: Annotated[Path, Parameter(help="A run directory.")],
    bug: Annotated[str | None, Parameter(help="One bug; all by default.")] = None,
    /,
    *,
    policy: Annotated[
        str | None, Parameter(help="Ask this policy instead, such as a newly trained one.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Ask the policy again: still a bug, changed, or fixed? Exit code 1 where a bug is left.

    Example: misstep replay runs/line-001 12
    """
    from misstep.record.replay import Rerun
    from misstep.record.verify import runs_in

    replayed = []
    for folder in runs_in(run):
        again = Rerun.open(folder, policy=policy)
        replayed += again.replay(again.bugs(bug))
    counts = {status: sum(r.status == status for r in replayed) for status in ("bug", "changed", "fixed")}
    if json:
        bugs = [
            {
                "id": r.id,
                "status": r.status,
                "outcome": r.run.outcome,
                "cost": r.cost.as_json(),
                "best": r.best.as_json(),
            }
            for r in replayed
        ]
        emit_json({"replayed": len(replayed), **counts, "bugs": bugs})
    else:
        for r in replayed:
            does = f"costs {r.cost.lo:g}" if r.run.outcome == "solved" else r.run.outcome
            print(f"bug {r.id}: {r.status} (the policy: {does}; a plan of cost {r.best.hi:g} exists)")
        note(", ".join(f"{count} {status}" for status, count in counts.items()), quiet=quiet)
    if not replayed:
        return ExitCode.NOTHING_TESTED
    return ExitCode.BUGS_FOUND if counts["bug"] + counts["changed"] else ExitCode.NOTHING_FOUND
