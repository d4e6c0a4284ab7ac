"""Typed values as plain data and back: what events and configurations are written with.

Dataclasses become tables, tuples lists, paths and enumerations texts, and infinity null. Reading needs the
type, so a value that was written comes back as an equal one of the same type.
"""

import contextlib
import dataclasses
import enum
import functools
import json
import math
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from misstep.errors import InputError

T = TypeVar("T")


def to_plain(value: object) -> Any:
    """The value as lists, tables, texts, numbers and None."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, float):
        return None if value == math.inf else int(value) if value == int(value) else value
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, Path | enum.Enum):
        return str(value)
    if kind is not type and dataclasses.is_dataclass(kind):
        return {name: to_plain(getattr(value, name)) for name in _written(kind)}
    return value


_PLAIN = frozenset((str, int, bool, type(None)))


@functools.cache
def _written(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a dataclass that are written."""
    return tuple(field.name for field in dataclasses.fields(kind) if field.metadata.get("plain", True))


def from_plain(kind: type[T], value: object) -> T:
    """The value of this type that `to_plain` wrote so; ValueError where it is none."""
    return typing.cast(T, _read(kind, value))


def _read(hint: Any, value: Any) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object:
        return value
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        return _read(next(arg for arg in args if arg is not type(None)), value)
    if origin is tuple:
        _require(isinstance(value, list), "a list", value)
        inner = [args[0]] * len(value) if args[-1] is Ellipsis else list(args)
        _require(len(inner) == len(value), f"{len(inner)} items", value)
        return tuple(_read(arg, item) for arg, item in zip(inner, value, strict=True))
    if origin is dict:
        _require(isinstance(value, dict), "a table", value)
        return {key: _read(args[1], item) for key, item in value.items()}
    if dataclasses.is_dataclass(hint):
        _require(isinstance(value, dict), "a table", value)
        return read_fields(hint, value)
    return _read_simple(hint, value)


def _read_simple(hint: Any, value: Any) -> Any:
    if hint is float:
        if value is None:
            return math.inf
        _require(isinstance(value, int | float) and not isinstance(value, bool), "a number", value)
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"expected a number that is not too large, found {value!r:.80}") from None
    if hint is int:
        _require(isinstance(value, int) and not isinstance(value, bool), "a whole number", value)
        return value
    if hint is bool:
        _require(isinstance(value, bool), "true or false", value)
        return value
    _require(isinstance(value, str), "a text", value)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        _require(value in [member.value for member in hint], f"one of {[str(m) for m in hint]}", value)
    return value if hint is str else hint(value)


def read_fields(kind: Any, table: dict[str, Any]) -> Any:
    """A dataclass from a table; fields that the table leaves out have their defaults, others are errors."""
    _require(isinstance(table, dict), "a table", table)
    hints = _given(kind)
    if unknown := sorted(set(table) - hints.keys()):
        raise ValueError(f"unknown field `{unknown[0]}`")
    values = {}
    for name, value in table.items():
        try:
            values[name] = _read(hints[name], value)
        except ValueError as error:
            raise ValueError(f"`{name}`: {error}") from None
    try:
        return kind(**values)
    except TypeError as error:  # a field without default is missing
        raise ValueError(str(error)) from None


@functools.cache
def _given(kind: type[Any]) -> dict[str, Any]:
    """The types of the fields that a dataclass is made with."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.init}


def is_writable(value: object) -> bool:
    """Whether plain data can be written as UTF-8: what JSON calls a text may be half a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@contextlib.contextmanager
def reading(where: object) -> Iterator[None]:
    """Around the use of what misstep once wrote: InputError where it is not as it was written."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InputError(f"{where}: is damaged ({error!s:.200}); choose another --out") from None


def _require(fits: bool, wanted: str, value: object) -> None:
    if not fits:
        raise ValueError(f"expected {wanted}, found {value!r:.80}")
