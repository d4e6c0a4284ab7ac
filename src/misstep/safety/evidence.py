"""What the certificates of one safety test share: strategies, refutations and runs, each line written once.

docs/certificates.md says what the lines mean; `misstep.reference.evidence` reads and checks them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misstep._core import JaniGame
from misstep.bound import Bound
from misstep.errors import MisstepError
from misstep.record.record import FORMAT
from misstep.reference.digest import digest
from misstep.safety.model import SafetyTask

StrategyLine = tuple[int, int, int | None]
"""A state, the deviations ahead, and the label to choose (None where the game ends)."""
RefutationLine = tuple[int, int, list[tuple[int, int]]]
"""A state, a budget of deviations, and for every label that it allows an outcome that is lost."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """The state is safe: lines of a strategy that were not known before; with the others it is complete."""

    lines: tuple[StrategyLine, ...]

    @property
    def kind(self) -> str:
        """`strategy`."""
        return "strategy"

    def as_json(self, bound: Bound, /) -> dict[str, Any]:
        """Certificates refer to the evidence of the whole test, which has the lines."""
        return {"kind": self.kind}


@dataclass(frozen=True, slots=True)
class Refutation:
    """The state is not safe: lines of a refutation that were not known before."""

    lines: tuple[RefutationLine, ...]

    @property
    def kind(self) -> str:
        """`refutation`."""
        return "refutation"

    def as_json(self, bound: Bound, /) -> dict[str, Any]:
        """Certificates refer to the evidence of the whole test, which has the lines."""
        return {"kind": self.kind}


class BadEvidence(MisstepError):
    """Lines that prove nothing: a defect of the decider that made them."""


class Book:
    """The evidence of one test, in states' numbers. Lines are checked in the game before they are taken in.

    `block` gives what is new since the last call as JSON; the blocks in order are the evidence of a record.
    """

    def __init__(self, task: SafetyTask, game: JaniGame, *, radius: int | None, horizon: int | None) -> None:
        self._task, self._game, self._radius, self._horizon = task, game, radius, horizon
        self.strategy: dict[int, tuple[int, int | None]] = {}
        """Deviations ahead and the label to choose, in states that are proven safe."""
        self.refuted: dict[int, int] = {}
        """The largest budget with which a state is proven not to be safe."""
        self.following: dict[int, int] = {}
        """The next state on a run of the policy that ends in an unsafe state."""
        self.steps: dict[int, int] = {}
        """How long that run is."""
        self._decided: set[int] = set()
        self._places: dict[int, int] = {}
        self._new: dict[str, list[Any]] = _empty()
        self.header = self._make_header()
        self.digest: str = self.header["sha256"]
        """Of all that was written so far."""

    @property
    def question(self) -> dict[str, Any]:
        """What is asked about the model; certificates state it too."""
        return {
            "radius": self._radius,
            "horizon": self._horizon,
            "constants": self._task.constants,
            "semantics": self._task.semantics.stated(),
            "unsafe": self._task.files.unsafe,
            "goal": self._task.files.goal,
        }

    def is_safe(self, s: int) -> bool:
        """Whether the lines prove that the state is safe."""
        return s in self.strategy and (self._radius is None or self.strategy[s][0] <= self._radius)

    def is_lost(self, s: int) -> bool:
        """Whether the lines prove that the state is not safe."""
        return self._game.is_unsafe(s) or self.refuted.get(s, -1) >= (self._radius or 0)

    def knows_choice(self, s: int, value: int) -> bool:
        """Whether a line of a strategy needs at most so many deviations from this state on."""
        return s in self.strategy and self.strategy[s][0] <= value

    def knows_answers(self, s: int, budget: int) -> bool:
        """Whether a line refutes the state with so many deviations left."""
        return self.refuted.get(s, -1) >= budget

    def add_step(self, s: int, following: int) -> None:
        """The policy's action in s can lead to a state that is unsafe, or from which a run is known."""
        self.following[s] = following
        self.steps[s] = 1 + self.steps.get(following, 0)
        self._decide(s)
        self._new["runs"].append([self._place(s), self._place(following)])

    def add_strategy(self, lines: Sequence[StrategyLine]) -> None:
        """Takes lines in where they need fewer deviations than those that are known."""
        better = [line for line in lines if not self.knows_choice(line[0], line[1])]
        before = {s: self.strategy.get(s) for s, _, _ in better}
        self.strategy |= {s: (value, label) for s, value, label in better}
        try:
            for line in better:
                self._check_choice(*line)
        except BadEvidence:
            for s, known in before.items():
                if known is None:
                    del self.strategy[s]
                else:
                    self.strategy[s] = known
            raise
        for s, value, label in better:
            if self._radius is not None:
                self._decide(s)
            self._new["strategy"].append([self._place(s), value, self._name(label)])

    def add_refutation(self, lines: Sequence[RefutationLine]) -> None:
        """Takes lines in where they refute a larger budget than those that are known."""
        for s, budget, answers in lines:
            if self.knows_answers(s, budget):
                continue
            self._check_answers(s, budget, dict(answers))
            self.refuted[s] = budget
            if self._radius is not None:
                self._decide(s)
            named = [[self._name(label), self._place(t)] for label, t in answers]
            self._new["refutation"].append([self._place(s), budget, named])

    def block(self) -> dict[str, Any] | None:
        """What is new since the last block, with its digest and that of all before; None where nothing is."""
        if not any(self._new.values()):
            return None
        block: dict[str, Any] = {**self._new, "before": self.digest}
        block["sha256"] = self.digest = digest(block)
        self._new = _empty()
        return block

    def _make_header(self) -> dict[str, Any]:
        header: dict[str, Any] = {"format": FORMAT, "kind": "safety-evidence", **self.question}
        header |= {"fields": self._task.shown_fields, "before": None}
        header["sha256"] = digest(header)
        return header

    def _check_choice(self, s: int, value: int, label: int | None) -> None:
        game = self._game
        if game.is_unsafe(s) or value < 0:
            raise BadEvidence(f"its strategy visits the unsafe state {self._task.state(game, s)}")
        moves = [] if game.is_goal(s) else self._moves(s)
        if label is None and not moves:
            return
        found = [(deviates, outcomes) for number, deviates, outcomes in moves if number == label]
        if not found:
            raise BadEvidence(f"its strategy has no action in {self._task.state(game, s)}")
        left = value - int(found[0][0])
        for t in found[0][1]:
            if t not in self.strategy or self.strategy[t][0] > left:
                raise BadEvidence(f"its strategy does not cover {self._task.state(game, t)}")

    def _check_answers(self, s: int, budget: int, answers: dict[int, int]) -> None:
        game = self._game
        moves = [] if game.is_goal(s) else self._moves(s)
        if not moves:
            raise BadEvidence(f"it refutes {self._task.state(game, s)}, where the game ends")
        for label, deviates, outcomes in moves:
            left = budget - int(deviates)
            t = answers.get(label)
            if left < 0:
                continue
            if t not in outcomes or not (game.is_unsafe(t) or self.refuted.get(t, -1) >= left):
                raise BadEvidence(
                    f"it names no lost outcome of {self._task.labels[label]} in {self._task.state(game, s)}"
                )

    def _moves(self, s: int) -> list[tuple[int, bool, list[int]]]:
        """The moves with whether they count as deviations; the policy is asked only where they can."""
        if self._radius is not None:
            return self._game.moves(s)
        return [(label, False, outcomes) for label, outcomes in self._game.plain_moves(s)]

    def _decide(self, s: int) -> None:
        """Writes down what the policy does in a state, where it matters for a proof."""
        if s not in self._decided and not self._game.is_unsafe(s) and not self._game.is_goal(s):
            self._decided.add(s)
            self._new["decisions"].append([self._place(s), self._name(self._game.chosen(s))])

    def _place(self, s: int) -> int:
        if s not in self._places:
            self._places[s] = len(self._places)
            row = list(self._task.state(self._game, s).values())
            self._new["states"].append(row if self._horizon is None else [*row, self._game.step(s)])
        return self._places[s]

    def _name(self, label: int | None) -> str | None:
        return None if label is None else self._task.labels[label]


def _empty() -> dict[str, list[Any]]:
    return {"states": [], "decisions": [], "runs": [], "strategy": [], "refutation": []}


def question_digest(question: Mapping[str, Any]) -> str:
    """Binds a record to what was asked."""
    return digest(question)
