"""Policies: what is tested. Many states in, one action each out."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, Protocol, TypeAlias, cast

from misstep._core import Action, NativePolicy, State, StateBatch
from misstep.answers.answer import ActionNames, likeliest
from misstep.errors import InputError, PartError
from misstep.plugins import blaming, part_label
from misstep.task import Task

Probabilities: TypeAlias = Mapping[Action | str, float]
"""What a stochastic policy may answer for a state: how likely each action is, by action or by name."""


class Policy(Protocol):
    """Any callable of this shape. It must be deterministic and have no memory; both are checked now and then.

    An answer is an action of the task or its name, or None where the policy has nothing to do. An action that
    is not applicable or not of the task makes a run `illegal`, anything else makes it `failed`. `best_batch`,
    where there is one, says how many states a call should have at most.
    """

    def __call__(self, states: StateBatch, /) -> Sequence[Action | None]:
        """One answer for each state."""
        ...


class PolicyPart(Protocol):
    """A policy as users name it: `asnet:FILE`, `heuristic:ff`. Binding it to a task makes it a policy.

    A part whose class has `isolate = True` is bound in a process of its own, unless the user decides otherwise.
    """

    def bind(self, task: Task, /) -> Policy:
        """The policy on this task; raises PolicyError or InputError where they do not fit together."""
        ...


def bind_policy(policy: "Policy | PolicyPart", task: Task) -> Policy:
    """The policy on a task, whether a part or a policy was given."""
    bind = getattr(policy, "bind", None)
    if bind is not None and type(policy).__module__.startswith("misstep."):
        return cast(Policy, bind(task))
    if bind is None and not callable(policy):
        raise PartError(
            f"{part_label('policy', policy)} can neither be called nor bound; a policy part has `bind(task)`"
        )
    with blaming("policy", policy, "it was bound to the task"):
        bound: Policy = _batched(policy) if bind is None else bind(task)
    return bound


def per_state(choose: Callable[[State], Action | str | None]) -> Policy:
    """Lifts a function of one state, which may also name its action, to a policy."""

    def policy(states: StateBatch, /) -> list[Action | None]:
        return [cast(Action | None, choose(state)) for state in states]

    if hasattr(choose, "best_batch"):
        policy.best_batch = choose.best_batch  # type: ignore[attr-defined]
    return policy


def _batched(policy: Any) -> Policy:
    """A callable as a policy: one that says that it takes one state is lifted, as for `python:MODULE:NAME`."""
    is_single = not isinstance(policy, NativePolicy) and what_it_takes(policy) == "state"
    return per_state(policy) if is_single else cast(Policy, policy)


def what_it_takes(policy: Any) -> Literal["state", "states"] | None:
    """Whether a callable takes one state or many: its attribute `takes` says so, the annotation of its first
    parameter, or that parameter's name. None where nothing does.
    """
    said = getattr(policy, "takes", None)
    if said is not None:
        return _TAKES.get(said) if isinstance(said, str) else None
    first = first_parameter(policy)
    if first is None:
        return None
    return _TAKES.get({"State": "state", "StateBatch": "states"}.get(annotation_of(first), first.name))


_TAKES: dict[str, Literal["state", "states"]] = {"state": "state", "states": "states"}


def first_parameter(function: Any) -> inspect.Parameter | None:
    """The first parameter of a callable, where it takes one by position."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # Not every callable tells its signature.
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return parameters[0] if parameters and parameters[0].kind in positional else None


def annotation_of(parameter: inspect.Parameter) -> str:
    """The last word of the annotation, which may be a text: `State` for `misstep.State` and `"State"`."""
    if parameter.annotation is inspect.Parameter.empty:
        return ""
    if isinstance(parameter.annotation, str):
        return parameter.annotation.strip("'\" ").rpartition(".")[2]
    return getattr(parameter.annotation, "__name__", "")


class ArgmaxPolicy:
    """A stochastic policy as the deterministic one that takes its likeliest action."""

    def __init__(self, policy: Callable[[StateBatch], Sequence[Probabilities | Action | str | None]]) -> None:
        if isinstance(policy, NativePolicy):
            raise InputError("a native policy gives no probabilities to choose from; test it as it is")
        self.policy = policy
        self._names: ActionNames | None = None
        if (best_batch := getattr(policy, "best_batch", None)) is not None:
            self.best_batch = best_batch

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """The likeliest action of each state; a BadAnswer in its place where the answer tells none."""
        answers: object = self.policy(states)
        if isinstance(answers, str | bytes | Mapping) or not isinstance(answers, Iterable):
            return cast(list[Action | None], answers)  # The guard tells what is wrong with it.
        given = list(islice(answers, len(states) + 1))
        if len(given) != len(states):
            return given
        if self._names is None or self._names.task is not states.task:
            self._names = ActionNames(cast(Task, states.task))
        return [
            cast(Action | None, likeliest(answer, state, self._names))
            for answer, state in zip(given, states, strict=True)
        ]


def argmax(policy: Callable[[StateBatch], Sequence[Probabilities | Action | str | None]]) -> Policy:
    """The deterministic policy that takes the likeliest action of a stochastic one.

    The answers of `policy` are probabilities for each state, `{action or its name: probability}`; of equally
    likely actions the one with the lowest index in `task.actions` is taken, and none where all are 0. What is
    tested is this policy: nothing is said about the other actions that might be drawn.
    """
    return ArgmaxPolicy(policy)
