"""JSON, one object a line: the only reader and the only writer of such files."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from misstep.errors import InputError


class Log:
    """A file that grows line by line; what `append` was given survives a killed process."""

    def __init__(self, path: Path, *, exclusive: bool = False) -> None:
        self.path = path
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | (os.O_EXCL if exclusive else 0)
        self._descriptor: int | None = os.open(path, flags, 0o666)

    def append(self, line: Mapping[str, object]) -> None:
        """Appends a line, whole or not at all: where the disk is full nothing of it is left."""
        assert self._descriptor is not None, "the log is closed"
        data = json.dumps(line).encode() + b"\n"
        try:
            before = os.fstat(self._descriptor).st_size
            if os.write(self._descriptor, data) != len(data):
                os.ftruncate(self._descriptor, before)
                raise OSError(28, "no space left on the device")
        except OSError as error:
            raise cannot_write(self.path, error) from None

    def close(self) -> None:
        """Closes the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
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


def cut_lines(path: Path, *, keep: int) -> None:
    """Drops all lines after the first `keep`, and a last line that was cut off."""
    try:
        data = path.read_bytes()
        end = 0
        for _ in range(keep):
            end = data.index(b"\n", end) + 1
        if end < len(data):
            os.truncate(path, end)
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
    if not isinstance(value, dict):
        raise InputError(f"{where}: this is no JSON object: {text[:60]!r}")
    return value


def cannot_write(path: Path, error: OSError) -> InputError:
    """The error where a disk is full or a directory is gone."""
    return InputError(f"{path}: cannot write: {error.strerror}; all that was reported before is saved")
