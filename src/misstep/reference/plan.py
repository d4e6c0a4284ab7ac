"""Steps and plans by the names of their actions: what proves that a cost can be reached."""

from collections.abc import Sequence

from misstep.reference.checked import need
from misstep.reference.fdr import State, Task
from misstep.reference.reading import affordable


def step(task: Task, state: State, name: str) -> tuple[State, int]:
    """The state after the action of this name and what the action costs; refused where it cannot be taken.

    A name may stand for several actions: the translator splits an action whose precondition is a disjunction.
    Where more than one of them is applicable they must do the same, and that is checked here and not
    believed. So it does not matter which of them is meant.
    """
    meant = task.named(name)
    need(len(meant) > 0, f"the task has no action {name[:80]}")
    results = {(action.apply(state), action.cost) for action in meant if action.applicable(state)}
    need(len(results) > 0, f"{name} is not applicable")
    need(len(results) == 1, f"{name} stands for actions that do different things here")
    return results.pop()


def is_applicable(task: Task, state: State, name: str) -> bool:
    """Whether some action of this name can be taken; a text that names no action names nothing to take."""
    return any(action.applicable(state) for action in task.named(name))


def validate(task: Task, state: State, plan: Sequence[str]) -> int:
    """The cost of a plan, which is an upper bound on the best cost h* of the state; refused if it is no plan.

    Each action is applicable where it is taken and the last state is a goal state. So the goal can be reached
    at this cost, and the best way to reach it is no more expensive.
    """
    affordable(len(plan) * len(task.facts), "a plan")
    cost = 0
    for name in plan:
        state, spent = step(task, state, name)
        cost += spent
    need(task.is_goal(state), "the plan ends in a state that is not a goal state")
    return cost
