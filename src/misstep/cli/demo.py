"""`misstep demo`: the main job on a bundled task and a bundled trained policy."""

import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json
from misstep.cli.output import emit_json, note

if TYPE_CHECKING:
    from misstep.cli.testing import Request

_POLICY = "zoo:courier"
# What a family is called by the outcome of its runs; the others are rare enough to show as they are.
_DOES = {"solved": "the policy takes a detour", "loop": "the policy runs in a loop"}


def demo(
    *,
    out: Annotated[Path | None, Parameter(help="The run directory; runs/demo-NUMBER by default.")] = None,
    json: Json = False,
) -> int:
    """Test a small trained policy on a bundled task: two vans, three parcels, roads of different length.

    Finds states in which the policy does worse than is possible, shows what would be better, and checks every
    proof again. Bugs are what a demo is for: the exit code is 0, where `misstep test` would end with 1.

    Example: misstep demo
    """
    from misstep.cli.test import DEFAULT_ORACLE
    from misstep.cli.testing import Request, test_all
    from misstep.record.store import free_directory
    from misstep.record.verify import verify_run

    start = time.perf_counter()
    with as_file(files("misstep") / "bundled" / "courier") as folder:
        request = Request(
            domain=folder / "domain.pddl",
            problems=(folder / "problem.pddl",),
            policy=_POLICY,
            oracles=(DEFAULT_ORACLE,),
            out=free_directory(Path("runs") / "demo") if out is None else out,
            quiet=True,
        )
        if not json:
            _introduce(request)
        (result,), interrupted = test_all(request)
    if interrupted:
        note(f"interrupted: what was found is saved in {request.out}")
        return ExitCode.INTERRUPTED
    assert request.out is not None
    checked = verify_run(request.out)
    if json:
        emit_json({**result, "verify": checked})
    else:
        shown = _show_bugs(request.out)
        _sum_up(result, checked, request.out, shown)
        note(f"{time.perf_counter() - start:.1f} s (the policy: {result['seconds']['policy']:.1f} s)")
    return ExitCode.INTERNAL_ERROR if checked["invalid"] else ExitCode.NOTHING_FOUND


def _introduce(request: "Request") -> None:
    from misstep.record.store import read_object

    with as_file(files("misstep") / "bundled" / "zoo" / "courier.linear.json") as file:
        about = read_object(file)["about"]
    print("task      courier: two vans bring three parcels along roads of different length")
    print(
        f"policy    {request.policy}: a linear policy that imitates optimal plans, trained on "
        f"{about['examples']} states of {about['tasks']} random tasks"
    )
    print(f"states    {request.pool} from random walks, seed {request.seed}")
    print(f"oracles   {'+'.join(request.oracles)}", flush=True)


def _show_bugs(run: Path) -> str | None:
    """The largest family of each outcome by a bug of it; the id of the one shown first."""
    from misstep.record.store import BUGS, EVENTS, TASK, read_log, read_object
    from misstep.reports.side_by_side import side_by_side
    from misstep.task import load_sas

    task = load_sas(run / TASK)
    largest: dict[str, dict[str, Any]] = {}
    for family in read_log(run / EVENTS)[-1]["families"]:
        largest.setdefault(family["outcome"], family)
    for outcome, family in largest.items():
        bug = str(family["representative"])
        certificate = read_object(run / BUGS / f"{bug}.json")
        alike = len(family["members"]) - 1
        does = _DOES.get(outcome, f"the policy fails ({outcome})")
        print(f"\nbug {bug}: {does}" + (f" (bugs like it: {alike} more)" if alike else ""))
        for line in side_by_side(task, certificate):
            print(f"  {line}".rstrip())
    return next((str(family["representative"]) for family in largest.values()), None)


def _sum_up(result: dict[str, Any], checked: dict[str, Any], run: Path, bug: str | None) -> None:
    never, costly = result["bugs"]["qualitative"], result["bugs"]["quantitative"]
    print(
        f"\n{result['tested']} states tested, {result['solved']} solved by the policy\n"
        f"bugs      {never + costly}: in {never} it never reaches the goal, in {costly} it pays too much\n"
        f"cleared   {result['cleared']}: proven that nothing better exists\n"
        f"unknown   {result['unknown']}: neither was proven"
    )
    by_search = f" ({checked['by_search']} of them rest on a search)" if checked["by_search"] else ""
    print(f"proofs    {checked['valid']} of {checked['certificates']} accepted by the checker{by_search}")
    for entry in checked["invalid"]:
        print(f"  {entry['certificate']}: {entry['reason']}")
    print(f"\nAll of it is in {run}. Try next:\n  misstep verify {run}")
    if bug is not None:
        print(f"  misstep replay {run} {bug}\n  misstep shrink {run} {bug}")
