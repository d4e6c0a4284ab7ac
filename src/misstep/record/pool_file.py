"""Pool files: test states with their origin, one JSON object a line; ours and those of other tools."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from misstep.errors import InputError
from misstep.pool import PoolEntry
from misstep.record.store import Log, cut_lines, read_lines
from misstep.task import Task, actions_named


@dataclass(slots=True)
class PoolKeeper:
    """Appends entries to a log, unless it has them."""

    append: Callable[[dict[str, object]], None]
    already: int = field(default=0, kw_only=True)
    """How many it has."""
    about: Mapping[str, object] = field(default_factory=dict, kw_only=True)
    """Said in the first line, such as how the pool was made."""

    def keep(self, entry: PoolEntry) -> None:
        """Writes an entry."""
        if entry.id < self.already:
            return
        walk = [action.name for action in entry.walk]
        line = {"id": entry.id, "facts": entry.state.facts, "parent": entry.parent, "walk": walk}
        if entry.rng is not None:
            line["rng"] = f"{entry.rng:016x}"
        self.append(line if entry.id else {**line, **self.about})
        self.already = entry.id + 1


class PoolWriter:
    """A pool file of its own; an entry is on its way to the disk before `write` returns.

    The first line also says how the pool was made (`made_by`): continuing it with other settings is noticed.
    """

    def __init__(
        self, path: Path, *, made_by: Mapping[str, object], keep: int = 0, resume: bool = False
    ) -> None:
        try:
            self._log = Log(path, exclusive=not keep and not resume)
            if not self._log.lock():
                raise InputError(f"{path}: somebody else is writing this pool; choose another --out")
            if keep or resume:
                cut_lines(path, keep=keep)
        except FileExistsError:
            raise InputError(f"{path} exists; continue it with --resume or choose another --out") from None
        except OSError as error:
            raise InputError(
                f"{path}: cannot write the pool: {error.strerror}; choose another --out"
            ) from None
        self.write = PoolKeeper(self._log.append, already=keep, about={"made_by": dict(made_by)}).keep

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._log.close()


def read_pool(path: Path, task: Task) -> list[PoolEntry]:
    """Reads a pool file. A last line that was cut off (the writer was killed) is left out.

    Only `facts` is needed in a line; pools of other tools have no walks.
    """
    entries = read_entries(read_lines(path), task, where=str(path))
    if not entries:
        raise InputError(f"{path}: the pool is empty")
    return entries


def read_entries(lines: Sequence[Mapping[str, Any]], task: Task, *, where: str) -> list[PoolEntry]:
    """The entries of a pool from the lines of its file."""
    entries: dict[int, PoolEntry] = {}
    found: list[PoolEntry] = []
    for number, line in enumerate(lines, start=1):
        found.append(_entry(line, task, len(found), f"{where}:{number}", before=entries))
        entries.setdefault(found[-1].id, found[-1])
    return found


def read_parents(lines: Sequence[Mapping[str, Any]], *, where: str) -> dict[int, int | None]:
    """The entry from which the walk to each entry started, by their ids; None where there was none."""
    return {
        _id(line, number - 1, f"{where}:{number}"): _parent(line, f"{where}:{number}")
        for number, line in enumerate(lines, start=1)
    }


def _id(line: Mapping[str, Any], number: int, where: str) -> int:
    return _number(line.get("id", number), f"{where}: `id`")


def _parent(line: Mapping[str, Any], where: str) -> int | None:
    given = line.get("parent")
    # -1 is how other tools say that there is none.
    return None if given in (None, -1) else _number(given, f"{where}: `parent`")


def _entry(
    line: Mapping[str, Any], task: Task, number: int, where: str, *, before: Mapping[int, PoolEntry]
) -> PoolEntry:
    facts = line.get("facts")
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        raise InputError(f'{where}: `facts` should be a list of atoms like "(on a b)"')
    walk = line.get("walk") or []
    if not isinstance(walk, list):
        raise InputError(f'{where}: `walk` should be a list of actions like "(move a b)"')
    try:
        state = task.state(facts)
        actions = [task.action(str(name)) for name in walk]
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    parent = _parent(line, where)
    start = None if parent is None else before.get(parent)
    if start is not None and any(action.index in task.split_names for action in actions):
        actions = actions_named(task, start.state, [str(name) for name in walk])
    return PoolEntry(
        id=_id(line, number, where),
        state=state,
        parent=parent,
        walk=tuple(actions),
        rng=_rng(line.get("rng"), where),
    )


def read_made_by(path: Path) -> dict[str, object]:
    """How a pool was made, as its first line says; empty where it does not."""
    for line in read_lines(path)[:1]:
        made_by = line.get("made_by", {})
        return made_by if isinstance(made_by, dict) else {}
    return {}


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
