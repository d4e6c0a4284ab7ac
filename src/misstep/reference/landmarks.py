"""Landmarks with shares of costs: a proof that every plan costs at least a certain sum."""

from collections import Counter
from typing import Any

from misstep.reference.checked import need
from misstep.reference.dead_end import check_unavoidable
from misstep.reference.fdr import State, Task
from misstep.reference.reading import affordable, items, record, texts, whole


def landmark_bound(task: Task, state: State, landmarks: object) -> int:
    """The sum of the shares of the landmarks, which no plan of the state undercuts.

    A landmark is a set of actions of which every plan takes at least one, and a share that is charged for it.
    Two things are checked. Without the actions of a landmark the goal is out of reach (`check_unavoidable`),
    so every plan takes one of them. And no action is charged more than its cost, all its landmarks together.

    So let p be a plan. Its cost is the sum of the costs of its actions; that is at least the sum of what its
    actions are charged; and there the share of every landmark occurs at least once, since p takes one of its
    actions.
    """
    found = [_landmark(task, landmark) for landmark in items(landmarks, "the landmarks")]
    affordable(len(found) * task.size, "the list of landmarks")
    charged: Counter[int] = Counter()
    check_unavoidable(task, state, [numbers for numbers, _ in found])
    for numbers, share in found:
        charged.update(dict.fromkeys(numbers, share))
    for number, action in enumerate(task.actions):
        need(charged[number] <= action.cost, f"{action.name} is charged more than its cost")
    return sum(share for _, share in found)


def _landmark(task: Task, landmark: Any) -> tuple[set[int], int]:
    """The numbers of the actions of a landmark, and its share.

    A name stands for all actions of that name. Of several, `(move a b) 2` is the second one in the task.
    """
    parts = record(landmark, "a landmark", ("share", "actions"))
    numbers = set[int]()
    for words in texts(parts["actions"], "the actions of a landmark"):
        name, _, place = words.rpartition(" ")
        known = task.numbers.get(words, ())
        if not known and place.isdecimal() and 1 <= int(place) <= len(task.numbers.get(name, ())):
            known = [task.numbers[name][int(place) - 1]]
        need(len(known) > 0, "a landmark names an action that the task does not have")
        numbers.update(known)
    return numbers, whole(parts["share"], "the share of a landmark")
