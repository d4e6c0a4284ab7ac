"""`onnx:FILE`: sizes, types, choices, and what is said of models that do not fit."""

import contextlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from misstep import Task, load
from misstep._core import PolicyGraph
from misstep.answers.answer import BadAnswer
from misstep.answers.guard import bind_guarded
from misstep.answers.logits import best_actions, state_encoder
from misstep.errors import InputError, PolicyError
from misstep.plugins import make_policy_part
from misstep.policies.onnx import Onnx
from tests.conftest import COURIER
from tests.unit.onnx_model import FLOAT, INT64, STRING, linear_model

try:
    import onnxruntime  # noqa: F401
except ImportError:
    have_runtime = False
else:
    have_runtime = True
needs_runtime = pytest.mark.skipif(not have_runtime, reason='needs pip install "misstep[onnx]"')


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


@pytest.fixture(scope="module")
def states(task: Task) -> Any:
    first = task.initial_state
    return task.batch([first, *(state for _, state in task.successors(first))])


@pytest.fixture
def model(tmp_path: Path) -> Any:
    """Writes a model, gives its path."""

    def write(*arguments: Any, **options: Any) -> Any:
        path = tmp_path / "model.onnx"
        path.write_bytes(linear_model(*arguments, **options))
        return path

    return write


def weights(task: Task, *, width: Any = None, seed: int = 0) -> Any:
    chance = np.random.default_rng(seed)
    facts = sum(task.domain_sizes) if width is None else width
    return chance.normal(size=(facts, len(task.actions))), chance.normal(size=len(task.actions))


def expected(task: Task, states: Any, encoded: Any, weight: Any, bias: Any) -> Any:
    scores = encoded @ weight + bias
    return [
        max(task.applicable(state), key=lambda action: (row[action.index], -action.index))
        for state, row in zip(states, scores, strict=True)
    ]


def one_hot(task: Task, states: Any) -> Any:
    rows = []
    for state in states:
        row = []
        for value, size in zip(state.values, task.domain_sizes, strict=True):
            row += [1.0 if at == value else 0.0 for at in range(size)]
        rows.append(row)
    return np.array(rows)


def test_the_encoding_is_one_number_a_fact_in_task_order(task: Task, states: Any) -> None:
    encode = state_encoder(task, None, source="here")
    assert (encode(states) == one_hot(task, states)).all()
    assert encode(states).dtype == np.float32
    assert (encode(states).sum(axis=1) == task.num_variables).all()
    plain = state_encoder(task, task.num_variables, source="here")
    assert (plain(states) == [state.values for state in states]).all()
    with pytest.raises(PolicyError, match=r"here: the network takes 3 numbers a state, but this task has"):
        state_encoder(task, 3, source="here")


def test_the_best_applicable_action_wins_the_first_of_equals(task: Task, states: Any) -> None:
    scores = np.zeros((len(states), len(task.actions)), np.float32)
    assert best_actions(task, states, scores) == [task.applicable(state)[0] for state in states]
    last = [task.applicable(state)[-1] for state in states]
    for row, action in zip(scores, last, strict=True):
        row[action.index] = 1
    assert best_actions(task, states, scores) == last
    for row, state in zip(scores, states, strict=True):
        inapplicable = set(range(len(task.actions))) - {a.index for a in task.applicable(state)}
        row[sorted(inapplicable)] = np.nan
    assert best_actions(task, states, scores) == last, "scores of inapplicable actions do not matter"


def test_scores_that_are_no_numbers_are_failed_and_minus_infinity_is_no_choice(
    task: Task, states: Any
) -> None:
    scores = np.zeros((len(states), len(task.actions)), np.float32)
    second = task.applicable(states[0])[1]
    scores[0, second.index] = np.nan
    scores[1, :] = -np.inf
    scores[2, task.applicable(states[2])[1].index] = np.inf
    answers = best_actions(task, states, scores)
    assert isinstance(answers[0], BadAnswer)
    assert answers[0].outcome == "failed"
    assert answers[0].reason == f"the network's score of {second.name} is not a number"
    assert answers[1] is None
    assert answers[2] == task.applicable(states[2])[1]


@needs_runtime
@pytest.mark.parametrize("batch", ["n", 1])
@pytest.mark.parametrize("width", [None, "any"])
def test_a_model_over_facts(task: Task, states: Any, model: Any, batch: object, width: str | None) -> None:
    weight, bias = weights(task)
    path = model(weight, bias, batch=batch, width=width)
    policy = make_policy_part(f"onnx:{path}").bind(task)
    assert policy(states) == expected(task, states, one_hot(task, states), weight, bias)
    assert policy(task.batch([])) == []


