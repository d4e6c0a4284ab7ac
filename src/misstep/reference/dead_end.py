"""Relaxed reachability: a simple reason why a goal is out of reach, with or without some of the actions."""

from collections.abc import Collection

from misstep.reference.checked import need
from misstep.reference.fdr import State, Task


def reaches_goal(task: Task, state: State, *, without: Collection[int] = ()) -> bool:
    """Whether the goal can be reached if no fact is ever lost and some actions (by number) are never taken.

    If the answer is no, then no real course of actions from the state reaches the goal without one of those
    actions. For let the course visit the states s0, s1, ..., sn. All facts of s0 are reached at the start. If
    all facts of si are reached, then so are the preconditions of the next action, which si satisfies; so its
    effects are reached, and with them all facts of s(i+1). By induction all facts of sn are reached, and if
    sn were a goal state, the goal's facts would be among them.

    The converse is false: where the answer is yes, the goal may be out of reach all the same. The checker
    never uses that answer.
    """
    missing = [len(action.precondition) for action in task.actions]
    ready = [number for number, count in enumerate(missing) if count == 0]
    new, reached = list(enumerate(state)), set(enumerate(state))
    while new or ready:
        if new:
            for number in task.needing.get(new.pop(), ()):
                missing[number] -= 1
                if missing[number] == 0:
                    ready.append(number)
        else:
            number = ready.pop()
            for fact in task.actions[number].effect.items() if number not in without else ():
                if fact not in reached:
                    reached.add(fact)
                    new.append(fact)
    return task.goal.items() <= reached


def check_dead_end(task: Task, state: State) -> None:
    """Refuse unless the goal is proven to be out of reach from the state, so that h* is infinite."""
    need(not reaches_goal(task, state), "the goal is not proven to be out of reach there")
