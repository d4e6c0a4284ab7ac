"""A Gymnasium environment made from a PDDL task, so that any RL library can train on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from misstep.support.extras import require_extra
from misstep.task import Task
from misstep.training.episodes import Encoding, Episodes, Starts, TaskRewards


def make_task_environment(
    task: Task,
    *,
    seed: int = 0,
    starts: Starts = "initial",
    walk_steps: int = 20,
    rewards: TaskRewards | None = None,
    max_steps: int = 200,
    goal: bool = False,
) -> Any:
    """A `gymnasium.Env`: one number a fact (with `goal`, then one a goal fact), one discrete action a ground action.

    `info["action_mask"]` says which actions are applicable, and so does `action_masks()`, which sb3-contrib
    asks; another action costs a penalty and changes nothing. `info["cost"]` is what was paid so far,
    `info["is_goal"]` whether the goal is reached. An episode ends at the goal and where no action is
    applicable; it is cut after `max_steps`. `reset(options={"state": ...})` begins in a state of your choice,
    given as a State or as its facts. `seed` counts until `reset(seed=...)` gives another one.
    """
    gymnasium = require_extra("gymnasium", extra="gymnasium", purpose="a Gymnasium environment")

    base: Any = gymnasium.Env

    class TaskEnvironment(base):  # type: ignore[misc]
        metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

        def __init__(self) -> None:
            super().reset(seed=seed)
            self.task = task
            self.episodes = Episodes(task, starts=starts, walk_steps=walk_steps, rewards=rewards)
            self.encoding = Encoding(task, goal=goal)
            self.observation_space = gymnasium.spaces.Box(0, 1, (self.encoding.width,), np.float32)
            self.action_space = gymnasium.spaces.Discrete(len(task.actions))

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
            super().reset(seed=seed)
            self.episodes.begin(self.np_random, state=(options or {}).get("state"))
            return self._observation()

        def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
            reward, over = self.episodes.step(int(action))
            truncated = not over and self.episodes.steps >= max_steps
            observation, info = self._observation()
            return observation, reward, over, truncated, info

        def action_masks(self) -> Any:
            return self.episodes.mask.astype(np.bool_)

        def _observation(self) -> tuple[Any, dict[str, Any]]:
            info = {
                "action_mask": self.episodes.mask.copy(),
                "cost": self.episodes.cost,
                "is_goal": self.episodes.is_goal,
            }
            return self.encoding.observe(self.episodes.state), info

    return TaskEnvironment()
