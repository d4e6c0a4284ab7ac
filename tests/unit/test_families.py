"""Families, regions and how varied bugs are."""

from misstep.explain.families import BugSummary, families, regions, share_with_unique_pair
from misstep.task import Task
from tests.unit.core_tasks import counter, delivery


def test_regions_are_connected_parts() -> None:
    task = Task(counter(3).sas)
    states = [task.state_from_values(v) for v in ([0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1])]
    number = regions(task, states)
    assert number[states[0]] == number[states[1]]
    assert number[states[2]] == number[states[3]]
    assert number[states[0]] != number[states[2]]


def test_families_group_by_outcome_schema_and_region() -> None:
    task = Task(delivery().sas)
    start = task.initial_state
    lit = task.apply(start, task.action("(light)"))
    bugs = [
        BugSummary(0, start, "loop", "drive", 1, 9),
        BugSummary(3, lit, "loop", "drive", 1, 4),
        BugSummary(5, lit, "stuck", "drive", 1, 4),
    ]
    found = families(task, bugs)
    assert [(f.outcome, f.members, f.representative) for f in found] == [
        ("loop", (0, 3), 3),
        ("stuck", (5,), 5),
    ]
    assert families(task, []) == []


def test_unique_pairs() -> None:
    task = Task(counter(2).sas)
    states = [task.state_from_values(v) for v in ([0, 0], [0, 1], [1, 1])]
    assert share_with_unique_pair(states) == 1.0
    assert share_with_unique_pair([*states, states[0]]) == 0.5
    assert share_with_unique_pair([]) is None
