"""Episodes on a PDDL task: observations, masks, start states and rewards, for Gymnasium and for policies."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from misstep._core import Action, State
from misstep.answers.answer import bad_answer, shown
from misstep.answers.logits import state_encoder
from misstep.errors import InputError
from misstep.policy import Policy, per_state
from misstep.task import Task

Observation: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.int8]
Starts: TypeAlias = Literal["initial", "walks"] | Sequence[State | Sequence[str]]
"""Where episodes begin: the initial state, the end of a random walk from there, or one of these states.

A state may be given by its facts, as `bug.state` and the lines of a pool do.
"""
Predict: TypeAlias = Callable[[Observation, Mask], Any]
"""Chooses an action: its index in `task.actions`, of an observation and the mask of applicable actions."""


@dataclass(frozen=True)
class TaskRewards:
    """What an episode pays: minus the cost of each action, and what is said here.

    With all of it 0 the best return of a state is minus the cost of its cheapest plan.
    """

    goal: float = 10.0
    """Added when the goal is reached."""
    dead_end: float = -10.0
    """Added where no action is applicable and the goal is not reached."""
    inapplicable: float = -1.0
    """Instead of the cost, for an action that is not applicable; it changes nothing."""


class Encoding:
    """A state as numbers: one for each fact, in the order of the policies `torch:` and `onnx:`.

    With `goal` as many numbers follow that say which facts the goal asks for.
    """

    def __init__(self, task: Task, *, goal: bool = False) -> None:
        self.task = task
        self._encode = state_encoder(task, None, source="observation")
        self._goal = np.zeros(sum(task.domain_sizes) if goal else 0, np.float32)
        starts = np.concatenate(([0], np.cumsum(task.domain_sizes)))
        for variable, value in task.goal if goal else ():
            self._goal[starts[variable] + value] = 1

    @property
    def width(self) -> int:
        """How many numbers an observation has."""
        return sum(self.task.domain_sizes) + len(self._goal)

    def observe(self, state: State) -> Observation:
        """The observation of a state."""
        return np.concatenate((self._encode(self.task.batch([state]))[0], self._goal))


def action_mask(state: State, task: Task) -> Mask:
    """1 for every action that is applicable, 0 for the others, in the order of `task.actions`."""
    mask = np.zeros(len(task.actions), np.int8)
    mask[[action.index for action in task.applicable(state)]] = 1
    return mask


class Episodes:
    """One state at a time, from a start state to the goal or a dead end."""

    def __init__(
        self,
        task: Task,
        *,
        starts: Starts = "initial",
        walk_steps: int = 20,
        rewards: TaskRewards | None = None,
    ) -> None:
        if isinstance(starts, str) and starts not in ("initial", "walks"):
            raise InputError(f"starts `{starts}` is neither 'initial' nor 'walks' nor a list of states")
        self.task = task
        self.rewards = rewards or TaskRewards()
        self.steps = 0
        self.cost = 0
        self._walk_steps = walk_steps if starts == "walks" else 0
        given = [task.initial_state] if isinstance(starts, str) else [self._read(state) for state in starts]
        self._starts = [state for state in given if not self._is_end(state)]
        if not self._starts:
            raise InputError(f"none of {len(given)} start states has anything left to do; give others")
        self._enter(self._starts[0])

    def begin(self, random: np.random.Generator, *, state: object = None) -> None:
        """Starts an episode in `state` (a State, or its facts), or where `starts` says."""
        self.steps = self.cost = 0
        if state is None:
            start = self._starts[int(random.integers(len(self._starts)))]
            self._enter(self._walk(start, random))
            return
        start = self._read(state)
        if self._is_end(start):
            raise InputError(f"the start state {start} is the end of an episode already; give another one")
        self._enter(start)

    def step(self, index: int) -> tuple[float, bool]:
        """Takes the action with this index; the reward, and whether the episode is over.

        Where the translator split an action into several of its name, it is the one that applies.
        """
        self.steps += 1
        action = self.task.meant(self.state, self.task.actions[index])
        if not self.mask[action.index]:
            return self.rewards.inapplicable, False
        self._enter(self.task.apply(self.state, action))
        self.cost += action.cost
        if self.is_goal:
            return self.rewards.goal - action.cost, True
        is_stuck = not self.mask.any()
        return (self.rewards.dead_end if is_stuck else 0.0) - action.cost, is_stuck

    def _enter(self, state: State) -> None:
        self.state = state
        self.is_goal = self.task.is_goal(state)
        self.mask = action_mask(state, self.task)

    def _is_end(self, state: State) -> bool:
        return self.task.is_goal(state) or not self.task.applicable(state)

    def _read(self, state: object) -> State:
        if isinstance(state, State):
            if state.task != self.task:
                raise InputError("the start state is one of another task; make it with `task.state(facts)`")
            return state
        if isinstance(state, list | tuple) and all(isinstance(fact, str) for fact in state):
            return self.task.state(list(state))
        raise InputError(f"the start state is {shown(state)}; give a State, or a list of its facts")

    def _walk(self, state: State, random: np.random.Generator) -> State:
        """The state after up to `walk_steps` random steps; a walk stops before it would end an episode."""
        for _ in range(int(random.integers(self._walk_steps + 1))):
            actions = self.task.applicable(state)
            after = self.task.apply(state, actions[int(random.integers(len(actions)))])
            if self._is_end(after):
                break
            state = after
        return state


def predict_policy(task: Task, predict: Predict, *, goal: bool = False) -> Policy:
    """The policy that asks `predict(observation, mask)`, as trained on the environment of the task.

    `predict` answers with the index of an action, also as an array with one entry. `goal` must be what it
    was in training. Take the likeliest action: a policy that draws lots is refused. Where no action is
    applicable nobody is asked.
    """
    encoding = Encoding(task, goal=goal)

    def choose(state: State) -> Action | None:
        mask = action_mask(state, task)
        if not mask.any():
            return None
        answer = predict(encoding.observe(state), mask)
        try:
            index = operator.index(np.asarray(answer).item())
        except (TypeError, ValueError):
            return bad_answer(f"`predict` answered {shown(answer)}, which is not the index of an action")
        if not 0 <= index < len(task.actions):
            return bad_answer(f"`predict` answered {index}, but the task has {len(task.actions)} actions")
        return task.actions[index]

    return per_state(choose)
