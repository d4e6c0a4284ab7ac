"""The options of commands that test, made from the fields of `Config`, and those around tests.

Help and defaults of the former stand only there.
"""

import dataclasses
import typing
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from misstep.cli.options import MOST_JOBS
from misstep.cli.timing import left_of
from misstep.config import MODEL_ONLY, TASK_ONLY, Config, read_around, read_table
from misstep.errors import InputError
from misstep.reports.rules import Rules

_POSITIONAL = frozenset({"domain", "problem", "model"})
_NAMES = {"property_name": "--property"}
_MODELS = Group("JANI models only", sort_key=2)
_TASKS = Group("PDDL tasks only", sort_key=1)
_CHECKS = Group("Several problems and continuous integration", sort_key=3)
FILES = ("misstep.toml", "pyproject.toml")
"""Where options may stand; the first file of these in the current directory counts."""


def _options_class(name: str, fields: frozenset[str]) -> Any:
    """A dataclass whose fields are options: not given is None, so that a file may give them instead."""
    hints = typing.get_type_hints(Config)
    made: list[tuple[str, Any, Any]] = []
    for field in dataclasses.fields(Config):
        if field.name not in fields or not field.init:
            continue
        hint, default = hints[field.name], field.default
        if field.name == "radius":
            hint, default = str | None, "inf"
        parameter = Parameter(
            name=_NAMES.get(field.name),
            help=field.metadata["help"],
            negative="" if (default is False and field.name != "extend") or hint == tuple[str, ...] else None,
            show_default=_shown(default),
            **_group(field.name, fields),
        )
        optional = list[str] | None if hint == tuple[str, ...] else typing.Optional[hint]  # noqa: UP045
        made.append((field.name, Annotated[optional, parameter], dataclasses.field(default=None)))
    options = dataclasses.make_dataclass(name, made, frozen=True, kw_only=True)
    options.__module__ = __name__  # Python 3.11 says `types`, which the command line takes for a simple type
    return options


def _group(name: str, fields: frozenset[str]) -> dict[str, Any]:
    """Where the help shows an option; nothing is the usual place."""
    if name in MODEL_ONLY and TASK_ONLY & fields:
        return {"group": _MODELS}
    return {"group": _TASKS} if name in TASK_ONLY and MODEL_ONLY & fields else {}


def _shown(default: object) -> Any:
    """What the help shows as default; nothing where that is absent or off."""
    if default is None or default is False or default in ("", ()):
        return False
    text = "+".join(map(str, default)) if isinstance(default, tuple) else str(default)
    return lambda _: text


_ALL = frozenset(field.name for field in dataclasses.fields(Config) if field.init) - _POSITIONAL
_ASKING = frozenset("policy unit_cost recheck isolate call_seconds seconds memory_mb".split())
TestOptions = _options_class("TestOptions", _ALL)
FuzzOptions = _options_class(
    "FuzzOptions",
    frozenset(
        "policy pool fuzzer bias unit_cost recheck isolate call_seconds seconds memory_mb seed".split()
    ),
)
RunOptions = _options_class(
    "RunOptions",
    frozenset("policy unit_cost recheck isolate call_seconds max_steps seconds memory_mb".split()),
)
SafetyOptions = _options_class("SafetyOptions", _ALL - TASK_ONLY)
_READING = frozenset(
    "properties property_name unsafe goal constant ignore_rates integers reals keep_impossible box_points "
    "outcome_mode seed".split()
)
ModelOptions = _options_class("ModelOptions", _READING)
DecideOptions = _options_class(
    "DecideOptions",
    _READING
    | frozenset("policy isolate call_seconds decider radius horizon filter seconds memory_mb".split()),
)
ExperimentOptions = _options_class("ExperimentOptions", _READING | frozenset("policy filter horizon".split()))
ServeOptions = _options_class("ServeOptions", _READING | frozenset("policy filter".split()))
ShieldOptions = _options_class(
    "ShieldOptions",
    _READING | frozenset("policy decider filter runs start_states max_steps seconds memory_mb".split()),
)


