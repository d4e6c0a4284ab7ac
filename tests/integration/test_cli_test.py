"""`misstep test`, `verify`, `replay` and `shrink` from outside."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from misstep.events import timeless
from tests.integration.cli import command, misstep

Courier = tuple[Path, Path]
TASKS = Path(__file__).parents[1] / "tasks"
FERRY = TASKS / "ferry" / "domain.pddl", TASKS / "ferry" / "p03.pddl"


@pytest.fixture(scope="module")
def ferry_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    out = tmp_path_factory.mktemp("runs") / "ferry"
    done = misstep("test", *FERRY, "--policy", "heuristic:hadd", "--pool", "30", "--out", out, "--json")
    assert done.code in (0, 1), done.err
    return out, done.json


def test_the_result(ferry_run: tuple[Path, dict[str, Any]]) -> None:
    out, result = ferry_run
    assert result["pool"] == 30
    bugs = result["bugs"]
    assert isinstance(bugs, dict)
    total = bugs["qualitative"] + bugs["quantitative"] + result["cleared"] + result["unknown"]
    assert total == result["tested"] == 30
    assert set(result["seconds"]) == {"translate", "fuzz", "policy", "oracle", "total", "cpu"}
    assert {"config.toml", "env.json", "events.jsonl", "pool.jsonl", "bugs"} <= {
        p.name for p in out.iterdir()
    }
    assert len(list((out / "bugs").glob("*.json"))) == bugs["qualitative"] + bugs["quantitative"] > 0
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events].count("finished") == 1
    assert len(events) == 32 and events[0]["event"] == "started"


def test_verify_and_replay(ferry_run: tuple[Path, dict[str, object]]) -> None:
    out, result = ferry_run
    checked = misstep("verify", out, "--json")
    assert checked.code == 0
    assert checked.json["invalid"] == []
    assert checked.json["certificates"] == checked.json["valid"] == 30 - int(str(result["unknown"]))
    again = misstep("replay", out, "--json")
    assert again.code == 1
    assert again.json["fixed"] == again.json["changed"] == 0
    one = next((out / "bugs").glob("*.json")).stem
    assert misstep("replay", out, one, "--json").json["replayed"] == 1
    better = misstep("replay", out, one, "--policy", "heuristic:ff", "--json")
    assert better.json["bugs"][0]["status"] in ("fixed", "changed", "bug")
    assert misstep("replay", out, "nonsense").code == 4


def test_verify_rejects_what_was_changed(ferry_run: tuple[Path, dict[str, object]], tmp_path: Path) -> None:
    out = tmp_path / "copy"
    shutil.copytree(ferry_run[0], out)
    victim = next((out / "bugs").glob("*.json"))
    certificate = json.loads(victim.read_text())
    certificate["witness"] = certificate["witness"][1:]
    victim.write_text(json.dumps(certificate))
    done = misstep("verify", out, "--json")
    assert done.code == 1
    assert [entry["certificate"] for entry in done.json["invalid"]] == [victim.stem]
    victim.write_text("garbage")
    assert misstep("verify", out, "--json").code == 1
    (out / "task.sas").write_text("garbage")
    assert misstep("verify", out).code == 4


def test_shrink(ferry_run: tuple[Path, dict[str, object]]) -> None:
    out, _ = ferry_run
    bug = max((out / "bugs").glob("*.json"), key=lambda path: path.stat().st_size).stem
    done = misstep("shrink", out, bug, "--json")
    assert done.code == 0
    assert done.json["after"]["run"] <= done.json["before"]["run"]
    assert misstep("verify", out, "--json").json["invalid"] == []
    (out / "bugs" / f"{bug}-shrunk.json").unlink()


def test_same_seed_same_verdicts(tmp_path: Path) -> None:
    lines = []
    for name in ("a", "b"):
        misstep(
            "test",
            *FERRY,
            "--policy",
            "heuristic:hadd",
            "--pool",
            "15",
            "--seed",
            "3",
            "--out",
            tmp_path / name,
        )
        events = (tmp_path / name / "events.jsonl").read_text().splitlines()
        lines.append([timeless(json.loads(line)) for line in events])
    assert lines[0] == lines[1]


def test_interleaved_is_the_same(tmp_path: Path) -> None:
    counts = []
    for option in ((), ("--interleave",)):
        out = tmp_path / f"run{len(option)}"
        result = misstep(
            "test", *FERRY, "--policy", "heuristic:hadd", "--pool", "15", *option, "--out", out, "--json"
        ).json
        counts.append((result["bugs"], result["pool"]))
    assert counts[0] == counts[1]


def test_several_problems(tmp_path: Path) -> None:
    folder = TASKS / "ferry"
    done = misstep(
        "test", folder / "domain.pddl", folder / "p01.pddl", folder / "p02.pddl",
        "--policy", "heuristic:hmax", "--pool", "5", "--out", tmp_path / "run", "--json",
    )  # fmt: skip
    assert [task["task"] for task in done.json["tasks"]] == ["p01.pddl", "p02.pddl"]
    assert misstep("verify", tmp_path / "run").code == 0


def test_pool_file(tmp_path: Path) -> None:
    pool = tmp_path / "pool.jsonl"
    misstep("fuzz", *FERRY, "--policy", "heuristic:hadd", "--pool", "8", "--out", pool)
    done = misstep(
        "test", *FERRY, "--policy", "heuristic:hadd", "--pool-file", pool, "--out", tmp_path / "run", "--json"
    )
    assert done.json["pool"] == 8
    ours = [json.loads(line)["facts"] for line in pool.read_text().splitlines()]
    theirs = [
        json.loads(line)["facts"] for line in (tmp_path / "run" / "pool.jsonl").read_text().splitlines()
    ]
    assert ours == theirs


def test_wrong_input(courier: Courier, tmp_path: Path) -> None:
    assert "did you mean" in misstep("test", *courier, "--policy", "heuristic:ff", "--oracle", "lookahed").err
    done = misstep("test", *courier, "--policy", "heuristic:ff", "--oracle", "landmarks++perfect")
    assert done.code == 4 and "`+`" in done.err
    assert misstep("test", *courier, "--policy", "heuristic:ff", "--objective", "quality").code == 4
    assert misstep("verify", tmp_path).code == 4
    assert misstep("replay", tmp_path).code == 4
    (tmp_path / "events.jsonl").write_text("")
    assert "before it had begun" in misstep("replay", tmp_path).err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=lambda s: s.name)
def test_interrupted(tmp_path: Path, how: signal.Signals) -> None:
    """What was reported is on disk and verifies, however the test ended."""
    out = tmp_path / "run"
    process = subprocess.Popen(
        [*command(), "test", *map(str, FERRY), "--policy", "heuristic:hadd", "--pool", "100000000",
         "--interleave", "--out", str(out)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    bugs = out / "bugs"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not bugs.exists() or len(list(bugs.glob("*.json"))) < 5):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    if how is signal.SIGINT:
        assert process.returncode == 2
        assert '"finished"' in (out / "events.jsonl").read_text()
    reported = {line.split()[1].rstrip(":") for line in errors.splitlines() if line.startswith("bug ")}
    assert reported <= {path.stem for path in bugs.glob("*.json")}
    assert misstep("verify", out).code == 0


def test_the_command_is_quiet_where_asked(tmp_path: Path) -> None:
    done = misstep(
        "test", *FERRY, "--policy", "heuristic:ff", "--pool", "5", "--quiet", "--out", tmp_path / "r"
    )
    assert done.out.startswith("5 states tested") and done.err == ""
