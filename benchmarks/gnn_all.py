"""Runs the published GNN policies on their tasks, without memory, and shows known plan lengths beside theirs.

python -m benchmarks.gnn_all [--all] [DOMAIN ...]       (--all: also the tasks without a known length)
"""

import sys
import time

import misstep
from misstep.policies.gnn import Gnn
from tests.data import NO_DATA, data_folder

MAX_STEPS = 1000

# Task -> known number of steps; a word where the goal is not reached, nothing where unknown.
EXPECTED: dict[str, dict[str, int | str | None]] = {
    "blocks": {
        "probBLOCKS-9-0": 30,
        "probBLOCKS-9-1": 28,
        "probBLOCKS-10-0": 34,
        "probBLOCKS-12-0": 40,
        "probBLOCKS-14-1": 40,
        "probBLOCKS-17-0": 54,
    },
    "gripper": {"prob05": 35, "prob10": None, "prob15": None, "prob20": 127},
    "delivery": {"instance_5_3_0": 23, "instance_7_3_1": 47, "instance_9_3_0": 43},
    "miconic": {"s7-0": 23, "s10-0": 33, "s13-0": 44},
    "visitall": {
        "problem05-full": 24,
        "problem08-full": 63,
        "problem10-full": 99,
        "problem08-half": "fails",
        "problem09-half": "cycles",
    },
}


def main(arguments: list[str]) -> None:
    domains = [word for word in arguments if word != "--all"]
    data = data_folder()
    if data is None:
        sys.exit(NO_DATA)
    print(f"{'task':<28} {'expected':>8} {'steps':>8}  {'ms/step':>7} {'ms/successor':>12}")
    wrong = 0
    for domain in domains or EXPECTED:
        folder = data / "gnn" / domain
        part = Gnn(next(folder.glob("*.ckpt")))
        wanted = dict(EXPECTED[domain])
        if "--all" in arguments:
            wanted |= {path.stem: wanted.get(path.stem) for path in sorted(folder.glob("problems/*.pddl"))}
        solved = 0
        for name, expected in wanted.items():
            problem = folder / "problems" / f"{name}.pddl"
            if not problem.exists():
                print(f"{domain + ' ' + name:<28} {expected!s:>8}   no such file here")
                continue
            task = misstep.load(folder / "domain.pddl", problem, unit_cost=True)
            outcome, steps, successors, seconds = run(part, task)
            found: int | str = steps if outcome == "goal" else f"{outcome}@{steps}"
            good = expected is None or found == expected or (isinstance(expected, str) and outcome != "goal")
            wrong += not good
            solved += outcome == "goal"
            print(
                f"{domain + ' ' + name:<28} {expected or '-':>8} {found:>8}  "
                f"{seconds / max(steps, 1) * 1e3:7.2f} {seconds / max(successors, 1) * 1e3:12.3f}"
                f"{'' if good else '  DIFFERENT'}"
            )
        print(f"{domain}: {solved} solved")
    sys.exit(1 if wrong else 0)


def run(part: Gnn, task: misstep.Task) -> tuple[str, int, int, float]:
    """How the memoryless run ends, its steps, the successors it looked at, and the time in the policy."""
    policy = part.bind(task)
    registry = misstep.StateRegistry(task)
    state, steps, successors, seconds = task.initial_state, 0, 0, 0.0
    while not task.is_goal(state):
        if registry.find(state) is not None:
            return "loop", steps, successors, seconds
        if steps >= MAX_STEPS:
            return "cut", steps, successors, seconds
        batch = registry.batch([registry.insert(state)])
        begin = time.process_time()
        [action] = policy(batch)
        seconds += time.process_time() - begin
        successors += len(task.applicable(state))
        if action is None:
            return "stuck", steps, successors, seconds
        state = task.apply(state, action)
        steps += 1
    return "goal", steps, successors, seconds


if __name__ == "__main__":
    main(sys.argv[1:])
