"""Config: all that a test was asked to do, as one typed value. Every default stands here and nowhere else.

A `Config` comes from the options of a command, from TOML, from the `config.toml` of an old record, or from
Python; it pickles, so other processes can run it. Files are named, never held.
"""

import dataclasses
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from misstep.errors import InputError
from misstep.plugins import option
from misstep.statistics import CONFIDENCE
from misstep.support.plain import read_fields, to_plain
from misstep.support.suggest import did_you_mean

if TYPE_CHECKING:
    from misstep._core import Budget

DEFAULT_ORACLE = (
    "landmarks+abstraction+dead-ends+greedy+improve/ehc+undo:failing=true"
    "+planner:astar:lmcut,effort=2e7+lookahead"
)
_MOST = 2**31


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to test and how. None is no limit, or absent.

    A test is of a policy on a classical task (`domain` and `problem`, or a SAS file alone as `domain`) or on
    a JANI model (`model`). Options that only one of the two kinds understands are named in `TASK_ONLY` and
    `MODEL_ONLY`; giving one to the other kind is an error.
    """

    domain: Path | None = option(None, "A PDDL domain, or a SAS file without a problem.")
    problem: Path | None = option(None, "A PDDL problem.")
    model: Path | None = option(None, "A JANI model.")
    policy: str = option(
        "",
        "The policy as NAME:VALUE, such as asnet:FILE or, on JANI models, nnet:FILE; `misstep parts policy` and "
        "`misstep parts safety-policy` list all.",
    )

    pool: int | None = option(None, "The number of test states; by default 100, with the classic fuzzer 200.")
    pool_file: Path | None = option(None, "Test exactly the states in this pool file.")
    fuzzer: str | None = option(
        None, "How test states are made; by default `refined` on PDDL tasks, `greedy` on JANI models."
    )
    bias: str | None = option(
        None,
        "Guides fuzzing: none, plan-length, loopiness, detour or surface, with :h=ff or :h=star. By default "
        "none, with the classic fuzzer plan-length.",
    )
    oracle: tuple[str, ...] = option(
        (DEFAULT_ORACLE,), "The oracles, NAME[:option=value][+NAME]; may be repeated."
    )
    objective: str = option(
        "quantitative",
        "What counts as a bug. `quantitative`: paying too much; `qualitative`: only not reaching the goal.",
    )
    interleave: bool = option(False, "Test each state as soon as it is in the pool.")
    effort: float = option(
        64.0,
        "How many times their own effort oracles may spend on states that stay unknown; with 1 a test is short.",
    )
    extend: bool = option(
        False, "With --seconds, spend what is left of the time on states that are still unknown."
    )
    gap: bool = option(False, "Continue with known bugs to prove larger gaps.")
    faults: bool = option(True, "Find the decision at fault in every bug, by searches if necessary.")
    unit_cost: bool = option(False, "Ignore action costs: every action costs 1.")
    recheck: bool = option(True, "Ask about some states twice, to notice policies that decide at random.")
    isolate: bool | None = option(
        None, "Run the policy in a process of its own; by default python:, torch: and onnx: do."
    )
    call_seconds: float = option(
        60.0, "A policy that takes more seconds than this for one state has failed there."
    )

    properties: Path | None = option(None, "A file with more properties, such as policy tests for PlaJA.")
    property_name: str | None = option(
        None, "The property to test, by name or number; by default the first one that is a policy test."
    )
    unsafe: str | None = option(
        None, "What to avoid: the name of a property (F p, G p) or a JSON expression."
    )
    goal: str | None = option(None, "What to reach: the name of a property (F p) or a JSON expression.")
    constant: tuple[str, ...] = option((), "NAME=VALUE for a constant of the model; may be repeated.")
    ignore_rates: bool = option(False, "Accept ma and ctmc models, and ignore their rates.")
    integers: str = option(
        "error", "What to do if an integer leaves its bounds: error, clip it, or drop the outcome."
    )
    reals: str = option("allow", "The same for reals: error, clip, drop or allow.")
    keep_impossible: bool = option(False, "Treat outcomes of probability 0 as possible, too.")
    box_points: int = option(0, "How many points stand for a box of reals; 0 refuses such models.")
    outcome_mode: str = option(
        "label",
        "How outcomes of runs are drawn: label (all outcomes equally likely) or edge (by probability).",
    )
    filter: bool | None = option(
        None, "Let the policy choose only among applicable actions; by default as its file says."
    )
    runs: int = option(100, "The number of policy runs.")
    decider: str = option(
        "level", "Decides whether states are safe; `misstep parts decider` lists all deciders."
    )
    radius: int | None = option(
        None, "How often a safe strategy may deviate from the policy on a run; inf for no limit."
    )
    horizon: int | None = option(
        None, "Only look this many steps ahead: later states count as safe. Real-valued models need it."
    )
    start_states: int = option(
        1000, "How many start states are drawn if the model gives a condition for them."
    )
    shield: bool = option(False, "Also test the policy behind a shield, which overrules unsafe actions.")

    max_steps: int | None = option(
        None, "The most steps of a run; by default 10000 on PDDL tasks, 1000 on JANI models."
    )
    seconds: float | None = option(None, "Time limit for everything together; none by default.")
    memory_mb: int | None = option(
        None, "Memory limit in MB, for misstep and also for the policy's process; none by default."
    )
    seed: int = option(0, "The seed of all random choices: the same seed gives the same result.")
    confidence: float = option(CONFIDENCE, "The confidence of statements about the bug rate.")
    until_width: float | None = option(
        None,
        "Stop early when the bug rate is known this precisely (0.1: to within 10 percentage points).",
    )

    is_safety: bool = field(init=False, repr=False, compare=False, default=False)
    """Whether a JANI model is tested."""
    subject: str = field(init=False, repr=False, compare=False, default="task")
    """The name of what is tested, for people."""
    longest_run: int = field(init=False, repr=False, compare=False, default=0)
    """The steps after which a run is cut off."""

    def __post_init__(self) -> None:
        longest = self.max_steps or (1_000 if self.model is not None else 10_000)
        object.__setattr__(self, "longest_run", longest)
        object.__setattr__(self, "is_safety", self.model is not None)
        named = self.model or self.problem or self.domain
        object.__setattr__(self, "subject", "task" if named is None else named.name)
        self._check_kind()
        self._check_numbers()
        self._check_texts()

    def budget(self) -> "Budget":
        """What the test may spend, from now on."""
        from misstep._core import Budget  # not above: what was asked is read without the core, too

        memory = self.memory_mb
        return Budget(seconds=self.seconds, memory_mb=memory, growth_mb=memory)

    def replace(self, **changes: Any) -> Self:
        """The same with some fields changed; None leaves a field as it is, texts for paths are fine."""
        given = {name: value for name, value in changes.items() if value is not None}
        paths = {name: Path(value) for name, value in given.items() if name in _PATHS}
        return dataclasses.replace(self, **{**given, **paths})

    def absolute(self, **changes: Any) -> Self:
        """The same with some fields changed, and with paths that hold from any directory."""
        paths = {name: value.resolve() for name in _PATHS if (value := getattr(self, name)) is not None}
        return dataclasses.replace(self, **{**paths, **changes})

    def as_table(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as plain data."""
        given = {each.name: each.default for each in dataclasses.fields(self) if each.init}
        changed = {name: getattr(self, name) for name, usual in given.items() if getattr(self, name) != usual}
        # Most are texts, numbers and paths, for which nothing has to be looked at more closely.
        paths = {name: str(value) for name, value in changed.items() if isinstance(value, Path)}
        return {
            name: value if isinstance(value, str | int) else paths.get(name) or to_plain(value)
            for name, value in changed.items()
        }

    def to_toml(self) -> str:
        """As a TOML file that `read` takes."""
        return "".join(f"{name} = {_toml(value)}\n" for name, value in self.as_table().items())

    @classmethod
    def from_table(cls, table: Mapping[str, Any], *, where: str) -> Self:
        """From plain data; InputError says what is wrong with it."""
        known = [each.name for each in dataclasses.fields(cls) if each.init]
        for name in table:
            if name not in known:
                hint = did_you_mean(name, known) or "`misstep test --help` shows all options"
                raise InputError(f"{where}: unknown option `{name}`; {hint}")
        values = {name: _lenient(name, value) for name, value in table.items()}
        try:
            made: Self = read_fields(cls, values)
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
        return made

    @classmethod
    def read(cls, file: str | Path) -> Self:
        """From a TOML file: its top level, or the table `misstep` or `tool.misstep` where it has one."""
        return cls.from_table(read_table(file), where=str(file))

    @classmethod
    def from_toml(cls, text: str, *, where: str) -> Self:
        """From the text of a TOML file."""
        return cls.from_table(_table(text, where), where=where)

    def _check_kind(self) -> None:
        if self.model is not None and (self.domain is not None or self.problem is not None):
            raise InputError(
                "a test is of a JANI model or of a PDDL task; give `model` or `domain`, not both"
            )
        wrong, kind = (TASK_ONLY, "a PDDL task") if self.is_safety else (MODEL_ONLY, "a JANI model")
        for each in dataclasses.fields(self):
            if each.name in wrong and getattr(self, each.name) != each.default:
                raise InputError(f"option `{each.name}` is for {kind} only; leave it out")

    def _check_texts(self) -> None:
        """A record is UTF-8 text; names of files that are not could not be written there."""
        for name, value in vars(self).items():
            if isinstance(value, str | Path) and not str(value).isascii():
                try:
                    str(value).encode()
                except UnicodeEncodeError:
                    raise InputError(
                        f"option `{name}` is {str(value)!a}, which is no UTF-8 text; rename the file"
                    ) from None

    def _check_numbers(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is None:
                continue
            if not (least <= value < _MOST) or math.isnan(value):
                raise InputError(f"option `{name}` is {value}; it must be at least {least} and below {_MOST}")
        for name in ("confidence", "until_width"):
            if (value := getattr(self, name)) is not None and not 0 < value < 1:
                raise InputError(f"option `{name}` is {value}; it must lie between 0 and 1")


TASK_ONLY = frozenset(
    "domain problem pool_file bias oracle objective interleave effort extend gap faults unit_cost recheck pool".split()
)
"""Options that only tests on classical tasks understand."""
MODEL_ONLY = frozenset(
    "model properties property_name unsafe goal constant ignore_rates integers reals keep_impossible "
    "box_points outcome_mode filter runs decider radius horizon start_states shield".split()
)
"""Options that only tests on JANI models understand."""
AROUND = frozenset(("fail", "jobs", "junit", "corpus"))
"""What may stand in an options file beside the fields of a configuration: what commands do around tests."""
_PATHS = ("domain", "problem", "model", "pool_file", "properties")
_LEAST = {
    "pool": 1,
    "runs": 1,
    "start_states": 1,
    "max_steps": 1,
    "call_seconds": 0.001,
    "seconds": 0,
    "effort": 1,
    "memory_mb": 1,
    "seed": 0,
    "radius": 0,
    "horizon": 0,
    "box_points": 0,
}


def read_table(file: str | Path) -> dict[str, Any]:
    """The options in a TOML file as they stand there; they may need others to make sense."""
    return {name: value for name, value in _file_table(file).items() if name not in AROUND}


def read_around(file: str | Path) -> dict[str, Any]:
    """What a TOML file says about things that are done around tests."""
    return {name: value for name, value in _file_table(file).items() if name in AROUND}


def _file_table(file: str | Path) -> dict[str, Any]:
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not a TOML file: {error}") from None
    return _table(text, str(file))


def _table(text: str, where: str) -> dict[str, Any]:
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also dates that do not exist, numbers without end
        raise InputError(f"{where}: not a TOML file: {error}") from None
    tools = table.get("tool")
    inner = table.get("misstep") or (tools.get("misstep") if isinstance(tools, dict) else None)
    if inner is None:
        return table
    if not isinstance(inner, dict):
        raise InputError(f"{where}: `misstep` is {inner!r}; options stand in a table [misstep]")
    # [misstep.fail] may stand below options that are at the top.
    return {name: value for name, value in table.items() if not isinstance(value, dict)} | inner


def _lenient(name: str, value: Any) -> Any:
    """What people write and what is meant: paths as Path, one oracle as a text, the radius `inf`."""
    if isinstance(value, Path):
        return str(value)
    if name in ("oracle", "constant"):
        return [value] if isinstance(value, str) else list(value) if isinstance(value, tuple) else value
    if name in ("radius", "seconds") and value in ("inf", "infinity", math.inf):
        return None
    if name == "radius" and isinstance(value, str) and value.isdecimal():
        return int(value)
    return value


def _toml(value: object) -> str:
    """JSON's texts, numbers, truth values and lists are TOML's, but for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
