"""`misstep shrink`: a smaller state with the same misstep."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, note
from misstep.errors import InputError

if TYPE_CHECKING:
    from misstep.explain.shrink import Shrunk
    from misstep.oracle import Case, Panel
    from misstep.record.replay import Rerun


def shrink(
    run: Annotated[Path, Parameter(help="A run directory.")],
    bug: Annotated[str, Parameter(help="The bug.")],
    /,
    *,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Find the latest buggy state on a bug's run and a short walk to it; certified like any other bug.

    Example: misstep shrink runs/line-001 12
    """
    from misstep.explain.shrink import shrink as shrink_bug
    from misstep.explain.shrink import walk_to
    from misstep.oracle import Panel, make_oracles
    from misstep.record.replay import Rerun

    again = Rerun.open(run)
    case = _case(again, bug)
    walk = walk_to(again.lab, case.entry)
    panel = Panel(again.lab, make_oracles(again.config["oracles"]), objective=again.objective)
    shrunk = shrink_bug(panel, case, walk)
    target = _write(again, panel, shrunk, f"{bug}-shrunk")
    before = {"run": case.run.steps, "walk": None if walk is None else len(walk)}
    after = {"run": shrunk.case.run.steps, "walk": None if shrunk.walk is None else len(shrunk.walk)}
    if json:
        emit_json({"bug": bug, "certificate": str(target), "before": before, "after": after})
        return ExitCode.BUGS_FOUND
    print(shrunk.case.entry.state)
    note(
        f"{shrunk.steps_on_run} steps further on; the policy's run: {before['run']} -> {after['run']} steps",
        quiet=quiet,
    )
    if shrunk.walk is not None:
        note(f"walk from the initial state: {before['walk']} -> {after['walk']} actions", quiet=quiet)
    note(f"certificate: {target}", quiet=quiet)
    return ExitCode.BUGS_FOUND


def _case(again: "Rerun", bug: str) -> "Case":
    from misstep.oracle import Case
    from misstep.pool import PoolEntry, read_pool
    from misstep.record.store import POOL

    certificate = again.bugs(bug)[bug]
    for entry in read_pool(again.path / POOL, again.task):
        again.lab.enter(entry)
    state = again.state(certificate, bug)
    found = again.replay({bug: certificate})[0]
    if found.status == "fixed":
        raise InputError(f"bug {bug} is fixed: the policy now does as well as the known plan")
    known = again.lab.entry(certificate.get("pool", {}).get("id"))
    entry = known if known is not None and known.state == state else PoolEntry(0, state)
    return Case(entry, found.run, found.cost)


def _write(again: "Rerun", panel: "Panel", shrunk: "Shrunk", name: str) -> Path:
    from misstep.explain.fault import localise
    from misstep.record.certificate import make_certificate
    from misstep.record.store import BUGS, write_object

    fault = localise(again.lab, shrunk.case.run)
    certificate = make_certificate(
        again.lab,
        shrunk.case,
        panel.verdict(shrunk.case),
        objective=again.objective,
        fault=fault,
        id=name,
        policy=again.config["policy"],
        walk_from_initial_state=None if shrunk.walk is None else [action.name for action in shrunk.walk],
        replay=f"misstep replay {again.path} {name}",
    )
    target = again.path / BUGS / f"{name}.json"
    write_object(target, certificate)
    return target
