"""Train a policy with Stable-Baselines3 on a bundled task, and test it: `python examples/stable_baselines.py`.

Needs the libraries of the extra `rl`: pip install "misstep[rl]". Training takes about a minute.
"""

import argparse
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any

import torch
from sb3_contrib import MaskablePPO

import misstep
from misstep.training.episodes import TaskRewards, predict_policy
from misstep.training.task_environment import make_task_environment


def watcher(task: misstep.Task, every: int) -> Callable[[dict[str, Any], dict[str, Any]], bool]:
    """A callback that tests the policy now and then while it is trained."""

    def watch(training: dict[str, Any], _: dict[str, Any]) -> bool:
        model = training["self"]
        if model.num_timesteps % every == 0:
            report = misstep.test(task, as_policy(task, model), pool=50, seed=1)
            print(
                f"{model.num_timesteps:6} steps: solves {report.solved} of 50 states, {len(report.bugs)} bugs"
            )
        return True

    return watch


def as_policy(task: misstep.Task, model: Any) -> misstep.Policy:
    """What misstep tests: the action that the network likes best among those that are applicable."""

    def predict(observation: Any, mask: Any) -> Any:
        return model.predict(observation, action_masks=mask, deterministic=True)[0]

    return predict_policy(task, predict)


def main() -> None:
    """Trains, tests while training, and shows the first bug that is left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000, help="how long to train")
    parser.add_argument("--save", help="write the trained model to this file (.zip)")
    options = parser.parse_args()
    torch.set_num_threads(1)  # The network is small: more threads would only wait for each other.

    with as_file(files("misstep") / "bundled") as folder:
        task = misstep.load(folder / "domains" / "visitall.pddl", folder / "problems" / "visitall.pddl")
    environment = make_task_environment(
        task, starts="walks", walk_steps=20, max_steps=100, rewards=TaskRewards(goal=20)
    )
    model = MaskablePPO(
        "MlpPolicy",
        environment,
        n_steps=1024,
        batch_size=128,
        gamma=0.98,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [64, 64]},
        seed=0,
    )
    model.learn(options.steps, callback=watcher(task, max(1, options.steps // 5)))
    if options.save:
        model.save(options.save)

    report = misstep.test(task, as_policy(task, model), pool=100)
    print(report)
    print(report.rate)
    if report.bugs:
        print(min(report.bugs, key=lambda bug: len(bug.run)).show())


if __name__ == "__main__":
    main()
