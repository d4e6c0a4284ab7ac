"""Options around tests, mostly for continuous integration: they say what is done with results."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from misstep.cli.config_options import found_file
from misstep.config import read_around
from misstep.errors import InputError
from misstep.reports.rules import Rules

_MOST_JOBS = 1024
_GROUP = Group("Several problems and continuous integration", sort_key=3)


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """As they are typed; what is not given may stand in the options file."""

    jobs: Annotated[
        int | None,
        Parameter(
            group=_GROUP,
            validator=Number(gte=1, lte=_MOST_JOBS),
            show_default=lambda _: "1",
            help="So many problems at the same time; the results are the same.",
        ),
    ] = None
    fail_on: Annotated[
        list[str] | None,
        Parameter(
            group=_GROUP,
            negative="",
            help="RULE=VALUE: exit code 1 only where a rule is broken, not for every bug. Rules: max_bug_rate=0.1, "
            "max_gap=5, new_families; may be repeated, and may stand in [misstep.fail] of the options file.",
        ),
    ] = None
    junit: Annotated[
        Path | None,
        Parameter(group=_GROUP, help="Also write the result as JUnit XML: one case a family of bugs."),
    ] = None
    corpus: Annotated[
        Path | None,
        Parameter(
            group=_GROUP,
            help="A file of known bugs: they are tried first, new ones are added, fixed ones dropped in time.",
        ),
    ] = None


Checks: TypeAlias = Annotated[CheckOptions, Parameter(name="*")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What is done around the tests of one command."""

    jobs: int = 1
    rules: Rules = field(default_factory=Rules)
    junit: Path | None = None
    corpus: Path | None = None


def make_check(options: CheckOptions, *, file: Path | None) -> Check:
    """What was typed, else what the file says."""
    source = file or found_file()
    table: dict[str, Any] = {} if source is None else read_around(source)
    rules = table.get("fail", {})
    if not isinstance(rules, dict):
        raise InputError(
            f"{source}: `fail` should be a table, such as [misstep.fail] with max_bug_rate = 0.1"
        )
    jobs = options.jobs or table.get("jobs", 1)
    if not isinstance(jobs, int) or not 1 <= jobs <= _MOST_JOBS:
        raise InputError(f"{source}: option `jobs` is {jobs!r}; it must be a number from 1 to {_MOST_JOBS}")
    return Check(
        jobs=jobs,
        rules=Rules.of(options.fail_on or (), rules),
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
