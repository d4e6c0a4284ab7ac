"""Proofs of lower bounds on the pools of the peer tool: what they settle, their size, the time to check them.

python -m benchmarks.proofs [--only NAME] [--oracle TEXT]
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peer_pools import DATA
from misstep._core import PolicyGraph
from misstep.config import DEFAULT_ORACLE
from misstep.judge import judge
from misstep.lab import Lab
from misstep.objectives.cost import Quantitative
from misstep.oracle import Case, Oracle, make_oracles, open_case
from misstep.plugins import make_policy_part
from misstep.proof import ProofLog, Surrounded
from misstep.record.pool_file import read_pool
from misstep.reference.bits import BitTask
from misstep.reference.fdr import parse
from misstep.reference.frontier import frontier_bound
from misstep.reference.functions import Functions
from misstep.task import load

ORACLES = DEFAULT_ORACLE


@dataclass
class Proofs:
    """What the oracles proved about the states of one pool."""

    verdicts: Counter[str] = field(default_factory=Counter)
    settled_by: Counter[str] = field(default_factory=Counter)
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    evidence: list[tuple[tuple[int, ...], dict[str, Any], float]] = field(default_factory=list)
    oracle_seconds: float = 0.0
    written: int = 0
    """Bytes of the evidence that certificates share."""

    def append(self, line: Mapping[str, Any]) -> None:
        """Counts a line of the evidence."""
        self.written += len(json.dumps(line)) + 1

    @property
    def bytes(self) -> int:
        """On disk."""
        evidence = sum(len(json.dumps(evidence)) + 1 for _, evidence, _ in self.evidence)
        return evidence + self.written

    def checked(self, sas: str) -> float:
        """The seconds that the checker takes for everything."""
        before = time.process_time()
        functions = Functions(BitTask(parse(sas)), self.lines.values())
        for values, evidence, bound in self.evidence:
            if frontier_bound(values, evidence, functions) < bound:
                raise SystemExit(f"a proof is refused: {evidence}")
        return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--oracle", default=ORACLES)
    options = parser.parse_args()
    print(f"oracle: {options.oracle}")
    print(f"{'pool':42} bugs cleared unknown oracle s check s proofs    bytes  settled by")
    for path in sorted((DATA / "peer-pools").glob("*.peer.json")):
        if options.only in path.name:
            report(path, options.oracle)


def report(path: Path, oracle: str) -> None:
    peer = json.loads(path.read_text())
    files = [DATA / peer["task"][part] for part in ("domain", "problem")]
    task = load(files[0], files[1], unit_cost=peer.get("unit_cost", False))
    kind = {"asnets": "asnet", "gnn": "gnn"}.get(peer["policy"].split("/")[0])
    text = f"{kind}:{DATA / peer['policy']}" if kind else "heuristic:ff"
    lab = Lab(task=task, graph=PolicyGraph(task, make_policy_part(text).bind(task)))
    name = path.name.removesuffix(".peer.json")
    entries = read_pool(path.with_name(f"{name}.pool.jsonl"), task)
    runs = lab.run([entry.state for entry in entries])
    cases = [open_case(lab, entry, run) for entry, run in zip(entries, runs, strict=True)]
    found = prove(lab, cases, oracle)
    seconds, verdicts = found.checked(task.sas), found.verdicts
    print(
        f"{name:42} {verdicts['bug']:4d} {verdicts['cleared']:7d} {verdicts['unknown']:7d} "
        f"{found.oracle_seconds:8.2f} {seconds:7.2f} {len(found.evidence):6d} {found.bytes:8d}  "
        f"{dict(found.settled_by)}",
        flush=True,
    )


def prove(lab: Lab, cases: list[Case], oracle: str) -> Proofs:
    """Asks the oracles in turn until a case is settled, and keeps the proofs of clearances."""
    oracles = [(part.name, part.bind(lab)) for part in make_oracles([oracle])]
    found = Proofs()
    log = ProofLog(found.append)
    before = time.process_time()
    for case in cases:
        verdict, by = _settle(lab, case, oracles)
        found.verdicts[verdict] += 1
        found.settled_by[by] += verdict != "unknown"
        lower = lab.lower(case.state)
        if verdict == "cleared" and lower is not None and isinstance(lower.evidence, Surrounded):
            found.lines |= lower.evidence.lines()
            log.keep(lower.evidence)
            values = tuple(case.state.values)
            found.evidence.append((values, lower.evidence.as_json(lower.bound), case.cost.hi))
    found.oracle_seconds = time.process_time() - before
    return found


def _settle(lab: Lab, case: Case, oracles: list[tuple[str, Oracle[Case]]]) -> tuple[str, str]:
    for name, oracle in oracles:
        for claim in oracle.claims(case):
            lab.enter(claim)
            verdict = judge(case.cost, lab.best(case.state), objective=Quantitative()).verdict
            if verdict != "unknown":
                return str(verdict), name
    return "unknown", ""


if __name__ == "__main__":
    main()
