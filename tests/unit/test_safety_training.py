"""Q-learning learns something, and the environment keeps Gymnasium's contract."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep._core import SafetyFuzzer
from misstep.bundled.models import BUNDLED, generate
from misstep.errors import InputError, LimitReached
from misstep.formats.jani import JaniTask
from misstep.safety.model import SafetyTask
from misstep.safety.policy import load_policy, zoo_file
from misstep.training.environment import make_environment
from misstep.training.qcheckpoint import checkpoint_file, load_checkpoint, prepare, save_checkpoint, train_to
from misstep.training.qlearning import QSettings, QTraining, save
from misstep.training.simulator import Rewards
from tests.unit.watches import rings_at


def make(name: str, **parameters: object) -> SafetyTask:
    document = generate(name, **parameters)
    test = document["properties"][0]["expression"]
    goal = test.get("objective", {}).get("goal")
    return SafetyTask(JaniTask(json.dumps(document), name, test["reach"], goal, test.get("start"), None))


def trained(task: SafetyTask, settings: QSettings) -> tuple[Any, list[str], list[str]]:
    training = QTraining(task, settings)
    while not training.is_over:
        training.advance()
    return training.result


@pytest.mark.parametrize("name", ["transport", "inverted_pendulum"])
def test_training_goes_on_to_the_same_network(name: str, tmp_path: Path) -> None:
    """Stopped at every checkpoint, by a new process each time (a new task): the same files in the end."""
    settings = QSettings(hidden=(8, 4), steps=900, batch=16, memory=200, checkpoint_every=200, seed=1)
    out, whole = tmp_path / "p.jani2nnet", tmp_path / "whole.jani2nnet"
    train_to(whole, make(name), settings)
    for _ in range(4):
        file = checkpoint_file(out)
        training = QTraining(make(name), settings)
        if file.exists():
            load_checkpoint(file, training, make(name))
        training.advance()
        save_checkpoint(file, training, make(name))
    train_to(out, make(name), settings, resume=True)
    assert out.with_suffix(".nnet").read_bytes() == whole.with_suffix(".nnet").read_bytes()
    assert not checkpoint_file(out).exists()


def test_checkpoints_of_other_trainings_are_refused(tmp_path: Path) -> None:
    settings = QSettings(hidden=(4,), steps=300, checkpoint_every=100)
    out = tmp_path / "p.jani2nnet"
    save_checkpoint(checkpoint_file(out), QTraining(make("transport"), settings), make("transport"))
    with pytest.raises(InputError, match="another seed"):
        train_to(
            out,
            make("transport"),
            QSettings(hidden=(4,), steps=300, checkpoint_every=100, seed=1),
            resume=True,
        )
    with pytest.raises(InputError, match="another model"):
        train_to(out, make("two_way_line"), settings, resume=True)
    checkpoint_file(out).write_bytes(checkpoint_file(out).read_bytes()[:1000])
    with pytest.raises(InputError, match="no checkpoint"):
        train_to(out, make("transport"), settings, resume=True)


@pytest.mark.parametrize(
    "options",
    [{"hidden": (0,)}, {"hidden": (8, -1)}, {"steps": 0}, {"batch": -1}, {"hidden": ()}, {"discount": 0.0}],
)
def test_bad_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        QSettings(**options)


def test_the_place_of_the_policy_is_checked_first(tmp_path: Path) -> None:
    for path in (tmp_path / "p.nnet", tmp_path / "none" / "p.jani2nnet"):
        with pytest.raises(InputError, match=r"p\."):
            prepare(path)
    (tmp_path / "d.jani2nnet").mkdir()
    with pytest.raises(InputError, match="directory"):
        prepare(tmp_path / "d.jani2nnet")


def test_training_is_repeatable_and_helps(tmp_path: Path) -> None:
    task = make("follow_car", steps=40)
    short = QSettings(hidden=(8,), steps=500, seed=3)
    (layers, *_), (again, *_) = trained(task, short), trained(task, short)
    assert all((w == v).all() and (b == c).all() for (w, b), (v, c) in zip(layers, again, strict=True))
    layers, inputs, outputs = trained(task, QSettings(hidden=(16,), steps=8000, seed=3))
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
    assert zoo_file(name).with_suffix(".nnet").stat().st_size < 80_000
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


def test_the_best_of_several_seeds_is_kept(tmp_path: Path) -> None:
    """Ended after the first seed and resumed: the same policy as without, and nothing is left behind."""
    settings = QSettings(hidden=(8,), steps=400, checkpoint_every=200, exam_runs=20)
    whole, out = tmp_path / "whole.jani2nnet", tmp_path / "p.jani2nnet"
    best = train_to(whole, make("transport"), settings, seeds=2)
    singles = [
        train_to(tmp_path / f"{seed}.jani2nnet", make("transport"), replace(settings, seed=seed))
        for seed in (0, 1)
    ]
    assert best.exam.rank == max(single.exam.rank for single in singles)
    assert best.limit is None
    first_turns = 1 + 400 // 200  # to set up, and one for each examination
    ended = train_to(out, make("transport"), settings, seeds=2, watch=rings_at(first_turns + 1, inside=True))
    assert (ended.exam, ended.limit) == (singles[0].exam, "memory")
    assert train_to(out, make("transport"), settings, seeds=2, resume=True) == best
    assert out.with_suffix(".nnet").read_bytes() == whole.with_suffix(".nnet").read_bytes()
    assert not out.with_suffix(".seeds.json").exists()


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("resume", [False, True])
def test_a_limit_keeps_what_was_examined_and_the_training_goes_on(
    inside: bool, resume: bool, tmp_path: Path
) -> None:
    settings = QSettings(hidden=(8,), steps=600, checkpoint_every=200, exam_runs=20)
    whole, out = tmp_path / "whole.jani2nnet", tmp_path / "p.jani2nnet"
    best = train_to(whole, make("transport"), settings)
    with pytest.raises(LimitReached) as caught:
        train_to(out, make("transport"), settings, watch=rings_at(1, inside=inside))
    assert caught.value.limit == "memory" and not out.exists()
    ended = train_to(out, make("transport"), settings, watch=rings_at(2, inside=inside))
    assert ended.limit == "memory" and out.exists()
    assert train_to(out, make("transport"), settings, resume=resume) == best
    assert out.with_suffix(".nnet").read_bytes() == whole.with_suffix(".nnet").read_bytes()
    assert not checkpoint_file(out).exists()


def test_seeds_that_an_earlier_version_has_done_count_where_one_insists(tmp_path: Path) -> None:
    settings = QSettings(hidden=(8,), steps=400, checkpoint_every=200, exam_runs=20)
    whole, out = tmp_path / "whole.jani2nnet", tmp_path / "p.jani2nnet"
    best = train_to(whole, make("transport"), settings, seeds=2)
    first = train_to(out, make("transport"), settings)
    out.with_suffix(".seeds.json").write_text(json.dumps([asdict(first.exam)]), encoding="utf-8")
    assert train_to(out, make("transport"), settings, seeds=2, resume=True) == best
    assert out.with_suffix(".nnet").read_bytes() == whole.with_suffix(".nnet").read_bytes()


def test_what_another_training_left_is_dropped(tmp_path: Path) -> None:
    settings = QSettings(hidden=(8,), steps=400, checkpoint_every=200, exam_runs=20)
    whole, out = tmp_path / "whole.jani2nnet", tmp_path / "p.jani2nnet"
    best = train_to(whole, make("transport"), settings, seeds=2)
    other = replace(settings, hidden=(4,))
    train_to(out, make("transport"), other, seeds=2, watch=rings_at(5, inside=True))
    assert checkpoint_file(out).exists() and out.with_suffix(".seeds.json").exists()
    with pytest.raises(InputError, match="another training"):
        train_to(out, make("transport"), settings, seeds=2, resume=True)
    told: list[str] = []
    out.with_suffix(".seeds.json").unlink()
    assert train_to(out, make("transport"), settings, seeds=2, tell=told.append) == best
    assert told == [
        f"{checkpoint_file(out)}: the training had another hidden; it is not used, and the work starts anew"
    ]
    assert out.with_suffix(".nnet").read_bytes() == whole.with_suffix(".nnet").read_bytes()


def test_the_header_of_an_array_may_be_damaged(tmp_path: Path) -> None:
    """NumPy reads it with Python's tokenizer, which has errors of its own."""
    settings = QSettings(hidden=(4,), steps=300, checkpoint_every=100)
    file = checkpoint_file(tmp_path / "p.jani2nnet")
    with zipfile.ZipFile(file, "w") as archive:
        header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (2,"
        archive.writestr("about.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InputError, match="this is no checkpoint"):
        train_to(tmp_path / "p.jani2nnet", make("transport"), settings, resume=True)


@pytest.mark.parametrize(
    ("kind", "shape", "order"),
    [("|b1", "(4294967295, 5)", "False"), ("|O", "(2,)", "False"), ("<f8", "(-1, 2)", "True")],
)
def test_a_header_makes_no_room(kind: str, shape: str, order: str, tmp_path: Path) -> None:
    """NumPy would take 21 GB for a shape of which the file holds nothing."""
    settings = QSettings(hidden=(4,), steps=300, checkpoint_every=100)
    file = checkpoint_file(tmp_path / "p.jani2nnet")
    with zipfile.ZipFile(file, "w") as archive:
        header = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
        archive.writestr(
            "about.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"00" * 8
        )
    with pytest.raises(InputError, match="this is no checkpoint"):
        train_to(tmp_path / "p.jani2nnet", make("transport"), settings, resume=True)


def test_checkpoints_hold_no_more_than_their_file(tmp_path: Path) -> None:
    """A compressed one of 60 kB could hold 60 MB."""
    settings = QSettings(hidden=(4,), steps=300, checkpoint_every=100)
    file = checkpoint_file(tmp_path / "p.jani2nnet")
    np.savez_compressed(file, about=np.frombuffer(b"{}", np.uint8), zeros=np.zeros(8_000_000))
    assert file.stat().st_size < 100_000
    with pytest.raises(InputError, match="larger than the file"):
        load_checkpoint(file, QTraining(make("transport"), settings), make("transport"))


def test_rewards_and_lengths_change_what_is_learned() -> None:
    usual = QSettings(hidden=(4,), steps=300)
    others = (
        replace(usual, rewards=Rewards(step=-0.5)),
        replace(usual, episode=3),
        replace(usual, copy_every=7),
        replace(usual, discount=0.5),
    )
    ((first, _), *_), *_ = trained(make("transport"), usual)
    for other in others:
        ((changed, _), *_), *_ = trained(make("transport"), other)
        assert (first != changed).any()
