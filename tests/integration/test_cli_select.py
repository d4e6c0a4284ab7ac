"""`misstep select`, `train --select`, `retrain` and `scale` as a user runs them, and what they refuse."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"
DOMAIN, TRAIN, VALIDATE = (str(FERRY / f"{name}.pddl") for name in ("domain", "p02", "p03"))


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "misstep.cli", *arguments]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=600, check=False)


def told(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of six models."""
    out = tmp_path_factory.mktemp("grown") / "tree"
    quick = ["--hidden", "8", "--batches", "40", "--inits", "2", "--start", "1", "--main", "2", "--pool", "5"]
    result = told(
        *("train", "asnet", DOMAIN, TRAIN, "--validation", VALIDATE, "--select", "tree-pi-test"),
        *(*quick, "--out", str(out)),
    )
    assert result["epochs"] == 4
    assert len(list(Path(result["models"]).glob("n*.asnet"))) == 6
    assert (out / "tree.svg").read_text().startswith("<svg")
    return out


def test_select_ranks_in_both_ways_of_asking(grown: Path, tmp_path: Path) -> None:
    common = ["--pool", "5", "--out", str(tmp_path / "answers")]
    first = told("select", DOMAIN, VALIDATE, "--policies", str(grown), *common)
    second = told("select", str(grown), "--validation", DOMAIN, VALIDATE, *common)
    assert first == second
    assert set(first) >= {"best", "ranking"}
    assert first["best"] == first["ranking"][0]["policy"]
    keys = {"policy", "score", "solved_tasks", "solved_states", "bug_free_states"}
    assert all(set(entry) >= keys for entry in first["ranking"])
    scores = [entry["score"] for entry in first["ranking"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 6
    assert (Path(first["best"]).read_bytes()) == (grown / "final.asnet").read_bytes()
    shown = run("select", DOMAIN, VALIDATE, "--policies", str(grown), *common)
    assert "so every score is 0" in shown.stdout
    assert "is first in" not in shown.stdout
    assert shown.stdout.splitlines()[-1] == f"asnet:{first['best']}"


def test_select_in_the_folder_of_a_tree_takes_other_options_too(grown: Path) -> None:
    """The training left answers in DIR/selection; those for other states stand beside them."""
    answers = grown / "selection" / "answers.jsonl"
    left = answers.read_bytes()
    rankings = [
        told("select", str(grown), "--validation", DOMAIN, *asked)["ranking"]
        for asked in ([VALIDATE, "--pool", "5", "--seed", "7"], [TRAIN, "--pool", "5"])
    ]
    assert [len(ranking) for ranking in rankings] == [6, 6]
    assert answers.read_bytes() == left
    told("select", str(grown), "--validation", DOMAIN, VALIDATE, "--pool", "5", "--seed", "7")
    assert len(list(answers.parent.glob("answers*.jsonl"))) == 3


def test_select_without_the_log_of_the_training_says_what_it_does_not_know(
    grown: Path, tmp_path: Path
) -> None:
    """With it there is no warning; with half of it, and without it, there is one."""
    copies = tmp_path / "copies"
    copies.mkdir()
    for path in (grown / "models").glob("n*.asnet"):
        (copies / path.name).write_bytes(path.read_bytes())
    lines = (grown / "log.jsonl").read_text().splitlines(keepends=True)
    asked = ["select", DOMAIN, VALIDATE, "--policies", str(copies), "--pool", "5"]
    unknown = "a policy that was not trained at all cannot be told apart"
    for count, which in ((0, "epoch of these policies"), (2, "of the 6 policies"), (len(lines), None)):
        (copies / "log.jsonl").unlink(missing_ok=True)
        if count:
            (copies / "log.jsonl").write_text("".join(lines[:count]))
        shown = run(*asked)
        assert shown.returncode == 0, shown.stderr
        assert (unknown in shown.stderr) == (which is not None)
        assert which is None or which in shown.stderr
        assert ("smaller training loss" in shown.stdout) == (count > 0)
        assert ("names of the files decide: the later name comes first" in shown.stdout) == (count == 0)
    assert told(*asked)["unlogged"] == 0


def test_select_says_how_sure_it_is_where_tasks_are_solved(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    zoo = files("misstep") / "bundled" / "zoo" / "ferry.asnet.safetensors"
    (models / "ferry.asnet").write_bytes(zoo.read_bytes())
    shown = run("select", DOMAIN, TRAIN, "--policies", str(tmp_path), "--pool", "5")
    assert "ferry.asnet is first in 100% of 2000 draws" in shown.stdout


def test_retrain_survives_a_kill(grown: Path, tmp_path: Path) -> None:
    def asked(out: str) -> list[str]:
        policy = f"asnet:{grown / 'models' / 'n0001.asnet'}"
        quick = ["--rounds", "2", "--pool", "6", "--epochs", "1", "--batches", "10"]
        return ["retrain", DOMAIN, TRAIN, "--policy", policy, *quick, "--out", str(tmp_path / out), "--json"]

    process = subprocess.Popen(command(*asked("killed")), stdout=subprocess.DEVNULL)
    while process.poll() is None and not (tmp_path / "killed" / "rounds.jsonl").is_file():
        time.sleep(0.02)
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    killed, whole = run(*asked("killed")), run(*asked("whole"))
    assert (killed.returncode, whole.returncode) == (0, 0), killed.stderr
    models = [(tmp_path / out / "final.asnet").read_bytes() for out in ("killed", "whole")]
    assert models[0] == models[1]
    result = json.loads(whole.stdout)
    assert set(result) >= {"final", "rounds", "before", "after", "fixed", "forgotten", "measured_on"}


def test_scale_says_how_far_it_holds() -> None:
    result = told(
        *("scale", "--generator", "ferry", "--policy", "zoo:ferry"),
        *("--start", "2", "--largest", "2", "--instances", "3"),
    )
    [size] = result["sizes"]
    assert (size["size"], size["instances"]) == (2, 3)
    assert 0 <= size["coverage"][0] <= size["solved"] / 3 <= size["coverage"][1] <= 1
    assert 0 <= size["bug_rate"][0] <= size["bug_rate"][1] <= 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["select", DOMAIN, VALIDATE], "say what to rank and on what"),
        (["select", "{tmp}", "--validation", DOMAIN], "a domain and at least one problem"),
        (["select", "{tmp}", "--validation", DOMAIN, VALIDATE], "has no policies"),
        (["train", "asnet", DOMAIN, TRAIN, "--select", "tree", "--out", "{tmp}"], "needs validation tasks"),
        (["retrain", DOMAIN, TRAIN, "--policy", "heuristic:ff", "--out", "{tmp}"], "only ASNets"),
        (["retrain", DOMAIN, TRAIN, "--policy", "zoo:gripper", "--out", "{tmp}"], "another domain"),
        (["scale", "--generator", "fery", "--policy", "zoo:ferry"], "ferry"),
        (["scale", "--generator", "command:true", "--policy", "zoo:ferry"], "--domain"),
        (["scale", "--generator", "gripper", "--policy", "zoo:ferry"], "another domain"),
    ],
)
def test_refusals(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = run(*(text.format(tmp=tmp_path) for text in arguments))
    assert done.returncode == 4, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
