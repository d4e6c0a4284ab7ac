"""ASNets from scratch on the learning track of IPC 2023: how many of the 30 easy test tasks they solve.

    python -m benchmarks.train_ipc23 --out results --domains ferry miconic --seeds 0 1 2

Trains on the first 20 tasks of training/easy, chooses on the 40 largest of the others, tests on testing/easy.
What is finished is not done again, and a killed run goes on where it was.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, cast

import misstep
from misstep._core import PolicyGraph
from misstep.pddl import read_domain
from misstep.policies.asnet import Asnet
from misstep.training.asnet import Progress, train_asnet
from misstep.training.asnet_config import make_config
from tests.data import NO_DATA, data_folder

DOMAINS = "ferry miconic spanner blocksworld satellite childsnack transport floortile rovers sokoban".split()
GOALS = {
    "ferry": 30,
    "miconic": 30,
    "spanner": 30,
    "blocksworld": 28,
    "satellite": 28,
    "childsnack": 28,
    "transport": 26,
    "floortile": 16,
    "rovers": 14,
    "sokoban": 5,
}
NUM_TRAINING = 20
NUM_VALIDATION = 40
MAX_STEPS = 1000


def load_all(domain: Path, problems: Sequence[Path]) -> list[misstep.Task]:
    read = read_domain(domain / "domain.pddl")
    return [misstep.load(read, problem, unit_cost=True) for problem in problems]


def solved_tasks(model: Path, tasks: Sequence[misstep.Task]) -> list[int | None]:
    """By task the steps of the policy's run, nothing where it does not reach the goal."""
    policy = Asnet(model)

    def steps(task: misstep.Task) -> int | None:
        graph = PolicyGraph(task, policy.bind(task), dead_ends=False, recheck=False)
        [run] = graph.run(task.batch([task.initial_state]), max_steps=MAX_STEPS)
        return run.steps if run.outcome == "solved" else None

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(steps, tasks))


def run_one(
    domain: Path, recipe: str, seed: int, seconds: float, threads: int, out: Path
) -> dict[str, object]:
    start = time.process_time()
    problems = sorted((domain / "training" / "easy").glob("*.pddl"))
    training = load_all(domain, problems[:NUM_TRAINING])
    validation = load_all(domain, problems[NUM_TRAINING:][-NUM_VALIDATION:])
    heard: set[str] = set()

    def show(told: Progress) -> None:
        print(
            f"  {told.run} {told.epoch}: loss {told.loss:.4f} trained {told.success_rate:.2f} solves "
            f"{told.solved}/{told.of} pool {told.samples} {told.seconds:.0f} s",
            flush=True,
        )

    result = train_asnet(
        training,
        validation,
        make_config(cast(Literal["best", "published"], recipe), seed=seed, threads=threads),
        out=out,
        cache=out.parent / f"{domain.name}.sqlite",
        max_seconds=seconds,
        progress=show,
        report=heard.add,
    )
    tests = load_all(domain, sorted((domain / "testing" / "easy").glob("*.pddl")))
    steps = solved_tasks(result.final, tests)
    return {
        "domain": domain.name,
        "recipe": recipe,
        "seed": seed,
        "solved": sum(step is not None for step in steps),
        "of": len(steps),
        "steps": steps,
        "validation": result.solved,
        "epochs": result.epochs,
        "seconds": round(result.seconds, 1),
        "cpu_seconds": round(time.process_time() - start, 1),
        "warnings": sorted(heard),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--domains", nargs="+", default=DOMAINS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--recipe", choices=("best", "published"), default="best")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    data = data_folder()
    if data is None:
        print(NO_DATA)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    for domain in options.domains:
        solved = []
        for seed in options.seeds:
            name = f"{domain}-{options.recipe}-{seed}"
            file = options.out / f"{name}.json"
            if not file.is_file():
                folder = data / "ipc23-learning" / domain
                row = run_one(
                    folder, options.recipe, seed, options.seconds, options.threads, options.out / name
                )
                file.write_text(json.dumps(row) + "\n", encoding="utf-8")
            row = json.loads(file.read_text(encoding="utf-8"))
            solved.append(row["solved"])
            print(f"{name}: {row['solved']}/{row['of']} in {row['seconds']} s", flush=True)
        print(f"{domain}: mean {sum(solved) / len(solved):.1f}, wanted {GOALS.get(domain)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
