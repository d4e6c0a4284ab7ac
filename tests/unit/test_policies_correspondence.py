"""Two translations of one problem correspond by names; two different problems are refused."""

import random
from typing import Any

import pytest

from misstep import load
from misstep.answers.answer import BadAnswer
from misstep.errors import PolicyError
from misstep.remote.correspondence import Correspondence
from misstep.task import Task
from tests.taskset import OWN, PddlTask

NO_INVARIANTS = ("--invariant-generation-max-candidates", "0")
DOMAINS = ["blocks", "ferry", "gripper", "hanoi", "keys", "lights", "spanner", "tyre", "visitall"]


def task_of(domain: Any, problem: str = "p01") -> Any:
    return load(OWN / domain / "domain.pddl", OWN / domain / f"{problem}.pddl")


def translated(domain: Any, *flags: Any, problem: str = "p01") -> Any:
    found = PddlTask(OWN / domain / "domain.pddl", OWN / domain / f"{problem}.pddl")
    return Task(found.sas(*flags), source="server")


def walk(task: Task, *, count: int = 40, seed: int = 0) -> Any:
    chance = random.Random(seed)
    state = task.initial_state
    states = [state]
    for _ in range(count):
        successors = task.successors(state)
        state = chance.choice(successors)[1] if successors else task.initial_state
        states.append(state)
    return states


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("flags", [(), NO_INVARIANTS, ("--keep-unimportant-variables",)])
def test_another_translation_of_the_problem(domain: str, flags: Any) -> None:
    here, there = task_of(domain), translated(domain, *flags)
    mapping = Correspondence(here, there, source="remote:here")
    states = walk(here)
    known = {there.fact_name(v, x) for v, size in enumerate(there.domain_sizes) for x in range(size)}
    for state, row in zip(states, mapping.values(here.batch(states)), strict=True):
        theirs = there.state_from_values(row.tolist())
        constant = set(theirs.facts) - set(state.facts)
        assert set(theirs.facts) - constant == set(state.facts) & known
        assert constant <= {here.pddl.text(atom) for atom in here.pddl.static_atoms}
        for operator in there.applicable(theirs):
            action = mapping.action(state, operator.index)
            assert action.name == operator.name
            assert action in here.applicable(state)
            there_next = there.apply(theirs, operator)
            (here_next,) = mapping.values(here.batch([here.apply(state, action)])).tolist()
            assert there_next.values == here_next


def test_the_other_way_round() -> None:
    here, there = translated("blocks", *NO_INVARIANTS), task_of("blocks")
    assert max(here.domain_sizes) == 2
    assert max(there.domain_sizes) > 2
    mapping = Correspondence(here, there, source="remote:here")
    for state, row in zip(walk(here), mapping.values(here.batch(walk(here))).tolist(), strict=True):
        assert there.state_from_values(row).facts == state.facts


def test_the_same_task_needs_no_matching() -> None:
    here = task_of("gripper")
    there = Task(here.sas, source="server")
    mapping = Correspondence(here, there, source="remote:here")
    states = here.batch(walk(here))
    assert mapping.values(states) is not None
    assert (mapping.values(states) == states.values).all()
    assert mapping.action(here.initial_state, 3) == here.actions[3]


@pytest.mark.parametrize("operator", [-2, 10_000, -(2**31), 2**31 - 1])
@pytest.mark.parametrize("flags", [(), NO_INVARIANTS])
def test_operators_that_do_not_exist(operator: int, flags: Any) -> None:
    here, there = task_of("gripper"), translated("gripper", *flags)
    answer = Correspondence(here, there, source="x").action(here.initial_state, operator)
    assert isinstance(answer, BadAnswer)
    assert f"the server answered operator {operator}" in answer.reason


def test_operators_that_are_no_actions_here() -> None:
    """Without invariants the translator keeps actions that can never be applied."""
    here, there = task_of("blocks"), translated("blocks", *NO_INVARIANTS)
    operator = there.action("(stack b1 b1)")
    answer = Correspondence(here, there, source="x").action(here.initial_state, operator.index)
    assert isinstance(answer, BadAnswer)
    assert answer.reason == "the server answered (stack b1 b1), which is no action of the task here"


def test_different_problems_are_refused() -> None:
    here = task_of("ferry")
    with pytest.raises(PolicyError, match=r"none of its \d+ operators is an action here, such as \("):
        Correspondence(here, translated("gripper"), source="remote:here")
    with pytest.raises(
        PolicyError, match=r"^remote:here: the state .* cannot be written in the server.s task"
    ):
        Correspondence(here, translated("ferry", problem="p02"), source="remote:here")


def changed(task: Task, section: Any, change: Any) -> Any:
    """The task with a section of its SAS text changed."""
    before, rest = task.sas.split(f"begin_{section}\n", 1)
    inside, after = rest.split(f"end_{section}\n", 1)
    return Task(f"{before}begin_{section}\n{change(inside)}end_{section}\n{after}", source="server")


def test_another_initial_state_or_goal_is_refused() -> None:
    here = task_of("blocks")
    start = here.initial_state
    other = next(state for _, state in here.successors(start))
    there = changed(here, "state", lambda _: "".join(f"{value}\n" for value in other.values))
    with pytest.raises(PolicyError, match=r"the initial states differ: \(.*\) there, \(.*\) here"):
        Correspondence(here, there, source="remote:here")
    (_, first, *_) = next(iter([start.values]))
    there = changed(here, "goal", lambda text: f"1\n1 {first}\n")
    with pytest.raises(PolicyError, match=r"the goals differ: \(.*\) is a goal only (t)?here"):
        Correspondence(here, there, source="remote:here")


def test_states_that_the_server_cannot_express() -> None:
    """Without its value `none of those`, a variable of the server needs one of its atoms to hold."""
    here = translated("gripper", *NO_INVARIANTS)
    there = task_of("gripper")
    mapping = Correspondence(here, there, source="remote:here")
    two_rooms = here.initial_state.values
    robot = [
        (variable, value)
        for variable, size in enumerate(here.domain_sizes)
        for value in range(size)
        if (here.fact_name(variable, value) or "").startswith("(robot-in")
    ]
    assert len(robot) == 2
    for variable, value in robot:
        two_rooms[variable] = value
    with pytest.raises(PolicyError, match=r"cannot be written in the server's task, where exactly one of"):
        mapping.values(here.batch([here.state_from_values(two_rooms)]))
