"""`abstraction`: lower bounds by table lookup, from an abstraction that is built once for a task."""

from collections.abc import Iterator
from dataclasses import dataclass

from misstep._core import Abstraction
from misstep.bound import Bound
from misstep.claim import Claim
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.plugins import option
from misstep.proof import Prover


@dataclass(frozen=True)
class AbstractionBound:
    """Merge-and-shrink with bisimulation: clears states whose distance in it is what the policy costs."""

    name = "abstraction"
    max_states: int = option(10_000, "of one factor")
    max_transitions: int = option(200_000, "of one factor")
    max_seconds: float = option(20.0, "for building it")

    def bind(self, lab: Lab, /) -> "BoundAbstraction":
        """The oracle on a lab; the abstraction is built when it is first asked."""
        return BoundAbstraction(self, lab)

    def build(self, lab: Lab) -> Abstraction:
        """The abstraction that all oracles with the same options share."""

        def make() -> Abstraction:
            made = Abstraction(
                lab.task,
                max_states=self.max_states,
                max_transitions=self.max_transitions,
                max_seconds=lab.seconds_left(self.max_seconds),
                max_memory_mb=lab.max_memory_mb,
                stop=lab.stop,
            )
            if made.limit is not None:
                lab.limits_hit.add(f"abstraction: {made.limit}")
            return made

        return lab.shared(("abstraction", self), make)


@dataclass(frozen=True, slots=True)
class BoundAbstraction:
    """The oracle at work."""

    part: AbstractionBound
    lab: Lab

    def claims(self, case: Case, /) -> Iterator[Claim]:
        """The distance of the state, or that it has no plan."""
        proof = prover_of(self.lab).looked_up(self.part.build(self.lab), case.entry.state)
        if proof is not None:
            yield Claim(case.entry.state, Bound(proof.bound), proof, self.part.name)


def prover_of(lab: Lab) -> Prover:
    """What all oracles of a lab prove with, so that functions are written once."""
    return lab.shared("prover", lambda: Prover(lab.task))
