"""Oracles on the pools of the peer tool: verdicts beside its own, exact costs, CPU seconds sans policy.

python -m benchmarks.peer_pools [--oracle TEXT] [--only NAME] [--verify]
"""

import argparse
import json
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from misstep.config import DEFAULT_ORACLE, Config
from misstep.events import Finished, Judged
from misstep.loading import load_task
from misstep.record.record import Record
from misstep.record.verify import verify_record
from misstep.session import Session

DATA = Path(os.environ.get("MISSTEP_DATA", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", default=DEFAULT_ORACLE)
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--verify", action="store_true", help="also check all certificates; says how large they are"
    )
    options = parser.parse_args()
    if not DATA.is_dir():
        print("no shared data: set MISSTEP_DATA or put it at ../shared/data")
        return
    print(f"oracle: {options.oracle}")
    print(
        f"{'pool':42} solved  bugs (qual) cleared (search) unknown  seconds  policy   peer's bugs (seconds)"
    )
    for peer in sorted((DATA / "peer-pools").glob("*.peer.json")):
        if options.only not in peer.name:
            continue
        with TemporaryDirectory(prefix="misstep-") as folder:
            out = Path(folder) / "record" if options.verify else None
            compared = compare(peer, options.oracle, out)
            report(compared)
            if out is not None:
                check(compared, out)


@dataclass(frozen=True)
class Compared:
    """Our verdicts on a pool of the peer, and its own words on it."""

    name: str
    peer: dict[str, Any]
    found: Finished
    tested: list[Judged]
    seconds: float
    """Of CPU, without translation and policy."""

    def exact(self) -> dict[int, float]:
        """h* by pool id, where it is known."""
        known = {int(key): value for key, value in self.peer.get("h_star", {}).items()}
        known |= {int(k): v["bound"] for k, v in self.peer["bugs"].get("planner:astar-lmcut", {}).items()}
        return known

    def contradictions(self) -> list[int]:
        """States whose bounds exclude the exact cost."""
        known = self.exact()
        return [e.id for e in self.tested if e.id in known and not e.best.lo <= known[e.id] <= e.best.hi]

    def missing(self) -> list[int]:
        """States that are bugs by their exact cost and were not flagged."""
        known = self.exact()
        return [e.id for e in self.tested if e.id in known and e.cost.lo > known[e.id] and e.verdict != "bug"]


def compare(path: Path, oracle: str, out: Path | None = None) -> Compared:
    """Tests the states of one pool."""
    peer = json.loads(path.read_text())
    data = path.parents[1]
    name = path.name.removesuffix(".peer.json")
    kind = {"asnets": "asnet", "gnn": "gnn"}.get(peer["policy"].split("/")[0])
    unit_cost = peer.get("unit_cost", False)
    threads = ",threads=1" if kind == "gnn" else ""  # or seconds of the clock would not be those of a core
    config = Config(
        domain=data / peer["task"]["domain"],
        problem=data / peer["task"]["problem"],
        policy=f"{kind}:{data / peer['policy']}{threads}" if kind else "heuristic:ff",
        pool_file=path.with_name(f"{name}.pool.jsonl"),
        oracle=(oracle,),
        unit_cost=unit_cost,
    )
    task = load_task(config.domain, config.problem, unit_cost=unit_cost or kind == "gnn")
    record = Record.in_memory() if out is None else Record.create(out)
    session = Session(config, task=task, record=record)
    before = time.process_time()
    for _ in session.events():
        pass
    found = session.tally.finished
    assert found is not None
    record.close()
    # The policy's time is known by the clock only, which others may share: it is taken as a share of all.
    seconds = (time.process_time() - before) * (1 - found.seconds["policy"] / found.seconds["total"])
    return Compared(name, peer, found, list(session.tally.judged.values()), seconds)


def check(compared: Compared, out: Path) -> None:
    """Has all certificates checked, without the comparison of the task with its PDDL."""
    before = time.process_time()
    checked = verify_record(Record.open(out))
    seconds = time.process_time() - before
    size = {
        name: (out / name).stat().st_size
        for name in ("cleared.jsonl", "evidence.jsonl")
        if (out / name).exists()
    }
    each = sum(size.values()) / max(1, compared.found.cleared)
    print(
        f"    {checked.valid} certificates verified, {len(checked.invalid)} refused, in {seconds:.2f} s: "
        f"{seconds / max(compared.seconds, 1e-9):.2f} times the oracles' time; {sum(size.values()) / 1e6:.2f} MB for "
        f"{compared.found.cleared} cleared states, {each / 1e3:.1f} kB each"
    )


def report(compared: Compared) -> None:
    found, peer = compared.found, compared.peer
    spent = peer.get("cpu_seconds", {})
    theirs = {key: f"{len(bugs)} ({spent.get(key, math.nan):g})" for key, bugs in peer["bugs"].items()}
    print(
        f"{compared.name:42} {found.solved:6d} {found.bugs:5d} ({found.qualitative:4d}) {found.cleared:7d} "
        f"({found.cleared_by_search:6d}) {found.unknown:7d} {compared.seconds:8.2f} "
        f"{found.seconds['policy']:7.2f}   " + ", ".join(f"{key}: {value}" for key, value in theirs.items())
    )
    if wrong := compared.contradictions():
        print(f"    CONTRADICTED by h*: {wrong}")
    if missed := compared.missing():
        print(f"    {len(missed)} bugs by h* are not flagged, such as {missed[:5]}")


if __name__ == "__main__":
    main()
