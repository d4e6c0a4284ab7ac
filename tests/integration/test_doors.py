"""One engine, many doors: the same configuration through each of them gives the same events."""

import json
from pathlib import Path
from typing import Any

import pytest

import misstep as library
from misstep.config import Config
from misstep.events import timeless
from misstep.record.record import EVENTS, Record
from misstep.session import Session
from tests.integration.cli import misstep

TASKS = Path(__file__).parents[1] / "tasks"
FERRY = TASKS / "ferry" / "domain.pddl", TASKS / "ferry" / "p03.pddl"
OPTIONS = {"policy": "heuristic:hadd", "pool": 20, "seed": 3, "bias": "detour"}
_FERRY_TABLE = {"domain": str(FERRY[0]), "problem": str(FERRY[1]), **OPTIONS}
_MODEL_OPTIONS = {"policy": "zoo:two_way_line", "runs": 30, "seed": 3}


def events_of(record: Record) -> list[str]:
    """The log as text, byte for byte but for the times."""
    return [json.dumps(timeless(line)) for line in record.store.lines(EVENTS)]


def in_library(table: dict[str, Any]) -> list[str]:
    session = Session(Config.from_table(table, where="test"))
    for _ in session.events():
        pass
    return events_of(session.record)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "line.jani"
    assert misstep("safety", "generate", "two_way_line", "--out", path).code == 0
    return path


@pytest.fixture(scope="module")
def expected() -> list[str]:
    return in_library(_FERRY_TABLE)


def test_there_is_something_to_compare(expected: list[str]) -> None:
    kinds = [json.loads(line)["event"] for line in expected]
    assert kinds[0] == "started" and kinds[-1] == "finished" and kinds.count("judged") >= 20


def test_command_line(expected: list[str], tmp_path: Path) -> None:
    options = [word for name, value in OPTIONS.items() for word in (f"--{name}", str(value))]
    done = misstep("test", *FERRY, *options, "--out", tmp_path / "record", "--json")
    assert done.code == 1, done.err
    assert events_of(Record.open(tmp_path / "record")) == expected


def test_python(expected: list[str], tmp_path: Path) -> None:
    seen: list[object] = []
    report = library.test(FERRY, on_event=seen.append, **OPTIONS)
    assert events_of(report.record) == expected
    report.save(tmp_path / "saved")
    assert events_of(Record.open(tmp_path / "saved")) == expected
    assert [bug.id for bug in library.Report.read(tmp_path / "saved").bugs] == [b.id for b in report.bugs]


def test_a_task_and_texts(expected: list[str]) -> None:
    """The name of what is tested is all that may differ."""

    def unnamed(lines: list[str]) -> list[str]:
        return [json.dumps({**json.loads(line), "task": None}) for line in lines]

    texts = [path.read_text() for path in FERRY]
    for task in (library.load(*FERRY), texts):
        assert unnamed(events_of(library.test(task, **OPTIONS).record)) == unnamed(expected)


def test_toml(expected: list[str], tmp_path: Path) -> None:
    file = tmp_path / "misstep.toml"
    file.write_text(Config.from_table(_FERRY_TABLE, where="test").to_toml())
    assert Config.read(file) == Config.from_table(_FERRY_TABLE, where="test")
    done = misstep("test", "--config", file, "--out", tmp_path / "record", "--quiet")
    assert done.code == 1, done.err
    assert events_of(Record.open(tmp_path / "record")) == expected


def test_the_config_of_a_record(expected: list[str], tmp_path: Path) -> None:
    library.test(FERRY, out=tmp_path / "first", **OPTIONS)
    again = Session(Record.open(tmp_path / "first").config())
    for _ in again.events():
        pass
    assert events_of(again.record) == expected


@pytest.mark.parametrize("stopped_after", [1, 2, 7, 12, 21])
def test_a_resumed_record(expected: list[str], tmp_path: Path, stopped_after: int) -> None:
    config = Config.from_table(_FERRY_TABLE, where="test")
    record = Record.create(tmp_path / "record")
    events = Session(config, record=record).events()
    for _ in range(stopped_after):
        next(events)
    del events  # as if the process had been killed: nobody ends anything
    record.store.close()  # its lock would have gone with the process
    resumed = Session(config, record=Record.open(tmp_path / "record"), resume=True)
    for _ in resumed.events():
        pass
    assert events_of(Record.open(tmp_path / "record")) == expected
    assert misstep("verify", tmp_path / "record").code == 0


def test_a_record_that_is_complete_is_resumed_to_itself(expected: list[str], tmp_path: Path) -> None:
    library.test(FERRY, out=tmp_path / "record", **OPTIONS)
    before = (tmp_path / "record" / EVENTS).read_bytes()
    done = misstep("test", *FERRY, "--policy", "heuristic:hadd", "--pool", "20", "--seed", "3", "--bias",
                   "detour", "--out", tmp_path / "record", "--resume", "--json")  # fmt: skip
    assert done.code == 1, done.err
    lines = [timeless(json.loads(line)) for line in before.splitlines()]
    assert [json.dumps(line) for line in lines] == events_of(Record.open(tmp_path / "record")) == expected


def test_another_policy_cannot_resume(tmp_path: Path) -> None:
    library.test(FERRY, out=tmp_path / "record", **OPTIONS)
    options = {**OPTIONS, "policy": "heuristic:ff"}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    done = misstep("test", *FERRY, *words, "--out", tmp_path / "record", "--resume")
    assert done.code == 4
    assert "start a new record" in done.err


def test_a_model_through_every_door(model: Path, tmp_path: Path) -> None:
    expected = in_library({"model": str(model), **_MODEL_OPTIONS})
    kinds = [json.loads(line)["event"] for line in expected]
    assert kinds.count("run") == 30 and kinds.count("judged") > 0
    options = [word for name, value in _MODEL_OPTIONS.items() for word in (f"--{name}", str(value))]
    for number, words in enumerate((["test"], ["safety", "test"])):
        out = tmp_path / str(number)
        done = misstep(*words, model, *options, "--out", out, "--json")
        assert done.code == 1, done.err
        assert events_of(Record.open(out)) == expected
    assert events_of(library.test(model, **_MODEL_OPTIONS).record) == expected
    record = Record.create(tmp_path / "stopped")
    config = Record.open(tmp_path / "0").config()
    events = Session(config, record=record).events()
    for _ in range(12):
        next(events)
    del events
    record.store.close()
    for _ in Session(config, record=Record.open(tmp_path / "stopped"), resume=True).events():
        pass
    assert events_of(Record.open(tmp_path / "stopped")) == expected
    assert misstep("verify", tmp_path / "stopped").code == 0
