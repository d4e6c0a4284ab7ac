"""`torch:FILE`: layers of a state_dict, from both kinds of files, without running anything in them."""

import pickle
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep import Task, load
from misstep._core import PolicyGraph
from misstep.answers.guard import bind_guarded
from misstep.errors import InputError, MisstepError, PolicyError
from misstep.formats.safetensors import write_safetensors
from misstep.plugins import make_policy_part
from misstep.policies.torch import Torch
from tests.conftest import COURIER

HAS_TORCH = find_spec("torch") is not None
if HAS_TORCH:
    import torch
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason='needs pip install "misstep[torch]"')


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


@pytest.fixture(scope="module")
def states(task: Task) -> Any:
    first = task.initial_state
    return task.batch([first, *(state for _, state in task.successors(first))])


def mlp(task: Task, *, width: Any = None, hidden: int = 16, seed: int = 0, bias: bool = True) -> Any:
    chance = np.random.default_rng(seed)
    facts = sum(task.domain_sizes) if width is None else width
    sizes = [(hidden, facts), (hidden, hidden), (len(task.actions), hidden)]
    arrays = {}
    for at, shape in enumerate(sizes):
        arrays[f"{2 * at}.weight"] = chance.normal(size=shape).astype(np.float32)
        if bias:
            arrays[f"{2 * at}.bias"] = chance.normal(size=shape[0]).astype(np.float32)
    return arrays


def expected(task: Task, states: Any, arrays: Any) -> Any:
    answers = []
    for state in states:
        x = np.concatenate([np.eye(n)[v] for v, n in zip(state.values, task.domain_sizes, strict=True)])
        if arrays["0.weight"].shape[1] == task.num_variables:
            x = np.array(state.values, float)
        for at in (0, 2, 4):
            x = arrays[f"{at}.weight"] @ x + arrays.get(f"{at}.bias", 0)
            x = np.maximum(x, 0) if at < 4 else x
        answers.append(max(task.applicable(state), key=lambda action: (x[action.index], -action.index)))
    return answers


def saved(tmp_path: Path, arrays: Any, **options: Any) -> Any:
    path = tmp_path / "weights.safetensors"
    write_safetensors(path, arrays, **options)
    return path


@pytest.mark.parametrize("prefix", ["", "model.net."])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("variables", [True, False])
def test_safetensors(
    task: Task, states: Any, tmp_path: Path, prefix: str, bias: bool, variables: bool
) -> None:
    arrays = mlp(task, bias=bias, width=task.num_variables if variables else None)
    path = saved(tmp_path, {prefix + name: array for name, array in arrays.items()})
    policy = make_policy_part(f"torch:{path},activation=relu").bind(task)
    assert policy(states) == expected(task, states, arrays)
    assert policy(task.batch([])) == []


def test_the_choice_does_not_depend_on_the_company(task: Task, states: Any, tmp_path: Path) -> None:
    """Two actions with the very same weights are equals: the first one wins, in any company."""
    arrays = mlp(task, hidden=200, seed=3)
    arrays["4.weight"][:] = arrays["4.weight"][0]
    arrays["4.bias"][:] = arrays["4.bias"][0]
    policy = Torch(saved(tmp_path, arrays), "relu").bind(task)
    first = [task.applicable(state)[0] for state in states]
    assert policy(states) == first
    assert [policy(task.batch([state]))[0] for state in states] == first
    many = [*states] * 50
    assert policy(task.batch(many)) == first * 50


def test_weights_that_are_no_numbers_are_failed(task: Task, tmp_path: Path) -> None:
    arrays = mlp(task)
    arrays["4.bias"][:] = np.nan
    policy: Any = bind_guarded(Torch(saved(tmp_path, arrays), "relu"), task)
    (run,) = PolicyGraph(task, policy).run(task.batch([task.initial_state]))
    assert run.outcome == "failed"
    assert "is not a number" in policy.failures[task.initial_state]


@needs_torch
@pytest.mark.parametrize("form", ["state_dict", "lightning", "double"])
def test_files_of_torch_itself(task: Task, states: Any, tmp_path: Path, form: str) -> None:
    torch.manual_seed(0)
    facts, actions = sum(task.domain_sizes), len(task.actions)
    relu = torch.nn.ReLU()
    model = torch.nn.Sequential(
        torch.nn.Linear(facts, 32), relu, torch.nn.Linear(32, 24), relu, torch.nn.Linear(24, actions)
    )
    if form == "double":
        model = model.double()
    path = tmp_path / "model.pt"
    content = model.state_dict()
    if form == "lightning":
        content = {"epoch": 3, "state_dict": {f"net.{name}": value for name, value in content.items()}}
    torch.save(content, path)
    policy = Torch(path, "relu").bind(task)
    encoded = np.zeros((len(states), facts), np.float32)
    starts = np.concatenate(([0], np.cumsum(task.domain_sizes)[:-1]))
    for row, state in zip(encoded, states, strict=True):
        row[starts + state.values] = 1
    with torch.no_grad():
        theirs = model(torch.from_numpy(encoded).to(next(model.parameters()).dtype)).numpy()
    assert np.allclose(policy.scores(states), theirs, atol=1e-5)
    assert len(policy(states)) == len(states)


@needs_torch
def test_a_whole_module_is_refused(task: Task, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(torch.nn.Sequential(torch.nn.Linear(2, 2)), path)
    with pytest.raises(InputError, match=r"model\.pt"):
        Torch(path).bind(task)


class Evil:
    def __reduce__(self) -> Any:
        return (print, ("code from the file was run",))


@needs_torch
def test_code_in_a_file_is_not_run(task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.pt"
    torch.save({"0.weight": torch.zeros(2, 2), "x": Evil()}, path)
    with pytest.raises(InputError):
        Torch(path).bind(task)
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(InputError):
        Torch(path).bind(task)
    assert capsys.readouterr().out == ""


def renamed(arrays: Any, old: Any, new: Any) -> Any:
    return {name.replace(old, new): array for name, array in arrays.items()}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: {}, "has no layers"),
        (lambda a: renamed(a, "4.weight", "4.gain"), "tensor `4.gain` of shape"),
        (lambda a: a | {"1.weight": np.ones(16, np.float32)}, "tensor `1.weight` of shape (16,)"),
        (lambda a: renamed(a, "4.", "other.4."), "layers of several networks"),
        (lambda a: {n: x for n, x in a.items() if n != "2.weight"}, "layer 2 has no weight"),
        (lambda a: a | {"2.bias": np.ones(3, np.float32)}, "layer 2 has a weight of shape (16, 16), a bias"),
        (lambda a: a | {"2.weight": np.ones((16, 9), np.float32)}, "after a layer of 16"),
        (lambda a: a | {"0.weight": a["0.weight"][:, 1:]}, "it was made for another task"),
        (
            lambda a: a | {"4.weight": a["4.weight"][1:], "4.bias": a["4.bias"][1:]},
            "gives 63 scores a state, but this task has 64 actions",
        ),
    ],
)
def test_networks_of_another_shape(
    task: Task, tmp_path: Path, change: Callable[..., Any], words: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        Torch(saved(tmp_path, change(mlp(task))), "relu").bind(task)
    assert words in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"garbage" * 9, b"\x80\x02.", b"PK\x03\x04 and so on"])
def test_garbage(task: Task, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"model\.pt"):
        Torch(path).bind(task)


def test_no_file(task: Task, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.pt: cannot read the weights: No such file"):
        Torch(Path("missing.pt")).bind(task)
    with pytest.raises(MisstepError):
        Torch(tmp_path).bind(task)
