"""Scaling statements: how far a policy's coverage holds as instances grow, with a stated confidence."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from misstep.budget import Budget, Watch
from misstep.config import Config
from misstep.errors import InputError, LimitReached
from misstep.plugins import make_policy_part
from misstep.policy import Policy, PolicyPart
from misstep.record.store import DirectoryStore, MemoryStore, Store
from misstep.session import Session
from misstep.statistics import CONFIDENCE, Interval, running_bounds
from misstep.support.plain import reading
from misstep.task import load

ANSWERS = "instances.jsonl"


class Generator(Protocol):
    """A part of the kind `generator`; see misstep.generators.ours."""

    def problem(self, size: int, seed: int) -> str:
        """A problem as PDDL text."""
        ...


@dataclass(frozen=True, kw_only=True)
class ScaleConfig:
    """What is asked of a policy."""

    sizes: tuple[int, ...] = tuple(range(2, 102, 2))
    """In the order in which they are tried; it ends at the first at which coverage has fallen."""
    fallen: float = 0.5
    """Coverage has fallen where it is below this with the confidence."""
    confidence: float = CONFIDENCE
    """Every bound holds with at least this chance, whatever made the drawing of instances end."""
    width: float = 0.3
    """Instances of a size are drawn until coverage is known this closely."""
    instances: int = 60
    """At most so many of a size."""
    oracle: tuple[str, ...] = ("landmarks+planner:astar:lmcut,effort=1e6+lookahead",)
    max_steps: int = 1000
    unit_cost: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise InputError(f"sizes are {list(self.sizes)}; give at least one, each at least 1")
        for name in ("fallen", "confidence", "width"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"option `{name}` is {getattr(self, name)}; it must be between 0 and 1")
        for name, least in (("instances", 1), ("max_steps", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise InputError(f"option `{name}` is {getattr(self, name)}; it must be at least {least}")


@dataclass(frozen=True, slots=True)
class SizeResult:
    """What was found at one size, over random instances; each counts with its initial state."""

    size: int
    confidence: float
    instances: int = 0
    solved: int = 0
    bugs: int = 0
    cleared: int = 0

    @property
    def unknown(self) -> int:
        """Instances on which it is open whether the policy does as well as possible."""
        return self.instances - self.bugs - self.cleared

    @property
    def coverage(self) -> Interval:
        """Bounds of the share of such instances that the policy solves."""
        return running_bounds(self.solved, self.instances - self.solved, 0, confidence=self.confidence)

    @property
    def bug_rate(self) -> Interval:
        """Bounds of the share on which it does worse than is possible; what is unknown counts both ways."""
        return running_bounds(self.bugs, self.cleared, self.unknown, confidence=self.confidence)

    def as_json(self) -> dict[str, Any]:
        """One size in what `misstep scale --json` prints, with the counts."""
        counts = {**asdict(self), "unknown": self.unknown}
        del counts["confidence"]
        return {**counts, "coverage": list(self.coverage), "bug_rate": list(self.bug_rate)}


@dataclass
class Scaling:
    """The statement as it grows; iterate over `results` to make it."""

    domain: str
    """PDDL text."""
    generator: Generator
    policy: str
    config: ScaleConfig
    part: Policy | PolicyPart | None = None
    """Stands in for what `policy` names."""
    store: Store = field(default_factory=MemoryStore)
    budget: Budget = field(default_factory=Budget)
    watch: Watch = nullcontext
    """Around the work on every instance; LimitReached ends it as the time does."""
    limit: str | None = None
    """Why it ended before coverage fell: `seconds` or `memory`, or `sizes` where none is left."""
    fallen: bool = False

    def results(self, on_instance: Callable[[SizeResult], None] = lambda _: None) -> Iterator[SizeResult]:
        """Size by size; `on_instance` hears of every instance. Answers in the store are not asked for again."""
        known = self._known()
        part = self.part or make_policy_part(self.policy)
        for size in self.config.sizes:
            result = SizeResult(size, self.config.confidence)
            while not self._enough(result):
                key = (size, result.instances)
                if key not in known:
                    try:
                        with self.watch():
                            answer = self._instance(part, size, result.instances)
                    except LimitReached as reached:
                        self.limit = reached.limit
                        break
                    self.store.append(ANSWERS, {"size": size, "number": result.instances, **answer})
                    known[key] = answer
                result = _added(result, known[key])
                on_instance(result)
            if result.instances:
                yield result
            if self.limit is not None:
                return
            if result.coverage.hi < self.config.fallen:
                self.fallen = True
                return
        self.limit = "sizes"

    def _known(self) -> dict[tuple[int, int], Mapping[str, Any]]:
        lines = self.store.lines(ANSWERS)
        self.store.cut(ANSWERS, len(lines))
        about = {"policy": self.policy, "seed": self.config.seed, "oracle": list(self.config.oracle)}
        about |= {"unit_cost": self.config.unit_cost, "generator": repr(self.generator)}
        if not lines:
            self.store.append(ANSWERS, {"about": about})
        elif lines[0].get("about") != about:
            raise InputError(
                f"{self.store.where}: holds answers for another policy or other options; choose another --out"
            )
        with reading(f"{self.store.where}/{ANSWERS}"):
            return {(line["size"], line["number"]): _checked(line) for line in lines[1:]}

    def _enough(self, result: SizeResult) -> bool:
        count = result.instances
        return count >= self.config.instances or (count > 0 and result.coverage.width <= self.config.width)

    def _instance(self, part: Policy | PolicyPart, size: int, number: int) -> dict[str, Any]:
        """The policy on one random instance: whether it solves it, and whether that is a bug."""
        self._check_time()
        config = self.config
        seed = config.seed + 1_000_003 * size + number
        unit_cost = config.unit_cost or bool(getattr(part, "unit_cost", False))
        task = load(self.domain, self.generator.problem(size, seed), unit_cost=unit_cost, budget=self.budget)
        asked = Config(
            policy=self.policy,
            pool=1,  # the initial state
            oracle=config.oracle,
            effort=1.0,  # there are many instances, and coverage needs no verdict
            max_steps=config.max_steps,
            recheck=False,
            faults=False,
            unit_cost=unit_cost,
        )
        if (left := self.budget.seconds_left) is not None:
            asked = asked.replace(seconds=left)
        session = Session(asked, task=task, policy=self.part)
        for _ in session.events():
            pass
        self._check_time()  # What it says so late it says because the time was up.
        [judged] = session.tally.judged.values()
        return {"solved": judged.outcome == "solved", "verdict": str(judged.verdict)}

    def _check_time(self) -> None:
        if self.budget.is_over:
            raise LimitReached("the time was up", "seconds")


def _checked(line: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(line["solved"], bool) or line["verdict"] not in ("bug", "cleared", "unknown"):
        raise ValueError(f"{dict(line)} is no answer")
    return line


def _added(result: SizeResult, answer: Mapping[str, Any]) -> SizeResult:
    return SizeResult(
        result.size,
        result.confidence,
        result.instances + 1,
        result.solved + bool(answer["solved"]),
        result.bugs + (answer["verdict"] == "bug"),
        result.cleared + (answer["verdict"] == "cleared"),
    )


def open_store(out: Path | None) -> Store:
    """The directory in which answers are kept, or memory."""
    if out is None:
        return MemoryStore()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be written to: {error.strerror}; choose another --out") from None
    return DirectoryStore(out)
