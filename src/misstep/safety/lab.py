"""ModelLab: a policy on a JANI model, and what is known about it; deciders are its oracles."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from misstep._core import Budget, JaniGame
from misstep.bound import NEVER, Bound
from misstep.claim import Claim
from misstep.errors import PolicyError
from misstep.lab import Knowledge, UnsoundClaim
from misstep.safety.evidence import BadEvidence, Book, Refutation, RefutationLine, Strategy, StrategyLine
from misstep.safety.model import SafetyTask, StateDict

SAFE = Bound(0, 0)
"""Unsafe states can be avoided: the best value of a safe state."""


KnownLine = Callable[[int, int], bool]
"""Whether the line of a state with this number of deviations is known: a decider may leave it out, and what
only it rests on. Without that, a test with many lost states gets the same long proof for each of them."""


class BoundDecider(Protocol):
    """A decider at work on one game; states by their numbers, None is the infinite radius."""

    @property
    def expanded(self) -> int:
        """Expansions over all queries."""
        ...

    def decide(
        self, state: int, radius: int | None, /, *, budget: Budget | None = None
    ) -> tuple[str, str | None, int, float]:
        """safe, unsafe or unknown; the limit that was hit where it is unknown; expansions; seconds."""
        ...

    def strategy(
        self, state: int, radius: int | None, /, known: KnownLine | None = None
    ) -> Sequence[StrategyLine]:
        """Why the state is safe, after `decide` said so; the line of the state comes first."""
        ...

    def refutation(
        self, state: int, radius: int | None, /, known: KnownLine | None = None
    ) -> Sequence[RefutationLine]:
        """Why the state is not safe, after `decide` said so; each line rests on earlier ones."""
        ...


class DeciderPart(Protocol):
    """A decider as users name it: `level:max_expansions=5000`."""

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    @property
    def max_expansions(self) -> int:
        """Of one decision."""
        ...

    def bind(self, game: JaniGame, /) -> BoundDecider:
        """The decider on this game."""
        ...


@dataclass(frozen=True, slots=True)
class ModelState:
    """A state of a model: its number in the game, and for people the values of its variables."""

    number: int
    facts: StateDict = field(compare=False)

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.facts.items())


@dataclass(frozen=True, slots=True)
class ModelRun:
    """The rest of an unsafe run from a state on."""

    steps: int
    outcome: str = "unsafe"


@dataclass(frozen=True, slots=True)
class ModelCase:
    """A state on an unsafe run of the policy: from there it can reach an unsafe state."""

    id: int
    state: ModelState
    run: ModelRun
    cost: Bound = NEVER


@dataclass(frozen=True, slots=True)
class Fault:
    """The policy's action leaves the safe states: `outcome` is not safe, `alternative` would have been."""

    state: int
    action: int
    outcome: int
    alternative: int


@dataclass(slots=True, kw_only=True)
class ModelLab(Knowledge[ModelState]):
    """What is known about one policy on one model. All evidence is checked in the game before it counts."""

    task: SafetyTask
    game: JaniGame
    decider: BoundDecider
    name: str = "decider"
    """Of the decider, for claims."""
    radius: int | None = None
    horizon: int | None = None
    max_expansions: int | None = 1_000_000
    """Of one decision."""
    max_seconds: float | None = None
    """Of one decision."""
    book: Book = field(init=False)
    possible_faults: set[int] = field(default_factory=set)
    """States in which a limit kept the fault from being proven."""
    _verdicts: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.book = Book(self.task, self.game, radius=self.radius, horizon=self.horizon)

    def state(self, s: int) -> ModelState:
        """A state by its number."""
        return ModelState(s, self.task.state(self.game, s))

    def verdict(self, s: int) -> str:
        """safe, unsafe or unknown. Each state is decided once."""
        known = self._verdicts.get(s)
        if known is None:
            known, limit = self._decide(s)
            if limit is not None:
                self.limits_hit.add(limit)
            self._verdicts[s] = known
        return known

    def _decide(self, s: int) -> tuple[str, str | None]:
        budget = self.budget.part(expansions=self.max_expansions, seconds=self.max_seconds)
        before = self.decider.expanded
        try:
            verdict, limit, _, _ = self.decider.decide(s, self.radius, budget=budget)
        except PolicyError:  # what the policy would do there is not known
            verdict, limit = "unknown", "policy"
        self.spend(float(self.decider.expanded - before))
        return verdict, limit

    def claim(self, state: ModelState) -> Claim[ModelState] | None:
        """What the decider says of a state, with the lines of its proof that are new."""
        s, verdict, book = state.number, self.verdict(state.number), self.book
        if verdict == "safe":
            strategy = () if book.is_safe(s) else self.decider.strategy(s, self.radius, book.knows_choice)
            return Claim(state, SAFE, Strategy(tuple(strategy)), self.name)
        if verdict == "unsafe":
            refutation = (
                () if book.is_lost(s) else self.decider.refutation(s, self.radius, book.knows_answers)
            )
            return Claim(state, NEVER, Refutation(tuple(refutation)), self.name)
        return None

    def check(self, claim: Claim[ModelState]) -> None:
        """Takes the lines of a claim into the book; UnsoundClaim where they do not prove it."""
        s, evidence = claim.state.number, claim.evidence
        try:
            if isinstance(evidence, Strategy) and claim.bound == SAFE:
                self.book.add_strategy(evidence.lines)
                proven = self.book.is_safe(s)
            elif isinstance(evidence, Refutation) and claim.bound == NEVER:
                self.book.add_refutation(evidence.lines)
                proven = self.book.is_lost(s)
            else:
                proven = False
        except BadEvidence as error:
            raise UnsoundClaim(f"{claim.oracle}: {error}") from None
        if not proven:
            raise UnsoundClaim(f"{claim.oracle}: what it says of the state {claim.state} is not proven")

    def fault(self, s: int, taken: int) -> Fault | None:
        """The fault of a state on an unsafe run, if its decision is proven to be one.

        The outcome that was taken on the run is looked at first; any outcome of the policy's action counts.
        """
        verdict = self.verdict(s)
        label, _, outcomes = self.game.moves(s)[0]
        ordered = sorted(outcomes, key=lambda t: t != taken)
        verdicts = {t: self.verdict(t) for t in ordered}
        lost = next((t for t in ordered if verdicts[t] == "unsafe"), None)
        if lost is not None and verdict == "safe":
            return Fault(s, label, lost, self.safe_action(s))
        if verdict != "unsafe" and any(found != "safe" for found in verdicts.values()):
            self.possible_faults.add(s)
        return None

    def safe_action(self, s: int) -> int:
        """The label that the decider's strategy takes in a state that is decided safe, and no end."""
        label = self.book.strategy[s][1] if self.book.is_safe(s) else self._first_label(s)
        assert label is not None, "a state with a policy action is no leaf"
        return label

    def _first_label(self, s: int) -> int | None:
        (_, _, label), *_ = self.decider.strategy(s, self.radius)
        return label


@dataclass(frozen=True, slots=True)
class DeciderOracle:
    """A decider as an oracle: it claims that a state is safe, or that it is not, or nothing."""

    lab: ModelLab

    def claims(self, case: ModelCase, /) -> Iterable[Claim[Any]]:
        """One claim at most; limits that were hit are in the lab."""
        claim = self.lab.claim(case.state)
        if claim is not None:
            yield claim
