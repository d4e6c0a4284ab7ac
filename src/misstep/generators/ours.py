"""Generators for the bundled domains. A size is one number; more of it makes everything larger together."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Protocol

from misstep.generators import problems, problems_typed


class Generator(Protocol):
    """Writes problems; the same text for the same size and seed, always."""

    @property
    def domain(self) -> str | None:
        """The PDDL domain of the problems, None where the user has to name it."""
        ...

    def problem(self, size: int, seed: int) -> str:
        """A solvable problem as PDDL text; `size` is at least 1."""
        ...


def bundled_domain(name: str) -> str:
    """The text of a domain that comes with misstep."""
    return (files("misstep") / "bundled" / "domains" / f"{name}.pddl").read_text(encoding="utf-8")


@dataclass(frozen=True)
class _Bundled:
    @property
    def domain(self) -> str:
        """The bundled domain of this name."""
        return bundled_domain(type(self).__name__.lower())


@dataclass(frozen=True)
class Blocks(_Bundled):
    """Towers of SIZE + 1 blocks have to become others."""

    def problem(self, size: int, seed: int) -> str:
        """Both arrangements are drawn."""
        return problems.blocks(size + 1, seed)


@dataclass(frozen=True)
class Ferry(_Bundled):
    """SIZE cars between SIZE + 1 ports."""

    def problem(self, size: int, seed: int) -> str:
        """Start and goal of every car and the ferry's port are drawn."""
        return problems.ferry(size + 1, size, seed)


@dataclass(frozen=True)
class Gripper(_Bundled):
    """SIZE balls in 2 or more rooms, one more for every four balls."""

    def problem(self, size: int, seed: int) -> str:
        """Start and goal of every ball and the robot's room are drawn."""
        return problems.mixed_gripper(size, 2 + size // 4, seed)


@dataclass(frozen=True)
class Miconic(_Bundled):
    """SIZE passengers on SIZE + 1 floors."""

    def problem(self, size: int, seed: int) -> str:
        """Start and goal of every passenger and the lift's floor are drawn."""
        return problems.miconic(size + 1, size, seed)


@dataclass(frozen=True)
class Spanner(_Bundled):
    """SIZE nuts and half as many spanners more, on a way of SIZE + 2 spots."""

    def problem(self, size: int, seed: int) -> str:
        """The spots of the spanners are drawn."""
        return problems.spanner(size, size, size + size // 2, seed)


@dataclass(frozen=True)
class Satellite(_Bundled):
    """SIZE images of SIZE + 2 directions in 3 modes, by one satellite or more."""

    def problem(self, size: int, seed: int) -> str:
        """Instruments, their modes and what is to be seen are drawn."""
        satellites = 1 + size // 3
        return problems_typed.satellite(satellites, satellites + 1, 3, size + 2, size, seed)


@dataclass(frozen=True)
class Transport(_Bundled):
    """SIZE crates between SIZE + 2 towns, with a lorry for every three of them."""

    def problem(self, size: int, seed: int) -> str:
        """Roads, lengths, starts and goals are drawn."""
        return problems_typed.transport(size + 2, 1 + size // 3, size, seed)


@dataclass(frozen=True)
class Visitall(_Bundled):
    """A grid of SIZE + 1 by SIZE + 1 cells with up to SIZE // 2 holes; half of the cells are wanted."""

    def problem(self, size: int, seed: int) -> str:
        """The start, the holes and the wanted cells are drawn."""
        return problems.visitall(size + 1, size + 1, seed, share=0.5, holes=size // 2)


@dataclass(frozen=True)
class Logistics(_Bundled):
    """SIZE parcels in 2 cities or more, two places each, with one plane."""

    def problem(self, size: int, seed: int) -> str:
        """Starts and goals are drawn."""
        return problems.logistics(2 + size // 3, 2, size, 1, seed)


@dataclass(frozen=True)
class Childsnack(_Bundled):
    """SIZE children at 3 tables, a third of them allergic, with a tray for every two."""

    def problem(self, size: int, seed: int) -> str:
        """Where children sit and what they may eat is drawn."""
        return problems_typed.childsnack(size, (size + 2) // 3, 1 + size // 2, 3, seed)
