"""`misstep demo`: the main job on a bundled task and a bundled trained policy."""

import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json
from misstep.cli.output import emit_json, note

if TYPE_CHECKING:
    from misstep.config import Config
    from misstep.events import Family
    from misstep.record.verified import Verified
    from misstep.reports.report import Report

_POLICY = "zoo:courier"


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
    from misstep.cli.testing import run_session
    from misstep.config import Config
    from misstep.record.record import Record
    from misstep.record.verify import verify_record
    from misstep.session import Session

    start = time.perf_counter()
    record = Record.create_free(Path("runs") / "demo") if out is None else Record.create(out)
    with as_file(files("misstep") / "bundled" / "courier") as folder:
        config = Config(domain=folder / "domain.pddl", problem=folder / "problem.pddl", policy=_POLICY)
        if not json:
            _introduce(config)
        report, interrupted = run_session(Session(config, record=record), quiet=True, silent=True)
    if interrupted:
        note(f"interrupted: what was found is saved in {record.where}")
        return ExitCode.INTERRUPTED
    checked = verify_record(record)
    if json:
        emit_json({**report.as_json(), "verify": checked.as_json()})
    else:
        _show_bugs(report)
        _sum_up(report, checked)
        policy_seconds = report.finished.seconds["policy"]
        note(f"{time.perf_counter() - start:.1f} s (the policy: {policy_seconds:.1f} s)")
    return ExitCode.INTERNAL_ERROR if checked.invalid else ExitCode.NOTHING_FOUND


def _introduce(config: "Config") -> None:
    from misstep.record.store import read_object

    zoo = files("misstep") / "bundled" / "zoo" / "courier.linear.json"
    about = read_object(zoo.read_bytes(), "zoo:courier")["about"]
    print("task      courier: two vans bring three parcels along roads of different length")
    print(
        f"policy    {config.policy}: a linear policy that imitates optimal plans, trained on "
        f"{about['examples']} states of {about['tasks']} random tasks"
    )
    print(f"states    {config.pool} from random walks, seed {config.seed}")
    print(f"oracles   {'+'.join(config.oracle)}", flush=True)


def _show_bugs(report: "Report") -> None:
    """The largest family of each outcome by a bug of it."""
    from misstep.reports.show import show_bug

    largest: dict[str, Family] = {}
    for family in report.families:
        largest.setdefault(family.outcome, family)
    for family in largest.values():
        alike = len(family.members) - 1
        head, *lines = show_bug(report.record, report.bug(family.representative).certificate)
        print(f"\n{head}" + (f" (bugs like it: {alike} more)" if alike else ""))
        for line in lines:
            print(f"  {line}".rstrip())


def _sum_up(report: "Report", checked: "Verified") -> None:
    from misstep.reports.summary import summary_lines

    print("\n" + "\n".join(summary_lines(report)))
    by_search = f" ({checked.by_search} of them rest on a search)" if checked.by_search else ""
    print(f"proofs    {checked.valid} of {checked.certificates} accepted by the checker{by_search}")
    for entry in checked.invalid:
        print(f"  {entry['certificate']}: {entry['reason']}")
    where = report.record.where
    print(f"\nAll of it is in {where}. Try next:\n  misstep verify {where}")
    if report.families:
        bug = report.families[0].representative
        print(f"  misstep show {where} {bug}\n  misstep replay {where} {bug}\n  misstep shrink {where} {bug}")
