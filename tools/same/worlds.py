"""Small random tasks that both builds test: every line of every log must be the same."""

import difflib
import json
import random
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from misstep.testing.random_tasks import random_sas
from tools.same.mask import timeless

ORACLES = (
    None,
    "landmarks",
    "lookahead",
    "planner:astar:lmcut",
    "planner:astar:blind,max_expansions=20",
    "perfect",
    "improve",
    "undo+inverse+landmarks",
    "morph",
    "bounds:factors=atomic,lookahead=0+landmarks",
    "bounds:100+improve/ehc",
    "abstraction:max_states=5+landmarks",
    "greedy+dead-ends+landmarks",
)
POLICIES = ("heuristic:ff", "heuristic:hadd", "heuristic:hmax", "heuristic:blind", "table")
# Runs inside either build: reads jobs from a file, prints the log and the certificates of each test as JSON.
_DRIVER = '''
import json, random, shutil, sys
from pathlib import Path
import misstep

def table(seed):
    """A policy that is a function of the facts alone: some action that applies, sometimes one that does not."""
    def decide(state):
        draw = random.Random(f"{seed} {sorted(state.facts)}")
        applicable = list(state.task.applicable(state))
        if not applicable or draw.random() < 0.05:
            return draw.choice(state.task.actions) if state.task.actions and draw.random() < 0.5 else None
        return draw.choice(applicable)
    return misstep.per_state(decide)

for line in open(sys.argv[1], encoding="utf-8"):
    job = json.loads(line)
    policy = job.pop("policy")
    kept = []
    where = Path(job["task"]).with_suffix("")  # certificates name the record, so both builds use one path
    try:
        task = misstep.load_sas(job["task"])
        given = table(job["seed"]) if policy == "table" else policy
        misstep.test(task, given, out=where, jobs=job["jobs"], **job["options"])
    except misstep.MisstepError as error:
        kept.append(f"{type(error).__name__}: {error}")
    for file in sorted(where.rglob("*.json*")):
        if file.name != "env.json":
            kept += [f"{file.name}: {text}" for text in file.read_text(encoding="utf-8").splitlines()]
    shutil.rmtree(where, ignore_errors=True)
    print(json.dumps({"seed": job["seed"], "lines": kept}), flush=True)
'''


def compare_worlds(old: Path, new: Path, count: int, scratch: Path, jobs: int) -> list[str]:
    """Lines for people; none where both builds say the same about all tasks."""
    folder = scratch / "worlds"
    folder.mkdir(parents=True)
    driver = folder / "driver.py"
    driver.write_text(_DRIVER)
    share = [range(first, count, jobs) for first in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda seeds: list(_compare(old, new, seeds, folder, driver)), share)
        return [line for lines in found for line in lines]


def _compare(old: Path, new: Path, seeds: range, folder: Path, driver: Path) -> Iterator[str]:
    work = folder / f"jobs-{seeds.start}.jsonl"
    with work.open("w") as file:
        for seed in seeds:
            rng, task = random.Random(f"world {seed}"), folder / f"{seed}.sas"
            task.write_text(random_sas(seed))
            options: dict[str, object] = {
                "pool": rng.choice((5, 12)),
                "seed": seed,
                "gap": rng.random() < 0.2,
            }
            options |= {"objective": "qualitative"} if rng.random() < 0.15 else {}
            if (oracle := rng.choice(ORACLES)) is not None:
                options["oracle"] = oracle
            line = {"task": str(task), "seed": seed, "policy": rng.choice(POLICIES), "options": options}
            file.write(json.dumps(line | {"jobs": rng.choice((1, 1, 2))}) + "\n")
    ended = [_told(python, driver, work) for python in (old, new)]
    for before, after in zip(*ended, strict=False):
        if before != after:
            yield f"task {before['seed']}"
            changes = difflib.unified_diff(before["lines"], after["lines"], lineterm="", n=0)
            yield from [f"    {line[:300]}" for line in changes if not line.startswith(("---", "+++", "@@"))][
                :6
            ]
    if [len(each) for each in ended] != [len(seeds)] * 2:
        yield f"tests that ended: {len(ended[0])} and {len(ended[1])} of {len(seeds)}"


def _told(python: Path, driver: Path, work: Path) -> list[dict[str, list[str]]]:
    done = subprocess.run(
        [python, driver, work], capture_output=True, text=True, check=False, cwd=work.parent
    )
    if done.returncode:
        print(done.stderr[-2000:], flush=True)
    return [_without_times(json.loads(line)) for line in done.stdout.splitlines()]


def _without_times(told: dict[str, list[str]]) -> dict[str, list[str]]:
    lines = []
    for line in told["lines"]:
        name, _, text = line.partition(": ")
        try:
            lines.append(f"{name}: {json.dumps(timeless(json.loads(text)))}")
        except ValueError:
            lines.append(line)
    return told | {"lines": lines}
