"""Events: what a test tells while it goes on. Reports and the command line see nothing else.

All are frozen and plain: texts, numbers and bounds, never native objects, so that what was written to a log
reads back as the same objects, without the task and without the policy.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from misstep.bound import Bound
from misstep.errors import InputError
from misstep.judge import Verdict
from misstep.support.plain import read_fields, to_plain


class Logged:
    """What all events share: a line of events.jsonl, which `from_json` reads back.

    All have `at`, the seconds since the start, and `effort`, the counted work of the oracles since then.
    """

    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        """The line; null is infinity."""
        line: dict[str, Any] = to_plain(self)
        return line


UNIT_COST_WARNING = "the policy was made for unit costs: every action counts as 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(Logged):
    """A test begins. `policy` and `oracles` as users type them."""

    event: str = field(default="started", init=False)
    task: str
    policy: str
    seed: int
    oracles: tuple[str, ...]
    kind: str = "task"
    """`task` or `model` (JANI)."""
    effort: float = 0.0
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(Logged):
    """Something that a user should know: a schema that was dropped, a switch that a policy asked for."""

    event: str = field(default="warning", init=False)
    text: str
    effort: float = 0.0
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolGrown(Logged):
    """States entered the pool. It is shown, but not logged: the pool has its own file."""

    event: str = field(default="pool", init=False)
    pool: int
    size: int | None = None
    effort: float = 0.0
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran(Logged):
    """A run of a policy under non-determinism ended (safety tests only; tasks have one run a pool state)."""

    event: str = field(default="run", init=False)
    run: int
    outcome: str
    steps: int
    reason: str | None = None
    """Why there was no decision where the run ended, although there was one to make."""
    state: dict[str, Any] | None = None
    """That state, where it is known."""
    effort: float = 0.0
    at: float = 0.0

    @property
    def is_unanswered(self) -> bool:
        """Whether the run says nothing of the policy: it failed, or stopped before its first decision."""
        return self.outcome == "failed" or (self.outcome == "stuck" and self.steps == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misstep:
    """The decision at fault, for people: after how many steps, what the policy did, what would be better.

    Where it could not be narrowed down to one decision, one of those from `step` to before `until` is at
    fault; then nothing is said of what the policy did and what would be better.
    """

    step: int
    until: int | None = None
    """None stands for `step` + 1."""
    action: str | None
    better: str | None

    @property
    def is_single(self) -> bool:
        """Whether it is one decision."""
        return self.until is None or self.until == self.step + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Logged):
    """A state was judged. A later event with the same `id` takes its place: more was found out."""

    event: str = field(default="judged", init=False)
    id: int
    verdict: Verdict
    outcome: str
    """How the policy's run ended."""
    cost: Bound
    best: Bound
    gap: Bound
    oracle: str | None
    """Who brought the decision about; None where the verdict is unknown."""
    steps: int
    """Of the policy's run."""
    fault: Misstep | None = None
    reason: str | None = None
    """Why the policy's answer was no decision, where the run failed or was illegal."""
    by_search: bool = False
    """Whether the verdict rests on a search's word, which cannot be re-checked without searching again."""
    limit: str | None = None
    """The limit of the whole test that ended the work on this state early."""
    effort: float = 0.0
    """Counted work of the oracles since the start, the same on every machine."""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleUse:
    """What asking one oracle has brought so far."""

    name: str
    asked: int
    """How often."""
    settled: int
    """Cases about which the judge could decide then."""
    seconds: float
    """That the test waited for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Logged):
    """How a test goes, told about once a second to those who listen. It is never logged."""

    event: str = field(default="progress", init=False)
    pool: int
    tested: int
    bugs: int
    cleared: int
    unknown: int
    kinds: int
    """Bugs that end alike and err with the same action schema are of one kind."""
    last_kind_at: float | None
    """When the first bug of the last new kind was found."""
    round: int
    """Of asking the oracles; the first one is 0."""
    done: int
    """States of this round that were tested, ..."""
    size: int
    """... of so many."""
    asked: int | None
    """States that the policy was asked about; None where nobody counts them."""
    policy_seconds: float
    oracles: tuple[OracleUse, ...]
    memory_mb: float
    """Of this process; 0 where the system does not tell."""
    seconds_left: float | None
    """None where the time is not limited."""
    effort: float = 0.0
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Bugs in which the same goes wrong. The representative has the shortest run."""

    outcome: str
    schema: str | None
    region: int
    members: tuple[int, ...]
    representative: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Logged):
    """The result of a test."""

    event: str = field(default="finished", init=False)
    pool: int = 0
    tested: int = 0
    solved: int = 0
    bugs: int = 0
    """Of both kinds."""
    qualitative: int = 0
    quantitative: int = 0
    cleared: int = 0
    cleared_by_search: int = 0
    unknown: int = 0
    failed: int = 0
    """States that are unknown because the policy failed to answer; on models, runs without a usable answer."""
    runs: int = 0
    unsafe_runs: int = 0
    faults: int = 0
    families: tuple[Family, ...] = ()
    bug_regions: int = 0
    unique_fact_pairs: float | None = None
    """The share of bugs with two facts that no other bug has together."""
    bug_rate: tuple[float, float] | None = None
    """Between which the share of bugs among such states lies; in tests on models, that of unsafe runs."""
    confidence: float | None = None
    """With which it lies there."""
    effective: float | None = None
    """How many independent states would say as much about the rate; None where all are independent."""
    limits_hit: tuple[str, ...] = ()
    effort: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)
    """What only one kind of test can say."""
    seconds: dict[str, float] = field(default_factory=dict)
    """`translate`, `fuzz`, `policy`, `oracle`, `total`; and `cpu`, of all processes and threads together."""
    at: float = 0.0


Event: TypeAlias = Started | Warned | PoolGrown | Ran | Judged | Progress | Finished
_KINDS: dict[str, type[Any]] = {
    "started": Started,
    "warning": Warned,
    "pool": PoolGrown,
    "run": Ran,
    "judged": Judged,
    "progress": Progress,
    "finished": Finished,
}
TIMES = ("at", "seconds")
"""The fields that differ between two runs of the same test."""


def from_json(line: dict[str, Any]) -> Event:
    """The event that was written so; InputError where the line is none."""
    fields = dict(line)
    kind = _KINDS.get(str(fields.pop("event", None)))
    if kind is None:
        raise InputError(
            f"unknown event {line.get('event')!r}; was it written by another version of misstep?"
        )
    try:
        event: Event = read_fields(kind, fields)
    except ValueError as error:
        raise InputError(f"damaged event {line.get('event')!r}: {error}") from None
    return event


def timeless(line: dict[str, Any]) -> dict[str, Any]:
    """A line without what depends on the clock."""
    return {name: value for name, value in line.items() if name not in TIMES}
