"""Training ASNets: determinism over threads, resuming, the optimiser, refusals."""

import errno
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import misstep
from misstep.errors import InputError, LimitReached
from misstep.formats.asnet_policy import read_asnet
from misstep.policies.asnet import Asnet
from misstep.support.plain import read_fields
from misstep.training.asnet import Progress, train_asnet
from misstep.training.asnet_config import AsnetConfig, Variant, make_config
from misstep.training.asnet_data import TrainingData, make_data
from misstep.training.asnet_init import initial_model
from misstep.training.asnet_run import Score
from misstep.training.score import order_at_zero

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"
QUICK = AsnetConfig(hidden=8, epochs=3, batches=20, cohorts=1, trial_epochs=1, teacher_expansions=1000)
TRAIN = {"loss": "any-good", "max_regret": 0, "batch": 16, "rate": 1e-2, "task_power": 0.5}


@pytest.fixture(scope="module")
def tasks() -> list[misstep.Task]:
    names = ("p01", "p02", "p03")
    return [misstep.load(FERRY / "domain.pddl", FERRY / f"{name}.pddl", unit_cost=True) for name in names]


def data_of(tasks: list[misstep.Task], config: AsnetConfig) -> TrainingData:
    view = tasks[0].pddl
    assert view is not None
    model = initial_model(view, hidden=config.hidden, layers=config.layers, init="xavier", seed=3)
    data = make_data(model, tasks, (), config)
    data.enumerate()
    return data


def test_threads_do_not_change_a_bit(tasks: list[misstep.Task]) -> None:
    states = []
    for threads in (1, 2, 3):
        trainer = data_of(tasks, replace(QUICK, threads=threads)).trainer
        loss = trainer.train(30, **TRAIN, dropout=0.1, weight_decay=2e-4)
        states.append((loss, [np.asarray(part).tobytes() for part in trainer.state()]))
    assert states[0] == states[1] == states[2]


def test_training_in_pieces_is_the_same(tasks: list[misstep.Task]) -> None:
    whole, pieces = data_of(tasks, QUICK).trainer, data_of(tasks, QUICK).trainer
    whole.train(20, **TRAIN, dropout=0.1, weight_decay=2e-4)
    pieces.train(8, **TRAIN, dropout=0.1, weight_decay=2e-4)
    other = data_of(tasks, replace(QUICK, seed=99)).trainer
    other.restore(*pieces.state())
    other.train(12, **TRAIN, dropout=0.1, weight_decay=2e-4)
    assert np.array_equal(whole.parameters, other.parameters)


def test_the_loss_falls_and_dropout_is_random(tasks: list[misstep.Task]) -> None:
    trainer = data_of(tasks, QUICK).trainer
    first = trainer.train(10, **TRAIN, dropout=0.0, weight_decay=0.0)
    last = [trainer.train(100, **TRAIN, dropout=0.0, weight_decay=0.0) for _ in range(5)][-1]
    assert last < first / 2
    plain, dropped = data_of(tasks, QUICK).trainer, data_of(tasks, QUICK).trainer
    assert plain.train(1, **TRAIN, dropout=0.0, weight_decay=0.0) != dropped.train(
        1, **TRAIN, dropout=0.5, weight_decay=0.0
    )


def test_one_step_of_adam(tasks: list[misstep.Task]) -> None:
    """Against the formulas: the first steps of Adam go by the rate along the sign of the gradient."""
    rate, decay = 1e-3, 1e-2
    trainer = data_of(tasks[:1], QUICK).trainer
    start = trainer.parameters
    mean, square = np.zeros(start.shape), np.zeros(start.shape)
    theta = start.astype(np.float64)
    for step in range(1, 4):
        trainer_before = trainer.state()
        trainer.train(1, **{**TRAIN, "rate": rate}, dropout=0.0, weight_decay=decay)
        _, means, squares, steps, _ = trainer.state()
        assert steps == step
        gradient = (np.asarray(means, dtype=np.float64) - 0.9 * trainer_before[1]) / 0.1
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        assert np.allclose(squares, square, rtol=2e-2, atol=1e-10)
        corrected = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        theta = theta * (1 - decay) - rate * corrected
        assert np.allclose(trainer.parameters, theta, atol=3e-5)
    assert not np.array_equal(start, trainer.parameters)


def test_minibatches_follow_the_mean_gradient(tasks: list[misstep.Task]) -> None:
    """Over many draws without an update, means of gradients tend to the gradient of the pool."""
    trainer = data_of(tasks[:1], QUICK).trainer
    _, expected = trainer.gradient(0, loss="any-good", max_regret=0)
    for _ in range(40):
        trainer.train(1, **{**TRAIN, "rate": 0.0, "batch": 64}, dropout=0.0, weight_decay=0.0)
    _, means, _, _, _ = trainer.state()
    cosine = means @ expected / (np.linalg.norm(means) * np.linalg.norm(expected))
    assert cosine > 0.95


