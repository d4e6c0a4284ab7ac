"""Oracles: parts that tighten the bounds on h* of a test state, alone or one after the other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from misstep._core import Run
from misstep.bound import Bound
from misstep.claim import Claim, plan_claim
from misstep.errors import InputError
from misstep.judge import Kind, Objective, Quantitative, Verdict, judge
from misstep.lab import Lab
from misstep.plugins import make_part
from misstep.pool import PoolEntry


@dataclass(frozen=True, slots=True)
class Case:
    """A test state, the policy's run from it and what the run proves about the policy's cost."""

    entry: PoolEntry
    run: Run
    cost: Bound


def open_case(lab: Lab, entry: PoolEntry, run: Run) -> Case:
    """The case of a test state; where the policy solves it, its run is the first plan that is known."""
    if run.outcome == "solved":
        lab.add(plan_claim(entry.state, run.actions, "policy"))
    return Case(entry, run, lab.policy_cost(run))


class Oracle(Protocol):
    """An oracle at work on one lab. It never decides; it claims."""

    def claims(self, case: Case, /) -> Iterable[Claim]:
        """Bounds on h* of the case's state, or of any other; iterated over until enough is known."""
        ...


@runtime_checkable
class Learner(Protocol):
    """An oracle that makes use of what others claim (Algorithm 5 of [23])."""

    def learn(self, claim: Claim, /) -> Iterable[Claim]:
        """What follows from somebody else's claim."""
        ...


class OraclePart(Protocol):
    """An oracle as users name it: `lookahead:depth=2`. Binding it to a lab makes it work."""

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    def bind(self, lab: Lab, /) -> Oracle:
        """The oracle on this lab."""
        ...


@dataclass(slots=True)
class Outcome:
    """The verdict on a case, and which oracle brought it about."""

    verdict: Verdict
    oracle: str | None


def make_oracles(texts: Sequence[str]) -> list[OraclePart]:
    """The parts of `NAME[:option=value][+NAME]`, in order."""
    parts = []
    for text in texts:
        for word in text.split("+"):
            if not word:
                raise InputError(f"oracle `{text}`: there is no name before or after a `+`")
            part: OraclePart = make_part("oracle", word)
            parts.append(part)
    return parts


class Panel:
    """Several oracles, asked in order until the judge can decide. All share what the lab knows."""

    def __init__(
        self,
        lab: Lab,
        parts: Sequence[OraclePart],
        *,
        objective: Objective = Quantitative(),
        gap: bool = False,
    ) -> None:
        self.lab = lab
        self.objective = objective
        self._keep_going = gap
        self._oracles = [(part.name, part.bind(lab)) for part in parts]

    def test(self, case: Case) -> Outcome:
        """Asks the oracles about a case. With `gap` a bug is not enough: oracles go on for its gap."""
        outcome = self.known(case)
        for name, oracle in self._oracles:
            if self._is_settled(outcome):
                break
            for claim in self._watched(oracle.claims(case)):
                if not self.lab.add(claim):
                    continue
                self._tell_others(oracle, claim)
                if claim.state == case.entry.state:
                    outcome = self._judged(case, name)
                    if self._is_settled(outcome):
                        break
        return outcome

    def _tell_others(self, teller: Oracle, claim: Claim) -> None:
        for _, oracle in self._oracles:
            if oracle is not teller and isinstance(oracle, Learner):
                for following in oracle.learn(claim):
                    self.lab.add(following)

    def _watched(self, claims: Iterable[Claim]) -> Iterator[Claim]:
        for claim in claims:
            yield claim
            if self.lab.budget.is_over:
                return

    def _is_settled(self, outcome: Outcome) -> bool:
        if outcome.verdict.kind is Kind.UNKNOWN:
            return self.lab.budget.is_over
        return not self._keep_going or outcome.verdict.gap.is_exact

    def known(self, case: Case) -> Outcome:
        """The verdict without asking anybody."""
        upper = self.lab.upper(case.entry.state)
        return self._judged(case, None if upper is None else upper.oracle)

    def verdict(self, case: Case) -> Verdict:
        """What follows from all that is known by now."""
        return judge(case.cost, self.lab.best(case.entry.state), objective=self.objective)

    def _judged(self, case: Case, oracle: str | None) -> Outcome:
        return Outcome(self.verdict(case), oracle)
