"""Knowledge: the tightest bounds known of each state, and the one door through which claims come in."""

from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, cast

from misstep.bound import Bound
from misstep.budget import Budget
from misstep.claim import Claim, Landmarks, StateT
from misstep.errors import MisstepError

T = TypeVar("T")


class UnsoundClaim(MisstepError):
    """An oracle claimed what is not so: a defect of the oracle, never of the policy."""


class Learner(Protocol[StateT]):
    """Somebody who makes use of what others claim (Algorithm 5 of Eisenhut et al. 2023)."""

    def learn(self, claim: Claim[StateT], /) -> Iterable[Claim[StateT]]:
        """What follows from somebody else's claim."""
        ...


class Memory(Protocol):
    """What oracles said before a test was stopped, in the order in which they were asked."""

    @property
    def answers(self) -> Sized:
        """What is left of it."""
        ...

    def recall(self, key: str, /) -> dict[str, Any] | None:
        """The answer to this question, where it was asked before; each answer is recalled once."""
        ...

    def keep(self, answer: dict[str, Any], /) -> None:
        """Keeps an answer for a test that goes on later."""
        ...


@dataclass(slots=True)
class _Known(Generic[StateT]):
    bound: Bound = Bound()
    upper: Claim[StateT] | None = None
    lower: Claim[StateT] | None = None


_NOTHING = Bound()


@dataclass(slots=True)
class Knowledge(Generic[StateT]):
    """All that is known about what is achievable, whoever found it out.

    Everybody who learns something calls `enter`: it checks the claim, keeps it where it says more than was
    known, tells those who can make use of it, and marks the state for judging again.
    """

    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    memory: Memory | None = None
    effort: float = 0.0
    """Counted work of oracles so far, in units that are the same on every machine."""
    limits_hit: set[str] = field(default_factory=set)
    """`oracle: limit` for every limit that kept an oracle from saying more."""
    changed: set[StateT] = field(default_factory=set)
    """States of which more is known than before; whoever judges states again empties it."""
    learners: list[Learner[StateT]] = field(default_factory=list)
    _known: dict[StateT, _Known[StateT]] = field(default_factory=dict)
    _shared: dict[object, object] = field(default_factory=dict)
    _speaker: object = None
    _heard: list[Claim[StateT]] | None = None
    """What the one who is asked just now has claimed so far; not what others made of it."""

    def shared(self, key: object, make: Callable[[], T]) -> T:
        """What is made once for all oracles, such as a heuristic or a dominance function."""
        if key not in self._shared:
            self._shared[key] = make()
        return cast(T, self._shared[key])

    def spend(self, effort: float) -> None:
        """Counts work."""
        self.effort += effort

    def enter(self, claim: Claim[StateT]) -> bool:
        """Takes a claim in; whether it says more than was known. Raises UnsoundClaim where it cannot hold."""
        self.check(claim)
        if not self._take(claim):
            return False
        self.changed.add(claim.state)
        if self._heard is not None:
            self._heard.append(claim)
        self._tell(claim)
        return True

    def check(self, claim: Claim[StateT]) -> None:
        """Raises UnsoundClaim where the evidence does not hold; kinds of tasks know how to look at it."""

    def consult(
        self,
        key: str,
        ask: Callable[[], Iterable[Claim[StateT]]],
        *,
        speaker: object = None,
        about: StateT | None = None,
        enough: Callable[[], bool] | None = None,
        restore: Callable[[], None] | None = None,
    ) -> None:
        """Asks somebody until that is `enough`, or lets the answer of an earlier session stand for it.

        Whether it is enough is asked where more became known `about` a state. `restore` brings somebody who keeps notes to where the answer left it. An answer that the budget cut
        short is not kept: it would be another one with more time.
        """
        before, self._speaker, self._heard = self._speaker, speaker, []
        told = None if self.memory is None or not self.memory.answers else self.memory.recall(key)
        try:
            if told is not None:
                self._repeat(told, restore)
                return
            known = None if about is None else self._known.setdefault(about, _Known())
            for claim in ask():
                before_claim = None if known is None else known.bound
                self.enter(claim)
                news = known is not None and known.bound is not before_claim
                if self.budget.is_over or (news and enough is not None and enough()):
                    break
            if self.memory is not None and not self.budget.is_over:
                self.memory.keep(self._answer(key, self._heard))
        finally:
            self._speaker, self._heard = before, None

    def best(self, state: StateT) -> Bound:
        """The tightest known bounds on the best achievable value."""
        known = self._known.get(state)
        return _NOTHING if known is None else known.bound

    def upper(self, state: StateT) -> Claim[StateT] | None:
        """The claim behind the upper bound."""
        known = self._known.get(state)
        return None if known is None else known.upper

    def lower(self, state: StateT) -> Claim[StateT] | None:
        """The claim behind the lower bound."""
        known = self._known.get(state)
        return None if known is None else known.lower

    def write_claim(self, claim: Claim[StateT]) -> dict[str, Any]:
        """A claim as plain data that `read_claim` takes; needed only where there is a memory."""
        raise TypeError(f"{type(self).__name__} does not write claims")

    def read_claim(self, line: dict[str, Any]) -> Claim[StateT]:
        """The claim that was written so."""
        raise TypeError(f"{type(self).__name__} does not read claims")

    def _take(self, claim: Claim[StateT]) -> bool:
        """Keeps a claim where it says more than was known."""
        known = self._known.setdefault(claim.state, _Known())
        lo, hi = claim.bound.lo, claim.bound.hi
        if not 0 <= lo <= hi:  # also false for NaN
            raise UnsoundClaim(f"{claim.oracle}: no value lies between {lo} and {hi}")
        is_upper = hi < known.bound.hi
        # Landmarks of value 0 are kept too: that there are none is worth knowing once.
        is_lower = lo > known.bound.lo or (known.lower is None and isinstance(claim.evidence, Landmarks))
        if is_upper:
            known.upper = claim
        if is_lower:
            known.lower = claim
        if is_upper or lo > known.bound.lo:
            known.bound = Bound(max(lo, known.bound.lo), min(hi, known.bound.hi))
        if known.upper and known.lower and known.bound.lo > known.bound.hi:
            raise UnsoundClaim(
                f"in the state {claim.state} {known.lower.oracle} claims a value of at least "
                f"{known.bound.lo:g}, {known.upper.oracle} one of at most {known.bound.hi:g}; "
                "one of them has a defect: please report it"
            )
        return is_upper or is_lower

    def _tell(self, claim: Claim[StateT]) -> None:
        """What learners make of a claim comes in by the same door; it is theirs, not the speaker's."""
        heard, self._heard = self._heard, None
        for learner in self.learners:
            if learner is not self._speaker:
                speaker, self._speaker = self._speaker, learner
                for following in learner.learn(claim):
                    self.enter(following)
                self._speaker = speaker
        self._heard = heard

    def _answer(self, key: str, heard: list[Claim[StateT]]) -> dict[str, Any]:
        return {
            "key": key,
            "claims": [self.write_claim(claim) for claim in heard],
            "effort": self.effort,
            "limits_hit": sorted(self.limits_hit),
        }

    def _repeat(self, told: dict[str, Any], restore: Callable[[], None] | None) -> None:
        if restore is not None:
            restore()
        for line in told["claims"]:
            self.enter(self.read_claim(line))
        self.effort = told["effort"]
        self.limits_hit |= set(told["limits_hit"])
