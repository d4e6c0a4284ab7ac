"""How good a policy is on fixed states, and how two versions of it differ: better, worse, forgotten."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from misstep.explain.words import counted
from misstep.statistics import (
    Interval,
    cluster_correlation,
    clustered_size,
    effective_size,
    rate_bounds,
    sign_test,
)
from misstep.training.score import Exam

Parents: TypeAlias = Sequence[int | None]
"""By pool state of a task the number of the state that its walk started in."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What exams add up to."""

    tasks: int
    solved_tasks: int
    states: int
    solved_states: int
    bugs: int
    """States that are proven to be bugs."""
    cost: float
    """Of the solved states together."""
    cleared: int = 0
    """States that are proven to be no bugs."""
    effective: float | None = None
    """How many independent states say as much; None where that was not computed."""

    @property
    def unknown(self) -> int:
        """States of which neither is proven."""
        return self.states - self.bugs - self.cleared

    @property
    def bug_rate(self) -> Interval:
        """Between which the share of bugs among such states lies (95 %), unknown states counted both ways."""
        return rate_bounds(self.bugs, self.cleared, self.unknown, effective=self.effective)

    def is_better(self, other: "Standing") -> bool:
        """Fewer bugs without fewer solved tasks; among equals cheaper runs."""
        if self.solved_tasks < other.solved_tasks:
            return False
        return (self.bugs, -self.solved_states, self.cost) < (other.bugs, -other.solved_states, other.cost)

    def as_json(self) -> dict[str, Any]:
        """With the share of proven bugs and the bounds of the bug rate (95 %)."""
        share = self.bugs / self.states if self.states else None
        own = {**asdict(self), "unknown": self.unknown}
        return {**own, "bug_rate": share, "bug_rate_bounds": list(self.bug_rate)}


@dataclass(frozen=True, slots=True)
class Change:
    """Two versions of a policy on the same states."""

    before: Standing
    after: Standing
    fixed: int
    """States that were bugs and are proven to be none any more."""
    forgotten: int
    """States that were proven to be no bugs and are bugs now."""
    unsolved: int
    """Of the forgotten, those that are not even solved any more."""
    better_tasks: int
    """Tasks with more fixed than forgotten states."""
    worse_tasks: int
    """Tasks with more forgotten than fixed states."""
    p_value: float
    """How likely so uneven a split of these tasks is by chance (exact sign test). States of a task are alike, so a
    task counts once."""
    both_solved: int
    cost_before: float
    """Of the runs from states that both solve."""
    cost_after: float
    initial_before: float = 0.0
    """Of the runs from initial states that both solve; these states are not among the others."""
    initial_after: float = 0.0
    lost: int = 0
    """States that were solved and are not solved any more, initial states among them."""

    @property
    def worse(self) -> tuple[str, ...]:
        """In what the new version is worse; empty where it is no worse."""
        before, after = self.before, self.after
        found = []
        if after.solved_tasks < before.solved_tasks:
            found.append(f"it solves {counted(after.solved_tasks, 'task')} instead of {before.solved_tasks}")
        if after.solved_states < before.solved_states:
            found.append(
                f"it solves {counted(after.solved_states, 'state')} instead of {before.solved_states}"
            )
        if after.bugs > before.bugs:
            found.append(f"it has {counted(after.bugs, 'proven bug')} instead of {before.bugs}")
        return tuple(found)

    @property
    def why_not(self) -> tuple[str, ...]:
        """What speaks against the new version; empty where it is no worse in anything and better in something."""
        before, after = self.before, self.after
        if not before.states:
            return ("no state was left to compare the two on",)
        if self.worse:
            return self.worse
        if (after.solved_tasks, after.solved_states, -after.bugs) != (
            before.solved_tasks,
            before.solved_states,
            -before.bugs,
        ):
            return ()
        return self._why_no_cheaper()

    def _why_no_cheaper(self) -> tuple[str, ...]:
        """Where all numbers are equal, lower cost decides, but not at the price of a state."""
        same = "it solves no more tasks and no more states, and has no fewer proven bugs"
        if self.lost:
            are = "is" if self.lost == 1 else "are"
            return (same, f"{counted(self.lost, 'state')} that the old policy solves {are} unsolved now")
        old, new = self.cost_before + self.initial_before, self.cost_after + self.initial_after
        if new < old:
            return ()
        if new == old:
            return (same, f"its runs cost as much as before ({new:.12g} together)")
        return (same, f"its runs cost {new:.12g} together instead of {old:.12g}")

    def as_json(self) -> dict[str, Any]:
        """One plain object."""
        own = {name: value for name, value in asdict(self).items() if name not in ("before", "after")}
        return {"before": self.before.as_json(), "after": self.after.as_json(), **own}


@dataclass(frozen=True, slots=True)
class _State:
    """One pool state under one version."""

    cost: float | None
    bug: bool
    cleared: bool
    parent: int | None = None


def standing(exams: Sequence[Exam]) -> Standing:
    """What the exams of one policy add up to."""
    return _standing(exams, [_states(exam) for exam in exams])


