"""Training GNNs: the network in PyTorch against the native one, gradients, losses, resuming, refusals."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import misstep
from misstep._core import enumerate_states
from misstep.errors import InputError, LimitReached
from misstep.formats.gnn_model import GnnKind, GnnShape
from misstep.generators.ours import bundled_domain
from misstep.generators.problems import ferry
from misstep.policies.gnn import Gnn, identifier, relations_of
from misstep.training.asnet import Progress
from misstep.training.gnn import train_gnn
from misstep.training.gnn_config import LOSSES, GnnConfig
from misstep.training.gnn_torch import Lessons, Outputs, evaluate, q_loss, value_loss
from misstep.training.gnn_trainer import GnnTrainer
from tests.unit.gnn_own import random_gnn

torch: Any = pytest.importorskip("torch", reason='needs pip install "misstep[torch]"')

TASKS = Path(__file__).parents[1] / "tasks"
QUICK = GnnConfig(kind="value", hidden=8, layers=3, epochs=3, batches=5, batch=8, rate=5e-3, max_samples=100)
WAYS: list[tuple[GnnKind, str]] = [(kind, loss) for kind, losses in LOSSES.items() for loss in losses]


def load(domain: str, *names: str) -> list[misstep.Task]:
    return [
        misstep.load(TASKS / domain / "domain.pddl", TASKS / domain / f"{name}.pddl", unit_cost=True)
        for name in names
    ]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """What is called here directly is too small for several threads, which wait for each other in busy loops."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tasks() -> list[misstep.Task]:
    return load("ferry", "p01", "p02", "p03")


def trainer_of(task: misstep.Task, kind: GnnKind, loss: str, *, solvable: bool = False) -> GnnTrainer:
    assert task.pddl is not None
    shape = GnnShape(kind, 8, 3, relations_of(task.pddl, kind), solvable, "any")
    trainer = GnnTrainer(shape, replace(QUICK, kind=kind, loss=loss), [task], seed=1)
    assert trainer.add_state_space(0, enumerate_states(task, max_states=10**5), seed=0) > 0
    return trainer


@pytest.mark.parametrize("kind", ["value", "q"])
def test_pytorch_says_what_the_native_network_says(tasks: list[misstep.Task], kind: GnnKind) -> None:
    task = tasks[1]
    shape, arrays = random_gnn(task, kind, seed=2, hidden=16, layers=5)
    trainer = GnnTrainer(shape, replace(QUICK, kind=kind), [task], seed=0)
    flat = np.concatenate([array.reshape(-1) for array in arrays.values()])
    policy = trainer.policy(0, flat)
    weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
    for state in (task.initial_state, *(successor for _, successor in task.successors(task.initial_state))):
        found = sorted(task.applicable(state), key=lambda action: identifier(action.name))
        graphs = trainer._samples[0].graphs
        if kind == "q":
            numbers = np.array([action.index for action in found])
            graph = graphs.graph(np.array([state.values], np.int32), [numbers])
        else:
            graph = graphs.graph(np.array([task.apply(state, each).values for each in found], np.int32))
        said = evaluate(shape, weights, graph).values.numpy()
        np.testing.assert_allclose(said, [value for _, value in policy.values(state)], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("kind", "loss"), WAYS)
@pytest.mark.parametrize("domain", ["ferry", "spanner"])
def test_gradients_are_slopes(domain: str, kind: GnnKind, loss: str) -> None:
    """Along random directions, against differences; spanner has dead ends and so the second readout."""
    trainer = trainer_of(load(domain, "p01")[0], kind, loss, solvable=domain == "spanner")
    rng = np.random.default_rng(3)
    piece = [(0, int(rng.integers(trainer.num_samples(0)))) for _ in range(12)]
    start = trainer.parameters.copy()
    _, gradient = trainer._gradient(piece)
    step = 2e-3
    for _ in range(3):
        direction = rng.normal(size=start.shape).astype(np.float32)
        direction /= np.linalg.norm(direction)
        losses = []
        for side in (-1, 1):
            trainer.parameters = start + np.float32(side * step) * direction
            losses.append(trainer._gradient(piece)[0])
        slope = (losses[1] - losses[0]) / (2 * step)
        assert slope == pytest.approx(float(gradient @ direction), rel=0.1, abs=0.05)


