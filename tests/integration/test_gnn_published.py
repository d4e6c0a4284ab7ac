"""The published GNN policies: values as plain numpy computes them, and known plan lengths."""

from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.policies.gnn import Gnn
from tests.unit.gnn_reference import ReferenceGnn
from tests.unit.test_gnn import assert_same_values, batch

KNOWN_LENGTHS = [
    ("blocks", "probBLOCKS-9-0", 30),
    ("gripper", "prob05", 35),
    ("delivery", "instance_5_3_0", 23),
    ("miconic", "s7-0", 23),
    ("visitall", "problem05-full", 24),
]


@pytest.mark.parametrize(("domain", "name", "length"), KNOWN_LENGTHS)
def test_published_policies(data: Path, domain: str, name: str, length: Any) -> None:
    folder = data / "gnn" / domain
    task = misstep.load(folder / "domain.pddl", folder / "problems" / f"{name}.pddl", unit_cost=True)
    part = Gnn(next(folder.glob("*.ckpt")))
    policy, reference = part.bind(task), ReferenceGnn(task, part.model)
    state, steps = task.initial_state, 0
    while not task.is_goal(state):
        if steps == length // 2:
            assert_same_values(policy, reference, state)
        [action] = policy(batch(task, [state]))
        assert action is not None and steps < length
        state, steps = task.apply(state, action), steps + 1
    assert steps == length
