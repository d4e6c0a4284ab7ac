"""`misstep diff` on records of real tests."""

import json
import shutil
from pathlib import Path

import pytest

from tests.integration.cli import misstep


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.conftest import COURIER

    here = tmp_path_factory.mktemp("diff")
    assert (
        misstep("test", *COURIER, "--policy", "zoo:courier", "--pool", "30", "--out", here / "old").code == 1
    )
    options = ("--pool-file", here / "old" / "pool.jsonl", "--out", here / "new")
    assert misstep("test", *COURIER, "--policy", "heuristic:hadd", *options).code == 1
    return here


def bugs(record: Path) -> set[frozenset[str]]:
    return {frozenset(json.loads(file.read_text())["state"]) for file in (record / "bugs").glob("*.json")}


def test_counts_are_those_of_the_certificates(records: Path) -> None:
    done = misstep("diff", records / "old", records / "new", "--json")
    found = json.loads(done.out)
    old, new = bugs(records / "old"), bugs(records / "new")
    assert (found["new"], found["fixed"]) == (len(new - old), len(old - new))
    assert found["worse"] + found["better"] <= len(old & new)
    assert sum(found[kind] for kind in ("new", "fixed", "worse", "better", "same", "undecided")) == 30
    assert done.code == (1 if found["new"] + found["worse"] else 0)
    assert 0 < found["bug_rate"]["old"][0] < len(old) / 30 < found["bug_rate"]["old"][1] < 1
    back = json.loads(misstep("diff", records / "new", records / "old", "--json").out)
    assert (back["new"], back["worse"]) == (found["fixed"], found["better"])


def test_a_record_does_not_differ_from_itself(records: Path) -> None:
    done = misstep("diff", records / "old", records / "old")
    assert done.code == 0
    assert "same      30: nothing changed that matters" in done.out


def test_directories_of_records(records: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(records / "old", tmp_path / "a" / name)
        shutil.copytree(records / "new", tmp_path / "b" / name)
    shutil.copytree(records / "old", tmp_path / "a" / "three")
    twice = json.loads(misstep("diff", tmp_path / "a", tmp_path / "b", "--json").out)
    once = json.loads(misstep("diff", records / "old", records / "new", "--json").out)
    assert twice["states"] == 60 and twice["new"] == 2 * once["new"]


def test_nothing_in_common(records: Path, tmp_path: Path) -> None:
    from tests.conftest import COURIER

    lines = (records / "old" / "pool.jsonl").read_text().splitlines()
    for name, chosen in (("some", lines[:3]), ("others", lines[3:6])):
        pool = tmp_path / f"{name}.jsonl"
        pool.write_text("".join(line + "\n" for line in chosen))
        misstep("test", *COURIER, "--policy", "zoo:courier", "--pool-file", pool, "--out", tmp_path / name)
    assert misstep("diff", tmp_path / "some", tmp_path / "others").code == 5


def test_what_is_no_record(records: Path, tmp_path: Path) -> None:
    done = misstep("diff", records / "old", tmp_path)
    assert done.code == 4 and "no record" in done.err
