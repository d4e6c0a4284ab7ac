"""PDDL tasks as environments: what is observed, what is paid, where episodes begin; and policies from `predict`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import misstep
from misstep.errors import InputError
from misstep.training.episodes import (
    Encoding,
    Episodes,
    Predict,
    TaskRewards,
    action_mask,
    predict_policy,
)
from misstep.training.task_environment import make_task_environment

NO_GYMNASIUM = "the extra 'gymnasium' is not installed"


@pytest.fixture
def task(courier: tuple[Path, Path]) -> misstep.Task:
    return misstep.load(*courier)


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_observations_say_which_facts_hold_and_which_are_wanted(task: misstep.Task) -> None:
    names = [
        task.fact_name(variable, value)
        for variable, size in enumerate(task.domain_sizes)
        for value in range(size)
    ]
    encoding = Encoding(task, goal=True)
    seen = encoding.observe(task.initial_state)
    assert len(seen) == encoding.width == 2 * len(names)
    true = {name for name, number in zip(names, seen[: len(names)], strict=True) if number == 1}
    assert set(task.initial_state.facts) <= true
    wanted = {name for name, number in zip(names, seen[len(names) :], strict=True) if number == 1}
    assert wanted == {task.fact_name(*fact) for fact in task.goal}


def test_masks_are_the_applicable_actions(task: misstep.Task) -> None:
    mask = action_mask(task.initial_state, task)
    assert [task.actions[i] for i in np.flatnonzero(mask)] == task.applicable(task.initial_state)


def test_a_plan_is_paid_its_cost_and_the_goal(task: misstep.Task) -> None:
    plan = misstep.search(task, "astar:lmcut").plan
    episodes = Episodes(task, rewards=TaskRewards(goal=100))
    episodes.begin(random())
    paid = [episodes.step(action.index) for action in plan]
    assert [over for _, over in paid] == [False] * (len(plan) - 1) + [True]
    assert sum(reward for reward, _ in paid) == 100 - 21
    assert episodes.is_goal and episodes.cost == 21


def test_an_inapplicable_action_changes_nothing(task: misstep.Task) -> None:
    episodes = Episodes(task, rewards=TaskRewards(inapplicable=-3))
    episodes.begin(random())
    wrong = int(np.flatnonzero(action_mask(task.initial_state, task) == 0)[0])
    assert episodes.step(wrong) == (-3, False)
    assert episodes.state == task.initial_state and episodes.cost == 0


def test_walks_go_to_many_states_and_pools_to_theirs(task: misstep.Task) -> None:
    walks = Episodes(task, starts="walks", walk_steps=10)
    draws, seen = random(1), set()
    for _ in range(50):
        walks.begin(draws)
        seen.add(walks.state)
        assert not task.is_goal(walks.state)
    assert len(seen) > 20
    pool = [after for _, after in task.successors(task.initial_state)]
    from_pool = Episodes(task, starts=[pool[0].facts, *pool[1:]])
    starts = set()
    for _ in range(100):
        from_pool.begin(draws)
        starts.add(from_pool.state)
    assert starts == set(pool)


def test_states_of_the_users_choice(task: misstep.Task) -> None:
    episodes = Episodes(task)
    state = task.successors(task.initial_state)[0][1]
    for given in (state, state.facts, tuple(state.facts)):
        episodes.begin(random(), state=given)
        assert episodes.state == state
    with pytest.raises(InputError, match="State, or a list of its facts"):
        episodes.begin(random(), state=3)
    goal = task.initial_state
    for action in misstep.search(task, "gbfs:ff").plan:
        goal = task.apply(goal, action)
    with pytest.raises(InputError, match="end of an episode"):
        episodes.begin(random(), state=goal)
    with pytest.raises(InputError, match="anything left to do"):
        Episodes(task, starts=[goal])
    with pytest.raises(InputError, match="neither 'initial' nor"):
        Episodes(task, starts="somewhere")


def test_states_of_another_task_are_refused(task: misstep.Task) -> None:
    folder = Path(misstep.__file__).parent / "bundled"
    other = misstep.load(folder / "domains" / "gripper.pddl", folder / "problems" / "gripper.pddl")
    with pytest.raises(InputError, match="another task"):
        Episodes(task, starts=[other.initial_state])


def always(answer: Any) -> Predict:
    return lambda observation, mask: answer


def test_policies_answer_what_predict_says(task: misstep.Task) -> None:
    asked: list[Any] = []

    def last(observation: Any, mask: Any) -> Any:
        asked.append(observation)
        return np.array([np.flatnonzero(mask)[-1]])

    states = task.batch([task.initial_state])
    assert predict_policy(task, last)(states) == [task.applicable(task.initial_state)[-1]]
    assert np.array_equal(asked[0], Encoding(task).observe(task.initial_state))
    for answer in (len(task.actions), -1, "drive", None, 0.5, np.array([1, 2])):
        report = misstep.test(task, predict_policy(task, always(answer)), pool=2)
        assert report.failed == 2 and not report.bugs, answer


def test_a_good_predict_has_no_bugs_and_a_bad_one_has(task: misstep.Task) -> None:
    def optimal(observation: Any, mask: Any) -> int:
        values = [int(block.argmax()) for block in np.split(observation, np.cumsum(task.domain_sizes)[:-1])]
        return misstep.search(task, "astar:lmcut", state=task.state_from_values(values)).plan[0].index

    assert not misstep.test(task, predict_policy(task, optimal), pool=5).bugs
    assert misstep.test(task, predict_policy(task, lambda _, mask: mask.argmax()), pool=5).bugs


def test_gymnasium_accepts_the_environment(task: misstep.Task) -> None:
    gymnasium = pytest.importorskip("gymnasium", reason=NO_GYMNASIUM)
    from gymnasium.utils.env_checker import check_env

    for goal in (False, True):
        environment = make_task_environment(task, starts="walks", goal=goal)
        assert isinstance(environment, gymnasium.Env)
        check_env(environment, skip_render_check=True)


def test_seeds_repeat_episodes_and_limits_cut_them(task: misstep.Task) -> None:
    pytest.importorskip("gymnasium", reason=NO_GYMNASIUM)

    def episode(seed: int | None) -> list[list[float]]:
        environment = make_task_environment(task, starts="walks", max_steps=5)
        observation, info = environment.reset(seed=seed)
        seen = [observation.tolist()]
        cut = False
        while not cut:
            assert np.array_equal(environment.action_masks(), info["action_mask"] == 1)
            observation, _, over, cut, info = environment.step(int(info["action_mask"].argmax()))
            assert not over
            seen.append(observation.tolist())
        return seen

    assert len(episode(7)) == 6
    assert episode(7) == episode(7)
    assert episode(None) == episode(None)  # the environment's own seed
    assert len({str(episode(seed)) for seed in range(5)}) > 1


def test_reset_takes_a_state(task: misstep.Task) -> None:
    pytest.importorskip("gymnasium", reason=NO_GYMNASIUM)
    environment = make_task_environment(task)
    state = task.successors(task.initial_state)[0][1]
    observation, info = environment.reset(options={"state": state.facts})
    assert np.array_equal(observation, Encoding(task).observe(state))
    assert info["cost"] == 0 and not info["is_goal"]
