"""`misstep reproduce` as users run it, on a folder of data with one small domain."""

import os
import random
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import pytest

from misstep.budget import Budget
from misstep.experiments.reproduce.oracles import reproduce_oracles
from misstep.experiments.reproduce.order import Order
from misstep.experiments.reproduce.safety import reproduce_safety
from misstep.generators.ours import Ferry, Gripper
from misstep.record.record import records_in
from misstep.record.verify import verify_all
from tests.integration.cli import command, misstep

pytestmark = pytest.mark.timeout(600)  # each has many runs
SECONDS = "600"
"""Enough that no test meets its limit of a minute: one small task has all of it."""
KILLS = 4


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data as the papers' are laid out: an ASNet for gripper, with one task."""
    folder = tmp_path_factory.mktemp("data") / "asnets" / "gripper"
    (folder / "problems").mkdir(parents=True)
    zoo = files("misstep") / "bundled" / "zoo" / "gripper.asnet.safetensors"
    (folder / "trained.policy").write_bytes(zoo.read_bytes())
    (folder / "domain.pddl").write_text(Gripper().domain)
    (folder / "problems" / "one.pddl").write_text(Gripper().problem(4, 1))
    return folder.parents[1]


def reproduce(name: str, data: Path, out: Path) -> list[str]:
    return ["reproduce", name, "--seconds", SECONDS, "--data", str(data), "--out", str(out)]


def tables(out: Path) -> tuple[str, str]:
    return (out / "table.md").read_text(), (out / "table.csv").read_text()


