"""Pools of test states: entries with their origin, as values and as files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from misstep._core import Action, State
from misstep.errors import InputError
from misstep.task import Task


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A test state and where it comes from: a walk from an earlier entry of the pool."""

    id: int
    state: State
    parent: int | None = None
    walk: tuple[Action, ...] = ()
    rng: int | None = None
    """The state of the random numbers after the walk; absent in pools that others made."""

    def as_json(self) -> dict[str, object]:
        """A line of a pool file."""
        line: dict[str, object] = {
            "id": self.id,
            "facts": self.state.facts,
            "parent": self.parent,
            "walk": [action.name for action in self.walk],
        }
        if self.rng is not None:
            line["rng"] = f"{self.rng:016x}"
        return line


class PoolWriter:
    """Appends entries to a pool file; an entry is on its way to the disk before `write` returns.

    The first line also says how the pool was made (`made_by`): continuing it with other settings is noticed.
    """

    def __init__(self, path: Path, *, made_by: Mapping[str, object], keep: int = 0) -> None:
        self._made_by = dict(made_by)
        self._written = keep
        try:
            if keep:
                _truncate(path, keep)
            self._file = path.open("ab" if keep else "xb", buffering=0)
        except FileExistsError:
            raise InputError(f"{path} exists; continue it with --resume or choose another --out") from None
        except OSError as error:
            raise InputError(
                f"{path}: cannot write the pool: {error.strerror}; choose another --out"
            ) from None

    def write(self, entry: PoolEntry) -> None:
        """Appends one line. Raises InputError where the disk is full; what was written before is not lost."""
        if entry.id < self._written:
            return
        line = entry.as_json()
        if entry.id == 0:
            line["made_by"] = self._made_by
        try:
            self._file.write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise InputError(
                f"cannot write to the pool: {error.strerror}; {self._written} states are saved"
            ) from None
        self._written = entry.id + 1

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_pool(path: Path, task: Task) -> list[PoolEntry]:
    """Reads a pool file. A last line that was cut off (the writer was killed) is left out.

    Only `facts` is needed in a line; pools of other tools have no walks.
    """
    entries: list[PoolEntry] = []
    for number, text in _lines(path):
        where = f"{path}:{number}"
        line = _parse(text, where)
        facts = line.get("facts")
        if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
            raise InputError(f'{where}: `facts` should be a list of atoms like "(on a b)"')
        walk = line.get("walk") or []
        if not isinstance(walk, list):
            raise InputError(f'{where}: `walk` should be a list of actions like "(move a b)"')
        try:
            state = task.state(facts)
            actions = tuple(task.action(str(name)) for name in walk)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        entries.append(
            PoolEntry(
                id=_number(line.get("id", len(entries)), f"{where}: `id`"),
                state=state,
                # -1 is how other tools say that there is none.
                parent=None
                if line.get("parent") in (None, -1)
                else _number(line["parent"], f"{where}: `parent`"),
                walk=actions,
                rng=_rng(line.get("rng"), where),
            )
        )
    if not entries:
        raise InputError(f"{path}: the pool is empty")
    return entries


def read_made_by(path: Path) -> dict[str, object]:
    """How a pool was made, as its first line says; empty where it does not."""
    for number, text in _lines(path):
        made_by = _parse(text, f"{path}:{number}").get("made_by", {})
        return made_by if isinstance(made_by, dict) else {}
    return {}


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the pool: {error.strerror}") from None
    complete = data[: data.rfind(b"\n") + 1]
    try:
        lines = complete.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is no pool file (not UTF-8 text)") from None
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _truncate(path: Path, keep: int) -> None:
    """Cuts a pool file after its first `keep` lines."""
    data = path.read_bytes()
    end = 0
    for _ in range(keep):
        end = data.index(b"\n", end) + 1
    with path.open("r+b") as file:
        file.truncate(end)


def _parse(text: str, where: str) -> dict[str, object]:
    try:
        line = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise InputError(f"{where}: this line is not JSON: {text[:60]!r}") from None
    if not isinstance(line, dict):
        raise InputError(f"{where}: expected an object with `facts`, found {text[:60]!r}")
    return line


def _number(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{what} should be a number, not {value!r}")
    return value


def _rng(value: object, where: str) -> int | None:
    if value is None:
        return None
    try:
        return int(str(value), 16)
    except ValueError:
        raise InputError(f"{where}: `rng` should be a hexadecimal number, not {value!r}") from None
