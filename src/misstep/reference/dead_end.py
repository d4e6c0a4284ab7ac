"""Relaxed reachability: a simple reason why a goal is out of reach, with or without some of the actions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from misstep.reference.checked import need
from misstep.reference.fdr import State, Task


class Reach:
    """The facts that can be reached if no fact is ever lost and some actions (by number) are never taken.

    If the goal is not among them, then no real course of actions from the state reaches it without one of those
    actions. For let the course visit the states s0, s1, ..., sn. All facts of s0 are reached at the start. If
    all facts of si are reached, then so are the preconditions of the next action, which si satisfies; so its
    effects are reached, and with them all facts of s(i+1). By induction all facts of sn are reached, and if
    sn were a goal state, the goal's facts would be among them.

    The converse is false: where the goal is among the facts, it may be out of reach all the same. The checker
    never uses that answer.
    """

    def __init__(self, task: Task, state: State, *, without: Collection[int] = ()) -> None:
        self.task = task
        self.facts = set(enumerate(state))
        self.missing = [len(action.precondition) for action in task.actions]
        """How many facts of each action's precondition are not reached."""
        self._grow(self.facts, (number for number, count in enumerate(self.missing) if count == 0), without)

    @property
    def has_goal(self) -> bool:
        """Whether all facts of the goal are reached."""
        return self.task.goal.items() <= self.facts

    def copy(self) -> Reach:
        """The same, to be changed on its own."""
        other = object.__new__(Reach)
        other.task, other.facts, other.missing = self.task, self.facts.copy(), self.missing.copy()
        return other

    def allow(self, numbers: Iterable[int], *, without: Collection[int]) -> None:
        """From now on these actions may be taken; those of `without` still may not.

        An action that could not be taken before and has its precondition has not been applied, so it is now. Nothing
        that was reached is lost: what can be done with fewer actions can be done with more.
        """
        self._grow((), [number for number in numbers if self.missing[number] == 0], without)

    def _grow(
        self, facts: Iterable[tuple[int, int]], actions: Iterable[int], without: Collection[int]
    ) -> None:
        """Everything that follows from facts that were not there before and from actions that were not taken."""
        reached, missing, needing = self.facts, self.missing, self.task.needing
        new, ready, by_number = list(facts), list(actions), self.task.actions
        while new or ready:
            if new:
                for number in needing.get(new.pop(), ()):
                    left = missing[number] = missing[number] - 1
                    if left == 0:
                        ready.append(number)
            else:
                number = ready.pop()
                for fact in by_number[number].effect.items() if number not in without else ():
                    if fact not in reached:
                        reached.add(fact)
                        new.append(fact)


def check_dead_end(task: Task, state: State) -> None:
    """Refuse unless the goal is proven to be out of reach from the state, so that h* is infinite."""
    need(not Reach(task, state).has_goal, "the goal is not proven to be out of reach there")


def check_unavoidable(task: Task, state: State, sets: Sequence[Collection[int]]) -> None:
    """Refuse unless every plan of the state takes an action of each of these sets.

    Without the actions of a set, the goal must be out of reach. To find that out for one set after the other would
    mean to start from the state each time. Instead, what is reached without *all* the sets is looked for first. It is
    a part of what is reached without any one half of them, from where each half goes on by itself, and so on down to
    single sets.
    """
    if sets:
        _check_half(Reach(task, state, without=frozenset[int]().union(*sets)), sets)


def _check_half(reach: Reach, sets: Sequence[Collection[int]]) -> None:
    """The same, where `reach` is what is reached without all of the sets."""
    if len(sets) == 1:
        need(not reach.has_goal, "a landmark can be avoided")
        return
    middle = len(sets) // 2
    for mine, others in ((sets[:middle], sets[middle:]), (sets[middle:], sets[:middle])):
        without = frozenset[int]().union(*mine)
        further = reach.copy()
        further.allow(frozenset[int]().union(*others) - without, without=without)
        _check_half(further, mine)