def test_a_model_every_epoch_and_the_same_for_a_seed(tasks: list[misstep.Task], tmp_path: Path) -> None:
    heard: list[Progress] = []
    first = train_asnet(tasks[:2], tasks[2:], QUICK, out=tmp_path / "a", progress=heard.append)
    again = train_asnet(tasks[:2], tasks[2:], replace(QUICK, threads=1), out=tmp_path / "b")
    assert first.final.read_bytes() == again.final.read_bytes()
    assert first.epochs == len(heard) == len((tmp_path / "a" / "log.jsonl").read_text().splitlines())
    for told in heard:
        model = read_asnet(first.models / f"{told.run}-{told.epoch:04d}.asnet")
        assert model.hidden == 8
    policy = Asnet(first.final).bind(tasks[2])
    run = misstep._core.PolicyGraph(tasks[2], policy).run(tasks[2].batch([tasks[2].initial_state]))[0]
    assert (run.outcome == "solved") == (first.solved == 1)
    assert set(first.as_json()) >= {"epochs", "final", "models", "success_rate", "seconds"}


@pytest.mark.parametrize(("max_states", "cohorts"), [(0, 1), (100_000, 1), (100_000, 3), (0, 3)])
def test_a_killed_training_goes_on_to_the_same_model(
    tasks: list[misstep.Task], tmp_path: Path, max_states: int, cohorts: int
) -> None:
    config = replace(QUICK, max_states=max_states, max_new_states=10, epochs=3 if cohorts == 1 else 1)
    config = replace(config, cohorts=cohorts)
    whole = train_asnet(tasks[:2], tasks[2:], config, out=tmp_path / "whole")

    class Killed(Exception):
        pass

    for stop in (2, 3, 1):
        count = 0

        def progress(_: Progress, stop: int = stop) -> None:
            nonlocal count
            count += 1
            if count == stop:
                raise Killed

        with pytest.raises(Killed):
            train_asnet(tasks[:2], tasks[2:], config, out=tmp_path / "parts", progress=progress)
    with (tmp_path / "parts" / "pool.jsonl").open("a") as file:
        file.write('[0, ["(half a')  # an epoch that was under way
    parts = train_asnet(tasks[:2], tasks[2:], config, out=tmp_path / "parts")
    assert parts.final.read_bytes() == whole.final.read_bytes()
    assert parts.epochs == whole.epochs
    assert cohorts == 1 or whole.epochs == len(config.variants) * config.runs * cohorts
    names = sorted(path.name for path in whole.models.iterdir())
    assert names == sorted(path.name for path in parts.models.iterdir())
    for name in names:
        assert (whole.models / name).read_bytes() == (parts.models / name).read_bytes()


def test_where_nothing_is_solved_the_best_lesson_wins(tasks: list[misstep.Task], tmp_path: Path) -> None:
    """No run of two steps solves a validation task, and one solves hardly a training task: the log says which model."""
    config = replace(
        make_config("published", hidden=4, batches=3, epochs=6, max_steps=2, threads=1), patience=4
    )
    result = train_asnet(tasks[:1], tasks[1:2], config, out=tmp_path)
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert {line["solved"] for line in log} == {0}
    assert len(log) == 5, "a smaller loss is no better validation result: the run ends as without it"
    best = max(log, key=lambda line: (line["success_rate"], -line["loss"], line["epoch"]))
    assert best["epoch"] > 1
    model = tmp_path / "models" / f"{best['run']}-{best['epoch']:04d}.asnet"
    assert result.final.read_bytes() == model.read_bytes()


def test_a_score_of_an_older_version_gives_way(tmp_path: Path) -> None:
    old = read_fields(Score, {"solved": 0, "minus_steps": 0})
    assert old < Score(0, 0, order_at_zero(0, 1e9, 1)) < Score(0, 0, order_at_zero(0, 1.0, 1))
    assert Score(0, 0, order_at_zero(9, 0.0, 9)) < read_fields(Score, {"solved": 1, "minus_steps": -5})


def test_half_of_the_runs_have_deeper_networks(tasks: list[misstep.Task], tmp_path: Path) -> None:
    config = replace(QUICK, epochs=1, runs=2, cohorts=2, max_states=0)
    result = train_asnet(tasks[:2], tasks[2:], config, out=tmp_path)
    layers = [read_asnet(result.models / f"good0-{number}-0001.asnet").num_layers for number in range(4)]
    assert layers == [2, 3, 3, 2]
    assert make_config("best", layers=2).more_layers == (0,), "who says how deep networks are wants no others"
    with pytest.raises(InputError, match="more_layers"):
        replace(QUICK, more_layers=(0, 1000))


