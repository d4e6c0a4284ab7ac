"""Episodes on a safety task: the plain environment that Q-learning and the Gymnasium wrapper share."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep._core import Budget, Decider
from misstep.errors import InputError
from misstep.safety.model import SafetyTask, Value, draw

_MAX_EXPANSIONS = 100_000


@dataclass(frozen=True)
class Rewards:
    """What an episode pays. A dead end that is no goal ends it without more."""

    goal: float = 5.0
    unsafe: float = -1.0
    step: float = -0.02
    inapplicable: float = -0.1

    def __post_init__(self) -> None:
        for name in ("goal", "unsafe", "step", "inapplicable"):
            if not math.isfinite(getattr(self, name)):
                raise InputError(f"the reward for {name} is {getattr(self, name)}; it must be a number")


class Simulator:
    """One state at a time; outcomes are drawn as the task's `outcome_mode` says.

    Observations are the state's values scaled to [-1, 1] by their bounds. Locations of automata that have
    only one, and a variable named `step`, say nothing about what to do and are left out.
    """

    def __init__(
        self, task: SafetyTask, *, seed: int, rewards: Rewards | None = None, max_steps: int = 200
    ) -> None:
        self.task = task
        self.rewards = rewards or Rewards()
        self.max_steps = max_steps
        self.labels = [label for label in task.labels if label]
        self._game = task.game()
        self._starts = task.start_states(self._game, count=1000, seed=seed)
        self._rng = random.Random(seed)
        single = {f"{name}@location" for name, _, places in task.model.instances if len(places) == 1}
        fields = task.model.fields
        self.columns = [i for i, name in enumerate(fields) if name not in single and name != "step"]
        self.inputs = [fields[i] for i in self.columns]
        bounds = task.model.bounds
        pairs = [bounds[i] or (-1.0, 1.0) for i in self.columns]
        self.middle = np.array([(low + high) / 2 for low, high in pairs])
        self.half = np.array([max((high - low) / 2, 1e-9) for low, high in pairs])
        self._number = {label: i for i, label in enumerate(task.labels)}
        self._output = {self._number[label]: k for k, label in enumerate(self.labels)}
        self._seen: dict[int, tuple[NDArray[np.float64], NDArray[np.bool_]]] = {}
        self._safe: dict[int, NDArray[np.bool_]] = {}
        self._decider = Decider(self._game)
        self.state = self._starts[0]
        self.steps = 0

    @property
    def starts(self) -> list[list[Value]]:
        """The values of the start states."""
        return [list(self._game.values(s)) for s in self._starts]

    def values(self, s: int) -> list[Value]:
        """The values of a state."""
        return list(self._game.values(s))

    def number(self, values: Sequence[Value]) -> int:
        """The number of the state with these values."""
        return self._game.add(list(values))

    def reset(self) -> int:
        """A random start state that is not over already."""
        for _ in range(100):
            self.state = self._rng.choice(self._starts)
            if not self.is_over(self.state):
                break
        else:
            raise InputError(f"{self.task.files.file}: every start state is an end already; nothing to learn")
        self.steps = 0
        return self.state

    def snapshot(self) -> dict[str, Any]:
        """All that the next steps depend on, as plain data.

        Outcomes are drawn in the order of the states' numbers, so the numbers are kept with the states.
        """
        return {
            "states": [self._game.values(s) for s in range(len(self._game))],
            "state": self.state,
            "steps": self.steps,
            "random": self._rng.getstate(),
        }

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Goes on where `snapshot` was made; ValueError where the model is another one."""
        for number, values in enumerate(snapshot["states"]):
            if self._game.add(values) != number:
                raise ValueError("the states of the model are not those that were saved")
        self.state, self.steps = snapshot["state"], snapshot["steps"]
        version, numbers, gauss = snapshot["random"]
        self._rng.setstate((version, tuple(numbers), gauss))

    def is_over(self, s: int) -> bool:
        """Unsafe, goal or dead end."""
        return self._game.is_unsafe(s) or self._game.is_goal(s) or not self.look(s)[1].any()

    def look(self, s: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The observation of a state, and which of `labels` are applicable."""
        if s not in self._seen:
            values = self._game.values(s)
            x = (np.array([float(values[i]) for i in self.columns]) - self.middle) / self.half
            mask = np.zeros(len(self.labels), np.bool_)
            if not (self._game.is_unsafe(s) or self._game.is_goal(s)):
                for label, _, _ in self._game.moves(s):
                    if label in self._output:
                        mask[self._output[label]] = True
            self._seen[s] = (x, mask)
        return self._seen[s]

    def safe_mask(self, s: int) -> NDArray[np.bool_]:
        """Which of `labels` keep to states from which unsafe ones can be avoided.

        In a state that is lost, or where a limit kept the decider from telling, all that are applicable.
        """
        if s not in self._safe:
            mask = self.look(s)[1].copy()
            for label, outcomes in self._game.plain_moves(s) if mask.any() else ():
                if label in self._output and not all(map(self.is_safe, outcomes)):
                    mask[self._output[label]] = False
            self._safe[s] = mask if mask.any() else self.look(s)[1]
        return self._safe[s]

    def is_safe(self, s: int) -> bool:
        """Whether unsafe states can be avoided from there, as far as the decider's limit lets it tell."""
        budget = Budget(expansions=_MAX_EXPANSIONS)
        return self._decider.decide(s, None, budget=budget)[0] == "safe"

    def step(self, action: int) -> tuple[float, bool]:
        """Take the action with this index in `labels`; the reward, and whether the episode is over."""
        self.steps += 1
        number = self._number[self.labels[action]]
        if all(label != number for label, _, _ in self._game.moves(self.state)):
            return self.rewards.inapplicable, False
        self.state = draw(self._game, self.state, number, self._rng)
        if self._game.is_unsafe(self.state):
            return self.rewards.unsafe, True
        if self._game.is_goal(self.state):
            return self.rewards.goal, True
        return self.rewards.step, self.is_over(self.state)

    def is_goal(self) -> bool:
        """Whether the episode reached the goal."""
        return self._game.is_goal(self.state)

    def is_unsafe(self) -> bool:
        """Whether the episode ended unsafely."""
        return self._game.is_unsafe(self.state)
