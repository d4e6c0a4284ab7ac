"""Subject: a policy on its task, as a session sees it; what differs between PDDL tasks and JANI models."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from misstep.bound import Bound
from misstep.events import Event, Family, Misstep
from misstep.judge import Judgement
from misstep.lab import Knowledge, Known
from misstep.oracle import CaseT, Panel

Tell = Callable[[Event], None]
UNTIL_WIDTH = "until-width"
"""The limit of a test that ends because enough is known about the rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a session writes down about a state that was judged: for the event, and as a certificate."""

    judgement: Judgement
    best: Bound
    fault: Misstep | None = None
    schema: str | None = None
    """What families call the decision at fault."""
    reason: str | None = None
    by_search: bool = False
    certificate: Mapping[str, Any] | None = None
    """None where the verdict is unknown: there is nothing to certify."""


@dataclass(slots=True)
class Clock:
    """Where the time went, but for the policy's, which is counted where the policy is asked."""

    fuzz: float = 0.0
    oracle: float = 0.0


class Meter(Protocol):
    """Whoever asks the policy."""

    @property
    def policy_seconds(self) -> float:
        """What the policy took so far."""
        ...


class Subject(Protocol[CaseT]):
    """One policy on one task or model. It makes cases, explains and certifies verdicts; it never judges."""

    @property
    def lab(self) -> Knowledge[Any]:
        """What is known, and the door for claims."""
        ...

    @property
    def panel(self) -> Panel[Any, CaseT]:
        """The oracles, asked in order."""
        ...

    @property
    def meter(self) -> Meter:
        """Where the policy's time is counted."""
        ...

    @property
    def size(self) -> int:
        """How many cases there will be at most."""
        ...

    def cases(self, clock: Clock, tell: Tell, /) -> Iterator[CaseT]:
        """Fuzzes and runs the policy, slice by slice; what happens meanwhile is told as events."""
        ...

    def find(
        self, case: CaseT, judgement: Judgement, known: Known[Any], about: Mapping[str, Any], /
    ) -> Finding:
        """Explains and certifies a verdict.

        Looking for the fault may tighten bounds, so the finding's judgement is the one that counts.
        """
        ...

    def families(self, bugs: "list[tuple[CaseT, Finding]]", /) -> tuple[Family, ...]:
        """Bugs in which the same goes wrong, large families first."""
        ...

    def summary(self, bugs: "list[tuple[CaseT, Finding]]", /) -> dict[str, Any]:
        """What only this kind of subject says at the end: fields of `Finished`."""
        ...
