"""Retraining on bugs: policies of the zoo before and after, on problems that were never trained on.

    python -m benchmarks.retraining --out results --domains gripper logistics satellite

Problems are made by our generators: some to find bugs in, others to choose by, others to measure on. What is
finished is not done again, and a killed run goes on where it was. docs/results/retraining.jsonl has what the table in
docs/training.md is made from.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.explain.rates import percent
from misstep.policies.asnet import Asnet
from misstep.policies.zoo import Zoo
from misstep.training.retraining import RetrainConfig, retrain
from misstep.training.zoo import problems

_LEARNED, _VALIDATED, _HELD_OUT = 0, 50_000, 90_000
"""Seeds of the problems of each kind."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Which problems are learned from, chosen by and measured on."""

    learned: Sequence[int]
    validated: Sequence[int]
    held_out: Sequence[int]


SIZES = {
    "blocks": Sizes((6, 7), (6, 7), (6, 7)),
    "ferry": Sizes((4, 5), (5, 6), (5, 6)),
    "gripper": Sizes((4, 5), (6, 7), (6, 7)),
    "logistics": Sizes((2, 3), (3, 4), (3, 4)),
    "miconic": Sizes((4, 5), (5, 6), (5, 6)),
    "satellite": Sizes((3, 4), (4, 5), (4, 5)),
    "spanner": Sizes((3, 4), (4, 5), (4, 5)),
    "transport": Sizes((2, 3), (3, 4), (3, 4)),
    "visitall": Sizes((2, 3), (3, 4), (3, 4)),
}


def run_one(name: str, out: Path, *, each: int, seed: int, threads: int) -> dict[str, Any]:
    start = time.process_time()
    sizes = SIZES[name]
    with Zoo(name).opened() as policy:
        assert isinstance(policy, Asnet)
        model = policy.model
    result = retrain(
        model,
        problems(name, sizes.learned, each, _LEARNED),
        problems(name, sizes.validated, each, _VALIDATED),
        problems(name, sizes.held_out, each, _HELD_OUT),
        RetrainConfig(rounds=3, pool=20, seed=seed, threads=threads),
        out=out,
    )
    told = {
        key: value for key, value in result.as_json().items() if key not in ("final", "original", "learned")
    }
    return {"domain": name, **told, "cpu_seconds": round(time.process_time() - start, 1)}


def row_text(row: dict[str, Any]) -> str:
    before, after, sizes = row["before"], row["after"], SIZES[row["domain"]]
    spans = ", ".join(
        "-".join(str(size) for size in sorted({min(each), max(each)}))
        for each in (sizes.learned, sizes.validated, sizes.held_out)
    )
    rates = [
        f"{percent(low, math.floor)} to {percent(high, math.ceil)}"
        for low, high in (each["bug_rate_bounds"] for each in (before, after))
    ]
    given = "learned" if row["kept"] == "learned" else f"input: {'; '.join(row['why_input'])}"
    return (
        f"| {row['domain']} | {spans} | {before['solved_tasks']} to {after['solved_tasks']} of {before['tasks']} "
        f"| {before['solved_states']} to {after['solved_states']} of {before['states']} "
        f"| {before['bugs']} to {after['bugs']} ({before['unknown']}, {after['unknown']}) | {rates[0]}; {rates[1]} "
        f"| {row['fixed']}, {row['forgotten']} ({row['unsolved']}) "
        f"| {row['better_tasks']}, {row['worse_tasks']}; {row['p_value']:.2g} | {given} | {row['cpu_seconds']:.0f} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--domains", nargs="+", default=sorted(SIZES))
    parser.add_argument("--each", type=int, default=4, help="problems of each size")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    columns = (
        "domain",
        "sizes: learned, validated, held out",
        "solved tasks",
        "solved states",
        "proven bugs (unknown)",
        "bug rate, 95 %",
        "fixed, forgotten (unsolved)",
        "tasks better, worse; p",
        "given",
        "processor seconds",
    )
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for name in options.domains:
        file = options.out / f"{name}-{options.seed}.json"
        if not file.is_file():
            row = run_one(
                name,
                options.out / f"{name}-{options.seed}",
                each=options.each,
                seed=options.seed,
                threads=options.threads,
            )
            file.write_text(json.dumps(row) + "\n", encoding="utf-8")
        print(row_text(json.loads(file.read_text(encoding="utf-8"))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
