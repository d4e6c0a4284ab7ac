"""The plan of a campaign: what its file asks for, as a stream of jobs."""

import dataclasses
import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from misstep.campaign.files import FILE_FIELDS, Digests
from misstep.campaign.job import CampaignJob, job_id
from misstep.campaign.names import label, policy_texts, task_files
from misstep.config import Config
from misstep.errors import InputError
from misstep.support.suggest import did_you_mean

_WHAT = ("domain", "problems", "models", "policies")
"""What is tested; in the file itself, or in each of its `[[task]]` tables."""
_AROUND = ("seeds", "out", "tries", "limit_seconds", "limit_memory_mb", "keep_records")
_OPTIONS = tuple(
    each.name
    for each in dataclasses.fields(Config)
    if each.init and each.name not in ("domain", "problem", "model", "policy", "seed")
)
_SEVERAL = ("oracle", "constant")
"""Options that take several values at once: a list is one value of theirs."""
DEFAULT = "default"
"""The name of the configuration where the file names none."""
_MOST_SEEDS = 10**6


@dataclass(frozen=True, slots=True)
class Limits:
    """When a job is ended by force. None is no limit."""

    seconds: float | None = None
    memory_mb: int | None = None


class Planned(Protocol):
    """What a coordinator needs to know of a campaign: that of a file, or one that a program thought out."""

    @property
    def file(self) -> Path:
        """Where people find out what is asked for."""
        ...

    @property
    def out(self) -> Path:
        """The directory of the database and the records."""
        ...

    @property
    def tries(self) -> int:
        """How often a job is begun at most."""
        ...

    @property
    def limits(self) -> Limits:
        """When a job is ended by force."""
        ...

    @property
    def keeps_all_records(self) -> bool:
        """Whether records of tests that found nothing are kept."""
        ...

    def jobs(self, digests: Digests | None = None) -> Iterator[CampaignJob]:
        """All jobs, each once."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """A campaign as its file describes it."""

    file: Path
    out: Path
    """The directory of the database and the records."""
    seeds: tuple[int, ...]
    tasks: tuple[Mapping[str, Any], ...]
    configurations: Mapping[str, Mapping[str, Any]]
    tries: int
    limits: Limits
    keeps_all_records: bool = True
    """Whether records of tests that found nothing are kept."""

    def jobs(self, digests: Digests | None = None) -> Iterator[CampaignJob]:
        """All jobs, each once, one after the other; InputError says what in the file is wrong."""
        digests, seen = digests or Digests(), dict[str, str]()
        for table in self.tasks:
            where = f"{self.file}: [[task]]" if len(self.tasks) > 1 else str(self.file)
            policies = policy_texts(table.get("policies", []), self.file, where=where)
            bases = dict(self._bases(table))
            for (domain, problem, model), (name, base) in itertools.product(
                task_files(table, self.file, where=where), bases.items()
            ):
                made = dataclasses.replace(base, domain=domain, problem=problem, model=model)
                subject = problem or model or domain
                assert subject is not None
                task = label(subject, self.file, prefix=table.get("name"))
                for policy, (turn, seed) in itertools.product(policies, enumerate(self.seeds)):
                    config = made.replace(policy=policy.text, seed=seed)
                    id = job_id(config, task=task, policy=policy.label, digests=digests)
                    if id in seen:
                        self._refuse_twins(seen[id], name, task)
                        continue
                    seen[id] = name
                    size = subject.stat().st_size
                    yield CampaignJob(id, task, policy.label, name, seed, turn, size, config)

    def _refuse_twins(self, one: str, other: str, task: str) -> None:
        if one != other:
            raise InputError(
                f"{self.file}: configurations `{one}` and `{other}` ask for the same test of {task}; drop one of them"
            )

    def _bases(self, table: Mapping[str, Any]) -> Iterator[tuple[str, Config]]:
        """The configurations of a task by name, with a task, policy and seed that are still to be replaced."""
        what = {"model": "any"} if "models" in table else {"domain": "any"}
        for name, own in self.configurations.items():
            where = f"{self.file}: configuration `{name}`"
            for words, options in _multiplied({**_options(table), **own}, where=where):
                for field in FILE_FIELDS:
                    if field in options:
                        options[field] = str((self.file.parent / str(options[field])).resolve())
                # Words alone are enough where there is only one configuration.
                names = words if words and name == DEFAULT else [name, *words]
                yield " ".join(names), Config.from_table(options | what, where=where)


def read_plan(file: Path, *, out: Path | None = None) -> Plan:
    """The plan in a TOML file; `out` goes before what the file says."""
    table = _read(file)
    known = (*_WHAT, *_AROUND, *_OPTIONS, "task", "configuration")
    _refuse_unknown(table, known, where=str(file))
    named = _tables(table.get("configuration", {}), f"{file}: `configuration`")
    for name, options in named.items():
        _refuse_unknown(options, _OPTIONS, where=f"{file}: configuration `{name}`")
    return Plan(
        file=file,
        out=out or file.parent / str(table.get("out", f"{file.stem}-runs")),
        seeds=_seeds(table.get("seeds", 1), str(file)),
        tasks=_tasks(table, file),
        configurations=named or {DEFAULT: {}},
        tries=int(_number(table, "tries", str(file), least=1, default=3)),
        limits=Limits(
            _number(table, "limit_seconds", str(file), least=0.001, default=None),
            _whole(_number(table, "limit_memory_mb", str(file), least=1, default=None)),
        ),
        keeps_all_records=_choice(table, "keep_records", str(file), ("all", "bugs")) == "all",
    )


_LARGEST = 10**9
"""Of limits and tries: more than anybody waits for, and less than counters hold."""


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}; name the campaign's TOML file") from None
    except (ValueError, RecursionError) as error:  # also dates that do not exist, lists without end
        raise InputError(f"{file}: not a TOML file: {error}") from None


def _tasks(table: Mapping[str, Any], file: Path) -> tuple[Mapping[str, Any], ...]:
    """The task tables; what the file says at its top is the default of each, or the only one."""
    top = {name: table[name] for name in (*_WHAT, *_OPTIONS) if name in table}
    inner = table.get("task", [])
    if not isinstance(inner, list) or not all(isinstance(each, dict) for each in inner):
        raise InputError(f"{file}: `task` is {inner!r:.80}; write [[task]] above each task's keys")
    for number, each in enumerate(inner, start=1):
        _refuse_unknown(each, (*_WHAT, *_OPTIONS, "name"), where=f"{file}: [[task]] number {number}")
    tasks = tuple({**top, **each} for each in inner) or (top,)
    for each in tasks:
        if "policies" not in each:
            raise InputError(
                f'{file}: `policies` is missing; add a line such as policies = ["asnet:models/*.policy"]'
            )
        if "domain" not in each and "models" not in each:
            raise InputError(f"{file}: there is nothing to test; give `domain` and `problems`, or `models`")
        if "models" in each and ("domain" in each or "problems" in each):
            raise InputError(
                f"{file}: a task is of PDDL or of JANI; give `models`, or `domain` and `problems`, not both"
            )
    return tasks


def _options(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name in _OPTIONS}


def _multiplied(options: Mapping[str, Any], *, where: str) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Every choice among lists where an option takes one value, with the words that tell them apart."""
    lists: dict[str, list[Any]] = {}
    for name, value in options.items():
        is_choice = isinstance(value, list) and (
            name not in _SEVERAL or any(isinstance(item, list) for item in value)
        )
        if is_choice:
            if not value:
                raise InputError(f"{where}: `{name}` is an empty list; give a value, or leave the line out")
            lists[name] = value
    for values in itertools.product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        yield [f"{name}={_word(value)}" for name, value in chosen.items()], {**options, **chosen}


