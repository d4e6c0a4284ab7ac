"""`misstep train gnn` as a user runs it: train, kill, go on; `run`, `test` and `select` take what it made."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason='needs pip install "misstep[torch]"')

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"
DOMAIN = str(FERRY / "domain.pddl")
PROBLEMS = [str(FERRY / f"{name}.pddl") for name in ("p01", "p02", "p03")]
QUICK = [
    "--kind",
    "q",
    "--epochs",
    "3",
    "--batches",
    "8",
    "--batch",
    "8",
    "--hidden",
    "8",
    "--layers",
    "3",
    "--json",
]


def misstep(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "misstep.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("train") / "out"
    done = misstep("train", "gnn", DOMAIN, *PROBLEMS, "--out", str(out), *QUICK)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert set(told) >= {"epochs", "final", "models", "success_rate", "seconds"}
    assert told["epochs"] == len(list(Path(told["models"]).glob("*-000?.gnn"))) == 3
    return out


def test_the_models_are_policies(trained: Path) -> None:
    policy = f"gnn:{trained / 'final.gnn'}"
    done = misstep("run", DOMAIN, PROBLEMS[0], "--policy", policy, "--unit-cost", "--json")
    assert json.loads(done.stdout)["outcome"] in ("solved", "loop"), done.stderr
    done = misstep("test", DOMAIN, PROBLEMS[0], "--policy", policy, "--unit-cost", "--pool", "5", "--json")
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    assert told["failed"] == 0
    done = misstep(
        "select", DOMAIN, PROBLEMS[0], "--policies", str(trained / "models"), "--pool", "3", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert {Path(each["policy"]).suffix for each in json.loads(done.stdout)["ranking"]} == {".gnn"}


def test_kill_and_go_on(trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    arguments = [
        sys.executable,
        "-m",
        "misstep.cli",
        "train",
        "gnn",
        DOMAIN,
        *PROBLEMS,
        "--out",
        str(out),
        *QUICK,
    ]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = out / "log.jsonl"
    while process.poll() is None and not (log.is_file() and log.read_text()):
        time.sleep(0.02)
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = misstep("train", "gnn", DOMAIN, *PROBLEMS, "--out", str(out), *QUICK)
    assert done.returncode == 0, done.stderr
    assert (out / "final.gnn").read_bytes() == (trained / "final.gnn").read_bytes()


def test_refusals(tmp_path: Path) -> None:
    done = misstep("train", "gnn", DOMAIN, *PROBLEMS, "--out", "/proc/nowhere")
    assert (done.returncode, "cannot be written to" in done.stderr) == (4, True)
    values = ["train", "gnn", DOMAIN, *PROBLEMS, "--kind", "value"]
    done = misstep(*values, "--out", str(tmp_path), "--max-states", "2")
    assert (done.returncode, "--kind q" in done.stderr) == (4, True)
    done = misstep(*values, "--out", str(tmp_path), "--loss", "margin")
    assert (done.returncode, "does not fit the kind `value`" in done.stderr) == (4, True)
