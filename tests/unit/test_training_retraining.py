"""Retraining on bugs: what is learned, what is kept, resuming, and how two versions are compared."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import misstep
from misstep.errors import InputError
from misstep.formats.asnet_model import AsnetModel
from misstep.formats.asnet_policy import read_asnet
from misstep.plugins import make_part
from misstep.statistics import sign_test
from misstep.training.asnet import train_asnet
from misstep.training.asnet_config import AsnetConfig
from misstep.training.retraining import RetrainConfig, Round, retrain
from misstep.training.score import Exam
from misstep.training.standing import change, standing

QUICK = RetrainConfig(rounds=2, pool=12, epochs=1, batches=20, max_samples=300, threads=1)


def problems(*sizes: int, seed: int) -> list[misstep.Task]:
    generator = make_part("generator", "gripper")
    return [
        misstep.load(generator.domain, generator.problem(size, seed + size), unit_cost=True) for size in sizes
    ]


@pytest.fixture(scope="module")
def tasks() -> list[misstep.Task]:
    return problems(2, 4, seed=0)


@pytest.fixture(scope="module")
def model(tasks: list[misstep.Task], tmp_path_factory: pytest.TempPathFactory) -> AsnetModel:
    """Trained so little that it has bugs."""
    config = AsnetConfig(hidden=8, epochs=1, batches=30, runs=1, trial_epochs=1, threads=1)
    result = train_asnet(tasks[:1], (), config, out=tmp_path_factory.mktemp("first"))
    return read_asnet(result.final)


def test_bugs_are_learned_and_fewer_remain(
    model: AsnetModel, tasks: list[misstep.Task], tmp_path: Path
) -> None:
    heard: list[Round] = []
    config = replace(QUICK, batches=150, rate=3e-3)
    result = retrain(
        model, tasks, problems(4, seed=20), problems(5, seed=50), config, out=tmp_path, progress=heard.append
    )
    assert heard[0].bugs > 0
    assert heard[0].learned > heard[0].bugs
    bugs = [json.loads(line) for line in (tmp_path / "bugs.jsonl").read_text().splitlines()]
    for line in bugs:
        task = tasks[line["task"]]
        state = task.state(line["facts"])
        for name in line["plan"]:
            [action] = [each for each in task.applicable(state) if each.name == name]
            state = task.apply(state, action)
        assert task.is_goal(state)
    assert len({(line["task"], tuple(line["facts"])) for line in bugs}) == len(bugs)
    assert any(each.kept for each in heard)
    told = result.as_json()
    assert told["after"]["bugs"] < told["before"]["bugs"]
    assert told["measured_on"] == "held-out tasks"
    assert told["after"]["bugs"] - told["before"]["bugs"] == told["forgotten"] - told["fixed"]


def test_a_killed_retraining_goes_on_to_the_same_model(
    model: AsnetModel, tasks: list[misstep.Task], tmp_path: Path
) -> None:
    whole = retrain(model, tasks, (), (), QUICK, out=tmp_path / "whole")

    class Killed(Exception):
        pass

    def killed(_: Round) -> None:
        raise Killed

    with pytest.raises(Killed):
        retrain(model, tasks, (), (), QUICK, out=tmp_path / "parts", progress=killed)
    with (tmp_path / "parts" / "bugs.jsonl").open("a") as file:  # of a round that was under way
        file.write(json.dumps({"task": 0, "facts": [], "plan": [], "gap": None, "round": 1}) + "\n{half")
    parts = retrain(model, tasks, (), (), QUICK, out=tmp_path / "parts")
    assert parts.final.read_bytes() == whole.final.read_bytes()
    assert parts.change == whole.change
    for name in ("bugs.jsonl",):
        assert (tmp_path / "parts" / name).read_text() == (tmp_path / "whole" / name).read_text()


def test_refusals(model: AsnetModel, tasks: list[misstep.Task], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one task"):
        retrain(model, (), (), (), QUICK, out=tmp_path)
    with pytest.raises(InputError, match="`rounds` is 0"):
        RetrainConfig(rounds=0)
    small = replace(QUICK, rounds=1, pool=3, batches=5)
    retrain(model, tasks[:1], (), (), small, out=tmp_path)
    with pytest.raises(InputError, match="another policy, tasks or options"):
        retrain(model, tasks, (), (), small, out=tmp_path)


def test_change_by_hand() -> None:
    """Five states: fixed, forgotten and solved, forgotten and unsolved, still a bug, and one not to be kept."""
    before = [Exam("t", None, (9.0, 4.0, 5.0, None, None), (True, False, False, True, True))]
    after = [Exam("t", 7.0, (6.0, 5.0, None, None, 1.0), (False, False, False, True, False))]
    told = change(before, after, keep=[[True, True, True, True, False]])
    assert (told.fixed, told.forgotten, told.unsolved) == (1, 2, 1)
    assert (told.before.bugs, told.after.bugs) == (2, 3)
    assert (told.before.solved_tasks, told.after.solved_tasks) == (0, 1)
    assert (told.both_solved, told.cost_before, told.cost_after) == (2, 13.0, 11.0)
    assert told.p_value == sign_test(1, 2)


def test_fewer_bugs_do_not_make_up_for_fewer_solved_tasks() -> None:
    first = standing([Exam("t", 5.0, (5.0, 5.0), (True, True))])
    second = standing([Exam("t", None, (5.0, 5.0), (False, False))])
    third = standing([Exam("t", 5.0, (5.0, 4.0), (True, True))])
    assert not second.is_better(first)
    assert third.is_better(first)
    assert not first.is_better(first)
