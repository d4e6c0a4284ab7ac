"""Run directories keep what they were given."""

from pathlib import Path

import pytest

from misstep.errors import InputError
from misstep.record.store import EVENTS, RunDirectory, free_directory, read_log, read_object


def make(path: Path) -> RunDirectory:
    return RunDirectory(
        path, config={"pool": 3, "out": None}, environment={"seed": 1}, files={"task.sas": "x"}
    )


def test_events_are_there_at_once(tmp_path: Path) -> None:
    with make(tmp_path / "run") as store:
        store.event({"event": "one"})
        assert read_log(tmp_path / "run" / EVENTS) == [{"event": "one"}]
        store.certificate("7", {"id": "7"})
        assert read_object(tmp_path / "run" / "bugs" / "7.json") == {"id": "7"}
    assert (tmp_path / "run" / "config.toml").read_text() == "pool = 3\n"


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    with make(tmp_path / "run") as store:
        store.event({})
    with pytest.raises(InputError, match="there is a run already"):
        make(tmp_path / "run")


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('{"a": 1}\n{"b": ')
    assert read_log(tmp_path / "log") == [{"a": 1}]
    (tmp_path / "log").write_text('{"a": 1}\nnonsense\n')
    with pytest.raises(InputError, match=r"log:2: this line is no JSON object"):
        read_log(tmp_path / "log")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    with make(tmp_path / "run") as store:
        (tmp_path / "run" / EVENTS).symlink_to("/dev/full")
        with pytest.raises(InputError, match="No space left"):
            store.event({"event": "lost"})


def test_free_directories_are_numbered(tmp_path: Path) -> None:
    first = free_directory(tmp_path / "run")
    assert first.name == "run-001"
    first.mkdir()
    assert free_directory(tmp_path / "run").name == "run-002"
