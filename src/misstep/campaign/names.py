"""From what a campaign's file names to files: globs, directories, and names for people."""

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.errors import InputError
from misstep.suite import problem_files


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A policy with its file's whole path, and as people read it."""

    text: str
    label: str


def label(path: Path, file: Path, *, prefix: str | None) -> str:
    """A file as the campaign's file would name it, without what it ends with."""
    name = str(_from_here(path, file).with_suffix(""))
    return name if prefix is None else f"{prefix}/{name}"


def _from_here(path: Path, file: Path) -> Path:
    return Path(os.path.relpath(path, file.parent.resolve()))


def task_files(
    table: Mapping[str, Any], file: Path, *, where: str
) -> Iterator[tuple[Path | None, Path | None, Path | None]]:
    """Domain, problem and model of each task, two of them or one being there."""
    if "models" in table:
        for model in dict.fromkeys(_found(table["models"], "models", file, where)):
            yield None, None, model
        return
    domains = _found([table["domain"]], "domain", file, where)
    if len(domains) > 1:
        raise InputError(f"{where}: `domain` is {table['domain']!r}; name one file, or use [[task]] tables")
    if "problems" not in table:  # a SAS file is a task by itself
        yield domains[0], None, None
        return
    named = _found(table["problems"], "problems", file, where)
    for problem in dict.fromkeys(problem_files(domains[0], named)):
        if problem != domains[0]:  # *.pddl means the problems
            yield domains[0], problem, None


def policy_texts(value: object, file: Path, *, where: str) -> list[NamedPolicy]:
    """The policies that a list of texts names; `asnet:models/*.policy` stands for many."""
    texts = _texts(value, "policies", where)
    found = [policy for text in texts for policy in _policies(text, file, where)]
    return list(dict.fromkeys(found))


def _policies(text: str, file: Path, where: str) -> list[NamedPolicy]:
    name, colon, rest = text.partition(":")
    if not colon:
        raise InputError(
            f"{where}: `policies` has {text!r:.80}; write NAME:VALUE such as asnet:FILE, "
            "or zoo:NAME (`misstep parts policy` shows all)"
        )
    # The file ends at the end, or where options or the name of a function begin.
    ends = [len(rest), *(at for at, letter in enumerate(rest) if letter in ":,")]
    for end in sorted(ends, reverse=True):
        paths = _matches(rest[:end], file.parent)
        if paths:
            return [
                NamedPolicy(f"{name}:{path}{rest[end:]}", f"{name}:{_from_here(path, file)}{rest[end:]}")
                for path in paths
            ]
    if glob.has_magic(rest):
        raise InputError(f"{where}: `policies` has {text!r:.80}, but no file is called so; check the path")
    return [NamedPolicy(text, text)]


def _matches(pattern: str, folder: Path) -> list[Path]:
    """The files that a text with wildcards stands for, or the one that it names."""
    if not pattern or "\0" in pattern:
        return []
    whole = str(folder.resolve() / pattern)
    try:
        if glob.has_magic(pattern) and not Path(whole).is_file():
            return [path for path in _expanded(whole) if path.is_file()]
        return [Path(whole)] if Path(whole).is_file() else []
    except OSError:  # longer than names can be
        return []


def _expanded(pattern: str) -> list[Path]:
    return [Path(path) for path in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 (it is absolute)


def _found(value: object, key: str, file: Path, where: str) -> list[Path]:
    """Files and directories; each text must stand for at least one."""
    found: list[Path] = []
    for text in _texts(value, key, where):
        whole = file.parent.resolve() / text
        paths = [whole] if whole.exists() else _expanded(str(whole))
        if not paths:
            raise InputError(
                f"{where}: `{key}` has {text!r:.80}, but there is no such file in {file.parent.resolve()}; "
                "paths are relative to the campaign's file"
            )
        found += paths
    return found


def _texts(value: object, key: str, where: str) -> list[str]:
    values = [value] if isinstance(value, str) else value
    if (
        not isinstance(values, list)
        or not values
        or not all(isinstance(text, str) and text for text in values)
    ):
        raise InputError(f'{where}: `{key}` is {value!r:.80}; give a list of texts, such as ["a", "b"]')
    return values
