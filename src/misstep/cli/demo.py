"""`misstep demo`: the main job on a bundled task and a bundled trained policy."""

import re
import time
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, kept, note, say, say_plain
from misstep.reports.status import StatusLine
from misstep.reports.summary import Kind, kinds
from misstep.reports.text import screen_width
from misstep.support.command import command

if TYPE_CHECKING:
    from misstep.config import Config
    from misstep.record.verified import Verified
    from misstep.reports.report import Report

_COURIER = "courier"
_ASNET = "courier-asnet"
"""On the same task as `courier`, where every action costs 1: ASNets do not see costs."""
_POOL = 100


def demo(
    name: Annotated[
        str, Parameter(help="Which policy of the zoo to test: an ASNet such as gripper, or courier (linear).")
    ] = _ASNET,
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="The directory of the record; by default runs/demo-NUMBER.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Test a small trained network on a bundled task: two vans bring three parcels to where they belong.

    It finds states in which the policy does worse than is possible, shows what would be better, checks every
    proof again, and writes a report for the browser. Because a demo is meant to find bugs, its exit code is 0
    where `misstep test` would end with 1. With NAME, it tests another policy of the zoo, on the problem that
    comes with it.

    Example: misstep demo gripper
    """
    from misstep.cli.testing import run_session
    from misstep.config import Config
    from misstep.record.record import Record
    from misstep.record.verify import verify_record
    from misstep.session import Session

    start = time.perf_counter()
    with as_file(files("misstep") / "bundled") as folder:
        domain, problem = demo_files(folder, name)
        config = Config(
            domain=domain, problem=problem, policy=f"zoo:{name}", pool=_POOL, unit_cost=name != _COURIER
        )
        record = Record.create_free(Path("runs") / "demo") if out is None else Record.create(out)
        if not json:
            _introduce(config)
        report, interrupted = run_session(Session(config, record=record), quiet=quiet or json, silent=True)
    if interrupted:
        go_on = command("test", "--resume", "--out", Path(record.where))
        note(f"interrupted: {kept(record.where, go_on)}", quiet=quiet)
        return ExitCode.INTERRUPTED
    with StatusLine("checking all proofs again", quiet=quiet or json):
        checked = verify_record(record)
    with StatusLine("writing the report", quiet=quiet or json):
        page = report.write_html(Path(record.where) / "report.html")
    if json:
        emit_json({**report.as_json(), "verify": checked.as_json(), "report": str(page)})
    else:
        _show_bugs(report)
        _sum_up(report, checked, page)
        policy_seconds = report.finished.seconds["policy"]
        note(f"{time.perf_counter() - start:.1f} s (the policy: {policy_seconds:.1f} s)", quiet=quiet)
    return ExitCode.INTERNAL_ERROR if checked.invalid else ExitCode.NOTHING_FOUND


def demo_files(folder: Path, name: str) -> tuple[Path, Path]:
    """Domain and problem of a policy of the zoo."""
    from misstep.errors import InputError
    from misstep.policies.zoo import zoo_files

    if name in (_COURIER, _ASNET):
        return folder / _COURIER / "domain.pddl", folder / _COURIER / "problem.pddl"
    if name not in zoo_files():
        raise InputError(f"the zoo has no policy `{name}`; there are: {', '.join(zoo_files())}")
    return folder / "domains" / f"{name}.pddl", folder / "problems" / f"{name}.pddl"


def _introduce(config: "Config") -> None:
    say(
        *_about(config),
        f"states    {config.pool} from random walks, seed {config.seed}",
        f"oracles   {', '.join(_oracle_names(config.oracle))}: they look for something better",
        hang=10,
    )


def _about(config: "Config") -> list[str]:
    """What is tested."""
    from misstep.record.store import read_object

    name = config.policy.partition(":")[2]
    if name == _ASNET:
        return [
            "task      courier: two vans bring three parcels to where they belong; every action costs 1",
            f"policy    {config.policy}: an ASNet, a neural network made from the domain's action schemas, trained on "
            "20 random tasks with one or two parcels",
        ]
    if name != _COURIER:
        assert config.domain is not None
        first = config.domain.read_text(encoding="utf-8").partition("\n")[0].removeprefix("; ")
        return [
            f"task      {name}: {first}",
            f"policy    {config.policy}: an ASNet trained on small problems",
        ]
    zoo = files("misstep") / "bundled" / "zoo" / "courier.linear.json"
    about = read_object(zoo.read_bytes(), config.policy)["about"]
    return [
        "task      courier: two vans bring three parcels along roads of different length",
        f"policy    {config.policy}: a linear policy that imitates optimal plans, trained on "
        f"{about['examples']} states of {about['tasks']} random tasks",
    ]


def _oracle_names(texts: Sequence[str]) -> list[str]:
    """The names without their options: `planner:astar:lmcut,effort=5e6+improve/ehc` are two."""
    return [re.split("[:/]", part)[0] for text in texts for part in text.split("+")]


def _show_bugs(report: "Report") -> None:
    """The largest kind of each outcome by a bug of it."""
    from misstep.loading import recorded_task
    from misstep.reports.columns import side_by_side
    from misstep.reports.comparison import compare
    from misstep.reports.show import headline

    task = recorded_task(report.record)
    largest: dict[str, Kind] = {}
    for kind in kinds(report.families):
        largest.setdefault(kind.outcome, kind)
    for kind in largest.values():
        comparison = compare(task, report.bug(kind.representative).certificate)
        alike = len(kind.members) - 1
        say(
            "",
            f"bug {kind.representative}: {headline(comparison)}"
            + (f" ({alike} more like it)" if alike else ""),
        )
        say_plain(*side_by_side(comparison, screen_width()))


def _sum_up(report: "Report", checked: "Verified", page: Path) -> None:
    from misstep.reports.summary import summary_lines

    by_search = f"; in {checked.by_search} it has to believe a search" if checked.by_search else ""
    proofs = f"proofs    {checked.valid} of {checked.certificates} accepted by the checker{by_search}"
    say("", *summary_lines(report), proofs, hang=10)
    for entry in checked.invalid:
        say(f"  {entry['certificate']}: {entry['reason']}")
    where = Path(report.record.where)
    say("", f"All of it is in {where}. Open {page} in a browser, or try:", f"  {command('verify', where)}")
    if report.families:
        bug = report.families[0].representative
        say(*(f"  {command(name, where, bug)}" for name in ("show", "replay", "shrink")))
