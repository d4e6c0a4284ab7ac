"""Finds parts by name: frozen dataclasses whose fields are their options and whose docstring is their help.

Parts register as entry points in the groups `misstep.KIND`; misstep's own come by the same route. The text
`NAME:option=value,option=value` makes one, and a value without a name belongs to the first option.
"""

import dataclasses
import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

from misstep.errors import InputError
from misstep.support.suggest import did_you_mean

# Options count or limit something; more than this means a typing error.
_MAX_NUMBER = 2**31
KINDS = ("search", "heuristic", "policy", "fuzzer", "bias", "oracle", "objective", "teacher")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """One option of a part, as `misstep parts` shows it."""

    name: str
    type: str
    default: object
    help: str


@dataclass(frozen=True, slots=True)
class PartInfo:
    """A part, as `misstep parts` shows it."""

    kind: str
    name: str
    help: str
    options: tuple[OptionInfo, ...]
    origin: str
    """The package that brings it."""


def option(default: T, help: str) -> T:
    """Declares a field of a part with its default and its help."""
    return dataclasses.field(default=default, metadata={"help": help})


def make_part(kind: str, text: str) -> Any:
    """The part that `NAME:option=value,...` describes."""
    name, _, rest = text.partition(":")
    cls = part_class(kind, name)
    fields = [field for field in dataclasses.fields(cls) if field.init]
    # File names may have `=` in them, such as those of checkpoints: `epoch=112-step=98083.ckpt`.
    takes_path = bool(fields) and typing.get_type_hints(cls)[fields[0].name] is Path
    given: dict[str, str] = {}
    for at, word in enumerate(_split(rest)):
        key, equals, value = word.partition("=")
        if not equals or "(" in key or (at == 0 and takes_path and not _is_option(key, fields)):
            if at >= 1 or not fields:
                raise InputError(f"{kind} `{text}`: `{word}` has no option name; write `option=value`")
            key, value = fields[0].name, word
        key = _option_name(key)
        if key in given:
            raise InputError(f"{kind} `{text}`: option `{key}` is given twice; keep one")
        given[key] = value.strip()
    return build_part(kind, name, given)


def _split(text: str) -> list[str]:
    """At commas, but not inside brackets: values may be searches such as `eager([f(x, y)], g=1)`."""
    words: list[str] = []
    depth = 0
    for piece in text.split(",") if text else []:
        if depth > 0:
            words[-1] += f",{piece}"
        else:
            words.append(piece)
        depth += sum(map(piece.count, "([")) - sum(map(piece.count, ")]"))
    return words


def _option_name(text: str) -> str:
    return text.strip().replace("-", "_")


def _is_option(text: str, fields: Sequence[dataclasses.Field[Any]]) -> bool:
    return _option_name(text) in {field.name for field in fields}


def build_part(kind: str, name: str, options: Mapping[str, object]) -> Any:
    """The part with these options; texts are read as the option's type says."""
    cls = part_class(kind, name)
    hints = typing.get_type_hints(cls)
    known = [field.name for field in dataclasses.fields(cls) if field.init]
    values: dict[str, object] = {}
    for key, value in options.items():
        if key not in known:
            hint = did_you_mean(key, known) or (f"options: {', '.join(known)}" if known else "it has none")
            raise InputError(f"{kind} `{name}` has no option `{key}`; {hint}")
        values[key] = _read_value(value, hints[key], f"{kind} `{name}`, option `{key}`")
    for field in dataclasses.fields(cls):
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if field.init and required and field.name not in values:
            raise InputError(
                f"{kind} `{name}` needs the option `{field.name}`; write `{name}:{field.name}=...`"
            )
    return cls(**values)


def part_class(kind: str, name: str) -> type[Any]:
    """The class behind a name."""
    found = _entries(kind)
    if name not in found:
        hint = did_you_mean(name, found) or f"known: {', '.join(sorted(found))}"
        raise InputError(f"unknown {kind} `{name}`; {hint} (`misstep parts` shows all)")
    return _load(found[name])


def list_parts(kind: str) -> list[PartInfo]:
    """All parts of a kind, by name."""
    return [_describe(kind, entry) for _, entry in sorted(_entries(kind).items())]


def _entries(kind: str) -> dict[str, EntryPoint]:
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS) or f"kinds: {', '.join(KINDS)}"
        raise InputError(f"unknown kind of part `{kind}`; {hint}")
    return _installed(kind)


@cache
def _installed(kind: str) -> dict[str, EntryPoint]:
    """Looking through all installed packages takes a while, and they do not change meanwhile."""
    return {entry.name: entry for entry in entry_points(group=f"misstep.{kind}")}


def _load(entry: EntryPoint) -> type[Any]:
    try:
        cls = entry.load()
    except Exception as error:
        raise InputError(
            f"part `{entry.name}` of {_origin(entry)} cannot be loaded: {error}; update that package"
        ) from error
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        raise InputError(f"part `{entry.name}` of {_origin(entry)} is no dataclass; tell its authors")
    return cls


def _origin(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value


def _describe(kind: str, entry: EntryPoint) -> PartInfo:
    cls = _load(entry)
    hints = typing.get_type_hints(cls)
    options = tuple(
        OptionInfo(
            field.name,
            type_text(hints[field.name]),
            None if field.default is dataclasses.MISSING else field.default,
            field.metadata.get("help", ""),
        )
        for field in dataclasses.fields(cls)
        if field.init
    )
    return PartInfo(kind, entry.name, inspect.getdoc(cls) or "", options, _origin(entry))


def type_text(hint: Any) -> str:
    """A type as users write its values: `lmcut|blind`, `int`."""
    if typing.get_origin(hint) is typing.Literal:
        return "|".join(map(str, typing.get_args(hint)))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return "|".join("none" if part is type(None) else type_text(part) for part in typing.get_args(hint))
    return getattr(hint, "__name__", str(hint))


def _read_value(value: object, hint: Any, where: str) -> object:
    if not isinstance(value, str):
        return value
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        if value not in args:
            choices = ", ".join(map(str, args))
            raise InputError(
                f"{where}: `{value}` is not one of {choices}; {did_you_mean(value, args) or 'pick one'}"
            )
        return value
    if origin in (typing.Union, types.UnionType):
        if value == "none" and type(None) in args:
            return None
        hint = next(part for part in args if part is not type(None))
    if hint is bool:
        if value not in ("true", "false"):
            raise InputError(f"{where}: `{value}` is neither true nor false")
        return value == "true"
    if hint in (int, float):
        try:
            number = hint(value)
        except ValueError:
            raise InputError(f"{where}: `{value}` is not a number ({hint.__name__})") from None
        if not 0 <= number < _MAX_NUMBER:  # also false for NaN
            raise InputError(f"{where}: {value} is not between 0 and {_MAX_NUMBER - 1}")
        return number
    if hint is Path:
        return Path(value)
    return value
