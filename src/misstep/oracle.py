"""Oracles: parts that tighten the bounds on a test state, alone or one after the other. They never decide."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from misstep._core import Run, State
from misstep.bound import Bound
from misstep.claim import Claim, StateT, plan_claim
from misstep.errors import InputError, PartError
from misstep.events import OracleUse
from misstep.judge import Judgement, Objective, Verdict, judge
from misstep.lab import Knowledge, Known, Lab
from misstep.plugins import blaming, make_part, part_label, require
from misstep.pool import PoolEntry


class PolicyRun(Protocol):
    """What is told about any run of a policy."""

    @property
    def outcome(self) -> str:
        """How it ended."""
        ...

    @property
    def steps(self) -> int:
        """Actions applied."""
        ...


class AnyCase(Protocol):
    """A test state, the policy's run from it and what the run proves about the policy's value."""

    @property
    def id(self) -> int:
        """Of the test state in its pool."""
        ...

    @property
    def state(self) -> Any:
        """The test state."""
        ...

    @property
    def run(self) -> PolicyRun:
        """What the policy does from there."""
        ...

    @property
    def cost(self) -> Bound:
        """What the run proves."""
        ...


CaseT = TypeVar("CaseT", bound=AnyCase)
CaseT_contra = TypeVar("CaseT_contra", bound=AnyCase, contravariant=True)


@dataclass(frozen=True, slots=True)
class Case:
    """A test state of a classical task, the policy's run from it and what the run proves about its cost."""

    id: int
    """Of the pool entry."""
    state: State
    run: Run
    cost: Bound
    entry: PoolEntry
    """Where the state comes from."""


def open_case(lab: Lab, entry: PoolEntry, run: Run) -> Case:
    """The case of a test state; where the policy solves it, its run is the first plan that is known."""
    if run.outcome == "solved":
        lab.enter(plan_claim(entry.state, run.actions, "policy"))
    return Case(entry.id, entry.state, run, lab.policy_cost(run), entry)


class Oracle(Protocol[CaseT_contra]):
    """An oracle at work on one lab. It claims.

    It may also have `learn(claim)` to make use of what others claim, and needs `restore(case)` where it keeps
    notes: it brings them to where answering about the case left them. One with `is_anytime = True` spends
    `lab.scale` of its own effort and is asked again in later rounds; others are asked once about a state.
    With `may_exceed = True` it is also asked about states that stay unknown, for many times its own effort: the time
    that it takes is in proportion to the effort that it counts, and does not depend on the policy.
    One with `works_ahead = True` promises that it keeps no notes and does its heavy work in `lab.work`, or by
    asking the policy through `lab.graph`, and then it also says `asks_policy = True`: with several jobs, other
    threads have copies of it at work on coming cases. It may have `prepare()`: functions that make what all
    cases of a round need, by `lab.shared(..., is_fixed=True)`. One with `is_exact = True` finds the best cost
    itself, and is asked for it even where less is enough to call a state a bug.
    """

    def claims(self, case: CaseT_contra, /) -> Iterable[Claim[Any]]:
        """Bounds for the case's state, or for any other; iterated over until enough is known."""
        ...


class OraclePart(Protocol):
    """An oracle as users name it: `lookahead:depth=2`. Binding it to a lab makes it work."""

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    def bind(self, lab: Lab, /) -> Oracle[Case]:
        """The oracle on this lab."""
        ...


def make_oracles(texts: Sequence[str]) -> list[OraclePart]:
    """The parts of `NAME[:option=value][+NAME]`, in order."""
    parts = []
    for text in texts:
        for word in text.split("+"):
            if not word:
                raise InputError(f"oracle `{text}`: there is no name before or after a `+`")
            part: OraclePart = make_part("oracle", word)
            require("oracle", part, "name", "bind")
            parts.append(part)
    return parts


