"""Differences between the builds that a change makes on purpose, each with its reason."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Intended:
    """A place (scenario, command or file) that may differ, and why."""

    scenario: str
    place: str
    reason: str

    def covers(self, scenario: str, place: str) -> bool:
        """Both patterns match whole names."""
        return bool(re.fullmatch(self.scenario, scenario) and re.fullmatch(self.place, place))


INTENDED: tuple[Intended, ...] = ()
