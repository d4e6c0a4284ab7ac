"""`python -m benchmarks.ledger`: instructions of twenty commands, beside what was kept before.

A command that takes over 3 % more than was kept ends this with exit code 1, unless it is kept with a reason.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.ledger import commands, counting, kept
from benchmarks.ledger.commands import COMMANDS, ROOT, Command
from benchmarks.ledger.counting import Broken, Machine
from benchmarks.ledger.kept import TOLERATED, Change, Row

KEPT = Path(__file__).parent / "kept.csv"
BUILD = ROOT / "build" / "ledger"


@dataclass(frozen=True)
class Where:
    """The commit that is counted, and when."""

    commit: str
    date: str


def main(words: Sequence[str] | None = None) -> int:
    options = _options(words)
    if shutil.which("valgrind") is None:
        print(counting.ABSENT, file=sys.stderr)
        return 2
    try:
        past = kept.read(options.file)
        chosen = _chosen(options.only)
        print(f"counting {len(chosen)} commands; each takes seconds to minutes", flush=True)
        counts = _count_all(chosen, options.repeat, options.jobs)
    except Broken as broken:
        print(f"error: {broken}", file=sys.stderr)
        return 2
    where, machine = _where(), counting.machine(ROOT)
    rows = [_row(command, counts[command.name], where, machine) for command in chosen]
    changes = [kept.compare(row, past) for row in rows]
    for line in table(changes, [counts[command.name] for command in chosen]):
        print(line)
    return _decide(changes, options)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], metavar="COMMAND", help="count these commands alone")
    parser.add_argument("--keep", action="store_true", help="add the counts to the kept file")
    parser.add_argument("--reason", default="", help="why commands may take more than before; with --keep")
    parser.add_argument(
        "--repeat", type=int, default=1, help="count so often, and show how much counts differ"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many commands are counted at the same time")
    parser.add_argument(
        "--file", type=Path, default=KEPT, help="the kept file; by default the one beside this"
    )
    options = parser.parse_args(words)
    if options.reason and not options.keep:
        parser.error("--reason is kept with the counts: add --keep")
    if options.repeat < 1 or options.jobs < 1:
        parser.error("--repeat and --jobs are at least 1")
    return options


def _chosen(only: Sequence[str]) -> list[Command]:
    known = {command.name: command for command in COMMANDS}
    if unknown := [name for name in only if name not in known]:
        raise Broken(f"unknown command {unknown[0]!r}; known are {', '.join(known)}")
    return [known[name] for name in only] or list(COMMANDS)


def _count_all(chosen: Sequence[Command], repeat: int, jobs: int) -> dict[str, list[int]]:
    """By name, the counts of all repeats. Every command has a copy of the files for itself."""
    start = time.monotonic()
    commands.prepare(BUILD / "files")

    def counted(command: Command) -> tuple[str, list[int]]:
        counts = [count(command) for _ in range(repeat)]
        print(f"  {command.name}: {counts[0] / 1e6:,.1f} million", file=sys.stderr, flush=True)
        return command.name, counts

    with ThreadPoolExecutor(jobs) as pool:
        counts = dict(pool.map(counted, chosen))
    print(f"{len(chosen)} commands in {time.monotonic() - start:.0f} s", flush=True)
    return counts


def count(command: Command) -> int:
    """Runs a command twice: once as it is, which fills the caches of compiled Python, then counted."""
    folder = BUILD / command.name
    _fresh(folder)
    _check(command, counting.run(command.line, folder))
    _fresh(folder, only_out=True)
    instructions, ended = counting.count(command.line, folder, BUILD / "logs" / command.name)
    _check(command, ended)
    return instructions


def _fresh(folder: Path, *, only_out: bool = False) -> None:
    if not only_out:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(BUILD / "files", folder)
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()


def _check(command: Command, ended: subprocess.CompletedProcess[str]) -> None:
    if ended.returncode != command.code:
        raise Broken(
            f"{command.name} ended with {ended.returncode}, not {command.code}: "
            f"misstep {command.words}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}"
        )


def _where() -> Where:
    def git(*words: str) -> str:
        ended = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return ended.stdout.strip()

    is_changed = git("status", "--porcelain", "--untracked-files=no")
    commit = git("rev-parse", "--short=10", "HEAD") or "unknown"
    return Where(commit + "+" * bool(is_changed), time.strftime("%Y-%m-%d"))


def _row(command: Command, counts: Sequence[int], where: Where, machine: Machine) -> Row:
    """The least of the repeats: what disturbs a count adds to it."""
    return Row(
        where.commit,
        where.date,
        command.name,
        commands.digest(command),
        min(counts),
        machine.python,
        machine.compiler,
        machine.arch,
    )


def table(changes: Sequence[Change], repeats: Sequence[Sequence[int]]) -> list[str]:
    """The lines to print: millions of instructions, the change, and how much repeats differ."""
    spread = any(len(counts) > 1 for counts in repeats)
    lines = [f"{'command':14}{'million':>12}{'change':>10}  kept at{'    spread' if spread else ''}"]
    for change, counts in zip(changes, repeats, strict=True):
        ratio = "new" if change.ratio is None else f"{100 * (change.ratio - 1):+.2f} %"
        at = change.last.commit if change.last else "-"
        differ = f"  {100 * (max(counts) / min(counts) - 1):.3f} %" if spread else ""
        mark = "  REGRESSION" if change.is_regression else ""
        row = change.row
        lines.append(
            f"{row.command:14}{row.instructions / 1e6:>12,.1f}{ratio:>10}  {at:11}{differ}{mark}".rstrip()
        )
    return lines


def _decide(changes: Sequence[Change], options: argparse.Namespace) -> int:
    """Keeps what is to be kept; 1 where a command takes more than it may and no reason is given."""
    slower = [change for change in changes if change.is_regression]
    if slower and not options.reason:
        for change in slower:
            print(_complaint(change))
        print("Make them cheaper, or keep the counts with a reason: make ledger KEEP=1 REASON='why'")
        return 1
    if options.keep:
        reasons = {id(change): options.reason for change in slower}
        kept.append(options.file, [replace(c.row, reason=reasons.get(id(c), "")) for c in changes])
        print(f"kept in {options.file}")
    return 0


def _complaint(change: Change) -> str:
    least = change.least
    assert least is not None
    more = 100 * (change.row.instructions / least.instructions - 1)
    allowed = 100 * (TOLERATED - 1)
    return (
        f"{change.row.command} takes {more:.1f} % more than at {least.commit}; {allowed:.0f} % are tolerated"
    )


if __name__ == "__main__":
    sys.exit(main())
