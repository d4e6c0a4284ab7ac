"""The disk as records see it: the few operations that can fail, so that tests can let them fail."""

import contextlib
import fcntl
import os
from pathlib import Path


class Disk:
    """The disk of the operating system. All methods raise OSError."""

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
            os.ftruncate(descriptor, before)
            raise
        if written != len(data):
            os.ftruncate(descriptor, before)
            raise OSError(28, "no space left on the device")

    def put(self, descriptor: int, data: bytes) -> int:
        """Writes what fits; how much that was."""
        return os.write(descriptor, data)

    def write(self, path: Path, data: bytes) -> None:
        """Writes a file beside its place, waits for the disk, and moves it there."""
        draft = path.with_name(f".{path.name}.part")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            try:
                left = memoryview(data)
                while left:
                    left = left[self.put(descriptor, bytes(left)) :]
                self.sync(descriptor)
            finally:
                os.close(descriptor)
            self.move(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise

    def move(self, draft: Path, path: Path) -> None:
        """Puts a file in its place."""
        draft.replace(path)

    def truncate(self, path: Path, size: int) -> None:
        """Cuts the end of a file off."""
        os.truncate(path, size)

    def sync(self, descriptor: int) -> None:
        """Waits until the disk has what was written."""
        os.fsync(descriptor)

    def sync_folder(self, path: Path) -> None:
        """Waits until the disk knows which files are in a directory."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lock(self, descriptor: int) -> bool:
        """Whether nobody else has locked the file; it is ours then, until we close it or end."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # Some network file systems know no locks.
            return True
        return True

    def close(self, descriptor: int) -> None:
        """Closes a file."""
        os.close(descriptor)


DISK = Disk()
