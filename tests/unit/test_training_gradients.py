"""Native gradients against finite differences and PyTorch, on tasks with missing facts and empty slots."""

from pathlib import Path

import numpy as np
import pytest

import misstep
from misstep._core import AsnetTrainer
from misstep.formats.asnet_model import AsnetModel, Floats, Module
from misstep.policies.asnet import ground_net, network_arguments
from misstep.training.asnet_config import AsnetConfig
from misstep.training.asnet_data import make_data
from misstep.training.asnet_init import initial_model
from tests.unit.asnet_reference import AsnetReference, walked_states
from tests.unit.asnet_torch import LabelledState, TorchAsnet, TorchBatch

TASKS = Path(__file__).parents[1] / "tasks"
NUM_STATES = 12
CASES = [
    ("gripper", "p02", 2, 16, False),
    ("ferry", "p02", 1, 16, False),
    ("blocks", "p02", 3, 16, False),
    ("blocks", "p02", 2, 16, True),
    ("childsnack", "p01", 2, 5, False),
    ("rovers", "p01", 2, 24, False),
    ("rovers", "p01", 2, 16, True),
    ("sokoban", "p01", 2, 33, False),
]


class Case:
    """A task, a random network, some states with made-up labels, and a trainer that knows them."""

    def __init__(self, domain: str, problem: str, layers: int, hidden: int, landmarks: bool) -> None:
        folder = TASKS / domain
        self.task = misstep.load(folder / "domain.pddl", folder / f"{problem}.pddl", unit_cost=True)
        view = self.task.pddl
        assert view is not None
        self.model = initial_model(
            view, hidden=hidden, layers=layers, init="xavier", seed=1, landmarks=landmarks
        )
        rng = np.random.default_rng(2)
        biased = [
            tuple(
                tuple(Module(m.weights, rng.normal(0, 0.3, m.bias.shape).astype(np.float32)) for m in layer)
                for layer in modules
            )
            for modules in (self.model.action_modules, self.model.predicate_modules)
        ]
        self.model = _with_modules(self.model, biased[0], biased[1])
        self.data = make_data(
            self.model, [self.task], (), AsnetConfig(hidden=hidden, layers=layers, threads=1)
        )
        self.states = [s for s in walked_states(self.task, NUM_STATES) if self.task.applicable(s)]
        number = {int(action): at for at, action in enumerate(ground_net(self.model, self.task).operators)}
        self.good: list[list[int]] = []
        for state in self.states:
            actions = [action.index for action in self.task.applicable(state) if action.index in number]
            rng.shuffle(actions)
            good = actions[: 1 + len(actions) // 3]
            regrets = [(a, 0.0 if a in good else 2.0) for a in actions]
            self.data.trainer.add_sample(0, state, regrets)
            self.good.append([number[a] for a in good])

    @property
    def trainer(self) -> AsnetTrainer:
        return self.data.trainer

    def loss_at(self, parameters: Floats, loss: str) -> float:
        _, means, squares, steps, random_state = self.trainer.state()
        self.trainer.restore(parameters, means, squares, steps, random_state)
        return self.trainer.gradient(0, loss=loss, max_regret=0)[0]


def _with_modules(
    model: AsnetModel, actions: tuple[tuple[Module, ...], ...], predicates: tuple[tuple[Module, ...], ...]
) -> AsnetModel:
    from dataclasses import replace

    return replace(model, action_modules=actions, predicate_modules=predicates)


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case)))
def case(request: pytest.FixtureRequest) -> Case:
    return Case(*request.param)


@pytest.mark.parametrize("loss", ["any-good", "all-good", "teacher"])
def test_gradients_against_finite_differences(case: Case, loss: str) -> None:
    start = case.trainer.parameters
    _, gradient = case.trainer.gradient(0, loss=loss, max_regret=0)
    rng = np.random.default_rng(0)
    for _ in range(8):
        # Along a random direction of the real parameters: padding has none.
        direction = rng.normal(size=start.shape).astype(np.float32) * (start != 0)
        direction /= np.linalg.norm(direction)
        expected = float(gradient @ direction)
        guesses = [
            (case.loss_at(start + step * direction, loss) - case.loss_at(start - step * direction, loss))
            / (2 * step)
            for step in (3e-3, 1e-2, 3e-2)
        ]
        # Maxima have kinks, single precision has noise: one of the steps suffers from neither.
        error = min(abs(guess - expected) for guess in guesses)
        assert error <= 2e-3 * np.linalg.norm(gradient) + 1e-4


@pytest.mark.parametrize("loss", ["any-good", "all-good", "teacher"])
def test_gradients_against_pytorch(case: Case, loss: str) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed; pip install misstep[torch]")
    net = ground_net(case.model, case.task)
    reference, states = AsnetReference(case.model, net, case.task), case.task.batch(case.states)
    truth, applicable = reference.inputs(states)
    rows = zip(truth, applicable, case.good, reference.landmarks(states), strict=True)
    batch = TorchBatch([LabelledState(net, t, a, g, marks) for t, a, g, marks in rows])
    network = TorchAsnet(case.model)
    losses = {
        "any-good": network.any_good_loss,
        "all-good": network.all_good_loss,
        "teacher": network.teacher_loss,
    }
    expected = losses[loss](batch)  # Where every action is good the native loss is 0, as PyTorch's is.
    expected.backward()
    value, gradient = case.trainer.gradient(0, loss=loss, max_regret=0)
    assert value == pytest.approx(expected.item(), rel=1e-4, abs=1e-5)
    actions, predicates = case.trainer.modules(gradient)
    largest = float(np.abs(gradient).max())
    for layers, tensors in ((actions, network.actions), (predicates, network.predicates)):
        for row, tensor_row in zip(layers, tensors, strict=True):
            for (weights, bias), (w, b) in zip(row, tensor_row, strict=True):
                for ours, theirs in ((weights, w), (bias, b)):
                    other = np.zeros(ours.shape) if theirs.grad is None else theirs.grad.numpy().ravel()
                    assert np.abs(ours - other).max(initial=0) <= 2e-5 * largest


def test_scores_are_those_of_evaluation(case: Case) -> None:
    """The loss of one state, from the evaluation's probabilities."""
    policy = case.trainer.policy(0, case.trainer.parameters)
    net = ground_net(case.model, case.task)
    losses = []
    for answers, good in zip(policy.probabilities(case.task.batch(case.states)), case.good, strict=True):
        right = {int(net.operators[op]) for op in good}
        losses.append(-np.log(sum(p for action, p in answers if action.index in right)))
    value, _ = case.trainer.gradient(0, loss="any-good", max_regret=0)
    assert value == pytest.approx(np.mean(losses), rel=1e-4, abs=1e-5)


def test_modules_of_another_shape_are_refused(case: Case) -> None:
    view = case.task.pddl
    assert view is not None
    other = initial_model(view, hidden=8, layers=1, init="xavier", seed=0)
    with pytest.raises(misstep.errors.InputError, match="other shapes"):
        case.trainer.add_task(case.task, **network_arguments(other, ground_net(other, case.task)))
