"""What bugs teach, against exact regrets of an enumerated task."""

from pathlib import Path

import misstep
from misstep._core import enumerate_states, search
from misstep.training.bug_labels import BugLabels

GRIPPER = Path(__file__).parents[1] / "tasks" / "gripper"


def test_successors_along_plan_and_run_have_exact_regrets_once() -> None:
    task = misstep.load(GRIPPER / "domain.pddl", GRIPPER / "p01.pddl", unit_cost=True)
    space = enumerate_states(task, max_states=10**5)
    exact = {
        space.state(at): {action.index: regret for action, regret in space.regrets(at)}
        for at, value in enumerate(space.values())
        if value not in (0, float("inf"))
    }
    state = task.initial_state
    plan = [action.name for action in search(task, "astar:lmcut").plan]
    other = next(action for action, regret in exact[state].items() if regret > 0)
    wrong = [task.actions[other].name]
    labels = BugLabels("successors", task, ("astar",), 10**5)
    samples = labels.of_bug(state, plan=plan, run=[*wrong, "(no such action)", *wrong])
    assert len(samples) == len({sample.state for sample in samples}) > len(plan)
    assert task.apply(state, task.actions[other]) in [sample.state for sample in samples]
    for sample in samples:
        assert dict(sample.regrets) == exact[sample.state]
    assert labels.of_bug(state, plan=plan, run=wrong) == []


def test_a_plan_alone_makes_its_actions_the_only_good_ones() -> None:
    task = misstep.load(GRIPPER / "domain.pddl", GRIPPER / "p01.pddl", unit_cost=True)
    plan = [action.name for action in search(task, "astar:lmcut").plan]
    for labels in (
        BugLabels("plan", task, ("astar",), 10**5),
        BugLabels("successors", task, ("astar",), 1),  # Teachers that never get there.
    ):
        samples = labels.of_bug(task.initial_state, plan=plan, run=[])
        first = samples[0]
        assert len(samples) == len(plan)
        assert task.actions[first.regrets[0][0]].name == plan[0]
        assert [regret for _, regret in first.regrets] == [0.0] + [float("inf")] * (len(first.regrets) - 1)
