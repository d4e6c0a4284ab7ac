"""Q-learning learns something, and the environment keeps Gymnasium's contract."""

from __future__ import annotations

import json

import numpy as np
import pytest

from misstep._core import SafetyFuzzer
from misstep.bundled.models import BUNDLED, generate
from misstep.formats.jani import JaniTask
from misstep.safety.model import SafetyTask
from misstep.safety.policy import load_policy, zoo_file
from misstep.training.environment import make_environment
from misstep.training.qlearning import QSettings, save, train


def make(name: str, **parameters: object) -> SafetyTask:
    document = generate(name, **parameters)
    test = document["properties"][0]["expression"]
    goal = test.get("objective", {}).get("goal")
    return SafetyTask(JaniTask(json.dumps(document), name, test["reach"], goal, test.get("start"), None))


def test_training_is_repeatable_and_helps(tmp_path) -> None:
    task = make("follow_car", steps=40)
    short = QSettings(hidden=(8,), steps=500, seed=3)
    (layers, *_), (again, *_) = train(task, short), train(task, short)
    assert all((w == v).all() and (b == c).all() for (w, b), (v, c) in zip(layers, again, strict=True))
    layers, inputs, outputs = train(task, QSettings(hidden=(8,), steps=6000, seed=3))
    save(tmp_path / "p.jani2nnet", layers, inputs, outputs)
    game = task.game(load_policy(f"nnet:{tmp_path / 'p.jani2nnet'}", task))
    fuzzer = SafetyFuzzer(game, "uniform", seed=0)
    starts = task.start_states(game)
    goals = sum(game.is_goal(fuzzer.run(s)[1][-1]) for s in starts)
    always_faster = task.game(None)
    assert goals >= len(starts) * 0.6
    assert not any(always_faster.is_unsafe(s) for s in task.start_states(always_faster))


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_policies_run(name: str) -> None:
    task = make(name)
    assert zoo_file(name).with_suffix(".nnet").stat().st_size < 40_000
    game = task.game(load_policy(f"zoo:{name}", task))
    fuzzer = SafetyFuzzer(game, "greedy", seed=0, max_steps=50)
    ends = {fuzzer.run(s)[0] for s in task.start_states(game)[:20]}
    assert ends <= {"unsafe", "exhausted", "max_steps"}


def test_gymnasium_environment() -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="the extra 'gymnasium' is not installed")
    from gymnasium.utils.env_checker import check_env

    environment = make_environment(make("transport"))
    assert isinstance(environment, gymnasium.Env)
    check_env(environment, skip_render_check=True)
    observation, info = environment.reset(seed=1)
    for _ in range(50):
        action = int(np.flatnonzero(info["action_mask"])[0])
        observation, _, over, cut, info = environment.step(action)
        assert environment.observation_space.contains(observation)
        if over or cut:
            observation, info = environment.reset()
