"""Landmarks with shares of costs: a proof that every plan costs at least a certain sum."""

from collections import Counter
from typing import Any

from misstep.reference.checked import need
from misstep.reference.dead_end import reaches_goal
from misstep.reference.fdr import State, Task
from misstep.reference.reading import affordable, items, record, texts, whole


def landmark_bound(task: Task, state: State, landmarks: object) -> int:
    """The sum of the shares of the landmarks, which no plan of the state undercuts.

    A landmark is a set of actions of which every plan takes at least one, and a share that is charged for it.
    Two things are checked. Without the actions of a landmark the goal is out of reach (`reaches_goal`), so
    every plan takes one of them. And no action is charged more than its cost, all its landmarks together.

    So let p be a plan. Its cost is the sum of the costs of its actions; that is at least the sum of what its
    actions are charged; and there the share of every landmark occurs at least once, since p takes one of its
    actions. Landmarks name actions; a name stands for all actions of that name here, in both checks.
    """
    found = [_landmark(task, landmark) for landmark in items(landmarks, "the landmarks")]
    affordable(len(found) * task.size, "the list of landmarks")
    charged: Counter[str] = Counter()
    for names, share in found:
        need(not reaches_goal(task, state, without=names), "a landmark can be avoided")
        charged.update(dict.fromkeys(names, share))
    for action in task.actions:
        need(charged[action.name] <= action.cost, f"{action.name} is charged more than its cost")
    return sum(share for _, share in found)


def _landmark(task: Task, landmark: Any) -> tuple[set[str], int]:
    parts = record(landmark, "a landmark", ("share", "actions"))
    names = set(texts(parts["actions"], "the actions of a landmark"))
    need(names <= task.named.keys(), "a landmark names an action that the task does not have")
    return names, whole(parts["share"], "the share of a landmark")