@needs_runtime
@pytest.mark.parametrize("kind", [FLOAT, INT64])
def test_a_model_over_variables(task: Task, states: Any, model: Any, kind: Any) -> None:
    weight, bias = weights(task, width=task.num_variables, seed=1)
    path = model(weight, bias, input_type=kind, outputs=("value", "logits"))
    policy = Onnx(path).bind(task)
    assert policy(states) == expected(task, states, states.values, weight, bias)


@needs_runtime
def test_a_run(task: Task, model: Any) -> None:
    weight, bias = weights(task, seed=2)
    policy: Any = bind_guarded(Onnx(model(weight, bias)), task)
    (run,) = PolicyGraph(task, policy).run(task.batch([task.initial_state]))
    assert run.outcome in ("loop", "solved", "dead-end")
    bias[:] = np.nan
    policy = bind_guarded(Onnx(model(weight, bias)), task)
    (run,) = PolicyGraph(task, policy).run(task.batch([task.initial_state]))
    assert run.outcome == "failed"
    assert "is not a number" in policy.failures[task.initial_state]


@needs_runtime
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"second_input": True}, "has 2 inputs (x, other)"),
        ({"outputs": ("p", "q")}, "has 2 outputs (p, q); give one, or call one `logits`"),
        ({"input_type": STRING}, "is tensor(string), not of numbers"),
        ({"batch": 7}, "has the shape [7,"),
    ],
)
def test_models_of_another_shape(task: Task, model: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Onnx(model(*weights(task), **options)).bind(task)
    assert words in str(caught.value)


@needs_runtime
def test_models_of_another_task(task: Task, states: Any, model: Any) -> None:
    weight, bias = weights(task)
    with pytest.raises(PolicyError, match="it was made for another task"):
        Onnx(model(weight[:-1], bias)).bind(task)
    with pytest.raises(PolicyError, match=r"gives \d+ scores a state, but this task has \d+ actions"):
        Onnx(model(weight[:, :-1], bias[:-1])).bind(task)
    policy = Onnx(model(weight, bias)).bind(task)
    for output in (np.zeros((1, 2)), np.zeros(len(task.actions)), ["text"]):
        policy._session = SimpleNamespace(run=lambda *_, output=output: [output])
        with pytest.raises(PolicyError, match="a score for each action of the task"):
            policy(states)
    lying = Onnx(model(weight[:-1], bias, width="any")).bind(task)
    with pytest.raises(PolicyError, match="evaluating the model failed"):
        lying(states)


@needs_runtime
@pytest.mark.parametrize("content", [b"", b"garbage", b"\x08\x08" * 100, b"\xff" * 1000])
def test_garbage(task: Task, tmp_path: Path, content: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(PolicyError, match="onnxruntime cannot load this model"):
        Onnx(path).bind(task)
    assert capfd.readouterr().out == ""


@needs_runtime
def test_every_damaged_byte_is_an_error_or_a_policy(task: Task, states: Any, tmp_path: Path) -> None:
    content = linear_model(*weights(task))
    chance = np.random.default_rng(0)
    path = tmp_path / "model.onnx"
    for _ in range(40):
        damaged = bytearray(content)
        damaged[int(chance.integers(200))] = int(chance.integers(256))
        path.write_bytes(damaged)
        with contextlib.suppress(PolicyError, InputError):
            Onnx(path).bind(task)(states)


def test_no_file(task: Task) -> None:
    with pytest.raises(InputError, match="policy `onnx` needs a value; write `onnx:FILE`"):
        make_policy_part("onnx")
    if have_runtime:
        with pytest.raises(InputError, match=r"missing.onnx: no such file"):
            Onnx(Path("missing.onnx")).bind(task)


def test_the_missing_extra_is_named(courier: tuple[Path, Path]) -> None:
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from misstep import load\n"
        "from misstep.errors import InputError\n"
        "from pathlib import Path; from misstep.policies.onnx import Onnx\n"
        "try: Onnx(Path('x.onnx')).bind(load(*sys.argv[1:]))\n"
        "except InputError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *courier], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == (
        'policy `onnx:FILE` needs onnxruntime, which is not installed; pip install "misstep[onnx]"\n'
    )
