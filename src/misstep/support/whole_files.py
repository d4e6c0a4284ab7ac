"""Files that are written as a whole: complete or not at all, without destroying what stands in their place.

Links are followed. What is no regular file, such as a pipe or a device, is written in place, and so is a file that
cannot be replaced by another one: in a directory that takes no new files, with several names, of another user. Owner
and permissions stay. All raise OSError.
"""

import contextlib
import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

_NO_DRAFT = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP)
"""Why there can be no file beside another one that may well be written."""
_NO_MOVE = (*_NO_DRAFT, errno.EBUSY, errno.EXDEV)
"""Why a file cannot be replaced: something may be mounted there."""


class Files:
    """The steps that can fail; tests let them fail."""

    def put(self, descriptor: int, data: bytes) -> int:
        """Writes what fits; how much that was."""
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """Waits until the disk has what was written."""
        os.fsync(descriptor)

    def move(self, draft: Path, path: Path) -> None:
        """Puts a file in its place."""
        draft.replace(path)


FILES = Files()


def write_file(path: Path, data: bytes | str, *, wait: bool = True, files: Files = FILES) -> int:
    """Writes a file as a whole and says how many bytes it has; `wait` for the disk."""
    raw = data.encode() if isinstance(data, str) else data
    with whole_file(path, wait=wait, files=files) as descriptor:
        left = memoryview(raw)
        while left:
            left = left[files.put(descriptor, bytes(left)) :]
    return len(raw)


@contextlib.contextmanager
def whole_file(path: Path, *, wait: bool = True, files: Files = FILES) -> Iterator[int]:
    """A descriptor for what is to be in a file; that is in its place when the block ends without an error."""
    before = _about(path)
    if (stream := _standard_stream(before)) is not None:
        yield stream
        return
    place = Path(os.path.realpath(path))
    made = _draft(place, before) if before is None or _is_replaceable(place, before) else None
    if made is None:
        with _in_place(path, wait=wait, files=files) as descriptor:
            yield descriptor
        return
    draft, descriptor = made
    try:
        try:
            yield descriptor
            if wait:
                files.sync(descriptor)
        finally:
            os.close(descriptor)
        try:
            files.move(draft, place)
        except OSError as error:
            if before is None or error.errno not in _NO_MOVE:
                raise
            with (
                draft.open("rb") as source,
                _in_place(path, wait=wait, files=files) as target,
                os.fdopen(os.dup(target), "wb") as copy,
            ):
                shutil.copyfileobj(source, copy)
            draft.unlink()
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def _about(path: Path) -> os.stat_result | None:
    """What stands at a place, at the end of all links; None for nothing."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _standard_stream(about: os.stat_result | None) -> int | None:
    """Standard output or error where a path such as `/dev/stdout` means it.

    A file that is behind it already has what we printed: it is not opened once more, from its beginning.
    """
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        with contextlib.suppress(OSError):
            if about is not None and os.path.samestat(about, os.fstat(number)):
                if stream is not None:
                    stream.flush()
                return number
    return None


def _is_replaceable(place: Path, about: os.stat_result) -> bool:
    """Whether another file can take the place of this one without a difference that anybody sees."""
    try:
        is_there = os.path.samestat(place.stat(), about)
    except OSError:  # a link that the system follows by itself, such as those in /proc
        return False
    is_plain = stat.S_ISREG(about.st_mode) and about.st_nlink == 1
    is_own = os.geteuid() in (0, about.st_uid)
    return is_there and is_plain and is_own and os.access(place, os.W_OK)


def _draft(place: Path, before: os.stat_result | None) -> tuple[Path, int] | None:
    """A new file beside a place, with the owner and the permissions of what is there; None where there can be none."""
    # A name that nothing else has: what others keep here stays, and two writers of one file do not meet.
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(draft, flags, 0o666 if before is None else 0o600)
    except OSError as error:
        if error.errno in _NO_DRAFT:
            return None
        raise
    if before is None:
        return draft, descriptor
    try:
        now = os.fstat(descriptor)
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
    except OSError:
        os.close(descriptor)
        draft.unlink()
        return None
    return draft, descriptor


@contextlib.contextmanager
def _in_place(path: Path, *, wait: bool, files: Files) -> Iterator[int]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOCTTY, 0o666)
    try:
        yield descriptor
        if wait and stat.S_ISREG(os.fstat(descriptor).st_mode):
            files.sync(descriptor)
    finally:
        os.close(descriptor)
