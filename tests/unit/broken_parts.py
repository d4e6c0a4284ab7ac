"""Parts that break their contracts, each in one way."""

import itertools
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import misstep
from misstep import Bound, Claim, Exhausted, Landmarks, Plan, option
from misstep.bias import PartialRun
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.task import Task

MOMENT = 0.3
"""Parts that never end are given so many seconds; they end themselves later."""


def stubbornly() -> None:
    """Goes on for much longer than anybody waits, but not for ever."""
    end = time.monotonic() + 20 * MOMENT
    while time.monotonic() < end:
        time.sleep(0.01)


@dataclass(frozen=True)
class Saying:
    """An oracle that says what a function says."""

    name = "saying"

    def bind(self, lab: Lab, /) -> "SayingOracle":
        return SayingOracle(self, lab)

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        plan = misstep.search(lab.task, "astar:blind", state=case.state)
        if plan.outcome == "solved":
            yield misstep.plan_claim(case.state, plan.plan, self.name)


@dataclass
class SayingOracle:
    part: Saying
    lab: Lab

    def claims(self, case: Case, /) -> Iterator[Any]:
        return self.part.say(self.lab, case)


def cost(lab: Lab, case: Case) -> float:
    found = misstep.search(lab.task, "astar:blind", state=case.state)
    return found.cost if found.cost is not None else math.inf


@dataclass(frozen=True)
class CheapPlan(Saying):
    """Claims that a plan costs less than it does."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        for claim in Saying.say(self, lab, case):
            if claim.bound.hi > 0:
                yield replace(claim, bound=Bound(0, claim.bound.hi - 1))


@dataclass(frozen=True)
class HalfPlan(Saying):
    """Claims plans without their last action."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        for claim in Saying.say(self, lab, case):
            yield replace(claim, evidence=Plan(claim.evidence.actions[:-1]))


@dataclass(frozen=True)
class TooHigh(Saying):
    """Claims a search that proves one more than there is."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        if (best := cost(lab, case)) < math.inf:
            yield Claim(case.state, Bound(best + 1), Exhausted("mine", 1), self.name)


@dataclass(frozen=True)
class NoLandmark(Saying):
    """Charges actions that no plan needs."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        yield Claim(case.state, Bound(0), Landmarks(((tuple(lab.task.actions)[:1], 0),)), self.name)


@dataclass(frozen=True)
class LowerByPlan(Saying):
    """Takes the cost of a plan for a lower bound: true, because it is a best plan, but not proven by it."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        for claim in Saying.say(self, lab, case):
            if claim.bound.hi > 0:
                yield replace(claim, bound=Bound(claim.bound.hi, claim.bound.hi))


@dataclass(frozen=True)
class Feeling:
    """Evidence that nobody can check."""

    kind = "feeling"

    def as_json(self, bound: Bound, /) -> dict[str, Any]:
        return {"kind": self.kind}


@dataclass(frozen=True)
class NewEvidence(Saying):
    """Has a feeling."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        yield Claim(case.state, Bound(0, math.inf), Feeling(), self.name)


@dataclass(frozen=True)
class NoClaim(Saying):
    """Yields a number."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        yield 3


@dataclass(frozen=True)
class OtherName(Saying):
    """Speaks in the name of another oracle."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        for claim in Saying.say(self, lab, case):
            yield replace(claim, oracle="perfect")


@dataclass(frozen=True)
class Raising(Saying):
    """Divides by zero."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        yield 1 // 0


@dataclass(frozen=True)
class Moody(Saying):
    """Uses Python's global random numbers."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        if random.random() < 0.5:
            yield from Saying.say(self, lab, case)


_SEEN: set[str] = set()


@dataclass(frozen=True)
class Global(Saying):
    """Keeps notes where all labs see them."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        if str(case.state) not in _SEEN:
            _SEEN.add(str(case.state))
            yield from Saying.say(self, lab, case)


_LAST: list[Lab] = []


@dataclass(frozen=True)
class LastLab(Saying):
    """Speaks about the lab that was bound last."""

    def bind(self, lab: Lab, /) -> SayingOracle:
        _LAST[:] = [lab]
        return SayingOracle(self, lab)

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        if lab is _LAST[0]:
            yield from Saying.say(self, lab, case)


@dataclass(frozen=True)
class Endless(Saying):
    """Says the same again and again."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        for claim in Saying.say(self, lab, case):
            yield from itertools.repeat(claim)


@dataclass(frozen=True)
class Stubborn(Saying):
    """Goes on when it is told to stop."""

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        if lab.budget.is_over:
            stubbornly()
        yield from Saying.say(self, lab, case)


@dataclass(frozen=True)
class NotingPart(Saying):
    """Keeps notes in the part."""

    notes: list[str] = field(default_factory=list, metadata={"help": "nothing that a user should give"})

    def say(self, lab: Lab, case: Case) -> Iterator[Any]:
        self.notes.append(str(case.state))
        yield from Saying.say(self, lab, case)


@dataclass(frozen=True)
class Undocumented(Saying):
    depth: int = option(1, "how deep")


@dataclass
class Thawed:
    """Not frozen."""

    name = "thawed"

    def bind(self, lab: Lab, /) -> SayingOracle:
        return SayingOracle(Saying(), lab)


@dataclass(frozen=True)
class Helpless(Saying):
    """An option without help."""

    depth: int = 3


@dataclass(frozen=True)
class Unpicklable(Saying):
    """Holds a function that has no name."""

    judge: Callable[[], int] = field(default=lambda: 3, metadata={"help": "a function"})


@dataclass(frozen=True)
class Misnamed(Saying):
    """A name that users cannot type."""

    name = "two words"


