"""Runs every ASNet policy of the shared data on every task beside it.

    python -m benchmarks.asnet_all [DOMAIN...]

The run is the plain one: follow the policy until the goal, a repeated state or the limit. Prints a line a
task and a line a domain. Needs the data (MISSTEP_DATA or ../shared/data).
"""

import sys
import time
from pathlib import Path

import misstep
from misstep._core import AsnetPolicy
from misstep.policies.asnet import Asnet
from tests.data import NO_DATA, data_folder

MAX_SECONDS = 300


def follow(task: misstep.Task, policy: AsnetPolicy, deadline: float) -> tuple[str, int]:
    """How the run from the initial state ended, and after how many steps."""
    state = task.initial_state
    seen: set[misstep.State] = set()
    while not task.is_goal(state):
        if state in seen:
            return "loop", len(seen)
        if time.monotonic() > deadline:
            return "cut off", len(seen)
        seen.add(state)
        [action] = policy(task.batch([state]))
        if action is None:
            return "stuck", len(seen)
        state = task.apply(state, action)
    return "solved", len(seen)


def run_domain(folder: Path) -> tuple[int, int]:
    [file] = folder.glob("*.policy")
    part = Asnet(file)
    problems = sorted((folder / "problems").glob("*.pddl"))
    solved, lengths, longest, begin = 0, [], 0.0, time.monotonic()
    for problem in problems:
        start = time.monotonic()
        task = misstep.load(folder / "domain.pddl", problem, unit_cost=part.unit_cost)
        loaded = time.monotonic()
        policy = part.bind(task)
        bound = time.monotonic()
        outcome, steps = follow(task, policy, start + MAX_SECONDS)
        end = time.monotonic()
        if outcome == "solved":
            solved += 1
            lengths.append(steps)
        longest = max(longest, end - start)
        print(
            f"  {folder.name:22s} {problem.name:55s} {outcome:8s} {steps:5d} steps"
            f"  {policy.num_operators:6d} operators  load {loaded - start:6.2f} s"
            f"  bind {bound - loaded:6.2f} s  run {end - bound:6.2f} s",
            flush=True,
        )
    print(
        f"{folder.name:22s} {solved}/{len(problems)} solved, lengths {min(lengths, default=0)} to "
        f"{max(lengths, default=0)}, sum {sum(lengths)}, {time.monotonic() - begin:.1f} s, "
        f"longest {longest:.1f} s",
        flush=True,
    )
    return solved, len(problems)


def main() -> int:
    data = data_folder()
    if data is None:
        print(NO_DATA)
        return 0
    names = sys.argv[1:] or [path.name for path in sorted((data / "asnets").iterdir()) if path.is_dir()]
    results = [run_domain(data / "asnets" / name) for name in names]
    solved, total = (sum(column) for column in zip(*results, strict=True))
    print(f"all: {solved}/{total} solved")
    return 0 if solved == total else 1


if __name__ == "__main__":
    sys.exit(main())
