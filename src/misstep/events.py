"""Events: what a test tells while it goes on. Reports and the command line see nothing else."""

from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from misstep._core import Action
from misstep.bound import Bound
from misstep.explain.families import Family
from misstep.explain.fault import Fault
from misstep.judge import Kind, Verdict


@dataclass(frozen=True, slots=True)
class PoolGrown:
    """States entered the pool and are about to be tested."""

    pool: int


@dataclass(frozen=True, slots=True)
class Tested:
    """A pool state was judged."""

    id: int
    outcome: str
    cost: Bound
    best: Bound
    kind: Kind
    gap: Bound
    oracle: str | None

    @property
    def verdict(self) -> Verdict:
        """The judge's word."""
        return Verdict(self.kind, self.gap)

    def as_json(self) -> dict[str, Any]:
        """A line of events.jsonl; null is infinity."""
        return {
            "event": "tested",
            "id": self.id,
            "outcome": self.outcome,
            "cost": self.cost.as_json(),
            "best": self.best.as_json(),
            "verdict": str(self.kind),
            "gap": self.gap.as_json(),
            "oracle": self.oracle,
        }


@dataclass(frozen=True, slots=True)
class BugFound:
    """A pool state is a bug; its certificate is written."""

    tested: Tested
    fault: Fault | None
    witness: tuple[Action, ...]
    replay: str | None

    def as_json(self) -> dict[str, Any]:
        """A line of events.jsonl."""
        fault = None
        if self.fault is not None:
            action = None if self.fault.action is None else self.fault.action.name
            fault = {"step": self.fault.step, "action": action}
        return {**self.tested.as_json(), "event": "bug", "fault": fault, "replay": self.replay}


@dataclass(frozen=True, slots=True)
class Cleared:
    """A pool state is proven to be no bug; `by_search`: only a search says so."""

    tested: Tested
    by_search: bool

    def as_json(self) -> dict[str, Any]:
        """A line of events.jsonl."""
        return {**self.tested.as_json(), "event": "cleared", "by_search": self.by_search}


@dataclass(slots=True)
class Finished:
    """The result of a test, kept up to date while it goes on."""

    pool: int = 0
    solved: int = 0
    qualitative: int = 0
    quantitative: int = 0
    cleared: int = 0
    cleared_by_search: int = 0
    unknown: int = 0
    fuzz_seconds: float = 0.0
    policy_seconds: float = 0.0
    oracle_seconds: float = 0.0
    total_seconds: float = 0.0
    limits_hit: list[str] = field(default_factory=list)
    families: list[Family] = field(default_factory=list)
    bug_regions: int = 0
    unique_fact_pairs: float | None = None
    """The share of bugs with two facts that no other bug has together."""

    @property
    def bugs(self) -> int:
        """Of both kinds."""
        return self.qualitative + self.quantitative

    @property
    def tested(self) -> int:
        """How many states were judged."""
        return self.bugs + self.cleared + self.unknown

    def as_json(self) -> dict[str, Any]:
        """The last line of events.jsonl."""
        return {"event": "finished", **asdict(self)}


Event: TypeAlias = PoolGrown | Tested | BugFound | Cleared | Finished
