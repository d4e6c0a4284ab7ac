"""Stores: where the files of a record are kept, a directory that survives a killed process, or memory.

Here are the only reader and the only writer of files with one JSON object a line.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from misstep.errors import InputError
from misstep.support.plain import is_writable
from misstep.support.whole_files import Files, write_file

# What was reported longer ago than this is on the disk itself: it survives a power failure, too.
_SYNC_SECONDS = 0.5


class Store(Protocol):
    """Named files of two kinds: logs, which only grow line by line, and texts, which are written at once.

    What a method was given is safe when it returns: with a directory that means that the operating system has
    it, so a process that is killed loses nothing. `sync` waits for the disk, so that a power failure loses
    nothing either.
    """

    @property
    def where(self) -> str:
        """How messages call the store."""
        ...

    def append(self, log: str, line: Mapping[str, object]) -> None:
        """Appends a line to a log, whole or not at all."""
        ...

    def lines(self, log: str) -> list[dict[str, Any]]:
        """The lines of a log; none where there is no such log."""
        ...

    def cut(self, log: str, keep: int) -> None:
        """Drops all lines of a log after the first `keep`, and a last line that was cut off."""
        ...

    def write(self, name: str, text: str, *, wait: bool = True) -> None:
        """Writes a text, complete or not at all; `wait` for the disk now, or leave that to `sync`."""
        ...

    def read(self, name: str) -> str | None:
        """A text, None where there is none of that name."""
        ...

    def names(self, folder: str) -> list[str]:
        """The texts `folder/NAME`, without the folder, in order of length and letters."""
        ...

    def lock(self, log: str) -> None:
        """Makes sure that nobody else writes here until `close`; InputError where somebody does."""
        ...

    def sync(self, *, at_once: bool = False) -> None:
        """Waits until the disk has all of it, unless it did so a moment ago."""
        ...

    def close(self) -> None:
        """Gives back what the operating system lent."""
        ...


class MemoryStore:
    """A store that ends with the program."""

    where = "memory"

    def __init__(self) -> None:
        self._logs: dict[str, list[str]] = {}
        self._texts: dict[str, str] = {}

    def append(self, log: str, line: Mapping[str, object]) -> None:
        """Appends a line; it is kept as text, so what comes back is what a file would give."""
        self._logs.setdefault(log, []).append(json.dumps(line))

    def lines(self, log: str) -> list[dict[str, Any]]:
        """The lines of a log."""
        return [json.loads(text) for text in self._logs.get(log, [])]

    def cut(self, log: str, keep: int) -> None:
        """Drops the lines after the first `keep`."""
        if log in self._logs:
            del self._logs[log][keep:]

    def write(self, name: str, text: str, *, wait: bool = True) -> None:
        """Keeps a text."""
        self._texts[name] = text

    def read(self, name: str) -> str | None:
        """A text."""
        return self._texts.get(name)

    def names(self, folder: str) -> list[str]:
        """The names in a folder."""
        return _ordered(
            name.removeprefix(f"{folder}/") for name in self._texts if name.startswith(f"{folder}/")
        )

    def lock(self, log: str) -> None:
        """Nobody else knows of it."""

    def sync(self, *, at_once: bool = False) -> None:
        """There is no disk."""

    def close(self) -> None:
        """Nothing was lent."""

    def copy_to(self, other: Store) -> None:
        """Writes everything into another store."""
        for name, text in self._texts.items():
            other.write(name, text)
        for log in self._logs:
            for line in self.lines(log):
                other.append(log, line)


class Disk(Files):
    """The disk as stores see it: the few operations that can fail. All raise OSError; tests let them fail."""

    def open_log(self, path: Path, *, exclusive: bool) -> int:
        """Opens a file for appending; `exclusive`: FileExistsError where it is there already."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | (os.O_EXCL if exclusive else 0)
        return os.open(path, flags, 0o666)

    def append(self, descriptor: int, data: bytes) -> None:
        """Appends bytes, all or none of them."""
        before = os.fstat(descriptor).st_size
        try:
            written = self.put(descriptor, data)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, before)
            raise
        if written != len(data):
            os.ftruncate(descriptor, before)
            raise OSError(28, "no space left on the device")

    def write(self, path: Path, data: bytes, *, wait: bool = True) -> None:
        """Writes a file beside its place, waits for the disk, and moves it there."""
        write_file(path, data, wait=wait, files=self)

    def truncate(self, path: Path, size: int) -> None:
        """Cuts the end of a file off."""
        os.truncate(path, size)

    def sync_path(self, path: Path) -> None:
        """Waits until the disk has a file, or knows which files are in a directory."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lock(self, descriptor: int) -> bool:
        """Whether no other process has locked the file; it is ours then, until we close it or end."""
        about = os.fstat(descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A test that was stopped, but not closed, in this very process.
            return (about.st_dev, about.st_ino) in _OURS.values()
        except OSError:  # Some network file systems know no locks.
            return True
        _OURS[descriptor] = (about.st_dev, about.st_ino)
        return True

    def close(self, descriptor: int) -> None:
        """Closes a file."""
        _OURS.pop(descriptor, None)
        os.close(descriptor)


_OURS: dict[int, tuple[int, int]] = {}
"""The files that this process has locked, by descriptor."""
DISK = Disk()


class DirectoryStore:
    """A directory. `create` makes a new one; the constructor reads or continues an old one."""

    def __init__(self, path: Path, *, disk: Disk = DISK) -> None:
        self.path = path
        self.where = str(path)
        self._disk = disk
        self._logs: dict[str, Log] = {}
        self._new: dict[Path, None] = {}
        """Files that the disk may not have, and directories with such files."""
        self._synced = time.monotonic()

    @classmethod
    def create(
        cls, path: Path, *, marker: str, others: Iterable[str] = (), disk: Disk = DISK
    ) -> "DirectoryStore":
        """A new store; the log `marker` is created exclusively, so that no two tests share a directory.

        `others` are names that must not be there: what is left of another record would become part of it.
        """
        store = cls(path, disk=disk)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if left := [name for name in others if (path / name).exists() and not (path / marker).exists()]:
                raise InputError(f"{path}: there is {left[0]} of another record; choose another --out")
            store._logs[marker] = Log(path / marker, exclusive=True, disk=disk)
            store.lock(marker)
            disk.sync_path(path)  # nothing is there before the marker is
        except BaseException as error:
            for log in store._logs.values():
                log.close()
            if isinstance(error, FileExistsError):
                raise InputError(
                    f"{path}: there is a record already; continue it with --resume, or choose another --out"
                ) from None
            if isinstance(error, OSError):
                raise InputError(
                    f"{path}: cannot write there: {error.strerror}; choose another --out"
                ) from None
            raise
        return store

    def append(self, log: str, line: Mapping[str, object]) -> None:
        """Appends a line."""
        self._log(log).append(line)

    def lines(self, log: str) -> list[dict[str, Any]]:
        """The lines of a log; a last line that was cut off is left out. InputError names a damaged one."""
        return read_lines(self.path / log, missing_is_empty=True)

    def cut(self, log: str, keep: int) -> None:
        """Drops the lines after the first `keep`."""
        cut_lines(self.path / log, keep=keep, disk=self._disk)

    def write(self, name: str, text: str, *, wait: bool = True) -> None:
        """Writes a text beside its place and moves it there."""
        path = self.path / name
        write_whole(path, text, disk=self._disk, wait=wait)
        if not wait:
            self._new[path] = None
        self._new |= dict.fromkeys([path.parent, self.path])

    def read(self, name: str) -> str | None:
        """A text."""
        path = self.path / name
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{path}: cannot read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InputError(f"{path}: this is no UTF-8 text") from None

    def names(self, folder: str) -> list[str]:
        """The JSON files in a folder, drafts left out."""
        inside = self.path / folder
        if not inside.is_dir():
            return []
        return _ordered(path.name for path in inside.glob("*.json") if not path.name.startswith("."))

    def lock(self, log: str) -> None:
        """Locks a log; the lock goes with the process, however it ends."""
        if not self._log(log).lock():
            raise InputError(
                f"{self.path}: another test is writing this record just now; wait for it, or choose another --out"
            )

    def sync(self, *, at_once: bool = False) -> None:
        """The log that was begun first comes last: what events report is there before them."""
        if not at_once and time.monotonic() - self._synced < _SYNC_SECONDS:
            return
        try:
            # Files come before their directory.
            for path in sorted(self._new, key=lambda path: -len(path.parts)):
                self._disk.sync_path(path)
                del self._new[path]
        except OSError as error:
            raise cannot_write(self.path, error) from None
        for log in reversed(self._logs.values()):
            log.sync()
        self._synced = time.monotonic()

    def close(self) -> None:
        """Waits for the disk and closes the logs."""
        try:
            if self._logs:
                self.sync(at_once=True)
        finally:
            while self._logs:
                self._logs.popitem()[1].close()

    def _log(self, name: str) -> "Log":
        if name not in self._logs:
            try:
                self._logs[name] = Log(self.path / name, disk=self._disk)
                self._new[self.path] = None
            except OSError as error:
                raise cannot_write(self.path / name, error) from None
        return self._logs[name]


class Log:
    """A file that grows line by line; what `append` was given survives a killed process."""

    def __init__(self, path: Path, *, exclusive: bool = False, disk: Disk = DISK) -> None:
        self.path = path
        self._disk = disk
        self._is_synced = True
        self._descriptor: int | None = disk.open_log(path, exclusive=exclusive)

    def append(self, line: Mapping[str, object]) -> None:
        """Appends a line, whole or not at all: where the disk is full nothing of it is left."""
        assert self._descriptor is not None, "the log is closed"
        try:
            self._disk.append(self._descriptor, json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise cannot_write(self.path, error) from None
        self._is_synced = False

    def lock(self) -> bool:
        """Whether nobody else has locked the file; it is ours then."""
        assert self._descriptor is not None, "the log is closed"
        return self._disk.lock(self._descriptor)

    def sync(self) -> None:
        """Waits until the disk has it."""
        if self._descriptor is None or self._is_synced:
            return
        try:
            self._disk.sync(self._descriptor)
        except OSError as error:
            raise cannot_write(self.path, error) from None
        self._is_synced = True

    def close(self) -> None:
        """Closes the file."""
        if self._descriptor is not None:
            self._disk.close(self._descriptor)
            self._descriptor = None


def read_lines(path: Path, *, missing_is_empty: bool = False) -> list[dict[str, Any]]:
    """The objects of a file; a last line that was cut off (the writer was killed) is left out."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if missing_is_empty:
            return []
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror}") from None
    complete = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]
    return [
        read_object(text, f"{path}:{number}") for number, text in enumerate(complete, start=1) if text.strip()
    ]


