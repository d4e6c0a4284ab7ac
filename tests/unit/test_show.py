"""Bugs in two columns: loops, wrong answers, the mark at the decision at fault, what differs."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from misstep import InputError, State, Task, load, search
from misstep.reports.columns import side_by_side
from misstep.reports.comparison import Course, compare
from misstep.reports.show import headline, proof
from tests.conftest import COURIER

AWAY, BACK = "(drive red depot mill)", "(drive red mill depot)"


@dataclass(frozen=True)
class Named:
    """Stands in for an action of any name."""

    name: str
    cost: int = 1


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


def plan(task: Task, state: State | None = None) -> Any:
    return [action.name for action in search(task, "astar:lmcut", state=state).plan]


def certificate(task: Task, outcome: Any, actions: Any, *, fault: Any = None, **run: Any) -> dict[str, Any]:
    at_fault = None
    if fault is not None:
        state = task.initial_state
        for name in actions[:fault]:
            state = task.apply(state, task.action(name))
        lower = {"kind": "landmarks", "value": 20}
        at_fault = {"step": fault, "until": fault + 1, "witness": plan(task, state), "lower": lower}
    return {
        "id": "7",
        "state": task.initial_state.facts,
        "run": {"outcome": outcome, "actions": actions, **run},
        "witness": plan(task),
        "fault": at_fault,
    }


def drawn(task: Task, certificate: Any, width: int = 80) -> Any:
    return side_by_side(compare(task, certificate), width)


def test_a_loop_is_bracketed_and_the_misstep_marked(task: Task) -> None:
    bug = certificate(task, "loop", ["(load book red depot)", AWAY, BACK], fault=1)
    lines = drawn(task, bug)
    assert lines[0].split() == ["step", "the", "policy", "cost", "|", "a", "better", "way", "cost"]
    assert lines[1].startswith("   1    (load book red depot)")
    assert lines[2].startswith(f"   2 +> {AWAY} ")
    assert lines[3].startswith(f"   3 +  {BACK} ")
    assert "back to step 2, for ever" in lines[4]
    assert len({line.index("|") for line in lines}) == 1
    both = compare(task, bug)
    assert (both.step, both.back_to) == (1, 1)
    assert both.better.actions[0].name == "(load book red depot)"
    assert task.is_goal(both.better.states[-1])
    assert both.differences is not None
    only_policy, only_better = both.differences
    assert "(at red mill)" in only_policy
    assert not set(only_policy) & set(only_better)


def test_what_is_needed_is_enough_for_the_better_course(task: Task) -> None:
    """The facts that are said to matter hold, and with the others changed the plan still works."""
    both = compare(task, certificate(task, "loop", [AWAY, BACK], fault=0))
    facts, more = both.needed
    start = both.better.states[0]
    assert set(facts) <= set(start.facts)
    assert more == len(set(start.facts) - set(facts))
    values = start.values
    named = {task.fact_name(variable, value) for variable, value in enumerate(values)}
    assert set(facts) <= named
    for variable, size in enumerate(task.domain_sizes):
        if task.fact_name(variable, values[variable]) in facts:
            continue
        for value in range(size):
            changed = [*values[:variable], value, *values[variable + 1 :]]
            state = task.state_from_values(changed)
            for action in both.better.actions:
                assert action in task.applicable(state)
                state = task.apply(state, action)
            assert task.is_goal(state)


def test_no_answer_at_all(task: Task) -> None:
    lines = drawn(task, certificate(task, "stuck", [], fault=0))
    assert lines[1].startswith("   1 > no action")
    assert "the run ends here" in lines[2]


def test_an_answer_that_is_not_applicable(task: Task) -> None:
    bug = certificate(task, "illegal", [], fault=0, answer=BACK, reason="it is at the depot")
    lines = drawn(task, bug)
    assert lines[1].startswith(f"   1 > {BACK}")
    assert "not applicable: the run ends here" in lines[2]
    assert compare(task, bug).differences is None


def test_a_run_that_pays_too_much(task: Task) -> None:
    names = [action.name for action in search(task, "gbfs:blind").plan]
    bug = certificate(task, "solved", [AWAY, BACK, *names])
    both = compare(task, bug)
    lines = drawn(task, bug)
    assert len(lines) == 2 + 2 + len(names)
    assert f"goal reached at cost {both.policy.cost}" in lines[-1]
    assert ">" not in "".join(lines)
    assert headline(both) == f"the policy pays {both.policy.cost} where 21 is enough"
    assert f"{both.policy.cost - 21} too much" in proof(both, bug)


@pytest.mark.parametrize("width", [20, 40, 64, 80, 200])
def test_names_are_whole_at_any_width(task: Task, width: int) -> None:
    """Beside each other where there is room for every name, else one course below the other."""
    bug = certificate(task, "loop", [AWAY, BACK], fault=0)
    lines, text = drawn(task, bug, width), "\n".join(drawn(task, bug, width))
    both = compare(task, bug)
    for action in (*both.policy.actions, *both.better.actions):
        assert action.name in text
    longest = max(len(action.name) for action in both.better.actions)
    # `step`, the bracket of the loop, two names with their costs, and what stands between them.
    wanted = 4 + 1 + 2 + 1 + 2 * (longest + 1 + 4) + 3
    assert ("|" in lines[0]) == (wanted <= width)
    if wanted > width:
        at = lines.index("a better way:")
        assert lines[0] == "the policy:" and lines[1] == f"   1 +> {AWAY} (4)"
        assert len(lines) == 2 + 3 + len(both.better.actions) + 1 and at == 4


def test_actions_that_differ_in_the_middle_look_different(task: Task) -> None:
    """(take-image satellite5 star8 infrared1) and satellite6 were both shown as (take_image sa...t8 infrared1)."""
    names = [f"(take_image satellite{at} planet8 infrared1)" for at in range(3)]
    both = compare(task, certificate(task, "loop", [AWAY, BACK], fault=0))
    actions: Any = tuple(Named(name) for name in names)
    named = replace(both, policy=Course(actions, both.policy.states))
    lines = side_by_side(named, 80)
    assert [line for line in lines if "take_image" in line] == [
        f"   {at + 1} {mark} {name} (1)"
        for at, (name, mark) in enumerate(zip(names, ("+>", "| ", "+ "), strict=True))
    ]


def test_a_name_of_a_megabyte_is_cut(task: Task) -> None:
    both = compare(task, certificate(task, "loop", [AWAY, BACK], fault=0))
    actions: Any = (Named("x" * 1_000_000),)
    named = replace(both, policy=Course(actions, both.policy.states))
    assert max(map(len, side_by_side(named, 80))) < 200


def test_long_runs_are_folded_when_they_are_stacked(task: Task) -> None:
    names = [AWAY, BACK] * 100 + plan(task)
    lines = drawn(task, certificate(task, "solved", names, fault=100), 40)
    assert len(lines) < 100 and any(line.startswith(" 101 > (drive") for line in lines)
    assert lines.count(" ...") >= 3 and lines[-1].strip().startswith("goal reached")
    better = lines.index("a better way:")
    assert "goal reached" in lines[better - 1]


def test_long_runs_are_folded_around_what_matters(task: Task) -> None:
    names = [AWAY, BACK] * 100 + plan(task)
    lines = drawn(task, certificate(task, "solved", names, fault=100))
    assert len(lines) < 60
    assert any(line.startswith(" 101 >") for line in lines)
    assert sum(line.strip() == "..." for line in lines) >= 2
    assert "goal reached" in lines[-1]


def test_a_damaged_certificate_is_an_error_not_a_crash(task: Task) -> None:
    bug = certificate(task, "loop", [BACK], fault=None)
    with pytest.raises(InputError, match="cannot be done after 0 steps"):
        compare(task, bug)
    with pytest.raises(InputError, match="damaged"):
        compare(task, {**bug, "run": None})


def test_data_says_the_same(task: Task) -> None:
    said = compare(task, certificate(task, "loop", [AWAY, BACK], fault=0)).as_json()
    assert said["policy_course"] == [{"action": AWAY, "cost": 4}, {"action": BACK, "cost": 4}]
    assert said["policy_cost"] is None
    assert (said["misstep"], said["loop_from"], said["better_cost"]) == (0, 0, 21)
    assert said["only_after_policy"] and said["only_after_better"] and said["needed"]
