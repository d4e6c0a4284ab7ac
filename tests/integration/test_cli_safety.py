"""The safety commands, end to end: files in, run directory out, certificates checked without the core."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from misstep.cli.app import run
from misstep.errors import InputError
from misstep.reference.digest import digest
from misstep.safety.verify import verify_run


def misstep(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command inside this process, which saves a second each; one test below starts it for real."""
    texts = [str(argument) for argument in arguments]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(texts)
    return subprocess.CompletedProcess(texts, code, out.getvalue(), err.getvalue())


def answer(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert result.stdout.count("\n") == 1, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("line") / "line.jani"
    assert misstep("safety", "generate", "two_way_line", "--out", path).returncode == 0
    return path


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
    assert summary["shield"]["unsafe_with"] <= summary["shield"]["unsafe_without"]
    checked = verify_run(out)
    assert checked["certificates"] == checked["valid"] > 0
    again = answer(misstep(*arguments, "--json"))
    assert {k: again[k] for k in ("unsafe_runs", "bugs", "faults")} == {
        k: summary[k] for k in ("unsafe_runs", "bugs", "faults")
    }
    events = [json.loads(text) for text in (out / "events.jsonl").read_text().splitlines()]
    assert len(events) == 61
    assert misstep(*arguments, "--out", out).returncode == 4  # never into somebody else's run


def tampered(certificate: dict[str, Any]) -> list[dict[str, Any]]:
    """Each change makes the proof wrong."""

    def changed(**parts: Any) -> dict[str, Any]:
        new = {**certificate, **parts}
        return {**new, "sha256": digest(new)}

    states = certificate["states"]
    moved = [{**s, "values": {**s["values"], "position": s["values"]["position"] + 1}} for s in states]
    result = [
        changed(states=moved),
        changed(strategy=certificate["strategy"][1:]),
        changed(trace=certificate["trace"][:-1]),
        changed(trace=certificate["trace"][::-1]),
        changed(unsafe=True),
        changed(unsafe=False),
        changed(states=states[:-1]),
        changed(strategy=[[s, v, "fly"] for s, v, _ in certificate["strategy"]]),
        changed(safe=[*certificate["safe"], certificate["trace"][-1]]),
        {},
    ]
    if certificate["faults"]:
        fault = certificate["faults"][0]
        result += [
            changed(
                refutation=certificate["refutation"][:-1] if not _is_unsafe_leaf(certificate, fault) else None
            ),
            changed(faults=[{**fault, "outcome": fault["state"]}]),
            changed(faults=[{**fault, "alternative": "fly"}]),
        ]
    return result


def _is_unsafe_leaf(certificate: dict[str, Any], fault: dict[str, Any]) -> bool:
    return fault["outcome"] not in [line[0] for line in certificate["refutation"]]


def test_tampered_certificates_are_rejected(line: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    misstep("safety", "test", line, "--policy", "zoo:two_way_line", "--runs", 40, "--out", out, "--quiet")
    files = sorted((out / "bugs").glob("*.json"))
    assert files
    certificates = [json.loads(file.read_text()) for file in files]
    for file in files:
        file.unlink()
    count = 0
    for certificate in certificates[:10]:
        for change in tampered(certificate):
            count += 1
            (out / "bugs" / f"{count:05d}.json").write_text(json.dumps(change))
    checked = verify_run(out)
    assert checked["valid"] == 0, "a tampered certificate was accepted"
    assert checked["certificates"] == count


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


def test_verify_needs_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"model\.jani"):
        verify_run(tmp_path)


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
        assert verify_run(tmp_path / decider) == {"certificates": 1, "valid": 1, "invalid": []}


def test_decide_with_radius(line: Path, tmp_path: Path) -> None:
    arguments = ("safety", "decide", line, "--policy", "zoo:two_way_line", "--json", "--state", "initial")
    for radius in ("0", "1", "2"):
        result = misstep(*arguments, "--radius", radius, "--out", tmp_path / radius)
        found = answer(result)
        least = found["minimal_radius"]
        assert (found["verdict"] == "safe") == (least is not None and least <= int(radius))
        assert verify_run(tmp_path / radius)["valid"] == 1


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
    checked = verify_run(out)  # dropped outcomes are not known to the trusted checker, which says so
    assert checked["valid"] == 0
    assert all("semantics with integers" in entry["reason"] for entry in checked["invalid"])
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
    assert verify_run(tmp_path / "h")["valid"] == 1


def test_train_and_test(line: Path, tmp_path: Path) -> None:
    policy = tmp_path / "p.jani2nnet"
    trained = answer(misstep("train", "mlp", line, "--out", policy, "--steps", 1500, "--hidden", 8, "--json"))
    assert trained["steps"] == 1500
    result = misstep("safety", "test", line, "--policy", f"nnet:{policy}", "--runs", 10, "--json")
    assert answer(result)["runs"] == 10


def test_experiments(tmp_path: Path) -> None:
    arguments = ("--runs", 20, "--states", 5, "--paths", 2, "--seconds", 0.2)
    result = misstep("safety", "experiments", "two_way_line", "--out", tmp_path / "e", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    assert answer(result)["unsafe_runs"]["∞-greedy"] > 0
    names = {path.name for path in (tmp_path / "e").glob("*.svg")}
    assert {"figure2_seconds.svg", "figure2_unsafe.svg", "figure3_bugs.svg", "figure4_exact.svg"} <= names
