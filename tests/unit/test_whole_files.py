"""Files written as a whole: what stands in their place survives, and its permissions, links and kind with it."""

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from misstep.support.whole_files import Files, whole_file, write_file

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes and mounts")


def device(path: Path, number: int) -> Path:
    """A node of our own for a memory device: 3 is null, 7 is full."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, number))
        path.open("wb").close()
    except OSError as error:
        pytest.skip(f"no device nodes here: {error}")
    return path


@contextmanager
def mounted(*words: str | Path, at: Path) -> Iterator[None]:
    """Something mounted there; skips where that is not allowed."""
    done = subprocess.run(["mount", *map(str, words), str(at)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(at)], check=True)


def test_a_new_file_is_as_open_makes_it(tmp_path: Path) -> None:
    assert write_file(tmp_path / "new", "né") == 3
    (tmp_path / "plain").write_text("né")
    assert (tmp_path / "new").read_bytes() == (tmp_path / "plain").read_bytes()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_permissions_stay(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "there"
    path.write_text("old")
    path.chmod(mode)
    write_file(path, b"new")
    assert path.read_bytes() == b"new" and stat.S_IMODE(path.stat().st_mode) == mode


@needs_root
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_text("old")
    os.chown(path, 12345, 54321)
    write_file(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_links_are_followed(tmp_path: Path) -> None:
    """One link, several in a row, relative ones, and those that lead to nothing yet."""
    (tmp_path / "far").mkdir()
    for number, (target, before) in enumerate([("far/a", "old"), ("far/b", None)]):
        if before is not None:
            (tmp_path / target).write_text(before)
        first, second = tmp_path / f"first{number}", tmp_path / f"second{number}"
        first.symlink_to(target)
        second.symlink_to(first.name)
        write_file(second, "new")
        assert (tmp_path / target).read_text() == "new"
        assert first.is_symlink() and second.is_symlink()
    assert sorted(path.name for path in (tmp_path / "far").iterdir()) == ["a", "b"]


def test_links_without_an_end_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links") as caught:
        write_file(tmp_path / "a", "new")
    assert caught.value.errno == errno.ELOOP and (tmp_path / "a").is_symlink()


def test_another_name_of_a_file_shows_the_new_text(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old and longer")
    os.link(tmp_path / "one", tmp_path / "other")
    write_file(tmp_path / "one", "new")
    assert (tmp_path / "other").read_text() == "new"


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    data = bytes(range(256)) * 1000  # more than a pipe holds
    write_file(path, data)
    reader.join()
    assert read == [data] and path.is_fifo()


@needs_root
def test_devices_stay_devices(tmp_path: Path) -> None:
    null, full = device(tmp_path / "null", 3), device(tmp_path / "full", 7)
    link = tmp_path / "link"
    link.symlink_to("full")
    write_file(null, "text")
    for path in (full, link):
        with pytest.raises(OSError, match="No space left"):
            write_file(path, "text")
    assert null.is_char_device() and full.is_char_device() and link.is_symlink()


def test_a_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path, "new")


class Failing(Files):
    """A disk that is full after half of the data, or a move that fails."""

    def __init__(self, *, number: int, at: str) -> None:
        self.number, self.at = number, at

    def put(self, descriptor: int, data: bytes) -> int:
        if self.at != "put":
            return super().put(descriptor, data)
        super().put(descriptor, data[: len(data) // 2])
        raise OSError(self.number, os.strerror(self.number))

    def move(self, draft: Path, path: Path) -> None:
        if self.at == "move":
            raise OSError(self.number, os.strerror(self.number))
        super().move(draft, path)


@pytest.mark.parametrize(("number", "at"), [(errno.ENOSPC, "put"), (errno.EIO, "move")])
def test_the_old_file_stays_where_writing_fails(tmp_path: Path, number: int, at: str) -> None:
    path = tmp_path / "there"
    path.write_text("old")
    with pytest.raises(OSError, match=os.strerror(number)):
        write_file(path, "new", files=Failing(number=number, at=at))
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_an_error_in_the_block_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_text("old")
    with pytest.raises(ValueError, match="mine"), whole_file(path) as descriptor:
        os.write(descriptor, b"half")
        raise ValueError("mine")
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_what_cannot_be_replaced_is_written_in_place(tmp_path: Path) -> None:
    """A file that something is mounted on, as containers have them."""
    path = tmp_path / "there"
    path.write_text("old and longer")
    number = path.stat().st_ino
    write_file(path, "new", files=Failing(number=errno.EBUSY, at="move"))
    assert path.read_text() == "new" and path.stat().st_ino == number
    assert len(list(tmp_path.iterdir())) == 1


@needs_root
def test_a_file_in_a_directory_that_takes_no_new_ones(tmp_path: Path) -> None:
    """The file is mounted into a file system that is read-only, as it is in containers."""
    here, own = tmp_path / "here", tmp_path / "own"
    here.mkdir()
    own.write_text("old and longer")
    with mounted("-t", "tmpfs", "-o", "size=1m", "none", at=here):
        (here / "file").touch()
        with mounted("--bind", own, at=here / "file"):
            subprocess.run(["mount", "-o", "remount,ro", str(here)], check=True)
            write_file(here / "file", "new")
            assert own.read_text() == "new"
            with pytest.raises(OSError, match="Read-only file system"):
                write_file(here / "other", "new")


def test_a_long_name_needs_no_longer_one(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_file(path, "new")
    assert path.read_text() == "new"


def test_what_is_called_like_a_draft_stays(tmp_path: Path) -> None:
    """A file of somebody else, and a pipe that a writer would wait for."""
    (tmp_path / ".page.html.part").write_text("mine")
    os.mkfifo(tmp_path / ".other.html.part")
    for name in ("page.html", "other.html"):
        write_file(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"
    assert (tmp_path / ".page.html.part").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {
        "page.html", "other.html", ".page.html.part", ".other.html.part",
    }  # fmt: skip


def test_standard_output_goes_on_where_it_is(tmp_path: Path) -> None:
    """/dev/stdout may be a file that has our earlier lines already."""
    code = (
        "from pathlib import Path\nfrom misstep.support.whole_files import write_file\n"
        "print('first')\nwrite_file(Path('/dev/stdout'), 'second\\n')\nprint('third')"
    )
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "first\nsecond\nthird\n"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert piped.stdout == "first\nsecond\nthird\n"
    assert Path("/dev/stdout").is_symlink()
