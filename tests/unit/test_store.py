"""Stores and records keep what they were given."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from misstep.bound import NEVER, Bound
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Finished, Judged, Started
from misstep.judge import Verdict
from misstep.record.record import BUGS, CLEARED, ENVIRONMENT, EVENTS, Record, records_in
from misstep.record.store import (
    DirectoryStore,
    Disk,
    MemoryStore,
    Store,
    free_directory,
    read_lines,
    write_whole,
)


def directory(path: Path) -> Store:
    return DirectoryStore.create(path / "store", marker=EVENTS)


def memory(_: Path) -> Store:
    return MemoryStore()


both = pytest.mark.parametrize("make", [directory, memory])


@both
def test_lines_are_there_at_once(make: Callable[[Path], Store], tmp_path: Path) -> None:
    store = make(tmp_path)
    store.append("log", {"a": 1})
    assert store.lines("log") == [{"a": 1}]
    store.append("log", {"b": None})
    store.cut("log", 1)
    assert store.lines("log") == [{"a": 1}]
    store.append("log", {"c": "ü"})
    assert store.lines("log") == [{"a": 1}, {"c": "ü"}]
    assert store.lines("no such log") == []
    store.close()


@both
def test_texts_by_name(make: Callable[[Path], Store], tmp_path: Path) -> None:
    store = make(tmp_path)
    assert store.read("bugs/7.json") is None and store.names("bugs") == []
    for number in (10, 7, 9):
        store.write(f"bugs/{number}.json", f"{number}")
    assert store.names("bugs") == ["7.json", "9.json", "10.json"]
    store.write("bugs/7.json", "again")
    assert store.read("bugs/7.json") == "again"


def test_memory_becomes_a_directory(tmp_path: Path) -> None:
    store = MemoryStore()
    store.append(EVENTS, {"event": "x"})
    store.write("bugs/1.json", "{}")
    target = DirectoryStore.create(tmp_path / "copy", marker=EVENTS)
    store.copy_to(target)
    assert target.lines(EVENTS) == store.lines(EVENTS) and target.names("bugs") == ["1.json"]


def test_a_record_is_never_overwritten(tmp_path: Path) -> None:
    Record.create(tmp_path / "record").close()
    with pytest.raises(InputError, match="there is a record already"):
        Record.create(tmp_path / "record")


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('{"a": 1}\n{"b": ')
    assert read_lines(tmp_path / "log") == [{"a": 1}]
    (tmp_path / "log").write_text('{"a": 1}\nnonsense\n')
    with pytest.raises(InputError, match=r"log:2: this is no JSON object"):
        read_lines(tmp_path / "log")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    (tmp_path / "log").symlink_to("/dev/full")
    with pytest.raises(InputError, match="No space left"):
        store.append("log", {"event": "lost"})


def test_a_record_has_one_writer(tmp_path: Path) -> None:
    record = begun(tmp_path / "record")
    with pytest.raises(InputError, match="there is a record already"):
        Record.create(tmp_path / "record")
    program = (
        "from pathlib import Path\nfrom misstep.errors import InputError\n"
        "from misstep.record.record import Record\n"
        f"try: Record.open(Path({str(tmp_path / 'record')!r})).resume()\n"
        "except InputError as error: print(error)"
    )
    other = [sys.executable, "-c", program]
    assert (
        "another test is writing this record" in subprocess.run(other, capture_output=True, text=True).stdout
    )
    record.close()
    assert subprocess.run(other, capture_output=True, text=True).stdout == ""


def test_what_is_left_of_another_record_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "record" / "bugs").mkdir(parents=True)
    with pytest.raises(InputError, match="there is bugs of another record"):
        Record.create(tmp_path / "record")


def test_free_directories_are_numbered(tmp_path: Path) -> None:
    first = Record.create_free(tmp_path / "run")
    second = Record.create_free(tmp_path / "run")
    assert first.path == tmp_path / "run-001" and second.path == tmp_path / "run-002"
    assert free_directory(tmp_path / "run").name == "run-003"


def test_nothing_can_be_made_where_there_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write there"):
        Record.create_free(tmp_path / "file" / "run")


def judged(number: int, verdict: Verdict, *, limit: str | None = None) -> Judged:
    return Judged(id=number, verdict=verdict, outcome="loop", cost=NEVER, best=Bound(1, 2), gap=NEVER,
                  oracle=None, steps=1, limit=limit, at=float(number))  # fmt: skip


def begun(path: Path) -> Record:
    record = Record.create(path)
    record.begin(Config(policy="x:y").to_toml(), environment={"seed": 1}, files={"task.sas": "sas"})
    record.event(Started(task="t", policy="p", seed=0, oracles=("o",)))
    record.write_down(
        judged(0, Verdict.CLEARED), {"id": "0"}, [{"key": "k", "claims": [], "effort": 0, "limits_hit": []}]
    )
    return record


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    record = begun(tmp_path / "record")
    record.write_down(judged(3, Verdict.BUG), {"id": "3"}, [])
    again = Record.open(tmp_path / "record")
    assert [type(event).__name__ for event in again.events()] == ["Started", "Judged", "Judged"]
    assert list(again.events())[2] == judged(3, Verdict.BUG)
    assert again.config() == Config(policy="x:y")
    assert again.bugs() == {"3": {"id": "3"}} and again.store.lines(CLEARED) == [{"id": "0"}]
    with pytest.raises(InputError, match=r"there is no bug 4; there are: 3$"):
        again.bug_named("4")
    with pytest.raises(
        InputError, match=r"there is no bug 0 \(0 was cleared: cleared.jsonl has the proof\); "
    ):
        again.bug_named("0")
    for case in range(10, 22):
        record.write_down(judged(case, Verdict.BUG), {"id": str(case)}, [])
    with pytest.raises(InputError, match=r"there are: 3, 10, .*, 18 and 3 more$"):
        again.bug_named("4")


def test_a_repeated_test_writes_nothing_twice(tmp_path: Path) -> None:
    begun(tmp_path / "record").close()
    record = Record.open(tmp_path / "record")
    record.resume()
    assert record.recall("k") == {"key": "k", "claims": [], "effort": 0, "limits_hit": []}
    record.event(Started(task="t", policy="p", seed=0, oracles=("o",), at=99.0))
    record.write_down(judged(0, Verdict.CLEARED), {"id": "0"}, [])
    record.write_down(judged(1, Verdict.BUG), {"id": "1"}, [])
    assert [line["event"] for line in record.store.lines(EVENTS)] == ["started", "judged", "judged"]
    assert record.store.lines(CLEARED) == [{"id": "0"}]


def test_what_a_stopped_test_did_not_know_is_replaced(tmp_path: Path) -> None:
    record = begun(tmp_path / "record")
    record.write_down(judged(1, Verdict.UNKNOWN, limit="seconds"), None, [])
    record.event(Finished(tested=2))
    record.close()
    again = Record.open(tmp_path / "record")
    again.resume()
    again.event(Started(task="t", policy="p", seed=0, oracles=("o",)))
    again.write_down(judged(0, Verdict.CLEARED), {"id": "0"}, [])
    again.write_down(judged(1, Verdict.BUG), {"id": "1"}, [])
    verdicts = [line.get("verdict") for line in again.store.lines(EVENTS)]
    assert verdicts == [None, "cleared", "bug"]


def test_another_course_of_events_is_an_error(tmp_path: Path) -> None:
    begun(tmp_path / "record").close()
    again = Record.open(tmp_path / "record")
    again.resume()
    with pytest.raises(InputError, match="start a new record"):
        again.event(Started(task="t", policy="another", seed=0, oracles=("o",)))


def test_other_formats_are_refused(tmp_path: Path) -> None:
    begun(tmp_path / "record").close()
    (tmp_path / "record" / ENVIRONMENT).write_text(json.dumps({"format": 99}))
    with pytest.raises(InputError, match="format 99"):
        Record.open(tmp_path / "record")


def test_records_are_found(tmp_path: Path) -> None:
    begun(tmp_path / "many" / "one").close()
    assert records_in(tmp_path / "many") == [tmp_path / "many" / "one"]
    assert records_in(tmp_path / "many" / "one") == [tmp_path / "many" / "one"]
    (tmp_path / "none").mkdir()
    for path in (tmp_path / "none", tmp_path / "nowhere"):
        with pytest.raises(InputError, match=r"no such record|no record"):
            records_in(path)
    assert BUGS == "bugs"


class Watched(Disk):
    """Notes what is done in which order; may fail on the way."""

    def __init__(self, fails: str = "") -> None:
        self.did = list[str]()
        self.open = set[int]()
        self._fails = fails

    def _do(self, what: str) -> None:
        self.did.append(what)
        if what == self._fails:
            raise OSError(errno.ENOSPC, "No space left on device")

    def sync(self, descriptor: int) -> None:
        self._do("sync")
        super().sync(descriptor)

    def sync_path(self, path: Path) -> None:
        self._do("sync_path")
        super().sync_path(path)

    def move(self, draft: Path, path: Path) -> None:
        self._do("move")
        super().move(draft, path)

    def lock(self, descriptor: int) -> bool:
        self.open.add(descriptor)
        return super().lock(descriptor)

    def close(self, descriptor: int) -> None:
        self.open.discard(descriptor)
        super().close(descriptor)


def test_a_file_is_on_the_disk_before_it_is_in_its_place(tmp_path: Path) -> None:
    """Or a power failure could leave an empty one."""
    disk = Watched()
    write_whole(tmp_path / "file", "text", disk=disk)
    assert disk.did == ["sync", "move"]
    write_whole(tmp_path / "file", "more", disk=disk, wait=False)
    assert disk.did == ["sync", "move", "move"]
    assert (tmp_path / "file").read_text() == "more"


def test_a_record_that_cannot_begin_keeps_no_file_open(tmp_path: Path) -> None:
    disk = Watched(fails="sync_path")
    with pytest.raises(InputError, match="No space left"):
        DirectoryStore.create(tmp_path / "store", marker=EVENTS, disk=disk)
    assert disk.did == ["sync_path"] and disk.open == set()


def test_a_file_that_was_closed_is_not_ours_any_more(tmp_path: Path) -> None:
    """Another one may have locked it since."""
    disk, path = Disk(), tmp_path / "log"
    path.touch()
    first, second = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    assert disk.lock(first)
    assert disk.lock(second)  # as ours, by the first one
    disk.close(second)
    disk.close(first)
    other, again = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_EX)
    assert not disk.lock(again)
    os.close(other)
    assert disk.lock(again)
    disk.close(again)