@pytest.mark.parametrize(
    ("name", "row", "records"),
    [("oracles", "Gripper", 12), ("biases", "ASNets Gripper", 8), ("framework", "Gripper", 11)],
)
def test_killed_and_resumed_it_gives_the_same_table(
    name: str, row: str, records: int, tmp_path: Path, data: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    found = misstep(*reproduce(name, data, whole), "--json", timeout=900)
    assert found.code == 0, found.err
    assert found.json["out"] == str(whole)
    assert found.json["limits_hit"] == []
    first = next(each for each in found.json["rows"] if each["row"] == row)
    assert first["ours"]["states"] > 0
    assert ",1\n" not in (whole / "table.csv").read_text()  # `cut_off`: nothing depends on the clock
    assert len(records_in(whole)) == records
    assert not verify_all(whole).invalid
    options = [*reproduce(name, data, killed), "--jobs", "1", "--quiet"]
    assert kill_often([*command(), *options], killed, random.Random(len(name))) >= 2
    again = misstep(*reproduce(name, data, killed), timeout=900)
    assert again.code == 0
    assert f"| {row} | ours |" in again.out
    assert tables(killed) == tables(whole)
    assert not verify_all(killed).invalid


def kill_often(line: list[str], out: Path, moments: random.Random) -> int:
    """Kills the command and all its processes whenever it has written some more files; how often before it ended."""
    for kills in range(KILLS):
        goal = written(out) + moments.randint(1, 12)
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and written(out) < goal:
            time.sleep(0.01)
        if process.poll() is not None:
            return kills
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return KILLS


def written(out: Path) -> int:
    return sum(len(files) for *_, files in os.walk(out))


def test_the_whole_keeps_to_its_time_and_goes_on(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can do it in a second: there is a table of what was done, and later the one of a whole run."""
    options = ["reproduce", "oracles", "--seconds", "1", "--data", str(data), "--out", str(tmp_path)]
    found = misstep(*options, "--json", timeout=900)
    assert found.code == 0, found.err
    assert found.json["limits_hit"] == ["seconds"]
    assert "**unfinished**" in (tmp_path / "table.md").read_text()
    assert "| Gripper | not reached |" in (tmp_path / "table.md").read_text()
    monkeypatch.setattr(Order, "budget", lambda order: Budget())  # as if somebody had waited
    outcome = reproduce_oracles(Order(name="oracles", seconds=1.0, out=tmp_path, data=data, jobs=1))
    assert outcome.is_whole
    assert "unfinished" not in (tmp_path / "table.md").read_text()
    assert "| Gripper | ours |" in (tmp_path / "table.md").read_text()


def test_what_is_done_is_not_done_with_another_plan(tmp_path: Path, data: Path) -> None:
    options = ["reproduce", "oracles", "--data", str(data), "--out", str(tmp_path), "--quiet"]
    assert misstep(*options, "--seconds", "1", timeout=900).code == 0
    refused = misstep(*options, "--seconds", "5")
    assert refused.code == 4
    assert "results of another plan" in refused.err


def test_safety_experiments_and_tests_of_their_benchmarks(tmp_path: Path) -> None:
    order = Order(name="safety", seconds=30, out=tmp_path, data=None, jobs=1)
    outcome = reproduce_safety(order, ["two_way_line"])
    assert {row["row"] for row in outcome.rows} == {"two_way_line", "all"}
    assert next(row for row in outcome.rows if row["row"] == "all")["published"]["∞-tarjan"] == 86.0
    assert (tmp_path / "figure4_exact.svg").is_file()
    [record] = records_in(tmp_path)
    assert verify_all(record).certificates
    assert not verify_all(record).invalid


def test_safety_killed_and_resumed_gives_the_same_table(tmp_path: Path) -> None:
    """One benchmark of the many that the command has, so that there is time to kill it more than once."""
    whole, killed = (
        Order(name="safety", seconds=300, out=tmp_path / name, data=None, jobs=1)
        for name in ("whole", "killed")
    )
    outcome = reproduce_safety(whole, ["two_way_line"])
    assert outcome.is_whole
    program = (
        "import sys; from pathlib import Path; from misstep.experiments.reproduce.order import Order; "
        "from misstep.experiments.reproduce.safety import reproduce_safety; "
        "order = Order(name='safety', seconds=300, out=Path(sys.argv[1]), data=None, jobs=1); "
        "reproduce_safety(order, ['two_way_line'])"
    )
    assert kill_often([sys.executable, "-c", program, str(killed.out)], killed.out, random.Random(4)) >= 1
    assert reproduce_safety(killed, ["two_way_line"]).rows == outcome.rows
    assert tables(killed.out) == tables(whole.out)
    assert not verify_all(killed.out).invalid


def test_training_in_four_ways(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "ipc23-learning" / "ferry"
    for part, sizes in (("training", (1, 1, 1, 1)), ("testing", (1, 2))):
        (folder / part / "easy").mkdir(parents=True)
        for number, size in enumerate(sizes):
            (folder / part / "easy" / f"p{number}.pddl").write_text(Ferry().problem(size, number))
    (folder / "domain.pddl").write_text(Ferry().domain)
    out = tmp_path / "out"
    options = [
        "reproduce",
        "training",
        "--seconds",
        "20",
        "--data",
        tmp_path / "data",
        "--out",
        out,
        "--jobs",
        "1",
    ]
    found = misstep(*options, "--json", timeout=900)
    assert found.code == 0, found.err
    rows = {row["table"].partition(":")[0]: row for row in found.json["rows"] if row["row"] == "Ferry"}
    assert rows["Online"]["ours"].keys() == {"start", "line", "line-pi-test", "tree", "tree-pi-test"}
    assert all(0 <= solved <= 2 for solved in rows["Online"]["ours"].values())
    assert rows["Online"]["published"]["line"] == 63.0
    models = {path: path.stat().st_mtime_ns for path in out.rglob("*.asnet")}
    before = tables(out)
    assert misstep(*options, timeout=900).code == 0
    assert tables(out) == before
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.asnet")} == models


def test_bad_data_is_named(tmp_path: Path) -> None:
    nowhere = misstep("reproduce", "oracles", "--data", tmp_path / "nowhere", "--out", tmp_path / "out")
    assert nowhere.code == 4
    assert "nowhere: no such directory" in nowhere.err
    empty = misstep("reproduce", "oracles", "--data", tmp_path, "--out", tmp_path / "out")
    assert empty.code == 4
    assert "none of the paper's domains is there" in empty.err
