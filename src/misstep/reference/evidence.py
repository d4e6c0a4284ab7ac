"""What the certificates of one safety test share: strategies, refutations and runs, checked once for all.

The evidence is a list of JSON objects. The first one is the header: it states the question and how states are
written. The others are blocks: each brings new states, and new lines about states. Every object carries its
digest and that of the object before it, so the digest of a block stands for all of the evidence up to it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from misstep.reference.checked import Refused, need, refusing
from misstep.reference.digest import check_digest, check_kind
from misstep.reference.game import Answer, Choice, Game, check_refutation, check_strategy
from misstep.reference.jani_model import Jani
from misstep.reference.reading import items, record, refusal, text, texts, whole

FORMAT = 3
QUESTION = ("radius", "horizon", "constants", "semantics", "unsafe", "goal")
"""The fields that say what is asked about the model."""
HEADER = ("format", "kind", "fields", "before", "sha256", *QUESTION)
BLOCK = ("states", "decisions", "runs", "strategy", "refutation", "before", "sha256")

Place = tuple[Any, int]
"""A state of the model and the number of the step in which it is visited (0 where nothing counts steps)."""


class Evidence:
    """The evidence of one test. Each of its three proofs is checked when a certificate first needs it.

    A proof that does not hold is refused again and again, by every certificate that rests on it; the others
    are not affected.
    """

    def __init__(self, lines: Sequence[object], model: object) -> None:
        with refusing("the evidence"):
            if not isinstance(model, dict):
                raise refusal(model, "the model", "an object")
            header = self._header(lines)
            self.question = {name: header[name] for name in QUESTION}
            self.radius = _optional(header["radius"], "the radius")
            self.horizon = _optional(header["horizon"], "the horizon")
            self.jani = Jani(model, header["constants"], header["semantics"])
            self.game = _game(self.jani, header["unsafe"], header["goal"], self.horizon)
            self._fields = texts(header["fields"], "the names of the values")
            self._states: list[Place] = []
            self._decisions: dict[Place, str | None] = {}
            self._runs: list[tuple[Place, Place]] = []
            self._strategy: dict[Place, Choice] = {}
            self._refutation: list[Answer] = []
        self.strategy: Callable[[], Mapping[Place, Choice]] = _once(self._check_strategy)
        """The states from which unsafe states can be avoided, with the action to choose; or a refusal.

        A later line about a state takes the place of an earlier one: the strategy is what is left at the end,
        and it is checked as a whole.
        """
        self.refuted: Callable[[], Mapping[Place, int]] = _once(self._check_refutation)
        """The states from which no strategy avoids unsafe states, and with how many deviations none does."""
        self.runs: Callable[[], Mapping[Place, int]] = _once(self._check_runs)
        """The states from which a run of the policy reaches an unsafe state, and after how many steps."""
        self.digests = {header["sha256"]}
        """Of the header and of every block that was read."""
        self.damage = self._read_blocks(lines[1:], header["sha256"])
        """Why blocks after the last one that was read are left out; None where all were read."""

    def place(self, values: object, step: object) -> Place:
        """The state that a certificate speaks about."""
        number = whole(step, "the step of a state")
        need(self.horizon is not None or number == 0, "steps are counted where there is a horizon only")
        return self.jani.read(values), number

    def decision(self, state: Place) -> str | None:
        """What the policy does in a state, on its word: an action, or None where it has none."""
        need(state in self._decisions, "the policy's decision is missing in a state")
        return self._decisions[state]

    def _check_strategy(self) -> Mapping[Place, Choice]:
        check_strategy(self.game, [], self.radius, list(self._strategy.values()), self.decision)
        return self._strategy

    def _check_refutation(self) -> Mapping[Place, int]:
        check_refutation(self.game, [], self.radius, self._refutation, self.decision)
        refuted: dict[Place, int] = {}
        for line in self._refutation:
            refuted[line.state] = max(line.budget, refuted.get(line.state, 0))
        return refuted

    def _check_runs(self) -> Mapping[Place, int]:
        return check_runs(self.game, self._runs, self.decision)

    def _header(self, lines: Sequence[object]) -> dict[str, Any]:
        need(len(lines) > 0, "there is no evidence")
        if isinstance(lines[0], dict):
            check_kind(lines[0], "safety-evidence", FORMAT)
        header = record(lines[0], "the header of the evidence", HEADER)
        check_digest(header)
        need(header["before"] is None, "something is missing before the evidence")
        return header

    def _read_blocks(self, blocks: Sequence[object], before: str) -> str | None:
        """Read blocks up to the first one that is damaged; what is wrong with it."""
        for number, block in enumerate(blocks, start=2):
            try:
                with refusing("a block"):
                    parts = record(block, "a block of the evidence", BLOCK)
                    check_digest(parts)
                    need(parts["before"] == before, "it does not follow the block before it")
                    self._read(parts)
                    before = text(parts["sha256"], "a digest")
            except Refused as refused:
                return f"line {number} of the evidence: {refused}"
            self.digests.add(before)
        return None

    def _read(self, block: dict[str, Any]) -> None:
        for row in items(block["states"], "the states"):
            self._states.append(self._state(row))
        for line in items(block["decisions"], "the decisions"):
            index, action = _row(line, 2, "a decision")
            state = self._at(index)
            need(state not in self._decisions, "the policy has two decisions in one state")
            self._decisions[state] = _action(action)
        for line in items(block["runs"], "the runs"):
            index, following = _row(line, 2, "a step of a run")
            self._runs.append((self._at(index), self._at(following)))
        for line in items(block["strategy"], "the strategy"):
            index, value, action = _row(line, 3, "a line of the strategy")
            state = self._at(index)
            self._strategy[state] = Choice(state, whole(value, "a number of deviations"), _action(action))
        for line in items(block["refutation"], "the refutation"):
            self._refutation.append(self._answer(line))

    def _state(self, written: object) -> Place:
        """A state is written as its values in the order of the header's names, then its step if any."""
        row = items(written, "a state")
        counted = int(self.horizon is not None)
        need(len(row) == len(self._fields) + counted, "a state has another number of values")
        values = dict(zip(self._fields, row, strict=False))
        return self.place(values, row[-1] if counted else 0)

    def _at(self, index: object) -> Place:
        place = whole(index, "the place of a state")
        need(place < len(self._states), f"there is no state {place} in the evidence")
        return self._states[place]

    def _answer(self, written: object) -> Answer:
        index, budget, answers = _row(written, 3, "a line of the refutation")
        pairs = [_row(pair, 2, "an answer") for pair in items(answers, "the answers of a line")]
        outcomes = {text(action, "an action"): self._at(outcome) for action, outcome in pairs}
        need(len(outcomes) == len(pairs), "a line of the refutation answers an action twice")
        return Answer(self._at(index), whole(budget, "a number of deviations"), outcomes)


