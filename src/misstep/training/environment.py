"""A Gymnasium environment made from a safety task, so that any RL library can train on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from misstep.safety.model import SafetyTask
from misstep.support.extras import require_extra
from misstep.training.simulator import Rewards, Simulator


def make_environment(
    task: SafetyTask,
    *,
    seed: int = 0,
    rewards: Rewards | None = None,
    max_steps: int = 200,
    safe: bool = False,
) -> Any:
    """A `gymnasium.Env`: observations scaled to [-1, 1], one discrete action per label.

    `info["action_mask"]` says which actions are applicable; another one costs a penalty and changes nothing.
    With `safe` it offers only those after which unsafe states can be avoided whatever happens, decided as the
    states are visited: who keeps to it never gets into an unsafe state from a start state that is safe, and
    `info["is_safe"]` says of every state whether it is. In one that is lost already all actions are offered.
    `action_masks()` gives the same mask, as libraries with masked policies expect it.
    """
    gymnasium = require_extra("gymnasium", extra="gymnasium", purpose="a Gymnasium environment")

    base: Any = gymnasium.Env

    class JaniEnvironment(base):  # type: ignore[misc]
        metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

        def __init__(self) -> None:
            self._simulator = Simulator(task, seed=seed, rewards=rewards, max_steps=max_steps)
            shape = (len(self._simulator.inputs),)
            self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float64)
            self.action_space = gymnasium.spaces.Discrete(len(self._simulator.labels))

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
            super().reset(seed=seed)
            if seed is not None:
                self._simulator = Simulator(task, seed=seed, rewards=rewards, max_steps=max_steps)
            self._simulator.reset()
            return self._observation()

        def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
            reward, over = self._simulator.step(int(action))
            observation, info = self._observation()
            truncated = not over and self._simulator.steps >= max_steps
            return observation, reward, over, truncated, {**info, "is_unsafe": self._simulator.is_unsafe()}

        def _observation(self) -> tuple[Any, dict[str, Any]]:
            x, _ = self._simulator.look(self._simulator.state)
            info: dict[str, Any] = {"action_mask": self.action_masks().astype(np.int8)}
            if safe:
                info["is_safe"] = self._simulator.is_safe(self._simulator.state)
            return x.copy(), info

        def action_masks(self) -> Any:
            simulator = self._simulator
            return simulator.safe_mask(simulator.state) if safe else simulator.look(simulator.state)[1]

    return JaniEnvironment()
