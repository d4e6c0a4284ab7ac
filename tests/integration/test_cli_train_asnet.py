"""`misstep train asnet` as a user runs it: train, kill, go on, use the model, and every refusal."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"
PROBLEMS = [str(FERRY / f"{name}.pddl") for name in ("p01", "p02", "p03")]
QUICK = ["--epochs", "4", "--batches", "40", "--hidden", "8", "--json"]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "misstep.cli", "train", "asnet", str(FERRY / "domain.pddl"), *arguments]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("train") / "out"
    done = run(*PROBLEMS, "--out", str(out), *QUICK)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert set(told) >= {"epochs", "final", "models", "success_rate", "seconds"}
    assert Path(told["final"]).is_file()
    assert len(list(Path(told["models"]).glob("*-0001.asnet"))) == 6  # three rules, two seeds each
    return out


def test_the_model_is_a_policy(trained: Path) -> None:
    arguments = [
        "run",
        str(FERRY / "domain.pddl"),
        PROBLEMS[0],
        "--policy",
        f"asnet:{trained / 'final.asnet'}",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "misstep.cli", *arguments, "--unit-cost", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert json.loads(done.stdout)["outcome"] in ("solved", "loop"), done.stderr


def test_kill_and_go_on(trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    for _ in range(3):
        process = subprocess.Popen(command(*PROBLEMS, "--out", str(out), *QUICK), stdout=subprocess.DEVNULL)
        before = _epochs(out)
        while process.poll() is None and _epochs(out) <= before:
            time.sleep(0.02)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
    done = run(*PROBLEMS, "--out", str(out), *QUICK)
    assert done.returncode == 0, done.stderr
    assert (out / "final.asnet").read_bytes() == (trained / "final.asnet").read_bytes()


def _epochs(out: Path) -> int:
    log = out / "log.jsonl"
    return len(log.read_text().splitlines()) if log.is_file() else 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*PROBLEMS, "--out", "/proc/nowhere"], "cannot be written to"),
        (["/no/such.pddl", "--out", "{tmp}"], "no/such.pddl"),
        ([*PROBLEMS, "--out", "{tmp}", "--recipe", "secret"], "secret"),
        ([*PROBLEMS, "--out", "{tmp}", "--teacher", "astr"], "astar"),
        ([PROBLEMS[2], "--out", "{tmp}", "--max-states", "0", "--expansions", "1"], "no training task"),
        ([*PROBLEMS, "--out", "{tmp}", "--hidden", "100"], "hidden"),
    ],
)
def test_refusals(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = run(*(text.format(tmp=tmp_path) for text in arguments))
    assert done.returncode == 4
    assert words in done.stderr
    assert "Traceback" not in done.stderr
