"""From faults to policies without them: shields, shield files, safe actions of environments, retraining."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import misstep
from misstep._core import Decider, SafetyFuzzer
from misstep.bundled.models import generate
from misstep.errors import InputError, LimitReached, PolicyError
from misstep.safety.lab import ModelLab
from misstep.safety.model import SafetyTask
from misstep.safety.policy import function_policy, load_policy, zoo_file
from misstep.safety.shield import Shield, measure
from misstep.safety.shield_policy import make_shield, read_shield, shield_function, write_shield
from misstep.training.environment import make_environment
from misstep.training.qlearning import save
from misstep.training.repair import Repair, RepairSettings
from misstep.training.repair_checkpoint import load_repair, repair_file, retrain_to
from misstep.training.simulator import Simulator
from tests.unit.watches import rings_at


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "line.jani"
    path.write_text(json.dumps(generate("two_way_line")), encoding="utf-8")
    return path


@pytest.fixture
def task(model: Path) -> SafetyTask:
    return SafetyTask.load(model)


def safe_starts(task: SafetyTask, game: Any) -> list[int]:
    decider = Decider(game, "tarjan")
    return [s for s in task.start_states(game) if decider.decide(s, None)[0] == "safe"]


def test_no_outcome_of_a_shielded_policy_is_unsafe(task: SafetyTask) -> None:
    """All that it can reach from the safe starts is looked at, not only what runs came by."""
    shield = make_shield(task, "zoo:two_way_line")
    game = shield.lab.game
    left, seen = safe_starts(task, game), set[int]()
    while left:
        s = left.pop()
        assert not game.is_unsafe(s)
        if s not in seen and not game.is_goal(s):
            seen.add(s)
            label = shield.choose(s)
            left += next(outcomes for own, _, outcomes in game.moves(s) if own == label)
    assert any(s in shield.overruled for s in seen)


def test_a_planned_shield_finds_the_goal_where_there_is_a_way(task: SafetyTask) -> None:
    """A policy that only coasts stands still for ever; behind a shield that plans it delivers."""

    def coast(state: dict[str, Any], labels: tuple[str, ...]) -> str:
        return "coast"

    game = task.game(function_policy(coast, task))
    lab = ModelLab(task=task, game=game, decider=Decider(game))
    found = measure(Shield(lab), task.start_states(game), runs=200, max_steps=300, seed=0)
    assert found.without.goals == 0
    assert found.covered.goal_rate > 0.95
    assert found.covered.unsafe == 0
    assert found.safe_starts + found.lost_starts == len(task.start_states(game))
    assert len(found.lost) == 5


def test_shields_go_through_files(task: SafetyTask, model: Path, tmp_path: Path) -> None:
    shield = make_shield(task, "zoo:two_way_line")
    shield.plan(task.start_states(shield.lab.game))
    file = tmp_path / "line.shield.json"
    write_shield(file, shield, policy="zoo:two_way_line", decider="level")
    again = read_shield(file, task)
    choose, choose_again = shield_function(shield), shield_function(again)
    game = shield.lab.game
    for s in range(len(game)):
        if not game.is_unsafe(s) and not game.is_goal(s):
            state = task.state(game, s)
            assert choose(state, ()) == choose_again(state, ())
    bare = misstep.test(model, "zoo:two_way_line", runs=60).as_json()
    shielded = misstep.test(model, f"shield:{file}", runs=60).as_json()
    assert bare["bugs"] > 0
    assert shielded["bugs"] == shielded["faults"] == 0
    by_name = misstep.test(model, "shield:zoo:two_way_line", runs=60).as_json()
    assert (by_name["bugs"], by_name["outcomes"]) == (0, shielded["outcomes"])
    other = SafetyTask.load(_other(tmp_path))
    with pytest.raises(InputError, match="another model"):
        read_shield(file, other)
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="no shield"):
        read_shield(file, task)


@pytest.mark.parametrize("change", [{"decider": None}, {"decider": 7}, {"fields": {}}, {"overruled": 3}])
def test_damaged_shields_are_refused(task: SafetyTask, tmp_path: Path, change: dict[str, Any]) -> None:
    file = tmp_path / "line.shield.json"
    write_shield(file, make_shield(task, "zoo:two_way_line"), policy="zoo:two_way_line", decider="level")
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}), encoding="utf-8")
    with pytest.raises(InputError, match=rf"\$\.{next(iter(change))}: expected a"):
        read_shield(file, task)


def test_the_shield_of_somebody_else_runs_no_code(task: SafetyTask, tmp_path: Path) -> None:
    """Your own one may name a function; the same words in a file from elsewhere do not make it run."""
    code = tmp_path / "mine.py"
    code.write_text("def choose(state, labels):\n    return labels[0]\n", encoding="utf-8")
    policy, file = f"python:{code}:choose", tmp_path / "line.shield.json"
    write_shield(file, make_shield(task, policy), policy=policy, decider="level")
    read_shield(file, task)
    foreign = {**json.loads(file.read_text()), "policy": f"python:{code}:other"}
    file.write_text(json.dumps(foreign), encoding="utf-8")
    with pytest.raises(InputError, match="not made by you on this machine, and its policy `python:"):
        read_shield(file, task)
    file.write_text(json.dumps({**foreign, "policy": "what:\ud800"}), encoding="utf-8")
    with pytest.raises(InputError, match="not made by you on this machine"):
        read_shield(file, task)


def _puzzle(tmp_path: Path) -> Path:
    path = tmp_path / "puzzle.jani"
    path.write_text(json.dumps(generate("npuzzle")), encoding="utf-8")
    return path


def _other(tmp_path: Path) -> Path:
    path = tmp_path / "other.jani"
    path.write_text(json.dumps(generate("two_way_line", length=9)), encoding="utf-8")
    return path


def test_safe_actions_are_those_with_safe_outcomes(task: SafetyTask) -> None:
    simulator, game = Simulator(task, seed=0), task.game()
    decider = Decider(game, "value-iteration")
    for values in simulator.starts:
        s, t = simulator.number(values), game.add(values)
        if game.is_unsafe(t) or decider.decide(t, None)[0] != "safe":
            continue
        expected = {
            task.labels[label]
            for label, _, outcomes in game.moves(t)
            if all(decider.decide(o, None)[0] == "safe" for o in outcomes)
        }
        mask = simulator.safe_mask(s)
        assert {label for label, on in zip(simulator.labels, mask, strict=True) if on} == expected


def test_who_keeps_to_safe_actions_stays_safe(task: SafetyTask) -> None:
    simulator, game, rng = Simulator(task, seed=3, max_steps=60), task.game(), np.random.default_rng(0)
    safe = {tuple(game.values(s)) for s in safe_starts(task, game)}
    ends = []
    for _ in range(100):
        simulator.reset()
        start = tuple(simulator.values(simulator.state))
        over = False
        while not over and simulator.steps < simulator.max_steps:
            _, over = simulator.step(int(rng.choice(np.flatnonzero(simulator.safe_mask(simulator.state)))))
        ends.append((start in safe, simulator.is_unsafe()))
    assert (True, True) not in ends
    assert {(True, False), (False, True)} <= set(ends)


def test_environments_offer_safe_actions(task: SafetyTask) -> None:
    pytest.importorskip("gymnasium", reason="the extra 'gymnasium' is not installed")
    plain, careful = make_environment(task), make_environment(task, safe=True)
    fewer = 0
    for seed in range(40):
        (_, wide), (_, narrow) = plain.reset(seed=seed), careful.reset(seed=seed)
        assert (narrow["action_mask"] <= wide["action_mask"]).all()
        assert (careful.action_masks() == narrow["action_mask"]).all()
        fewer += int(narrow["action_mask"].sum() < wide["action_mask"].sum())
    assert fewer > 0
    assert "is_safe" not in wide
    ends = {careful_episode(careful, seed) for seed in range(60)}
    assert ends == {
        (True, False),
        (False, True),
    }  # a start state is safe, or lost: this model forgives nothing


def careful_episode(environment: Any, seed: int) -> tuple[bool, bool]:
    """Whether the start state is safe, and the end unsafe, with the last action of each mask."""
    _, info = environment.reset(seed=seed)
    starts_safe, over, cut = info["is_safe"], False, False
    while not over and not cut:
        _, _, over, cut, info = environment.step(int(np.flatnonzero(info["action_mask"])[-1]))
    return starts_safe, info["is_unsafe"]


def test_retraining_removes_faults_and_keeps_the_goal(task: SafetyTask) -> None:
    found = Repair(task, zoo_file("two_way_line"), RepairSettings(exam_runs=300)).run()
    assert found.before.unsafe_rate > 0.05
    assert found.after.unsafe_rate <= found.before.unsafe_rate / 3
    assert found.after.goal_rate >= found.before.goal_rate
    assert found.shielded.unsafe == 0
    assert found.is_better


def test_a_retrained_network_is_a_policy(task: SafetyTask, tmp_path: Path) -> None:
    found = Repair(task, zoo_file("two_way_line"), RepairSettings(rounds=1, exam_runs=50)).run()
    out = tmp_path / "better.jani2nnet"
    save(out, found.layers, found.inputs, found.outputs)
    game = task.game(load_policy(f"nnet:{out}", task))
    assert SafetyFuzzer(game, "uniform", seed=0).run(game.initial()[0])[0] in (
        "unsafe",
        "exhausted",
        "max_steps",
    )


def test_a_limit_keeps_the_best_network_and_the_same_retraining_goes_on(
    task: SafetyTask, tmp_path: Path
) -> None:
    settings = RepairSettings(rounds=3, runs=20, epochs=1, exam_runs=50)
    network = zoo_file("two_way_line")
    whole = retrain_to(tmp_path / "whole.jani2nnet", task, network, settings)
    assert len(whole.rounds) == 3 and whole.limit is None
    out = tmp_path / "p.jani2nnet"
    for turn in (0, 1):  # before it is set up, and before the first measurement
        with pytest.raises(LimitReached):
            retrain_to(out, task, network, settings, watch=rings_at(turn))
        assert not out.exists()
    rounds = []
    for _ in range(4):  # none, then a round at a time; what comes after it is dropped
        ended = retrain_to(out, task, network, settings, watch=rings_at(2, inside=True))
        assert (ended.limit, ended.shielded) == ("memory", whole.shielded)
        assert out.exists() and repair_file(out).exists()
        rounds.append(len(ended.rounds))
    assert rounds == [0, 1, 2, 3]
    found = retrain_to(out, task, network, settings)
    assert (found.before, found.after, found.rounds) == (whole.before, whole.after, whole.rounds)
    assert out.with_suffix(".nnet").read_bytes() == (tmp_path / "whole.nnet").read_bytes()
    assert not repair_file(out).exists()


def test_the_state_of_another_retraining_is_dropped(task: SafetyTask, tmp_path: Path) -> None:
    settings = RepairSettings(rounds=1, runs=10, epochs=1, exam_runs=20)
    network, out = zoo_file("two_way_line"), tmp_path / "p.jani2nnet"
    whole = retrain_to(tmp_path / "whole.jani2nnet", task, network, settings)
    retrain_to(out, task, network, replace(settings, seed=5), watch=rings_at(2, inside=True))
    repair = Repair(task, network, settings)
    with pytest.raises(InputError, match="another seed"):
        load_repair(repair_file(out), repair)
    told: list[str] = []
    assert retrain_to(out, task, network, settings, tell=told.append).rounds == whole.rounds
    assert len(told) == 1 and told[0].endswith("it is not used, and the work starts anew")
    assert out.with_suffix(".nnet").read_bytes() == (tmp_path / "whole.nnet").read_bytes()


@pytest.mark.parametrize("options", [{"rounds": 0}, {"learning_rate": 1.0}, {"fault_weight": 0.0}])
def test_bad_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        RepairSettings(**options)


def test_a_shielded_policy_is_served_and_asked(task: SafetyTask, model: Path) -> None:
    pytest.importorskip("grpc", reason="the extra 'remote' is not installed")
    from misstep.safety.remote import ModelPolicyServer

    policy = load_policy("shield:zoo:two_way_line", task)
    with ModelPolicyServer(task, policy) as server:
        remote = f"remote:{server.address}"
        report = misstep.test(model, remote, runs=20).as_json()
        assert report["outcomes"]["goal"] > 0
        assert report["bugs"] == 0
        far = task.game(load_policy(remote, task))
        near = task.game(policy)
        for s, t in zip(task.start_states(far), task.start_states(near), strict=True):
            assert far.moves(s)[0][0] == near.moves(t)[0][0]
        with pytest.raises(PolicyError, match="another model"):
            load_policy(remote, SafetyTask.load(_puzzle(model.parent)))
    with pytest.raises(PolicyError, match="fails"):
        load_policy(f"{remote},max_seconds=2", task)


def test_a_server_that_answers_without_a_label_is_no_policy(task: SafetyTask, model: Path) -> None:
    pytest.importorskip("grpc", reason="the extra 'remote' is not installed")
    from misstep.remote.server import Server
    from misstep.safety.remote import CHOOSE, DESCRIBE, SERVICE

    about = json.dumps({"labels": task.labels, "fields": task.shown_fields}).encode()
    for answer, said in (
        (b"{}", 'answered {} (dict); an answer is {"label": ...}'),
        (b"[]", "answered [] (list)"),
        (b'{"label": 3}', "the policy answered 3 (int); answer with a label, or None"),
    ):
        methods = {DESCRIBE: lambda *_: about, CHOOSE: lambda *_, answer=answer: answer}
        with Server(SERVICE, methods, address="127.0.0.1:0") as server:
            report = misstep.test(model, f"remote:{server.address}", runs=20)
        assert report.failed == report.finished.runs == 10
        assert said in report.failures[0].reason