def test_losses_by_hand() -> None:
    """A state of cost 2 with successors of cost 1 and a dead end, its goal, and the dead end itself."""
    cost = np.array([2, 1, np.inf, 0], np.float32)
    none = np.zeros(0, np.bool_)
    lessons = Lessons(cost, np.array([0, 2, 2, 2]), np.array([0, 3, 2]), np.array([1, 2]), none, none)
    said = Outputs(torch.tensor([3.5, 2.0, 9.0, 0.25]), None)
    assert float(value_loss("supervised", said, lessons)) == pytest.approx(1.5 + 0.25)
    assert float(value_loss("unsupervised", said, lessons)) == pytest.approx(abs(3.5 - 3) + 0.25)
    assert float(value_loss("selfsupervised-suboptimal", said, lessons)) == pytest.approx(0 + 0 + 0.25)
    low = Outputs(torch.tensor([1.5, 2.0, 9.0, 0.25]), None)
    assert float(value_loss("selfsupervised-suboptimal", low, lessons)) == pytest.approx(1.5 + 0.5 + 0.25)
    high = Outputs(torch.tensor([5.0, 2.0, 9.0, 0.0]), None)
    assert float(value_loss("selfsupervised-suboptimal", high, lessons)) == pytest.approx(1.0)


def test_the_margin_by_hand() -> None:
    """Two good actions, one bad, one unknown; then a state of which one good and one bad action are known."""
    nothing = np.zeros(0, np.int64)
    lessons = Lessons(
        np.array([3, 3, 5, np.nan, np.nan, np.inf], np.float32),
        np.array([0, 4, 6]),
        nothing,
        nothing,
        np.array([True, True, False, False, True, False]),
        np.array([False, False, True, False, False, True]),
    )
    said = Outputs(torch.tensor([4.0, 2.5, 3.0, 0.0, 1.0, 7.0]), None)
    assert float(q_loss(said, lessons, margin=1.0, value_weight=0.0)) == pytest.approx(0.5)
    distances = (1.0 + 0.5 + 2.0) / 4
    assert float(q_loss(said, lessons, margin=1.0, value_weight=2.0)) == pytest.approx(0.5 + 2 * distances)


@pytest.mark.parametrize("kind", ["value", "q"])
def test_a_model_every_epoch_and_the_same_for_a_seed(
    tasks: list[misstep.Task], tmp_path: Path, kind: GnnKind
) -> None:
    heard: list[Progress] = []
    config = replace(QUICK, kind=kind)
    first = train_gnn(tasks[:2], tasks[2:], config, out=tmp_path / "a", progress=heard.append)
    again = train_gnn(tasks[:2], tasks[2:], replace(config, threads=1), out=tmp_path / "b")
    other = train_gnn(tasks[:2], tasks[2:], replace(config, seed=1), out=tmp_path / "c")
    assert first.final.read_bytes() == again.final.read_bytes() != other.final.read_bytes()
    assert len(heard) == len((tmp_path / "a" / "log.jsonl").read_text().splitlines()) == first.epochs
    for told in heard:
        assert Gnn(first.models / f"{told.run}-{told.epoch:04d}.gnn").model.kind == kind
    policy = Gnn(first.final).bind(tasks[2])
    [run] = misstep._core.PolicyGraph(tasks[2], policy).run(tasks[2].batch([tasks[2].initial_state]))
    assert (run.outcome == "solved") == (first.solved == 1)
    assert set(first.as_json()) >= {"epochs", "final", "models", "success_rate", "seconds"}