def bind_oracles(parts: Sequence[OraclePart], lab: Lab) -> list[tuple[str, Oracle[Case]]]:
    """The oracles on a lab, by name; those of other packages in a guard."""
    bound: list[tuple[str, Oracle[Case]]] = []
    for part in parts:
        is_ours = type(part).__module__.startswith("misstep.")
        bound.append((part.name, part.bind(lab) if is_ours else bind_oracle(part, lab)))
    return bound


def bind_oracle(part: OraclePart, lab: Lab) -> Oracle[Case]:
    """Somebody else's oracle on a lab, in a guard, so that its errors are said to be its own."""
    require("oracle", part, "name", "bind")
    with blaming("oracle", part, "it was bound to the lab"):
        bound = part.bind(lab)
    if not callable(getattr(bound, "claims", None)):
        raise PartError(f"{part_label('oracle', part)}: what `bind` returns has no method `claims`")
    return _Guarded(part, bound)


@dataclass(frozen=True, slots=True, eq=False)
class _Guarded:
    """Somebody else's oracle: what it raises names it, and it yields nothing but claims."""

    part: OraclePart
    oracle: Oracle[Case]

    def claims(self, case: Case, /) -> Iterator[Claim[Any]]:
        with blaming("oracle", self.part, lambda: f"it was asked about the state {case.state}"):
            yield from map(self._checked, self.oracle.claims(case))

    @property
    def is_anytime(self) -> bool:
        return bool(getattr(self.oracle, "is_anytime", False))

    @property
    def may_exceed(self) -> bool:
        return bool(getattr(self.oracle, "may_exceed", False))

    def learn(self, claim: Claim[Any], /) -> Iterator[Claim[Any]]:
        if (learn := getattr(self.oracle, "learn", None)) is not None:
            with blaming("oracle", self.part, lambda: f"it was told about the state {claim.state}"):
                yield from map(self._checked, learn(claim))

    def restore(self, case: Case, /) -> None:
        if (restore := getattr(self.oracle, "restore", None)) is not None:
            with blaming("oracle", self.part, lambda: f"it was brought back to the state {case.state}"):
                restore(case)

    def _checked(self, claim: object) -> Claim[Any]:
        if not isinstance(claim, Claim):
            raise PartError(
                f"{part_label('oracle', self.part)} yielded {claim!r:.80}, which is no Claim; "
                "`misstep.plan_claim` and `misstep.Claim` make them"
            )
        return claim


@dataclass(slots=True)
class _Yield:
    """What asking an oracle about one sort of case has brought."""

    settled: int = 0
    effort: float = 0.0
    in_vain: float = 0.0
    """The effort in this round since it settled a case last."""

    @property
    def rate(self) -> float:
        """Cases settled for the effort; what was never asked counts as promising."""
        return (self.settled + 1) / (self.effort + 1)


_UNASKED = _Yield()
# What oracles spend in the first round, as a share of their own effort, the one that their options say.
_FIRST_SCALE = 1 / 16
# Nobody waits for a round with so many times that effort, and native counters hold what it allows.
_LAST_SCALE = 2.0**24
# What a test may spend for each of its states and each time that oracles may spend their own effort. With the
# usual 64 times that is about a second and a half of a processor for a state, but those that are settled soon
# leave theirs to the others.
_STATE_EFFORT = 8e6
# After so many rounds in a row that settled nothing, oracles that spent more than their own effort are done.
_ROUNDS_IN_VAIN = 4
# An oracle that has spent so much in a round and settled nothing is not asked again before the next one. That
# is ten seconds or so.
_IN_VAIN = 1e9