def test_no_new_seeds_where_all_validation_tasks_are_solved(
    tasks: list[misstep.Task], tmp_path: Path
) -> None:
    config = replace(QUICK, epochs=8, batches=100, rate=1e-2, trial_epochs=100, runs=1, cohorts=3)
    heard: list[Progress] = []
    result = train_asnet(tasks[:2], tasks[2:], config, out=tmp_path, progress=heard.append)
    assert result.solved == 1
    assert {told.run for told in heard} == {"good0-0", "good1-0", "all0-0"}
    assert max(told.epoch for told in heard) == 8


def test_states_that_teachers_fail_on_are_remembered(tasks: list[misstep.Task]) -> None:
    config = replace(QUICK, max_states=0, teacher_expansions=1)
    data, task = data_of(tasks, config), tasks[2]
    start = task.initial_state
    others = [state for _, state in task.successors(start)]
    assert data.visit(2, [start, *others], most=9) == 1  # After a failure the task waits
    assert [entry.regrets for entry in data.entries] == [()]
    assert data.visit(2, others, most=9, turn=1) == 0
    again = data_of(tasks, config)
    again.restore(data.entries[0])
    assert again.visit(2, [start], most=9, turn=2) == 0
    assert again.visit(2, others, most=9, turn=1) == 0
    assert again.visit(2, others, most=9, turn=2) == data.visit(2, others, most=9, turn=2) == 1
    assert again.entries == data.entries
    assert again.size == 0
    always = data_of(tasks, replace(config, back_off=False))
    assert always.visit(2, [start, *others], most=9) == 1 + len(others)


def test_other_options_do_not_go_on(tasks: list[misstep.Task], tmp_path: Path) -> None:
    train_asnet(tasks[:1], (), replace(QUICK, epochs=1), out=tmp_path)
    with pytest.raises(InputError, match="other tasks or options"):
        train_asnet(tasks[:2], (), replace(QUICK, epochs=1), out=tmp_path)


def test_no_task_that_a_teacher_solves(tasks: list[misstep.Task], tmp_path: Path) -> None:
    config = replace(QUICK, max_states=0, teacher_expansions=1)
    with pytest.raises(InputError, match="no training task could be solved by a teacher"):
        train_asnet(tasks[2:], (), config, out=tmp_path)


def test_out_that_cannot_be_written(tasks: list[misstep.Task], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        train_asnet(tasks[:1], (), QUICK, out=tmp_path / "file")


@pytest.mark.parametrize("what", ["asnet.write_asnet", "asnet_checkpoint.write_safetensors"])
def test_a_full_disk_loses_nothing(
    tasks: list[misstep.Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    config = replace(QUICK, epochs=2)
    whole = train_asnet(tasks[:2], (), config, out=tmp_path / "whole")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def progress(_: Progress) -> None:
        monkeypatch.setattr(f"misstep.training.{what}", full)

    with pytest.raises(InputError, match="No space left on device; make room"):
        train_asnet(tasks[:2], (), config, out=tmp_path / "full", progress=progress)
    monkeypatch.undo()
    again = train_asnet(tasks[:2], (), config, out=tmp_path / "full")
    assert again.final.read_bytes() == whole.final.read_bytes()


def test_time_that_is_up(tasks: list[misstep.Task], tmp_path: Path) -> None:
    with pytest.raises(LimitReached, match="no epoch ended within the limit on seconds"):
        train_asnet(tasks[:1], (), QUICK, out=tmp_path / "a", max_seconds=1e-9)
    with pytest.raises(KeyboardInterrupt):
        train_asnet(tasks[:1], (), QUICK, out=tmp_path / "b", progress=interrupt)
    result = train_asnet(tasks[:1], (), QUICK, out=tmp_path / "b", max_seconds=1e-9)
    assert (result.limit, result.epochs) == ("seconds", 1)
    assert result.final.is_file()


def interrupt(_: Progress) -> None:
    raise KeyboardInterrupt


def test_the_published_recipe_learns_ferry(tasks: list[misstep.Task], tmp_path: Path) -> None:
    config = make_config("published", epochs=6, batches=100, init="xavier")
    result = train_asnet(tasks, (), config, out=tmp_path)
    assert result.success_rate == 1.0
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert lines[0]["loss"] > lines[-1]["loss"]


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="`hidden` is 65"):
        AsnetConfig(hidden=65)
    with pytest.raises(InputError, match="no option `layer`"):
        make_config("best", layer=2)
    assert str(Variant(max_regret=1)) == "good1" and str(Variant("all-good")) == "all0"
