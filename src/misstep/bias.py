"""Biases: parts that say how promising a state looks by the policy's partial run from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from misstep._core import Action, Run, State, bias_value
from misstep.errors import PartError
from misstep.plugins import blaming, part_label
from misstep.support.numbers import as_number
from misstep.task import Task


@dataclass(frozen=True, slots=True)
class PartialRun:
    """The first steps of the policy from a state, as many as the fuzzer's budgets allow; at least one.

    States from which the policy surely never reaches the goal are as promising as can be, whatever the bias
    says, and are not asked about.
    """

    states: tuple[State, ...]
    """One more than there are actions; the first is the one that is weighed."""
    actions: tuple[Action, ...]
    outcome: str
    """`solved`, or `cut-off` where the budget ended first; `failed` where the policy did not answer."""

    @property
    def costs(self) -> tuple[int, ...]:
        """Of the actions."""
        return tuple(action.cost for action in self.actions)


class Bias(Protocol):
    """A part that weighs states. It must be deterministic and have no memory.

    A part may have `bind(task)` instead, which returns an object with `score`: for those that prepare
    something for a task, such as a heuristic.
    """

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    def score(self, run: PartialRun, /) -> float:
        """How promising the first state of a run is: more is better, negative numbers and infinity count.

        Minus infinity is never chosen, and plus infinity before everything else.
        """
        ...


@runtime_checkable
class NativeBias(Protocol):
    """A bias that the native core computes by itself: one of those in `misstep.biases.published`."""

    @property
    def name(self) -> str:
        """As the native core calls it."""
        ...

    @property
    def h(self) -> str:
        """`ff` or `star`."""
        ...


class _Scorer(Protocol):
    def score(self, run: PartialRun, /) -> float: ...


_Triple: TypeAlias = tuple[list[State], list[Action], str]


@dataclass(frozen=True, slots=True)
class BoundBias:
    """A bias of somebody's own on one task; whatever goes wrong in it is said to be its fault."""

    part: object
    scorer: _Scorer

    def __call__(self, runs: Sequence[_Triple], /) -> list[float]:
        """One number for each run; this is what the native fuzzer calls."""
        return [self.score(PartialRun(tuple(states), tuple(actions), how)) for states, actions, how in runs]

    def score(self, run: PartialRun) -> float:
        """The bias of one run."""
        with blaming("bias", self.part, lambda: f"it was asked about the run from {run.states[0]}"):
            answer = self.scorer.score(run)
        value = as_number(answer)
        if value is None:
            raise PartError(
                f"{part_label('bias', self.part)} gave {answer!r:.80} for the run from {run.states[0]}; "
                "`score` must return a number, and never NaN"
            )
        return value


def bind_bias(part: "Bias | NativeBias", task: Task) -> "NativeBias | BoundBias":
    """The bias on a task, ready for a fuzzer."""
    bind: Callable[[Task], _Scorer] | None = getattr(part, "bind", None)
    scorer: object = part
    if bind is not None:
        with blaming("bias", part, "it was bound to the task"):
            scorer = bind(task)
    if callable(getattr(scorer, "score", None)):
        return BoundBias(part, scorer)  # type: ignore[arg-type]
    if isinstance(part, NativeBias):
        return part
    raise PartError(
        f"{part_label('bias', part)} has no method `score`; a bias has `score(run)`, or `bind(task)` that "
        "returns an object with it"
    )


def score_run(bias: "NativeBias | BoundBias", run: Run) -> float:
    """The bias of a run of at least one step that has not failed, whoever computes it."""
    if isinstance(bias, BoundBias):
        return bias.score(PartialRun(tuple(run.states), tuple(run.actions), run.outcome))
    return bias_value(run, bias=bias.name, distance=bias.h)