class Panel(Generic[StateT, CaseT]):
    """Several oracles that share what is known, asked one after the other until the judge can decide.

    In the first round they are asked in the order given. Those that can do with more effort are asked again in
    later rounds, in the order of what they have settled for their effort so far. With `gap` a bug is not
    enough: oracles go on until its gap is known exactly. With `exact` those that find the best cost itself
    (`is_exact`, such as `perfect`) are asked until it is known, though less is enough for the verdict: the first
    mistake on a run can be named only then.
    """

    def __init__(
        self,
        lab: Knowledge[StateT],
        oracles: Sequence[tuple[str, Oracle[CaseT]]],
        *,
        objective: Objective,
        gap: bool = False,
        exact: bool = False,
        effort: float = 1.0,
    ) -> None:
        """Oracles may spend `effort` times their own effort on a state of which nothing is known."""
        self.lab = lab
        lab.turn = lab.budget
        self.objective = objective
        self.keeps_going = gap
        self.effort = effort
        self.oracles = list(oracles)
        self._exact = [exact and bool(getattr(one, "is_exact", False)) for _, one in oracles]
        self.seeks_exact = any(self._exact)
        """Whether the best cost of every bug is looked for, however long that takes."""
        self._anytime = [n for n, (_, one) in enumerate(oracles) if getattr(one, "is_anytime", False)]
        self._exceeding = [n for n in self._anytime if getattr(oracles[n][1], "may_exceed", False)]
        self._yields: dict[tuple[int, str], _Yield] = {}
        self._asked, self._settled = [0] * len(oracles), [0] * len(oracles)
        self._seconds = [0.0] * len(oracles)
        learners: list[Any] = [oracle for _, oracle in oracles if hasattr(oracle, "learn")]
        lab.learners += learners
        self._idle, self._spent = 0, -1.0
        self._cases, self._left, self._in_vain = 0, math.inf, 0
        if self._anytime:
            lab.scale = _FIRST_SCALE

    def begin_round(self, number: int, *, left: int) -> bool:
        """Doubles what oracles may spend on a case; whether another round makes sense, with so many unknown cases.

        Rounds up to the oracles' own effort are always made. Those with more end with the `effort` of the panel,
        when the test has spent its share, or when they settle nothing any more. An extended test goes on after that,
        until more effort has made no difference twice: then the oracles have done all that they can.
        """
        scale, lab = _FIRST_SCALE * 2.0**number, self.lab
        self._idle = self._idle + 1 if lab.effort == self._spent else 0
        self._in_vain = self._in_vain + 1 if lab.scale > 1 and left == self._left else 0
        self._spent, self._left = lab.effort, left
        if not self._anytime:
            return False
        if scale > 1 and not self._is_recalling:
            if lab.is_extended:
                goes_on = self._idle <= 1 and scale <= _LAST_SCALE
            else:
                is_in_vain = self._in_vain >= _ROUNDS_IN_VAIN or self._is_spent or not self._exceeding
                goes_on = scale <= self.effort and not is_in_vain
            if not goes_on:
                return False
        lab.round, lab.scale = number, scale
        for each in self._yields.values():
            each.in_vain = 0.0
        return True

    def test(self, case: CaseT, *, among: int = 1) -> tuple[Judgement, Known[StateT]]:
        """Asks the oracles about a case, one after the other; the one that settles it is the last.

        So many cases, this one included, share half of the time that is left. Returns the judgement, and what
        is known about the state.
        """
        lab, known = self.lab, self.lab.known(case.state)
        self._cases += lab.round == 0
        lab.turn = lab.budget.part(share=0.5 / max(1, among))
        judgement, seen = judge(case.cost, known.bound, objective=self.objective), known.bound

        seeks_exact = False

        def is_enough() -> bool:
            """Asked by the lab where a claim brought news about the state."""
            nonlocal judgement, seen
            judgement, seen = judge(case.cost, known.bound, objective=self.objective), known.bound
            return (
                judgement.verdict is not Verdict.UNKNOWN
                and (not self.keeps_going or judgement.gap.lo == judgement.gap.hi)
                and (not seeks_exact or judgement.verdict is Verdict.CLEARED or seen.lo == seen.hi)
            )

        for number in self._order(case) if lab.round else range(len(self.oracles)):
            if lab.turn.is_over:
                break
            seeks_exact = self._exact[number]
            is_settled = judgement.verdict is not Verdict.UNKNOWN and (
                not self.keeps_going or judgement.gap.lo == judgement.gap.hi
            )
            is_exact = judgement.verdict is Verdict.CLEARED or known.bound.lo == known.bound.hi
            if is_settled and (is_exact or not seeks_exact):
                continue
            name, oracle = self.oracles[number]
            restore, before, begin = getattr(oracle, "restore", None), lab.effort, time.perf_counter()
            lab.consult(
                f"{case.id} {number} {name} {lab.round}",
                partial(oracle.claims, case),
                speaker=oracle,
                about=case.state,
                enough=is_enough,
                restore=None if restore is None else partial(restore, case),
            )
            if known.bound is not seen:  # an oracle may have spoken to the lab without yielding a claim
                judgement, seen = judge(case.cost, known.bound, objective=self.objective), known.bound
            self._seconds[number] += time.perf_counter() - begin  # for people: nothing depends on it
            self._asked[number] += 1
            self._settled[number] += judgement.verdict is not Verdict.UNKNOWN
            if number in self._anytime:
                self._count(number, case, lab.effort - before, judgement)
        return judgement, known

    def uses(self) -> tuple[OracleUse, ...]:
        """What asking each oracle has brought so far."""
        counts = zip(self.oracles, self._asked, self._settled, self._seconds, strict=True)
        return tuple(
            OracleUse(name=name, asked=asked, settled=settled, seconds=round(seconds, 6))
            for (name, _), asked, settled, seconds in counts
        )

    def judge(self, case: CaseT) -> Judgement:
        """What follows from all that is known by now."""
        return judge(case.cost, self.lab.best(case.state), objective=self.objective)

    @property
    def _is_recalling(self) -> bool:
        """Whether a test repeats what it found out before it was stopped: it goes as far as it went then."""
        return self.lab.memory is not None and len(self.lab.memory.answers) > 0

    @property
    def _is_spent(self) -> bool:
        """Whether the test has spent what it may, so that no more states get more than the oracles' own effort."""
        most = _STATE_EFFORT * self.effort * self._cases
        return self.lab.effort > most and not self._is_recalling

    def _order(self, case: CaseT) -> Iterable[int]:
        """The oracles that are asked about a case in a later round, by their places."""
        is_late = self.lab.scale > 1 and not self.lab.is_extended
        if is_late and self._is_spent:
            return ()
        sort, asked = case.run.outcome, self._exceeding if is_late else self._anytime
        known = [(self._yields.get((number, sort), _UNASKED), number) for number in asked]
        worth = [(-each.rate, number) for each, number in known if each.in_vain < _IN_VAIN]
        return [number for _, number in sorted(worth)]

    def _count(self, number: int, case: CaseT, effort: float, judgement: Judgement) -> None:
        is_settled = judgement.verdict is not Verdict.UNKNOWN
        # Cases that end alike are alike: what finds plans is of use where the policy has none.
        each = self._yields.setdefault((number, case.run.outcome), _Yield())
        each.effort += effort
        each.settled += is_settled
        each.in_vain = 0.0 if is_settled else each.in_vain + effort


class GuessPanel(Panel[StateT, CaseT]):
    """The same oracles on another lab, asked as `main` would ask them just now; nothing is counted."""

    def __init__(
        self,
        main: Panel[StateT, CaseT],
        lab: Knowledge[StateT],
        oracles: Sequence[tuple[str, Oracle[CaseT]]],
    ) -> None:
        super().__init__(lab, oracles, objective=main.objective, gap=main.keeps_going, exact=main.seeks_exact)
        self._main = main

    def _order(self, case: CaseT) -> Iterable[int]:
        return self._main._order(case)

    def _count(self, number: int, case: CaseT, effort: float, judgement: Judgement) -> None:
        """What counts is what the other one is told."""
