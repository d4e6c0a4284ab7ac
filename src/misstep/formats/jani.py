"""JANI files: the model's text, and what a property says about start, goal and unsafety."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.errors import InputError, UnsupportedFeature

Json = Any
_CONDITIONS = ("reach", "start", "objective")
"""What a policy test may keep in other files."""


@dataclass(frozen=True)
class JaniTask:
    """What the files say, conditions still as JSON."""

    model: str
    file: str
    unsafe: Json
    goal: Json | None
    start: Json | None
    network: Path | None


def read_text(path: Path) -> str:
    """A UTF-8 file, with or without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None


def parse(text: str, file: str) -> Json:
    """JSON, with the position in the message where it is broken."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}:{error.lineno}:{error.colno}: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{file}: nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{file}: {error}") from None


def read_task(
    path: Path,
    *,
    properties: Path | None = None,
    name: str | None = None,
    unsafe: str | None = None,
    goal: str | None = None,
) -> JaniTask:
    """Read a model and the conditions of one property.

    Without `name` (or a place in the list of properties, counted from 0) the first property that tests a
    policy (op "PA") counts. What the file `properties` says goes before what is inside the model; only in the list
    it comes after it. `unsafe` and `goal` override it: each is the name of a plain property (`F bad`,
    `G good`, `Pmax(F bad)`, ...) or a JSON expression.
    """
    text = read_text(path)
    model = parse(text, str(path))
    if not isinstance(model, dict):
        raise InputError(f"{path}: a JANI model is a JSON object")
    inside = list(_properties(model, path))
    given = [] if properties is None else list(_read_properties(properties))
    known = [*given, *inside]
    names = ", ".join(repr(p.get("name")) for p, _ in [*inside, *given]) or "none"
    tests = [(p, at) for p, at in known if _expression(p).get("op") == "PA"]
    if name is not None:
        tests = [(p, at) for p, at in known if p.get("name") == name]
        if not tests and name.isdecimal():
            tests = [*inside, *given][int(name) : int(name) + 1]
        if not tests:
            raise InputError(f"{path}: no property {name!r}; known are {names}")
    elif unsafe is None and given and tests and tests[0][1] != properties:
        raise InputError(
            f"{properties}: none of its properties is a policy test (op PA), but {path} has one; "
            f"choose with --property or --unsafe; known are {names}"
        )
    found: dict[str, Json] = {}
    network: Path | None = None
    if tests:
        expression, base = _expression(tests[0][0]), tests[0][1]
        if expression.get("op") == "PA":
            found["unsafe"], found["start"], objective = (
                _resolve(expression.get(part), base) for part in _CONDITIONS
            )
            found["goal"] = objective.get("goal") if isinstance(objective, dict) else None
            if isinstance(expression.get("file"), str):
                network = (base.parent / expression["file"]).resolve()
                if not network.is_file():  # published sets name files of a tree that did not come with them
                    network = path.parent / network.name
        else:
            found["unsafe"] = predicate(expression, str(base), bad=True)
    if unsafe is not None:
        found["unsafe"] = _override(unsafe, known, path, bad=True)
    if goal is not None:
        found["goal"] = _override(goal, known, path, bad=False)
    elif not tests:
        found["goal"] = next(_plain_goals(known, unsafe), None)
    if found.get("unsafe") is None:
        choose = (
            f"choose a property with --unsafe; known are {names}"
            if known
            else ("give a property file (--properties) or a condition (--unsafe)")
        )
        raise InputError(f"{path}: no unsafety condition; {choose}")
    return JaniTask(text, str(path), found["unsafe"], found.get("goal"), found.get("start"), network)


def predicate(expression: Json, where: str, *, bad: bool) -> Json:
    """The state predicate inside `F p`, `true U p` or `G p`, under filters, quantifiers and Pmin/Pmax.

    With `bad` the answer says when the property is violated: p of `F p` is then the thing to avoid, and `G p`
    is violated where p is not true.
    """
    while isinstance(expression, dict):
        op = expression.get("op")
        if op == "filter":
            expression = expression.get("values")
        elif op in ("∃", "∀", "Pmin", "Pmax"):
            expression = expression.get("exp")
        elif op == "F":
            return expression.get("exp")
        elif op == "U" and expression.get("left") is True:
            return expression.get("right")
        elif op == "G" and bad:
            return {"op": "¬", "exp": expression.get("exp")}
        else:
            break
    raise UnsupportedFeature(f"{where}: the property is not of the form F p, true U p or G p")


def _read_properties(path: Path) -> Iterator[tuple[dict[str, Json], Path]]:
    """The properties of a file that is there for nothing else, so that it may not be without any."""
    found = list(_properties(parse(read_text(path), str(path)), path))
    if not found:
        raise InputError(f"{path}: $.properties: there is none; a property file lists at least one")
    yield from found


def _properties(document: Json, path: Path) -> Iterator[tuple[dict[str, Json], Path]]:
    if not isinstance(document, dict):
        raise InputError(f"{path}: $: expected an object")
    listed = document.get("properties", [])
    if not isinstance(listed, list):
        raise InputError(f"{path}: $.properties: expected a list")
    for i, entry in enumerate(listed):
        if not isinstance(entry, dict):
            raise InputError(f"{path}: $.properties[{i}]: expected an object")
        yield entry, path


def _expression(entry: dict[str, Json]) -> dict[str, Json]:
    expression = entry.get("expression")
    return expression if isinstance(expression, dict) else {}


def _included(value: Json) -> str | None:
    """The name of the file that stands for a condition."""
    is_file = isinstance(value, dict) and set(value) == {"file"} and isinstance(value["file"], str)
    return value["file"] if is_file else None


def _resolve(value: Json, base: Path) -> Json:
    """Follow `{"file": relative path}`; nothing else is ever opened because a model says so."""
    if (file := _included(value)) is not None:
        target = base.parent / file
        value = parse(read_text(target), str(target))
    while isinstance(value, dict) and value.get("op") == "let" and not value.get("variables"):
        value = value.get("expression")  # around a whole condition it means nothing
    return value


def condition_files(document: Json) -> Iterator[str]:
    """The files that conditions of policy tests include, relative to the file with the properties."""
    listed = document.get("properties") if isinstance(document, dict) else None
    for entry in listed if isinstance(listed, list) else ():
        expression = _expression(entry) if isinstance(entry, dict) else {}
        for name in _CONDITIONS if expression.get("op") == "PA" else ():
            if (file := _included(expression.get(name))) is not None:
                yield file


def _override(text: str, known: list[tuple[dict[str, Json], Path]], path: Path, *, bad: bool) -> Json:
    for entry, at in known:
        if entry.get("name") == text:
            return predicate(_expression(entry), str(at), bad=bad)
    if text.lstrip()[:1] not in ("{", '"', "t", "f"):
        raise InputError(f"{path}: {text!r} is neither the name of a property nor a JSON expression")
    return parse(text, "condition")


def _plain_goals(known: list[tuple[dict[str, Json], Path]], unsafe: str | None) -> Iterator[Json]:
    """What some run can reach, `filter(∃, F p)`, is the goal in published models; nothing else ends a run."""
    for entry, _ in known:
        expression = _expression(entry)
        values = expression.get("values")
        exists = entry.get("name") != unsafe and expression.get("fun") == "∃"
        if exists and isinstance(values, dict) and values.get("op") == "F":
            yield values.get("exp")
