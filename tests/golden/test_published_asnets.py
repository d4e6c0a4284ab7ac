"""The published ASNet policies: known plan lengths, known costs of test states, the same scores as numpy."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep import Task, load
from misstep._core import AsnetPolicy, State
from misstep.policies.asnet import Asnet
from tests.unit.asnet_reference import walked_states
from tests.unit.test_asnet import assert_like_reference

# Floortile, satellite and scanalyzer: as measured with two independent implementations; the others with ours.
PLAN_LENGTHS = {
    "blocksworld": ("prob-blocks-blocks-nblk35-seed2107726020-seq1", 104),
    "elevators": ("opt08-p10", 30),
    "floortile": ("opt-p01-001", 23),
    "gripper": ("problem15", 45),
    "matching-blocksworld": ("mbw-b15-t3-s961", 46),
    "satellite": ("pfile4", 17),
    "scanalyzer": ("p08-p02", 10),
    "transport": ("opt-p04", 22),
    "visitall": ("opt11-problem06-half", 31),
}
POOLS = [
    "blocksworld-nblk35-seq1",
    "satellite-pfile4",
    "transport-opt-p02",
    "transport-opt-p04",
    "visitall-opt11-problem06-half",
]


def bound(folder: Path, domain: Path, problem: Path) -> tuple[Task, AsnetPolicy, Asnet]:
    [file] = (folder / domain).parent.glob("*.policy")
    part = Asnet(file)
    task = load(folder / domain, folder / problem, unit_cost=part.unit_cost)
    return task, part.bind(task), part


def plan_lengths(task: Task, policy: AsnetPolicy, states: list[State]) -> list[int | None]:
    """The steps to the goal from each state, in lock step; `apply` refuses what is not applicable."""
    lengths: list[int | None] = [None] * len(states)
    running = {at: (state, {state}) for at, state in enumerate(states)}
    steps = 0
    while running:
        for at in [at for at, (state, _) in running.items() if task.is_goal(state)]:
            lengths[at] = steps
            del running[at]
        answers = policy(task.batch([state for state, _ in running.values()]))
        for (at, (state, seen)), action in zip(list(running.items()), answers, strict=True):
            after = None if action is None else task.apply(state, action)
            if after is None or after in seen:
                del running[at]
            else:
                running[at] = after, seen | {after}
        steps += 1
    return lengths


@pytest.mark.parametrize("domain", PLAN_LENGTHS)
def test_plan_length(data: Path, domain: str) -> None:
    problem, length = PLAN_LENGTHS[domain]
    folder = Path("asnets", domain)
    task, policy, _ = bound(data, folder / "domain.pddl", folder / "problems" / f"{problem}.pddl")
    assert plan_lengths(task, policy, [task.initial_state]) == [length]


@pytest.mark.parametrize("domain", ["floortile", "gripper", "scanalyzer", "elevators", "visitall"])
def test_native_equals_numpy(data: Path, domain: str) -> None:
    problem, _ = PLAN_LENGTHS[domain]
    folder = Path("asnets", domain)
    task, _, part = bound(data, folder / "domain.pddl", folder / "problems" / f"{problem}.pddl")
    assert_like_reference(part.model, task, walked_states(task, 20))


@pytest.mark.parametrize("pool", POOLS)
def test_costs_of_the_peers_test_states(data: Path, pool: Any) -> None:
    """What the policy's runs cost from 100 states a task, as recorded with the peer tool."""
    about = json.loads((data / "peer-pools" / f"asnets-{pool}.peer.json").read_text())
    task, policy, _ = bound(data, Path(about["task"]["domain"]), Path(about["task"]["problem"]))
    rows = [
        json.loads(line)
        for line in (data / "peer-pools" / f"asnets-{pool}.pool.jsonl").read_text().splitlines()
    ]
    known = {name for names in task.pddl.fact_names for name in names}
    states = [task.state([fact for fact in row["facts"] if fact in known]) for row in rows]
    assert plan_lengths(task, policy, states) == [row["policy_cost"] for row in rows]