def _word(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _seeds(value: object, where: str) -> tuple[int, ...]:
    """A count stands for that many seeds from 0 on."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_SEEDS:
        return tuple(range(value))
    if isinstance(value, list) and value and all(type(seed) is int and seed >= 0 for seed in value):
        return tuple(dict.fromkeys(value))
    raise InputError(
        f"{where}: `seeds` is {value!r:.80}; give how many (seeds = 5) or which ones (seeds = [1, 2, 3])"
    )


def _number(table: Mapping[str, Any], name: str, where: str, *, least: float, default: float | None) -> Any:
    value = table.get(name, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or (is_number and least <= value <= _LARGEST):
        return value
    raise InputError(f"{where}: `{name}` is {value!r:.80}; give a number from {least} to {_LARGEST}")


def _choice(table: Mapping[str, Any], name: str, where: str, known: Sequence[str]) -> str:
    value = table.get(name, known[0])
    if value not in known:
        raise InputError(f"{where}: `{name}` is {value!r:.80}; choose among {', '.join(known)}")
    return str(value)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _tables(value: object, where: str) -> dict[str, dict[str, Any]]:
    if isinstance(value, dict) and all(isinstance(each, dict) for each in value.values()):
        return value
    raise InputError(f"{where} is {value!r:.80}; write [configuration.NAME] above the options of each")


def _refuse_unknown(table: Mapping[str, Any], known: Sequence[str], *, where: str) -> None:
    for name, value in table.items():
        if name not in known:
            hint = did_you_mean(name, known) or "docs/campaigns.md shows all keys"
            raise InputError(f"{where}: unknown key `{name}` (= {value!r:.60}); {hint}")
