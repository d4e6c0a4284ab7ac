"""States and actions of the native core: values, printing, facts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from misstep import InputError
from misstep import _core as core
from tests.unit.core_tasks import counter, delivery


def test_a_state_prints_as_sorted_atoms() -> None:
    task = delivery()
    state = task.initial_state
    assert state.facts == ["(at lorry a)", "(at parcel a)"]
    assert str(state) == "(at lorry a) (at parcel a)"
    assert repr(state) == "State('(at lorry a)', '(at parcel a)')"
    assert state.values == [0, 0, 1, 1]
    assert state.task is task


def test_states_are_values() -> None:
    task, same = delivery(), delivery()
    a, b = task.initial_state, task.state_from_values([0, 0, 1, 1])
    assert a == b
    assert hash(a) == hash(b)
    assert a == same.initial_state
    assert hash(a) == hash(same.initial_state)
    other = task.state_from_values([1, 0, 1, 1])
    assert a != other
    assert {a, b, other, same.initial_state} == {a, other}
    assert a != "(at lorry a)"
    assert a != counter(4).initial_state


def test_actions_are_values() -> None:
    task, same = delivery(), delivery()
    action = task.action("(load parcel a)")
    assert str(action) == action.name == "(load parcel a)"
    assert repr(action) == "Action('(load parcel a)', cost=1)"
    assert (action.index, action.cost) == (2, 1)
    assert action.precondition == [(0, 0), (1, 0)]
    assert action.effect == [(1, 2)]
    assert action.task is task
    assert action == task.actions[2] == same.actions[2]
    assert hash(action) == hash(same.actions[2])
    assert action != task.actions[3]
    assert action != "(load parcel a)"
    assert len(set(task.actions)) == 5
    assert [a.index for a in task.actions] == [0, 1, 2, 3, 4]
    assert task.actions[-1] == task.actions[4]
    with pytest.raises(IndexError):
        task.actions[5]


def test_names_are_forgiving_about_case_and_blanks() -> None:
    task = delivery()
    assert task.action(" (LOAD  parcel\ta )") == task.action("(load parcel a)")
    assert task.state(["(AT lorry  A)", "( at parcel a )"]) == task.initial_state


def test_a_state_from_facts() -> None:
    task = delivery()
    assert task.state(["(at lorry b)", "(in parcel lorry)"]).values == [1, 2, 1, 1]
    assert task.state(["(lit)", "(at lorry b)", "(at parcel a)"]).values == [1, 0, 0, 1]
    assert task.state(("(broken lorry)", "(at lorry a)", "(at parcel b)")).values == [0, 1, 1, 0]
    assert task.state(["(not (lit))", "(at lorry a)", "(at parcel a)"]) == task.initial_state


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (["(at lorry c)", "(at parcel a)"], r"'\(at lorry c\)' is not a fact"),
        (["(at lorry a)"], r"incomplete.*\(at parcel a\)"),
        (["(at lorry a)", "(at lorry b)", "(at parcel a)"], "exclude each other"),
        ([""], "is not a fact"),
        ([], "incomplete"),
    ],
)
def test_wrong_facts_are_refused(facts: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        delivery().state(facts)


@pytest.mark.parametrize("values", [[0, 0, 1], [0, 0, 1, 1, 0], [2, 0, 0, 0], [0, -1, 0, 0], []])
def test_wrong_values_are_refused(values: list[int]) -> None:
    with pytest.raises(InputError):
        delivery().state_from_values(values)


def test_successors() -> None:
    task = delivery()
    state = task.initial_state
    assert [str(a) for a in task.applicable(state)] == ["(drive lorry a b)", "(load parcel a)", "(light)"]
    assert [(str(a), s.values) for a, s in task.successors(state)] == [
        ("(drive lorry a b)", [1, 0, 1, 1]),
        ("(load parcel a)", [0, 2, 1, 1]),
        ("(light)", [0, 0, 0, 1]),
    ]
    assert task.apply(state, task.action("(light)")).facts == ["(at lorry a)", "(at parcel a)", "(lit)"]
    assert not task.is_goal(state)
    assert task.is_goal(task.state(["(at lorry b)", "(at parcel b)"]))


def test_an_inapplicable_action_is_refused_with_the_state() -> None:
    task = delivery()
    with pytest.raises(InputError, match=r"\(unload parcel b\) is not applicable.*\(at lorry a\)"):
        task.apply(task.initial_state, task.action("(unload parcel b)"))
    with pytest.raises(InputError, match="'\\(fly\\)' is not an action"):
        task.action("(fly)")


def test_what_belongs_to_another_task_is_refused() -> None:
    task, other = delivery(), counter(4)
    state, action = other.initial_state, other.actions[0]
    calls: list[Callable[[], object]] = [
        lambda: task.apply(state, task.actions[0]),
        lambda: task.apply(task.initial_state, action),
        lambda: task.applicable(state),
        lambda: task.successors(state),
        lambda: task.is_goal(state),
        lambda: task.batch([task.initial_state, state]),
        lambda: core.StateRegistry(task).insert(state),
        lambda: core.StateRegistry(task).find(state),
        lambda: core.StateRegistry(task).insert_batch(other.batch([state])),
        lambda: core.Heuristic(task, "ff")(state),
        lambda: core.Heuristic(task, "ff").evaluate(other.batch([state])),
        lambda: core.Heuristic(task, "ff").to(task.initial_state, state),
        lambda: core.Heuristic(task, "ff").pairwise(task.batch([]), other.batch([state])),
        lambda: core.Heuristic(task, "ff").relaxed_plan(state),
        lambda: core.Heuristic(task, "lmcut").landmarks(state),
        lambda: core.search(task, "astar:blind", state=state),
        lambda: core.count_states(task, 2, state=state),
    ]
    for call in calls:
        with pytest.raises(InputError, match="belongs to another task"):
            call()


def test_facts_have_names() -> None:
    task = delivery()
    assert task.num_variables == 4
    assert task.domain_sizes == [2, 3, 2, 2]
    assert task.fact_name(1, 2) == "(in parcel lorry)"
    assert task.fact_name(2, 1) == "(not (lit))"
    assert task.fact_name(3, 1) is None
    assert task.goal == [(1, 1)]
    assert task.has_metric
    assert not counter(2).has_metric
    for variable, value in ((-1, 0), (4, 0), (0, 2), (0, -1)):
        with pytest.raises(InputError):
            task.fact_name(variable, value)


def test_objects_outlive_the_name_of_their_task() -> None:
    """A state keeps its task alive."""
    state = delivery().initial_state
    action = delivery().action("(light)")
    registry = core.StateRegistry(delivery())
    h = core.Heuristic(delivery(), "ff")
    assert str(state) == "(at lorry a) (at parcel a)"
    assert str(action) == "(light)"
    assert registry.insert(state) == 0
    assert h(state) == 4
