"""Policies: what is tested. Many states in, one action each out."""

from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from typing import Protocol

from misstep._core import Action, State, StateBatch
from misstep.errors import InputError, PartError
from misstep.plugins import blaming, build_part, part_class, part_label
from misstep.task import Task


class Policy(Protocol):
    """Any callable of this shape. It must be deterministic and have no memory; both are checked now and then.

    An answer is an action of the task, or None where the policy has nothing to do. Anything else counts as an
    illegal answer. `best_batch`, where there is one, says how many states a call should have at most.
    """

    def __call__(self, states: StateBatch, /) -> Sequence[Action | None]:
        """One answer for each state."""
        ...


class PolicyPart(Protocol):
    """A policy as users name it: `asnet:FILE`, `heuristic:ff`. Binding it to a task makes it a policy."""

    def bind(self, task: Task, /) -> Policy:
        """The policy on this task; raises PolicyError or InputError where they do not fit together."""
        ...


def bind_policy(policy: "Policy | PolicyPart", task: Task) -> Policy:
    """The policy on a task, whether a part or a policy was given."""
    bind = getattr(policy, "bind", None)
    if bind is None and not callable(policy):
        raise PartError(
            f"{part_label('policy', policy)} can neither be called nor bound; a policy part has `bind(task)`"
        )
    with blaming("policy", policy, "it was bound to the task"):
        bound: Policy = policy if bind is None else bind(task)  # type: ignore[assignment]
    return bound


def per_state(choose: Callable[[State], Action | None]) -> Policy:
    """Lifts a function of one state to a policy."""

    def policy(states: StateBatch, /) -> list[Action | None]:
        return [choose(state) for state in states]

    return policy


def make_policy_part(text: str) -> PolicyPart:
    """The part of `NAME:VALUE`. All after the first colon is one value: file names may hold anything."""
    name, _, value = text.partition(":")
    cls = part_class("policy", name)
    options = [field for field in fields(cls) if field.init]
    if value and not options:
        raise InputError(f"policy `{name}` takes no value, but `{value}` was given; write `{name}`")
    if not value and options and options[0].default is MISSING:
        raise InputError(f"policy `{name}` needs a value; write `{name}:{options[0].name.upper()}`")
    part: PolicyPart = build_part("policy", name, {options[0].name: value} if value else {})
    return part


def wants_unit_cost(part: "Policy | PolicyPart") -> bool:
    """Whether the policy was made for tasks in which every action costs 1 (its part says so)."""
    return bool(getattr(part, "unit_cost", False))