def cut_lines(path: Path, *, keep: int, disk: Disk = DISK) -> None:
    """Drops all lines after the first `keep`, and a last line that was cut off."""
    try:
        data = path.read_bytes()
        end = 0
        for _ in range(keep):
            end = data.index(b"\n", end) + 1
        if end < len(data):
            disk.truncate(path, end)
    except FileNotFoundError:
        return
    except OSError as error:
        raise cannot_write(path, error) from None


def read_object(text: str | bytes | None, where: str) -> dict[str, Any]:
    """One JSON object."""
    if text is None:
        raise InputError(f"{where}: no such file")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    is_odd = not text.isascii() or ("\\u" in text if isinstance(text, str) else b"\\u" in text)
    if not isinstance(value, dict) or (is_odd and not is_writable(value)):
        raise InputError(f"{where}: this is no JSON object: {text[:60]!r}")
    return value


def cannot_write(path: Path, error: OSError) -> InputError:
    """The error where a disk is full or a directory is gone."""
    return InputError(f"{path}: cannot write: {error.strerror}; all that was reported before is saved")


def write_whole(path: Path, text: str, *, disk: Disk = DISK, wait: bool = True) -> None:
    """Writes a file so that it is there complete or not at all, whatever fails, the power included."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.write(path, text.encode(), wait=wait)
    except OSError as error:
        raise cannot_write(path, error) from None


def free_directory(base: Path) -> Path:
    """`base-001`, or the first number after it that is free."""
    number = 1
    while (path := base.with_name(f"{base.name}-{number:03d}")).exists():
        number += 1
    return path


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (len(name), name))
