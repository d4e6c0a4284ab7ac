"""Run directories: what a test was asked, found and proved. Survives a killed process and a full disk."""

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from misstep.errors import InputError

TASK, CONFIG, ENVIRONMENT, EVENTS, POOL, BUGS, CLEARED = (
    "task.sas",
    "config.toml",
    "env.json",
    "events.jsonl",
    "pool.jsonl",
    "bugs",
    "cleared.jsonl",
)


class RunDirectory:
    """A new run directory. What a method was given is with the operating system when it returns."""

    def __init__(
        self,
        path: Path,
        *,
        config: Mapping[str, object],
        environment: Mapping[str, object],
        files: Mapping[str, str],
    ) -> None:
        self.path = path
        self._logs: dict[str, int] = {}
        try:
            if (path / EVENTS).exists():
                raise InputError(f"{path}: there is a run already; choose another --out")
            (path / BUGS).mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (path / name).write_text(text, encoding="utf-8")
            (path / CONFIG).write_text(to_toml(config), encoding="utf-8")
            machine = {"python": platform.python_version(), "machine": platform.machine()}
            (path / ENVIRONMENT).write_text(json.dumps({**machine, **environment}) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path}: cannot write there: {error.strerror}; choose another --out") from None

    def event(self, event: Mapping[str, object]) -> None:
        """Appends an event."""
        self.append(EVENTS, event)

    def append(self, name: str, line: Mapping[str, object]) -> None:
        """Appends a line to one of the logs, whole or not at all."""
        data = json.dumps(line).encode() + b"\n"
        try:
            if name not in self._logs:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                self._logs[name] = os.open(self.path / name, flags, 0o666)
            log = self._logs[name]
            before = os.fstat(log).st_size
            if os.write(log, data) != len(data):
                os.ftruncate(log, before)
                raise OSError(28, "no space left on the device")
        except OSError as error:
            raise _full(self.path / name, error) from None

    def certificate(self, name: str, certificate: Mapping[str, Any]) -> None:
        """Writes one certificate."""
        write_object(self.path / BUGS / f"{name}.json", certificate)

    def close(self) -> None:
        """Closes the logs."""
        while self._logs:
            os.close(self._logs.popitem()[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def bug_files(folder: Path) -> list[Path]:
    """The certificates of bugs in a run directory, by number."""
    return sorted((folder / BUGS).glob("*.json"), key=lambda path: (len(path.stem), path.stem))


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log; a last line that was cut off is left out. InputError names a damaged one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror}") from None
    lines = []
    for number, text in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            lines.append(_object(json.loads(text)))
        except (ValueError, RecursionError):
            raise InputError(f"{path}:{number}: this line is no JSON object: {text[:60]!r}") from None
    return lines


def read_object(path: Path) -> dict[str, Any]:
    """A file with one JSON object."""
    try:
        return _object(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: this is no JSON object") from None


def write_object(path: Path, value: Mapping[str, object]) -> None:
    """Writes a file with one JSON object, complete or not at all."""
    draft = path.with_suffix(".part")
    try:
        draft.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise _full(path, error) from None


def to_toml(values: Mapping[str, object]) -> str:
    """Texts, numbers, truth values and lists of them; what is None is left out."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items() if value is not None]
    return "\n".join(lines) + "\n"


def free_directory(base: Path) -> Path:
    """`base-001`, or the first number after it that is free."""
    number = 1
    while (path := base.with_name(f"{base.name}-{number:03d}")).exists():
        number += 1
    return path


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError
    return value


def _full(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot write: {error.strerror}; all that was reported before is saved")
