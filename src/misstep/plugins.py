"""Finds parts by name: frozen dataclasses whose fields are their options and whose docstring is their help.

Parts register as entry points in the groups `misstep.KIND`; misstep's own come by the same route. The text
`NAME:option=value,option=value` makes one, and a value without a name belongs to the first option.
"""

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

from misstep.errors import InputError, MisstepError, PartError
from misstep.support.describe import describe_error
from misstep.support.suggest import did_you_mean, nearest

# Options count or limit something; more than this means a typing error.
_MAX_NUMBER = 2**31
_OURS = "misstep"
KINDS = (
    "search",
    "heuristic",
    "policy",
    "fuzzer",
    "bias",
    "oracle",
    "objective",
    "safety-policy",
    "safety-fuzzer",
    "decider",
    "teacher",
    "drawing",
    "generator",
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """One option of a part, as `misstep parts` shows it."""

    name: str
    type: str
    default: object
    help: str
    is_required: bool = False
    """Whether it has no default."""


@dataclass(frozen=True, slots=True)
class PartInfo:
    """A part, as `misstep parts` shows it."""

    kind: str
    name: str
    help: str
    options: tuple[OptionInfo, ...]
    origin: str
    """The package that brings it."""
    problem: str | None = None
    """Why it cannot be used, where that is so; there is nothing else to tell about it then."""


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


def split_options(text: str, known: Sequence[str], *, where: str) -> tuple[str, dict[str, str]]:
    """Takes `,option=value` off the end of a text as long as the option is known; what remains comes first.

    The rest may hold commas and equals signs of its own, as file names do: `a,b=c.pt,activation=tanh`.
    """
    given: dict[str, str] = {}
    while True:
        rest, comma, word = text.rpartition(",")
        key, equals, value = word.partition("=")
        key = _option_name(key)
        if not comma or not equals or key not in known:
            return text, given
        if key in given:
            raise InputError(f"{where}: option `{key}` is given twice; keep one")
        text, given[key] = rest, value.strip()


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


def make_policy_part(text: str, *, kind: str = "policy") -> Any:
    """The part of `NAME:VALUE` or `NAME:VALUE,option=value,...`.

    VALUE is the first option of the part. File names may hold anything, so `,option=value` is taken off the
    end only where the part has an option of this name; all that is before is VALUE.
    """
    name, _, rest = text.partition(":")
    if name not in _entries(kind) and (value := _value_of_zoo(kind, name)) is not None:
        raise InputError(f"unknown {kind} `{name}`; did you mean `zoo:{value}`? (`misstep parts` shows all)")
    if name not in _entries(kind) and Path(text).is_file():
        known = ", ".join(sorted(_entries(kind)))
        raise InputError(f"{kind} `{text}` is a file: write KIND:{text}, where KIND is one of {known}")
    cls = part_class(kind, name)
    options = [field for field in dataclasses.fields(cls) if field.init]
    value, given = split_options(rest, [field.name for field in options[1:]], where=f"policy `{text}`")
    if value and not options:
        raise InputError(f"policy `{name}` takes no value, but `{value}` was given; write `{name}`")
    if not value and options and options[0].default is dataclasses.MISSING:
        raise InputError(f"policy `{name}` needs a value; write `{name}:{options[0].name.upper()}`")
    return build_part(kind, name, {options[0].name: value} | given if value else given)


def _value_of_zoo(kind: str, name: str) -> str | None:
    """The trained policy that comes with misstep and is called so, or nearly so where no part is."""
    known = _entries(kind)
    names = getattr(_load(kind, known["zoo"]), "names", None) if "zoo" in known else None
    if names is None or did_you_mean(name, known):
        return None
    return nearest(name, names())


def part_class(kind: str, name: str) -> type[Any]:
    """The class behind a name."""
    found = _entries(kind)
    if name not in found:
        hint = did_you_mean(name, found) or f"known: {', '.join(sorted(found))}"
        raise InputError(f"unknown {kind} `{name}`; {hint} (`misstep parts` shows all)")
    return _load(kind, found[name])


def list_parts(kind: str) -> list[PartInfo]:
    """All parts of a kind, by name; one that cannot be loaded does not hide the others."""
    return [_describe(kind, entries) for _, entries in sorted(_entries(kind).items())]


def part_label(kind: str, part: object) -> str:
    """How messages call a part: by the name that users type, and by its package where that is not ours."""
    name, origin = getattr(part, "name", type(part).__name__), part_origin(kind, part)
    return f"{kind} `{name}`" if origin == _OURS else f"{kind} `{name}` of {origin}"


def part_origin(kind: str, part: object) -> str:
    """The installed package that brings a part; its module where it came as an object."""
    module = type(part).__module__
    if module == _OURS or module.startswith(f"{_OURS}."):
        return _OURS
    value = f"{module}:{type(part).__qualname__}"
    entries = (entry for named in _entries(kind).values() for entry in named)
    return next((_origin(entry) for entry in entries if entry.value == value), f"the module {module}")


def registered_names(kind: str, cls: type[Any]) -> list[str]:
    """The names by which users find a class, where it is installed as a part."""
    value = f"{cls.__module__}:{cls.__qualname__}"
    return [name for name, named in _entries(kind).items() if any(entry.value == value for entry in named)]


@contextmanager
def blaming(kind: str, part: object, doing: str | Callable[[], str]) -> Iterator[None]:
    """Turns whatever somebody else's part raises meanwhile into a PartError that names it and its package.

    Errors that misstep raises on purpose pass, and so do those of misstep's own parts: these are our defects.
    """
    try:
        yield
    except MisstepError:
        raise
    except Exception as error:
        if part_origin(kind, part) == _OURS:
            raise
        when = doing if isinstance(doing, str) else doing()
        raise PartError(
            f"{part_label(kind, part)} raised {describe_error(error)} when {when}; "
            "this is a defect of that part: tell its authors, or leave it out"
        ) from error


def require(kind: str, part: object, *needed: str) -> None:
    """PartError where a part lacks something that its kind must have."""
    for name in needed:
        if not hasattr(part, name):
            raise PartError(
                f"{part_label(kind, part)} has no `{name}`; every {kind} needs "
                f"{', '.join(f'`{word}`' for word in needed)}: tell its authors "
                f"(`misstep.testing.check_{kind}` shows them what is missing)"
            )


def _entries(kind: str) -> dict[str, list[EntryPoint]]:
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS) or f"kinds: {', '.join(KINDS)}"
        raise InputError(f"unknown kind of part `{kind}`; {hint}")
    return _installed(kind)


