"""`misstep reproduce` as users run it, on a folder of data with one small domain."""

import os
import signal
import subprocess
import time
from importlib.resources import files
from pathlib import Path

import pytest

from misstep.campaign.database import DONE, NAME, Database
from misstep.experiments.reproduce.order import Order
from misstep.experiments.reproduce.safety import reproduce_safety
from misstep.generators.ours import Ferry, Gripper
from misstep.record.record import records_in
from misstep.record.verify import verify_all
from tests.integration.cli import command, misstep

SECONDS = "600"
"""Enough that no test meets its limit of half a minute: one small task has all of it."""


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


def test_killed_and_resumed_it_gives_the_same_table(tmp_path: Path, data: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    found = misstep(*reproduce("oracles", data, whole), "--json", timeout=900)
    assert found.code == 0
    assert found.json["out"] == str(whole)
    row = next(row for row in found.json["rows"] if row["row"] == "Gripper")
    assert row["ours"]["states"] > 0
    assert row["published"]["A*"] == 83.8
    assert (whole / "figure1-gripper.svg").read_text().startswith("<svg")
    assert len(records_in(whole)) == 12
    checked = verify_all(whole)
    assert checked.certificates
    assert not checked.invalid
    process = subprocess.Popen(
        [*command(), *reproduce("oracles", data, killed), "--jobs", "1", "--quiet"],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_for_jobs(killed, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    again = misstep(*reproduce("oracles", data, killed), timeout=900)
    assert again.code == 0
    assert "| Gripper | ours |" in again.out
    assert tables(killed) == tables(whole)
    refused = misstep("reproduce", "oracles", "--seconds", "5", "--data", data, "--out", whole)
    assert refused.code == 4
    assert "results of another plan" in refused.err


def wait_for_jobs(out: Path, process: "subprocess.Popen[bytes]") -> None:
    """Until the pool is made and an oracle was asked, and others were not."""
    while process.poll() is None:
        time.sleep(0.05)
        if (out / NAME).is_file() and (out / "records").is_dir():
            database = Database.read(out / NAME)
            done = database.counts()[DONE]
            database.close()
            if done > 1:
                return
    raise AssertionError("it ended before it could be killed")


@pytest.mark.parametrize(
    ("name", "row", "records"), [("biases", "ASNets Gripper", 8), ("framework", "Gripper", 11)]
)
def test_other_papers(name: str, row: str, records: int, tmp_path: Path, data: Path) -> None:
    found = misstep(
        "reproduce", name, "--seconds", "20", "--data", data, "--out", tmp_path, "--json", timeout=900
    )
    assert found.code == 0, found.err
    values = next(each for each in found.json["rows"] if each["row"] == row)["ours"]
    assert values["states"] > 0
    assert len(records_in(tmp_path)) == records
    assert not verify_all(tmp_path).invalid


def test_safety_experiments_and_tests_of_their_benchmarks(tmp_path: Path) -> None:
    order = Order(name="safety", seconds=5, out=tmp_path, data=None, jobs=1)
    outcome = reproduce_safety(order, ["two_way_line"])
    assert {row["row"] for row in outcome.rows} == {"two_way_line", "all"}
    assert next(row for row in outcome.rows if row["row"] == "all")["published"]["∞-tarjan"] == 86.0
    assert (tmp_path / "figure4_exact.svg").is_file()
    [record] = records_in(tmp_path)
    assert verify_all(record).certificates
    assert not verify_all(record).invalid


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