@dataclass(frozen=True)
class Unbound:
    """No method `bind`."""

    name = "unbound"


ORACLES: list[tuple[Any, str]] = [
    (CheapPlan(), "evidence of every claim holds"),
    (HalfPlan(), "evidence of every claim holds"),
    (TooHigh(), "a lower bound is never above"),
    (NoLandmark(), "evidence of every claim holds"),
    (LowerByPlan(), "evidence of every claim holds"),
    (NewEvidence(), "evidence of every claim holds"),
    (NoClaim(), "an oracle answers without raising"),
    (OtherName(), "a claim carries the name"),
    (Raising(), "an oracle answers without raising"),
    (Moody(), "the same claims again"),
    (Global(), "the same claims again"),
    (LastLab(), "nothing is shared between two labs"),
    (Endless(), "ends when it has nothing more to say"),
    (Stubborn(), "ends soon when"),
    (NotingPart(), "a part keeps no notes"),
    (Undocumented(), "docstring of a part is its help"),
    (Thawed(), "frozen dataclass"),
    (Helpless(), "each with a help text"),
    (Unpicklable(), "a part pickles"),
    (Misnamed(), "a word that users can type"),
    (Unbound(), "every oracle has `bind`"),
    (object(), "frozen dataclass"),
]


@dataclass(frozen=True)
class Weighing:
    """A bias that weighs by its costs."""

    name = "weighing"

    def score(self, run: PartialRun, /) -> Any:
        return sum(run.costs)


@dataclass(frozen=True)
class Nan(Weighing):
    """Not a number where the run is solved."""

    def score(self, run: PartialRun, /) -> Any:
        return math.nan if run.outcome == "solved" else 1.0


@dataclass(frozen=True)
class Wordy(Weighing):
    """Answers with a text."""

    def score(self, run: PartialRun, /) -> Any:
        return "much"


@dataclass(frozen=True)
class Failing(Weighing):
    """Raises."""

    def score(self, run: PartialRun, /) -> Any:
        raise KeyError("no such weight")


_COUNT = itertools.count()


@dataclass(frozen=True)
class Counting(Weighing):
    """Gives every run a new number."""

    def score(self, run: PartialRun, /) -> Any:
        return next(_COUNT)


@dataclass(frozen=True)
class Scoreless:
    """No method `score`."""

    name = "scoreless"


BIASES: list[tuple[Any, str]] = [
    (Nan(), "gives every partial run a number"),
    (Wordy(), "gives every partial run a number"),
    (Failing(), "gives every partial run a number"),
    (Counting(), "gives the same run the same number"),
    (Scoreless(), "gives every partial run a number"),
]


@dataclass(frozen=True)
class Doubling:
    """An objective that doubles costs."""

    name = "doubling"

    def value(self, cost: float, /) -> Any:
        return 2 * cost


@dataclass(frozen=True)
class Falling(Doubling):
    """Large costs are fine."""

    def value(self, cost: float, /) -> Any:
        return 0 if cost > 900 else cost


@dataclass(frozen=True)
class Negative(Doubling):
    """Cheap plans are worth something."""

    def value(self, cost: float, /) -> Any:
        return cost - 5


@dataclass(frozen=True)
class Unknowing(Doubling):
    """No value for infinity."""

    def value(self, cost: float, /) -> Any:
        return None if cost == math.inf else cost


@dataclass(frozen=True)
class Drifting(Doubling):
    """Grows with every question."""

    def value(self, cost: float, /) -> Any:
        return next(_COUNT)


OBJECTIVES: list[tuple[Any, str]] = [
    (Falling(), "monotone in the cost"),
    (Negative(), "never negative"),
    (Unknowing(), "gives every cost and infinity a number"),
    (Drifting(), "same value again"),
]


@dataclass(frozen=True)
class Choosing:
    """A policy that takes the first applicable action."""

    def bind(self, task: Task, /) -> Any:
        return lambda states: [self.choose(task, state) for state in states]

    def choose(self, task: Task, state: misstep.State) -> Any:
        return next(iter(task.applicable(state)), None)


@dataclass(frozen=True)
class Dicing(Choosing):
    """Throws dice."""

    def choose(self, task: Task, state: misstep.State) -> Any:
        return random.choice([*task.applicable(state), None])


@dataclass(frozen=True)
class Nonsense(Choosing):
    """Answers with a number."""

    def choose(self, task: Task, state: misstep.State) -> Any:
        return 3


@dataclass(frozen=True)
class Companionable(Choosing):
    """Answers nothing where states come in company."""

    def bind(self, task: Task, /) -> Any:
        return lambda states: [self.choose(task, state) if len(states) == 1 else None for state in states]


@dataclass(frozen=True)
class Short(Choosing):
    """Forgets the last state."""

    def bind(self, task: Task, /) -> Any:
        return lambda states: [self.choose(task, state) for state in list(states)[:-1]]


_TASKS: list[Task] = []


@dataclass(frozen=True)
class FirstTask(Choosing):
    """Remembers the task that it was bound to last."""

    def bind(self, task: Task, /) -> Any:
        _TASKS[:] = [task]
        return lambda states: [self.choose(task, state) if task is _TASKS[0] else None for state in states]


@dataclass(frozen=True)
class Picky(Choosing):
    """Fits to no task."""

    def bind(self, task: Task, /) -> Any:
        raise misstep.PolicyError("not this one")


POLICIES: list[tuple[Any, str]] = [
    (Dicing(), "deterministic"),
    (Nonsense(), "an action of the task, the name of one, or None"),
    (Companionable(), "does not depend on the states that are asked with it"),
    (Short(), "one answer for each state"),
    (FirstTask(), "does not disturb"),
    (Picky(), "can be bound to some task"),
]
