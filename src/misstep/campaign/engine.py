"""What runs the jobs of a campaign: one small interface, so that nothing else knows where they run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from misstep.campaign.plan import Limits
from misstep.campaign.result import Result
from misstep.config import Config


@dataclass(frozen=True, slots=True)
class Assignment:
    """A job for an engine. The record is continued where there is one already."""

    id: str
    config: Config
    record: Path
    limits: Limits


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended: with a result, or with the reason why there is none."""

    id: str
    result: Result | None = None
    reason: str | None = None
    is_accident: bool = False
    """Whether it may go well next time: a process or machine was lost, nothing was said about the test."""


class Engine(Protocol):
    """Runs jobs side by side. The coordinator alone talks to it, from one thread."""

    @property
    def slots(self) -> int:
        """How many jobs can be under way; it may change while machines come and go."""
        ...

    def begin(self, assignment: Assignment) -> None:
        """Starts a job; at most `slots` are under way."""
        ...

    def wait(self, seconds: float) -> list[Ended]:
        """The jobs that ended, as soon as there is one, at the latest after so many seconds."""
        ...

    def close(self) -> None:
        """Ends all that is under way at once; nothing of it is left."""
        ...