@pytest.mark.parametrize("max_states", [0, 100_000])
def test_a_killed_training_goes_on_to_the_same_model(
    tasks: list[misstep.Task], tmp_path: Path, max_states: int
) -> None:
    config = replace(QUICK, kind="q", runs=2, trial_epochs=2, max_states=max_states)
    whole = train_gnn(tasks[:2], tasks[2:], config, out=tmp_path / "whole")

    class Killed(Exception):
        pass

    def progress(told: Progress) -> None:
        if told.epoch == 2:
            raise Killed

    with pytest.raises(Killed):
        train_gnn(tasks[:2], tasks[2:], config, out=tmp_path / "parts", progress=progress)
    parts = train_gnn(tasks[:2], tasks[2:], config, out=tmp_path / "parts")
    names = sorted(path.name for path in whole.models.iterdir())
    assert names == sorted(path.name for path in parts.models.iterdir())
    for name in names:
        assert (whole.models / name).read_bytes() == (parts.models / name).read_bytes()
    assert parts.final.read_bytes() == whole.final.read_bytes()


@pytest.mark.parametrize(("kind", "loss"), [("q", "margin"), ("value", "supervised")])
def test_it_learns(tmp_path: Path, kind: GnnKind, loss: str) -> None:
    """The trained policy solves tiny tasks of which the same network without learning solves none or one."""
    domain, sizes = bundled_domain("ferry"), ((2, 2), (3, 1), (3, 2))
    tiny = [misstep.load(domain, ferry(*size, 0), unit_cost=True) for size in sizes]
    config = GnnConfig(
        kind=kind,
        loss=loss,
        hidden=16,
        layers=3 if kind == "q" else 4,
        epochs=12,
        batches=30,
        batch=16,
        rate=5e-3 if kind == "q" else 1e-2,
        final_rate=1e-3,
        perfect_epochs=1,  # it ends as soon as all are solved
    )
    dull = train_gnn(tiny, (), replace(config, rate=0.0, final_rate=0.0, epochs=1), out=tmp_path / "dull")
    assert dull.solved <= 1
    learned = train_gnn(tiny, (), config, out=tmp_path / "learned")
    assert (learned.solved, learned.success_rate) == (3, 1.0)
    lines = [json.loads(line) for line in (tmp_path / "learned" / "log.jsonl").read_text().splitlines()]
    assert lines[-1]["loss"] < 0.75 * lines[0]["loss"]


def test_refusals(tasks: list[misstep.Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"none of the 1 training tasks has at most 3 states.*--kind q"):
        train_gnn(tasks[:1], (), replace(QUICK, max_states=3), out=tmp_path / "a")
    config = replace(QUICK, kind="q", max_states=0, teacher_expansions=1, teachers=("astar",))
    with pytest.raises(InputError, match="no training task could be solved by a teacher"):
        train_gnn(tasks[2:], (), config, out=tmp_path / "b")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        train_gnn(tasks[:1], (), QUICK, out=tmp_path / "file")
    train_gnn(tasks[:1], (), replace(QUICK, epochs=1), out=tmp_path / "c")
    with pytest.raises(InputError, match="other tasks or options"):
        train_gnn(tasks[:2], (), replace(QUICK, epochs=1), out=tmp_path / "c")
    with pytest.raises(LimitReached):
        train_gnn(tasks[:1], (), QUICK, out=tmp_path / "d", max_seconds=1e-9)
    with pytest.raises(InputError, match=r"loss `margin` does not fit the kind `value`"):
        GnnConfig(kind="value", loss="margin")
    with pytest.raises(InputError, match="`hidden` is 20, not a multiple of 8"):
        GnnConfig(hidden=20)


def test_the_time_is_up_after_an_epoch(tasks: list[misstep.Task], tmp_path: Path) -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_gnn(tasks[:1], (), QUICK, out=tmp_path, progress=interrupt)
    result = train_gnn(tasks[:1], (), QUICK, out=tmp_path, max_seconds=1e-9)
    assert (result.limit, result.epochs) == ("seconds", 1)