@cache
def _all_entries() -> dict[str, list[EntryPoint]]:
    """By kind. Looking through all installed packages takes a while, and they do not change meanwhile."""
    every = entry_points()
    # Names of groups have no hyphens.
    return {kind: list(every.select(group=f"{_OURS}.{kind.replace('-', '_')}")) for kind in KINDS}


@cache
def _installed(kind: str) -> dict[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for entry in _all_entries()[kind]:
        found.setdefault(entry.name, []).append(entry)
    return found


def _load(kind: str, entries: Sequence[EntryPoint]) -> type[Any]:
    """The class of a part; PartError where there is none, or where several packages claim the name."""
    entry = entries[0]
    where = f"{kind} `{entry.name}` of {_origin(entry)}"
    if len({other.value for other in entries}) > 1:
        origins = " and ".join(sorted(map(_origin, entries)))
        raise PartError(
            f"{kind} `{entry.name}` is brought by {origins}, so the name is not clear; uninstall one of them"
        )
    try:
        cls = entry.load()
    except (Exception, SystemExit) as error:
        raise PartError(
            f"{where} cannot be loaded: {describe_error(error)}; update or uninstall that package"
        ) from error
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        raise PartError(f"{where} is no dataclass ({entry.value}); tell its authors")
    return cls


@cache
def _origin(entry: EntryPoint) -> str:
    """The package of a part; reading its metadata takes longer than all else that making a part takes."""
    return entry.dist.name if entry.dist is not None else entry.value


def _describe(kind: str, entries: Sequence[EntryPoint]) -> PartInfo:
    entry = entries[0]
    try:
        cls = _load(kind, entries)
        hints = typing.get_type_hints(cls)
    except PartError as error:
        return PartInfo(kind, entry.name, "", (), _origin(entry), problem=str(error))
    options = tuple(
        OptionInfo(
            field.name,
            type_text(hints[field.name]),
            None if field.default is dataclasses.MISSING else field.default,
            field.metadata.get("help", ""),
            is_required=field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
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
        return _read_value(value, next(part for part in args if part is not type(None)), where)
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
