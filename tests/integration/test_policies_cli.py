"""Policies of all kinds on the command line, where they fail."""

from pathlib import Path

import numpy as np
import pytest

from misstep.formats.safetensors import write_safetensors
from tests.integration.cli import misstep


def test_the_missing_extra_is_named(courier: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "grpc.py").write_text("raise ModuleNotFoundError(\"No module named 'grpc'\", name='grpc')")
    env = {"PYTHONPATH": str(tmp_path)}
    for arguments in (
        ("serve", *courier, "--policy", "heuristic:ff"),
        ("run", *courier, "--policy", "remote:localhost:1"),
    ):
        ended = misstep(*arguments, env=env)
        assert ended.code == 4
        assert 'needs grpc, which is not installed; pip install "misstep[remote]"' in ended.err


def test_a_policy_that_raises_on_the_command_line(courier: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def choose(state):\n    raise ValueError('boom')\n")
    ended = misstep("run", *courier, "--policy", f"python:{file}:choose", "--json")
    assert (ended.code, ended.json["outcome"]) == (0, "failed")
    assert ended.json["reason"] == "the policy raised ValueError: boom (mine.py:2)"
    ended = misstep("run", *courier, "--policy", f"python:{file}:choose")
    assert ended.out == "failed\n"
    assert "warning: the policy raised ValueError: boom (mine.py:2)" in ended.err
    pool = tmp_path / "pool.jsonl"
    ended = misstep("fuzz", *courier, "--policy", f"python:{file}:choose", "--pool", "5", "--out", pool)
    assert ended.code == 0
    assert len(pool.read_text().splitlines()) >= 5


@pytest.mark.parametrize(
    "name", ["python:x", "python:missing_module_of_nobody:f", "table:none.json", "remote"]
)
def test_policies_that_cannot_be_loaded(courier: tuple[Path, Path], name: str) -> None:
    ended = misstep("run", *courier, "--policy", name)
    assert ended.code == 4
    assert ended.err.startswith("error: ")


RANDOM = """import random
def lots(state):
    return random.choice(state.task.applicable(state))
count = 0
def counting(state):
    global count
    count += 1
    actions = state.task.applicable(state)
    return actions[count % len(actions)]
"""


@pytest.mark.parametrize("name", ["lots", "counting"])
def test_random_and_stateful_policies_are_noticed_in_a_single_run(
    courier: tuple[Path, Path], tmp_path: Path, name: str
) -> None:
    file = tmp_path / "moody.py"
    file.write_text(RANDOM)
    ended = misstep("run", *courier, "--policy", f"python:{file}:{name}", "--max-steps", "3")
    assert ended.code == 4
    assert "error: the policy is not deterministic: in the state (a" in ended.err
    assert "--no-recheck" in ended.err
    ended = misstep("run", *courier, "--policy", f"python:{file}:{name}", "--max-steps", "3", "--no-recheck")
    assert ended.code == 0


def test_an_activation_is_not_guessed(courier: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "net,v=2.safetensors"
    arrays = {"0.weight": np.ones((4, 7), np.float32), "2.weight": np.ones((64, 4), np.float32)}
    write_safetensors(file, arrays)
    ended = misstep("run", *courier, "--policy", f"torch:{file}")
    assert ended.code == 4
    assert f"name it: `torch:{file},activation=NAME`, with NAME one of relu, tanh" in ended.err
    ended = misstep("run", *courier, "--policy", f"torch:{file},activation=tanh", "--json")
    assert (ended.code, ended.json["outcome"]) == (0, "loop")


def test_why_an_answer_is_illegal(courier: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def never(state):\n    return 'fly home'\n")
    ended = misstep("run", *courier, "--policy", f"python:{file}:never", "--json")
    assert ended.json["outcome"] == "illegal"
    assert "'fly home' (str), which is no action of the task" in ended.json["reason"]
    file.write_text("def wrong(state):\n    return 'unload lamp red mill'\n")
    ended = misstep("run", *courier, "--policy", f"python:{file}:wrong", "--json")
    assert ended.json["outcome"] == "illegal"
    assert ended.json["reason"].startswith(
        "the policy answered (unload lamp red mill), which is not applicable"
    )