def check_runs(
    game: Game, lines: Sequence[tuple[Place, Place]], decision: Callable[[Place], str | None]
) -> dict[Place, int]:
    """The states from which the lines prove that the policy can reach an unsafe state, with the steps.

    A line claims: in the first state the policy's action can lead to the second one. It is accepted if the
    play goes on in the first state, the second one is an outcome of the policy's action there, and the second
    one is unsafe or is the first state of an earlier line. By induction on the order of the lines each first
    state has a run of the policy to an unsafe state: one step, and then the run of the second state.
    """
    steps: dict[Place, int] = {}
    for state, following in lines:
        need(state not in steps, "a state has two steps of a run")
        need(not game.is_unsafe(state) and not game.is_goal(state), "a run goes on after its end")
        need(following in game.outcomes(state, decision(state)), "a step of a run is none of the policy")
        need(game.is_unsafe(following) or following in steps, "a run does not end in an unsafe state")
        steps[state] = 1 if game.is_unsafe(following) else steps[following] + 1
    return steps


def _game(jani: Jani, unsafe: object, goal: object, horizon: int | None) -> Game:
    """The game that the evidence speaks about. Unsafe counts before goal.

    With a horizon the question is whether unsafe states are avoided for so many steps: a state counts the
    steps, and at the horizon the play is over.
    """
    unsafe_at, goal_at = jani.condition(unsafe), jani.condition(False if goal is None else goal)
    later = int(horizon is not None)

    def is_goal(place: Place) -> bool:
        over = horizon is not None and place[1] >= horizon
        return not is_unsafe(place) and (over or goal_at(place[0]))

    def outcomes(place: Place, label: str) -> set[Place]:
        return {(following, place[1] + later) for following in reached(place[0], label)}

    is_unsafe: Callable[[Place], bool] = cache(lambda place: unsafe_at(place[0]))
    reached = cache(jani.outcomes)
    return Game(cache(lambda place: jani.applicable(place[0])), cache(outcomes), is_unsafe, cache(is_goal))


def _once(check: Callable[[], Any]) -> Callable[[], Any]:
    """A check that is made at the first call; later calls give the same answer, or the same refusal."""

    @cache
    def tried() -> tuple[Any, str | None]:
        try:
            with refusing("the evidence"):
                return check(), None
        except Refused as refused:
            return None, str(refused)

    def answer() -> Any:
        result, refused = tried()
        if refused is not None:
            raise Refused(refused)
        return result

    return answer


def _optional(value: object, what: str) -> int | None:
    return None if value is None else whole(value, what)


def _row(written: object, length: int, what: str) -> Sequence[Any]:
    need(isinstance(written, list) and len(written) == length, f"{what} does not have {length} entries")
    return items(written, what)


def _action(written: object) -> str | None:
    return None if written is None else text(written, "an action")
