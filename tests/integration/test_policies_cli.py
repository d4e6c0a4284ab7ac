"""Policies of all kinds on the command line, where they fail."""

import pytest

from tests.integration.cli import misstep


def test_the_missing_extra_is_named(courier, tmp_path):
    (tmp_path / "grpc.py").write_text("raise ModuleNotFoundError(\"No module named 'grpc'\", name='grpc')")
    env = {"PYTHONPATH": str(tmp_path)}
    for arguments in (
        ("serve", *courier, "--policy", "heuristic:ff"),
        ("run", *courier, "--policy", "remote:localhost:1"),
    ):
        ended = misstep(*arguments, env=env)
        assert ended.code == 4
        assert 'needs grpc, which is not installed; pip install "misstep[remote]"' in ended.err


def test_a_policy_that_raises_on_the_command_line(courier, tmp_path):
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
def test_policies_that_cannot_be_loaded(courier, name):
    ended = misstep("run", *courier, "--policy", name)
    assert ended.code == 4
    assert ended.err.startswith("error: ")
