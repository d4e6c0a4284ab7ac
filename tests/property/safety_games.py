"""Random games, and the plain fixed point that every decider must agree with."""

from __future__ import annotations

import random
from dataclasses import dataclass

INFINITE = 10**9


@dataclass(frozen=True)
class Node:
    choices: tuple[tuple[int, tuple[int, ...]], ...]
    unsafe: bool = False
    goal: bool = False
    policy: int | None = None

    def spec(self) -> tuple[list[tuple[int, list[int]]], bool, bool, int | None]:
        return (
            [(label, list(outcomes)) for label, outcomes in self.choices],
            self.unsafe,
            self.goal,
            self.policy,
        )


def random_game(rng: random.Random) -> list[Node]:
    """At most nine states: cycles, dead ends, unsafe goals and dead ends, policies that choose in vain."""
    size = rng.randint(1, 9)
    unsafe, goal, dead = rng.choice((0.05, 0.15, 0.3)), rng.choice((0.0, 0.1)), rng.choice((0.0, 0.1))
    width = rng.choice((1, 2, 3))
    nodes = []
    for _ in range(size):
        labels = rng.sample(range(5), 0 if rng.random() < dead else rng.randint(1, 3))
        choices = tuple(
            (label, tuple(rng.randrange(size) for _ in range(rng.randint(1, width)))) for label in labels
        )
        policy = rng.choice((*labels, *labels, 4, None)) if labels else rng.choice((0, None))
        nodes.append(Node(choices, rng.random() < unsafe, rng.random() < goal, policy))
    return nodes


def deviations(nodes: list[Node], *, counted: bool, cap: int) -> list[int]:
    """J*: least fixed point from 0, the definition and nothing else. Without counting: 0 safe, 1 lost."""
    value = [cap if node.unsafe else 0 for node in nodes]
    while True:
        new = list(value)
        for i, node in enumerate(nodes):
            if node.unsafe or node.goal or not node.choices:
                continue
            new[i] = min(
                cap,
                min(
                    int(counted and label != node.policy) + max(value[t] for t in outcomes)
                    for label, outcomes in node.choices
                ),
            )
        if new == value:
            return value
        value = new
