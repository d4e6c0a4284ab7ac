"""How good a policy is on fixed states, and how two versions of it differ: better, worse, forgotten."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from misstep.statistics import rate_bounds, sign_test
from misstep.training.score import Exam


@dataclass(frozen=True, slots=True)
class Standing:
    """What exams add up to."""

    tasks: int
    solved_tasks: int
    states: int
    solved_states: int
    bugs: int
    cost: float
    """Of the solved states together."""

    def is_better(self, other: "Standing") -> bool:
        """Fewer bugs without fewer solved tasks; among equals cheaper runs."""
        if self.solved_tasks < other.solved_tasks:
            return False
        return (self.bugs, -self.solved_states, self.cost) < (other.bugs, -other.solved_states, other.cost)

    def as_json(self) -> dict[str, Any]:
        """With the bug rate and its bounds (95 %)."""
        bounds = rate_bounds(self.bugs, self.states - self.bugs, 0)
        rate = self.bugs / self.states if self.states else None
        return {**asdict(self), "bug_rate": rate, "bug_rate_bounds": [bounds.lo, bounds.hi]}


@dataclass(frozen=True, slots=True)
class Change:
    """Two versions of a policy on the same states."""

    before: Standing
    after: Standing
    fixed: int
    """States that were bugs and are none any more."""
    forgotten: int
    """States that were no bugs and are now."""
    unsolved: int
    """Of the forgotten, those that are not even solved any more."""
    p_value: float
    """How likely so uneven a split of fixed and forgotten is by chance (exact McNemar test)."""
    both_solved: int
    cost_before: float
    """Of the runs from states that both solve."""
    cost_after: float

    def as_json(self) -> dict[str, Any]:
        """One plain object."""
        own = {name: value for name, value in asdict(self).items() if name not in ("before", "after")}
        return {"before": self.before.as_json(), "after": self.after.as_json(), **own}


@dataclass(frozen=True, slots=True)
class _State:
    """One pool state under one version."""

    cost: float | None
    bug: bool


def standing(exams: Sequence[Exam]) -> Standing:
    """What the exams of one policy add up to."""
    return _standing(exams, [_states(exam) for exam in exams])


def change(before: Sequence[Exam], after: Sequence[Exam], *, keep: Sequence[Sequence[bool]]) -> Change:
    """Compares on the states to be kept; one that the other version solves more cheaply is a bug, too."""
    old, new = [], []
    for first, second, kept in zip(before, after, keep, strict=True):
        pairs = zip(_states(first), _states(second), kept, strict=True)
        chosen = [(_held_against(a, b), _held_against(b, a)) for a, b, is_kept in pairs if is_kept]
        old.append([a for a, _ in chosen])
        new.append([b for _, b in chosen])
    states = [pair for olds, news in zip(old, new, strict=True) for pair in zip(olds, news, strict=True)]
    fixed = sum(a.bug and not b.bug for a, b in states)
    lost = [b for a, b in states if b.bug and not a.bug]
    both = [(a.cost, b.cost) for a, b in states if a.cost is not None and b.cost is not None]
    return Change(
        _standing(before, old),
        _standing(after, new),
        fixed=fixed,
        forgotten=len(lost),
        unsolved=sum(state.cost is None for state in lost),
        p_value=sign_test(fixed, len(lost)),
        both_solved=len(both),
        cost_before=sum(cost for cost, _ in both),
        cost_after=sum(cost for _, cost in both),
    )


def _states(exam: Exam) -> list[_State]:
    return [_State(cost, bug) for cost, bug in zip(exam.costs, exam.bugs, strict=True)]


def _held_against(one: _State, other: _State) -> _State:
    dearer = other.cost is not None and (one.cost is None or one.cost > other.cost)
    return _State(one.cost, one.bug or dearer)


def _standing(exams: Sequence[Exam], states: Sequence[Sequence[_State]]) -> Standing:
    flat = [state for each in states for state in each]
    costs = [state.cost for state in flat if state.cost is not None]
    return Standing(
        tasks=len(exams),
        solved_tasks=sum(exam.initial is not None for exam in exams),
        states=len(flat),
        solved_states=len(costs),
        bugs=sum(state.bug for state in flat),
        cost=float(sum(costs)),
    )