def change(
    before: Sequence[Exam],
    after: Sequence[Exam],
    *,
    keep: Sequence[Sequence[bool]],
    parents: Sequence[Parents],
) -> Change:
    """Compares on the states to be kept. What is proven about a state under one version counts for the other.

    A state that the other version solves more cheaply is a bug; one that costs no more than what is proven to be
    the best is none.
    """
    old: list[dict[int, _State]] = []
    new: list[dict[int, _State]] = []
    for first, second, kept, origin in zip(before, after, keep, parents, strict=True):
        pairs = zip(_states(first, origin), _states(second, origin), kept, strict=True)
        chosen = [
            (at, _held_against(a, b), _held_against(b, a))
            for at, (a, b, is_kept) in enumerate(pairs)
            if is_kept
        ]
        old.append({at: a for at, a, _ in chosen})
        new.append({at: b for at, _, b in chosen})
    by_task = [
        [(a, b) for a, b in zip(olds.values(), news.values(), strict=True)]
        for olds, news in zip(old, new, strict=True)
    ]
    states = [pair for pairs_of_task in by_task for pair in pairs_of_task]
    net = [sum(map(_is_fixed, each)) - sum(map(_is_forgotten, each)) for each in by_task]
    better, worse = sum(each > 0 for each in net), sum(each < 0 for each in net)
    both = _both([(a.cost, b.cost) for a, b in states])
    starts = [(first.initial, second.initial) for first, second in zip(before, after, strict=True)]
    both_starts = _both(starts)
    alike = _likeness(old, new)
    return Change(
        _with_effective(_standing(before, [list(each.values()) for each in old]), old, alike),
        _with_effective(_standing(after, [list(each.values()) for each in new]), new, alike),
        fixed=sum(map(_is_fixed, states)),
        forgotten=sum(map(_is_forgotten, states)),
        unsolved=sum(_is_forgotten(pair) and pair[1].cost is None for pair in states),
        better_tasks=better,
        worse_tasks=worse,
        p_value=sign_test(better, worse),
        both_solved=len(both),
        cost_before=sum(cost for cost, _ in both),
        cost_after=sum(cost for _, cost in both),
        initial_before=sum(cost for cost, _ in both_starts),
        initial_after=sum(cost for _, cost in both_starts),
        lost=sum(a.cost is not None and b.cost is None for a, b in states)
        + sum(a is not None and b is None for a, b in starts),
    )


def _both(costs: Sequence[tuple[float | None, float | None]]) -> list[tuple[float, float]]:
    return [(a, b) for a, b in costs if a is not None and b is not None]


def _is_fixed(pair: tuple[_State, _State]) -> bool:
    return pair[0].bug and pair[1].cleared


def _is_forgotten(pair: tuple[_State, _State]) -> bool:
    return pair[0].cleared and pair[1].bug


# An estimate from few tasks is often far too low; two standard errors make up for that (see `cluster_correlation`).
_STANDARD_ERRORS = 2.0


def _likeness(*tests: Sequence[dict[int, _State]]) -> float:
    """How alike states of a task are: those that are proven bugs, or those that may be bugs, whichever is more.

    Unknown states count both ways in a rate, and often all states of a hard task are unknown. Where nothing can be
    measured, they count as all alike.
    """
    ways = (
        [[(sum(state.bug for state in task.values()), len(task)) for task in tasks] for tasks in tests],
        [
            [(sum(not state.cleared for state in task.values()), len(task)) for task in tasks]
            for tasks in tests
        ],
    )
    found = [cluster_correlation(columns, standard_errors=_STANDARD_ERRORS) for columns in ways]
    return max(1.0 if each is None else each for each in found)


def _with_effective(found: Standing, tasks: Sequence[dict[int, _State]], alike: float) -> Standing:
    """How many independent states say as much: states of one walk are alike, and so are states of one task.

    The smaller number counts. With a single task the rate is about the states of this task, so that only walks
    matter.
    """
    walks = sum(
        effective_size(
            {at: state.bug for at, state in states.items()},
            {at: state.parent for at, state in states.items()},
            unknown={at for at, state in states.items() if not (state.bug or state.cleared)},
        )
        for states in tasks
        if states
    )
    sizes = [len(states) for states in tasks if states]
    if len(sizes) < 2:
        return replace(found, effective=walks)
    return replace(found, effective=min(walks, clustered_size(sizes, alike)))


def _states(exam: Exam, parents: Parents | None = None) -> list[_State]:
    nothing = (False,) * len(exam.costs)
    origin = parents or (None,) * len(exam.costs)
    each = zip(exam.costs, exam.bugs, exam.cleared or nothing, origin, strict=True)
    return [_State(cost, bug, cleared, parent) for cost, bug, cleared, parent in each]


def _held_against(one: _State, other: _State) -> _State:
    dearer = other.cost is not None and (one.cost is None or one.cost > other.cost)
    bug = one.bug or dearer
    as_good = other.cost is None or (one.cost is not None and one.cost <= other.cost)
    return replace(one, bug=bug, cleared=not bug and (one.cleared or (other.cleared and as_good)))


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
        cleared=sum(state.cleared for state in flat),
    )
