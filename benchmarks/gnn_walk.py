"""States for measurements of networks."""

import random

import misstep


def walk(task: misstep.Task, count: int, seed: int) -> list[misstep.State]:
    """States of a random walk, every third one."""
    choose, state = random.Random(seed), task.initial_state
    found: list[misstep.State] = []
    while len(found) < count:
        found.append(state)
        for _ in range(3):
            state = task.apply(state, choose.choice(task.applicable(state)))
    return found
