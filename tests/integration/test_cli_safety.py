"""The safety commands, end to end: files in, run directory out, certificates checked without the core."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import misstep as misstep_package
from misstep.cli.app import run
from misstep.errors import InputError
from misstep.events import timeless
from misstep.record.record import Record
from misstep.record.verify import verify_all
from misstep.reference.digest import digest


def misstep(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command inside this process, which saves a second each; one test below starts it for real."""
    texts = [str(argument) for argument in arguments]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(texts)
    return subprocess.CompletedProcess(texts, code, out.getvalue(), err.getvalue())


def answer(result: subprocess.CompletedProcess[str]) -> Any:
    assert result.stdout.count("\n") == 1, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("line") / "line.jani"
    assert misstep("safety", "generate", "two_way_line", "--out", path).returncode == 0
    return path


def events_of(folder: Path) -> list[dict[str, Any]]:
    return [timeless(line) for line in Record.open(folder).store.lines("events.jsonl")]


def test_test_finds_bugs_that_verify(line: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = ("safety", "test", line, "--policy", "zoo:two_way_line", "--runs", 60, "--seed", 1)
    result = misstep(*arguments, "--out", out, "--json", "--shield")
    summary = answer(result)
    assert result.returncode == 1
    assert summary["bugs"] > 0
    assert summary["faults"] > 0
    assert summary["unknown"] == 0
    assert summary["runs"] == 60
    assert summary["states"] == summary["bugs"] + summary["cleared"]
    assert summary["shield"]["unsafe_with"] <= summary["shield"]["unsafe_without"]
    checked = verify_all(out)
    assert verify_all(out, jobs=2).as_json() == checked.as_json()
    assert checked.certificates == checked.valid == summary["states"]
    again = answer(misstep(*arguments, "--json", "--out", tmp_path / "again"))
    assert {k: again[k] for k in ("unsafe_runs", "bugs", "faults")} == {
        k: summary[k] for k in ("unsafe_runs", "bugs", "faults")
    }
    assert misstep(*arguments, "--out", out).returncode == 4  # never into somebody else's record


def test_all_doors_lead_to_the_same_test(line: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`test`, `safety test`, a TOML file, Python and the config of an old record: the same events."""
    options = ("--policy", "zoo:two_way_line", "--runs", 12, "--seed", 3)
    assert (
        misstep("test", line, *options, "--fuzzer", "greedy:depth=2", "--out", tmp_path / "a").returncode == 1
    )
    misstep("safety", "test", line, *options, "--fuzzer", "greedy", "--depth", 2, "--out", tmp_path / "b")
    toml = 'policy = "zoo:two_way_line"\nruns = 12\nseed = 3\nfuzzer = "greedy:depth=2"\n'
    (tmp_path / "c.toml").write_text(toml)
    misstep("test", line, "--config", tmp_path / "c.toml", "--out", tmp_path / "c")
    misstep("test", "--config", tmp_path / "a" / "config.toml", "--out", tmp_path / "d")
    misstep_package.test(
        line, "zoo:two_way_line", runs=12, seed=3, fuzzer="greedy:depth=2", out=tmp_path / "e"
    )
    first = events_of(tmp_path / "a")
    assert len(first) > 12
    for other in "bcde":
        assert events_of(tmp_path / other) == first, other
    resumed = misstep("test", line, "--config", tmp_path / "c.toml", "--out", tmp_path / "a", "--resume")
    assert resumed.returncode == 1, resumed.stderr
    assert events_of(tmp_path / "a") == first


def test_show_replay_and_shrink(line: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    misstep("test", line, "--policy", "zoo:two_way_line", "--runs", 30, "--out", out, "--quiet")
    report = answer(misstep("show", out, "--json"))
    bugs = [json.loads((out / "bugs" / f"{bug}.json").read_text()) for bug in report["bug_ids"]]
    far = max(bugs, key=lambda bug: bug["run"]["steps"])
    shown = misstep("show", out, far["id"])
    assert shown.returncode == 0, shown.stderr
    assert "can reach an unsafe state" in shown.stdout
    assert "Misstep: step" in shown.stdout and "This is unsafe:" in shown.stdout
    data = answer(misstep("show", out, far["id"], "--json"))
    assert len(data["run"]["states"]) == len(data["run"]["actions"]) + 1 == far["run"]["steps"] + 1
    again = answer(misstep("replay", out, "--json"))
    assert again["bug"] == again["replayed"] == len(bugs)
    shrunk = misstep("shrink", out, far["id"])
    assert shrunk.returncode == 0, shrunk.stderr
    assert "the last safe state of the run" in shrunk.stdout
    made = json.loads((out / "bugs" / f"{far['id']}-shrunk.json").read_text())
    assert made["fault"] is not None and made["run"]["steps"] <= far["run"]["steps"]
    assert verify_all(out).invalid == []
    careful = misstep("replay", out, far["id"], "--policy", "python:tests.integration.careful:brake")
    assert "fixed" in careful.stdout
    failing = misstep("replay", out, far["id"], "--policy", "python:tests.integration.careful:fail", "--json")
    assert answer(failing)["failed"] == 1


def test_tampered_records_are_rejected(line: Path, tmp_path: Path) -> None:
    """A new digest of an edited certificate does not help: the evidence does not prove it."""
    out = tmp_path / "run"
    misstep("safety", "test", line, "--policy", "zoo:two_way_line", "--runs", 20, "--out", out, "--quiet")
    files = sorted((out / "bugs").glob("*.json"))
    valid = verify_all(out).valid
    for file in files[:5]:
        certificate = json.loads(file.read_text())
        state = certificate["state"]
        changes: list[dict[str, Any]] = [
            {"state": {**state, "position": state["position"] + 1}},
            {"run": {"outcome": "unsafe", "steps": certificate["run"]["steps"] + 1}},
            {"unsafe": False},
            {"evidence": "0" * 64},
            {"verdict": "cleared"},
            {"fault": {"action": "fly", "outcome": state, "step": 0, "alternative": "fly"}},
        ]
        for change in changes:
            changed = {**certificate, **change}
            changed["sha256"] = digest(changed)
            file.write_text(json.dumps(changed))
            checked = verify_all(out)
            assert (checked.valid, len(checked.invalid)) == (valid - 1, 1), change
        file.write_text(json.dumps(certificate))
    lines = (out / "evidence.jsonl").read_text().splitlines()
    assert verify_all(out).valid == valid
    for cut in (lines[1:], lines[:1], [lines[0].replace("position", "speed"), *lines[1:]], ["{}"], []):
        (out / "evidence.jsonl").write_text("".join(f"{line}\n" for line in cut))
        assert verify_all(out).valid == 0
    result = misstep("verify", out)
    assert result.returncode == 1


def test_the_command_itself(line: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "misstep.cli"]
    arguments = [
        "safety",
        "test",
        line,
        "--policy",
        "zoo:two_way_line",
        "--runs",
        "40",
        "--out",
        tmp_path / "r",
    ]
    tested = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120)
    assert tested.returncode == 1
    assert "40 runs are unsafe" in tested.stdout
    verified = subprocess.run(
        [*command, "verify", tmp_path / "r"], capture_output=True, text=True, timeout=120
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_verify_needs_a_record(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no record"):
        verify_all(tmp_path)


@pytest.mark.parametrize(
    ("state", "verdict", "code"),
    [
        ("initial", "safe", 0),
        ('{"position": 6, "speed": 2}', "unsafe", 1),
        ('{"position": 4, "speed": 1}', "safe", 0),
    ],
)
def test_decide(line: Path, tmp_path: Path, state: str, verdict: str, code: int) -> None:
    for decider in ("level", "tarjan", "value-iteration", "lao", "lrtdp", "policy-iteration"):
        arguments = ("safety", "decide", line, "--state", state, "--decider", decider, "--json")
        result = misstep(*arguments, "--out", tmp_path / decider)
        assert (answer(result)["verdict"], result.returncode) == (verdict, code)
        checked = verify_all(tmp_path / decider)
        assert (checked.valid, checked.invalid) == (1, [])


def test_decide_with_radius(line: Path, tmp_path: Path) -> None:
    arguments = ("safety", "decide", line, "--policy", "zoo:two_way_line", "--json", "--state", "initial")
    for radius in ("0", "1", "2"):
        result = misstep(*arguments, "--radius", radius, "--out", tmp_path / radius)
        found = answer(result)
        least = found["minimal_radius"]
        assert (found["verdict"] == "safe") == (least is not None and least <= int(radius))
        assert verify_all(tmp_path / radius).valid == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--state", "start:x"), "start:K"),
        (("--state", "start:100000"), "start states"),
        (("--state", "{"), "--state:1:2"),
        (("--state", '{"velocity": 1}'), "no variable 'velocity'"),
        (("--state", '{"speed": 99}'), "out of bounds"),
        (("--radius", "1"), "--policy"),
        (("--radius", "-1"), "radius"),
        (("--decider", "guess"), "unknown decider"),
        (("--policy", "zoo:nobody"), "no bundled policy"),
        (("--constant", "N"), "NAME=VALUE"),
        (("length=-3",), "the command does not take 'length=-3'"),
        (("--unsafe", "nothing"), "neither the name of a property"),
    ],
)
def test_bad_input_is_said(line: Path, arguments: tuple[str, ...], message: str) -> None:
    result = misstep("safety", "decide", line, *arguments)
    assert result.returncode == 4
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("mode", ["label", "edge"])
def test_reading_options_reach_the_model(line: Path, tmp_path: Path, mode: str) -> None:
    out = tmp_path / "run"
    options = ["--outcome-mode", mode, "--fuzzer", "uniform", "--integers", "drop", "--keep-impossible"]
    arguments = ["safety", "test", line, "--policy", "zoo:two_way_line", "--runs", 50, "--quiet"]
    assert misstep(*arguments, *options, "--property", 0, "--shield", "--out", out).returncode == 1
    checked = verify_all(out)  # dropped outcomes are not known to the trusted checker, which says so
    assert checked.valid == 0 < len(checked.invalid)
    assert all("integers" in entry["reason"] for entry in checked.invalid)
    refused = misstep(*arguments, "--outcome-mode", "dice")
    assert (refused.returncode, "known are label, edge" in refused.stderr) == (4, True)


def test_missing_and_broken_files(tmp_path: Path) -> None:
    assert misstep("safety", "decide", tmp_path / "none.jani").returncode == 4
    (tmp_path / "a.jani").write_text("[" * 100_000)
    assert misstep("safety", "decide", tmp_path / "a.jani").returncode == 4
    (tmp_path / "b.jani").write_bytes(b"\xff\xfe\x00")
    assert misstep("safety", "decide", tmp_path / "b.jani").returncode == 4


def test_real_models_without_a_horizon_end_as_unknown(tmp_path: Path) -> None:
    model = tmp_path / "pendulum.jani"
    misstep("safety", "generate", "inverted_pendulum", "--parameter", "steps=null", "--out", model)
    result = misstep("safety", "decide", model, "--max-expansions", 20000, "--json")
    found = answer(result)
    assert (found["verdict"], found["limit"], result.returncode) == ("unknown", "expansions", 1)
    timed = answer(misstep("safety", "decide", model, "--seconds", 0.5, "--json"))
    assert (timed["verdict"], timed["limit"]) == ("unknown", "seconds")
    bounded = misstep("safety", "decide", model, "--horizon", 5, "--json", "--out", tmp_path / "h")
    assert answer(bounded)["verdict"] == "safe"
    assert verify_all(tmp_path / "h").valid == 1


def test_train_and_test(line: Path, tmp_path: Path) -> None:
    policy = tmp_path / "p.jani2nnet"
    trained = answer(misstep("train", "mlp", line, "--out", policy, "--steps", 1500, "--hidden", 8, "--json"))
    assert trained["steps"] == 1500
    result = misstep("safety", "test", line, "--policy", f"nnet:{policy}", "--runs", 10, "--json")
    assert answer(result)["runs"] == 10


def test_a_training_that_was_stopped_goes_on(line: Path, tmp_path: Path) -> None:
    arguments = ("train", "mlp", line, "--steps", 2500, "--hidden", 6, 4, "--seed", 2)
    assert misstep(*arguments, "--out", tmp_path / "whole.jani2nnet").returncode == 0
    command = [sys.executable, "-m", "misstep.cli", *map(str, arguments), "--out", tmp_path / "p.jani2nnet"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while process.poll() is None and not (tmp_path / "p.training.npz").exists():
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert misstep(*arguments, "--out", tmp_path / "p.jani2nnet", "--resume").returncode == 0
    assert (tmp_path / "p.nnet").read_bytes() == (tmp_path / "whole.nnet").read_bytes()


@pytest.mark.parametrize("options", [("--hidden", 0), ("--hidden", 8, -1), ("--steps", -5), ("--steps", 0)])
def test_bad_trainings_are_refused(line: Path, tmp_path: Path, options: tuple[object, ...]) -> None:
    result = misstep("train", "mlp", line, "--out", tmp_path / "p.jani2nnet", *options)
    assert result.returncode == 4, result.stderr
    assert not list(tmp_path.iterdir())


def test_a_policy_that_never_answers_tests_nothing(line: Path, tmp_path: Path) -> None:
    policy = "python:tests.integration.careful:fail"
    result = misstep("test", line, "--policy", policy, "--runs", 20, "--out", tmp_path / "r")
    assert result.returncode == 5
    assert "nothing learned" in result.stderr


def test_experiments(tmp_path: Path) -> None:
    arguments = ("--runs", 20, "--states", 5, "--paths", 2, "--seconds", 0.2)
    result = misstep("safety", "experiments", "two_way_line", "--out", tmp_path / "e", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    assert answer(result)["unsafe_runs"]["∞-greedy"] > 0
    names = {path.name for path in (tmp_path / "e").glob("*.svg")}
    assert {"figure2_seconds.svg", "figure2_unsafe.svg", "figure3_bugs.svg", "figure4_exact.svg"} <= names
