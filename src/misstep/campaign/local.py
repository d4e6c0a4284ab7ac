"""The engine for one machine: supervised processes, each with one job at a time and limits that hold."""

import time
from dataclasses import dataclass, field

from misstep.campaign.engine import Assignment, Ended
from misstep.campaign.plan import Limits
from misstep.campaign.result import result_of
from misstep.support.census import descendants, own_bytes
from misstep.tally import Tally
from misstep.workers import Job, Told, Workers

# Between two looks at the memory that jobs take.
_LOOK_SECONDS = 0.25
# A worker is replaced after so many jobs: starting one takes half a second.
_MOST_JOBS = 200


@dataclass(slots=True)
class _Under:
    """A job under way."""

    id: str
    limits: Limits
    tally: Tally = field(default_factory=Tally)
    began: float = field(default_factory=time.monotonic)
    killed: str | None = None
    """Why we ended it."""


class LocalEngine:
    """Processes of this machine, which are kept for the next job; all die with this one."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._workers = Workers(slots, most_jobs=_MOST_JOBS)
        self._under: dict[int, _Under] = {}
        self._number = 0
        self._looked = 0.0

    def begin(self, assignment: Assignment) -> None:
        """Gives the job to a process."""
        self._number += 1
        self._under[self._number] = _Under(assignment.id, assignment.limits)
        self._workers.begin(
            Job(self._number, assignment.config, assignment.record, is_free=False, resume=True)
        )

    def wait(self, seconds: float) -> list[Ended]:
        """Hears what processes tell, and ends those that take too much."""
        end, ended = time.monotonic() + seconds, list[Ended]()
        while not ended:
            left = end - time.monotonic()
            if left <= 0 or not self._under:
                break
            for told in self._workers.hear(seconds=min(left, self._next_look())):
                ended += self._take(told)
            self._enforce()
        return ended

    def close(self) -> None:
        """Kills what is under way; a record that is cut off is continued next time."""
        self._workers.close()

    def _take(self, told: Told) -> list[Ended]:
        under = self._under[told.number]
        if told.event is not None:
            under.tally.add(told.event)
        if not told.is_done:
            return []
        del self._under[told.number]
        if under.killed is not None and told.is_lost:
            return [Ended(under.id, reason=under.killed)]
        if told.is_lost:
            how = (told.error or "").partition(";")[0]
            return [Ended(under.id, reason=how, is_accident=True)]
        result = None if told.error is not None else result_of(under.tally)
        if result is None and told.error is None:
            return [Ended(under.id, reason="the test was interrupted", is_accident=True)]
        return [Ended(under.id, result, told.error)]

    def _next_look(self) -> float:
        """How long we may listen before a limit may have been passed."""
        now = time.monotonic()
        ends = [one.began + one.limits.seconds - now for one in self._under.values() if one.limits.seconds]
        looks = [_LOOK_SECONDS for one in self._under.values() if one.limits.memory_mb is not None]
        return max(0.01, min([60.0, *ends, *looks]))

    def _enforce(self) -> None:
        now = time.monotonic()
        is_time_to_look = now - self._looked >= _LOOK_SECONDS
        if is_time_to_look:
            self._looked = now
        for number, process in self._workers.busy.items():
            under = self._under[number]
            limits = under.limits
            if under.killed is not None:
                continue
            if limits.seconds is not None and now - under.began >= limits.seconds:
                under.killed = f"it took longer than {limits.seconds:g} seconds and was ended"
            elif is_time_to_look and limits.memory_mb is not None:
                taken = sum(map(own_bytes, [process, *descendants(process)])) / 1e6
                if taken > limits.memory_mb:
                    under.killed = f"it took {taken:.0f} MB, more than {limits.memory_mb} MB, and was ended"
            if under.killed is not None:
                self._workers.kill(number)
