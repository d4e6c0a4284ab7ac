"""`table:FILE`: a policy as a list of states and the action chosen in each."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from misstep._core import Action, State, StateBatch
from misstep.answers.answer import ActionNames
from misstep.errors import InputError
from misstep.formats.sexp import Source
from misstep.support.plain import is_writable
from misstep.support.whole_files import write_file
from misstep.task import Task

_ENTRY = '{"facts": ["(at a)", ...], "action": "(move a b)"}'


@dataclass(frozen=True)
class Table:
    """States as lists of PDDL atoms, each with the name of an action or null; no answer in other states.

    The file is a JSON list of entries {"facts": ["(at a)", ...], "action": "(move a b)"}, or JSON lines with
    one entry each. Other keys are ignored.
    """

    file: Path = field(metadata={"help": "the table, JSON or JSON lines"})

    def bind(self, task: Task, /) -> "TablePolicy":
        """Reads the table; InputError where it has facts or actions that the task has not."""
        return read_table(self.file, task)


class TablePolicy:
    """A policy that looks its answers up."""

    def __init__(self, choices: Mapping[State, Action | None]) -> None:
        self.choices = dict(choices)

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """What the table says; nothing for a state that it has not."""
        return [self.choices.get(state) for state in states]


def read_table(path: str | Path, task: Task) -> TablePolicy:
    """The policy that a file describes."""
    names = ActionNames(task)
    constant = set() if task.pddl is None else {task.pddl.text(atom) for atom in task.pddl.static_atoms}
    choices: dict[State, Action | None] = {}
    for where, entry in _entries(Source.read(path, kind="table")):
        facts, name = _parts(entry, where)
        try:
            state = task.state([fact for fact in facts if _plain(fact) not in constant])
            # The text of an unknown action is the task's own.
            action = None if name is None else names.find(name, state) or task.action(name)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        if choices.setdefault(state, action) != action:
            raise InputError(
                f"{where}: this state has the action {choices[state]} further up and {action} here; keep one"
            )
    return TablePolicy(choices)


def write_table(path: str | Path, choices: Iterable[tuple[State, Action | None]]) -> None:
    """Writes a table that `read_table` reads: JSON lines where the name ends with `.jsonl`, else JSON."""
    lines = [
        json.dumps({"facts": state.facts, "action": None if action is None else action.name})
        for state, action in choices
    ]
    if Path(path).suffix == ".jsonl":
        text = "".join(f"{line}\n" for line in lines)
    else:
        text = "[\n" + ",\n".join(lines) + "\n]\n"
    try:
        write_file(Path(path), text)
    except OSError as error:
        raise InputError(f"{path}: cannot write the table: {error.strerror}") from None


def _entries(source: Source) -> Iterator[tuple[str, Any]]:
    """The entries, each with the place to name in errors."""
    if source.text.lstrip().startswith("["):
        entries = _parsed(source, source.text, offset=0)
        for number, entry in enumerate(entries, start=1):
            yield f"{source.name}: entry {number}", entry
        return
    offset = 0
    for number, line in enumerate(source.text.split("\n"), start=1):
        if line.strip():
            yield f"{source.name}:{number}", _parsed(source, line, offset=offset)
        offset += len(line) + 1


def _parsed(source: Source, text: str, *, offset: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise source.error(offset + error.pos, f"this is not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise source.error(offset, f"this JSON cannot be read: {error}") from None


def _parts(entry: Any, where: str) -> tuple[list[str], str | None]:
    match entry:
        case {"facts": [*facts], "action": str() | None as name} if all(isinstance(f, str) for f in facts):
            if is_writable([*facts, name]):
                return facts, name
    raise InputError(f"{where}: an entry is written {_ENTRY}, with null for no action")


def _plain(atom: str) -> str:
    return "(" + " ".join(atom.strip().strip("()").lower().split()) + ")"