def make_config(options: Any, *, file: Path | None = None, **named: Any) -> Config:
    """The configuration of a command: what was typed, else what the file says, else the defaults."""
    table = {} if (source := file or _found()) is None else _table(source, named)
    given = {
        field.name: value
        for field in dataclasses.fields(options)
        if (value := getattr(options, field.name)) is not None
    }
    table |= {name: value for name, value in named.items() if value is not None} | given
    config = Config.from_table(
        table, where="command line" if source is None else f"command line and {source}"
    )
    return config if config.seconds is None else config.replace(seconds=left_of(config.seconds))


def _found() -> Path | None:
    for name in FILES:
        path = Path(name)
        if path.is_file() and (name == FILES[0] or _has_options(path)):
            return path
    return None


def _has_options(project: Path) -> bool:
    """Whether the file of a project speaks of misstep; one that cannot be read is somebody else's concern."""
    try:
        return b"[tool.misstep" in project.read_bytes()
    except OSError:
        return False


def _table(path: Path, named: dict[str, Any]) -> dict[str, Any]:
    """The file's options, without those that make no sense for the kind of task that was named."""
    table = read_table(path)
    unfit = (
        TASK_ONLY if named.get("model") is not None else MODEL_ONLY if named.get("domain") is not None else ()
    )
    return {name: value for name, value in table.items() if name not in unfit}


def require_policy(config: Config) -> Config:
    """The configuration, if it names a policy."""
    if not config.policy and not config.is_safety:
        raise InputError("there is no policy to test; give one with --policy NAME:VALUE, such as asnet:FILE")
    return config


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """As they are typed; what is not given may stand in the options file."""

    jobs: Annotated[
        int | None,
        Parameter(
            group=_CHECKS,
            validator=Number(gte=1, lte=MOST_JOBS),
            show_default=lambda _: "1",
            help="How many problems are tested at the same time; with one problem, the number of threads for it. "
            "The results are the same, unless --seconds or --memory-mb ends the test.",
        ),
    ] = None
    live: Annotated[
        bool | None,
        Parameter(
            group=_CHECKS,
            show_default=False,
            help="Show the progress in a few lines of the terminal; --no-live shows one line.",
        ),
    ] = None
    fail_on: Annotated[
        list[str] | None,
        Parameter(
            group=_CHECKS,
            negative="",
            help="RULE=VALUE: exit code 1 only if a rule is broken, not for every bug. Rules: max_bug_rate=0.1, "
            "max_gap=5, new_families; may be repeated, or written into [misstep.fail] of the options file.",
        ),
    ] = None
    junit: Annotated[
        Path | None,
        Parameter(
            group=_CHECKS, help="Also write the result as JUnit XML, with one case for each family of bugs."
        ),
    ] = None
    corpus: Annotated[
        Path | None,
        Parameter(
            group=_CHECKS,
            help="A file of known bugs: they are tried first, new ones are added, and fixed ones are removed in time.",
        ),
    ] = None


Checks: TypeAlias = Annotated[CheckOptions, Parameter(name="*")]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What is done around the tests of one command."""

    jobs: int = 1
    live: bool = True
    rules: Rules | None = None
    """None where every bug is too much."""
    junit: Path | None = None
    corpus: Path | None = None


def make_check(options: CheckOptions, *, file: Path | None) -> Check:
    """What was typed, else what the file says."""
    source = file or _found()
    if source is None and options == CheckOptions():
        return Check()
    table: dict[str, Any] = {} if source is None else read_around(source)
    rules = table.get("fail", {})
    if not isinstance(rules, dict):
        raise InputError(
            f"{source}: `fail` should be a table, such as [misstep.fail] with max_bug_rate = 0.1"
        )
    jobs = options.jobs or table.get("jobs", 1)
    if not isinstance(jobs, int) or not 1 <= jobs <= MOST_JOBS:
        raise InputError(f"{source}: option `jobs` is {jobs!r}; it must be a number from 1 to {MOST_JOBS}")
    return Check(
        jobs=jobs,
        live=options.live is not False,
        rules=Rules.of(options.fail_on or (), rules) if rules or options.fail_on else None,
        junit=options.junit or _path(table, "junit"),
        corpus=options.corpus or _path(table, "corpus"),
    )


def _path(table: dict[str, Any], name: str) -> Path | None:
    value = table.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"option `{name}` is {value!r}; it must be the name of a file")
    return Path(value)
