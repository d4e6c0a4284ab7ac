"""Certificates of safety tests: bugs, faults and clearances on JANI models, checked from first principles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from misstep.reference.checked import Checked, need, refusing
from misstep.reference.digest import check_digest, check_kind
from misstep.reference.game import Answer, Choice, Game, check_refutation, check_strategy
from misstep.reference.jani_model import Jani
from misstep.reference.reading import items, record, refusal, text, whole

FORMAT = 2

QUESTION = ("radius", "horizon", "constants", "semantics", "unsafe", "goal")
"""The fields that say what is asked about the model."""

CLAIM = ("verdict", "safe", "not_safe", "trace", "faults", "decisions", "strategy", "refutation", "states")
"""The fields that the claim and its proof consist of. Each of them is checked as a whole."""

ORIGIN = ("id", "pool", "task", "property", "policy", "decider", "seed", "replay")
"""The fields that say where the certificate comes from. Nothing is concluded from them."""

POLICY_WORD = "policy: it decides as the certificate says (`misstep replay` asks it)"

Place = tuple[Any, int]
"""A state of the model and the number of the step in which it is visited (0 where nothing counts steps)."""


def check_certificate(certificate: object, model: object) -> Checked:
    """Accept a certificate iff it proves its verdict about the model, which is given as JSON.

    The claim of a bug is: from these states a run of the policy reaches an unsafe state, and a strategy
    within the radius avoids all unsafe states. The claim of a clearance is: no strategy within the radius
    avoids them from these states. `safe` is the answer to a question about states alone: a strategy avoids
    them. Refused is raised for everything else, garbage included.
    """
    with refusing("the certificate"):
        parts = _opened(certificate)
        if not isinstance(model, dict):
            raise refusal(model, "the model", "an object")
        return _check(_Claim(parts, Jani(model, parts["constants"], parts["semantics"])))


def _opened(certificate: object) -> dict[str, Any]:
    """The fields of a certificate of this kind and format, unchanged since its digest was computed."""
    if isinstance(certificate, dict):
        check_kind(certificate, "safety", FORMAT)
    fields = ("format", "kind", "sha256", *QUESTION, *CLAIM)
    parts = record(certificate, "the certificate", fields, optional=ORIGIN)
    check_digest(parts)
    return parts


@dataclass(frozen=True)
class Fault:
    """In `state` the policy does `action`, which may lead to the lost `outcome`; `alternative` is safe."""

    state: Place
    action: str
    outcome: Place
    alternative: str


class _Claim:
    """A certificate with its states read: lists refer to the states by their places in `states`."""

    def __init__(self, parts: dict[str, Any], jani: Jani) -> None:
        self.verdict = text(parts["verdict"], "the verdict")
        self.radius = None if parts["radius"] is None else whole(parts["radius"], "the radius")
        self.horizon = None if parts["horizon"] is None else whole(parts["horizon"], "the horizon")
        self.game = _game(jani, parts["unsafe"], parts["goal"], self.horizon)
        self._states = [self._state(jani, written) for written in items(parts["states"], "the states")]
        self.safe, self.not_safe, self.trace = (
            self._list(parts[key], key) for key in ("safe", "not_safe", "trace")
        )
        self.faults = [self._fault(fault) for fault in items(parts["faults"], "the faults")]
        self.strategy = [self._choice(line) for line in items(parts["strategy"], "the strategy")]
        self.refutation = [self._answer(line) for line in items(parts["refutation"], "the refutation")]
        rows = [_row(line, 2, "a decision") for line in items(parts["decisions"], "the decisions")]
        self._decisions = {self._at(i): _action(action) for i, action in rows}
        need(len(self._decisions) == len(rows), "the policy has two decisions in one state")

    def decision(self, state: Place) -> str | None:
        """What the policy does in a state, on its word: an action, or None where it has no applicable one."""
        need(state in self._decisions, "the policy's decision is missing in a state")
        return self._decisions[state]

    def _state(self, jani: Jani, written: object) -> Place:
        parts = record(written, "a state", ("values", "step"))
        step = whole(parts["step"], "the step of a state")
        need(self.horizon is not None or step == 0, "steps are counted where there is a horizon only")
        return jani.read(parts["values"]), step

    def _at(self, index: object) -> Place:
        place = whole(index, "the place of a state")
        need(place < len(self._states), f"there is no state {place} in the certificate")
        return self._states[place]

    def _list(self, written: object, what: str) -> list[Place]:
        return [self._at(index) for index in items(written, what)]

    def _fault(self, written: object) -> Fault:
        parts = record(written, "a fault", ("state", "action", "outcome", "alternative"))
        actions = [text(parts[key], f"the {key} of a fault") for key in ("action", "alternative")]
        return Fault(self._at(parts["state"]), actions[0], self._at(parts["outcome"]), actions[1])

    def _choice(self, written: object) -> Choice:
        index, value, action = _row(written, 3, "a line of the strategy")
        return Choice(self._at(index), whole(value, "a number of deviations"), _action(action))

    def _answer(self, written: object) -> Answer:
        index, budget, answers = _row(written, 3, "a line of the refutation")
        pairs = [_row(pair, 2, "an answer") for pair in items(answers, "the answers of a line")]
        outcomes = {text(action, "an action"): self._at(outcome) for action, outcome in pairs}
        return Answer(self._at(index), whole(budget, "a number of deviations"), outcomes)


def _row(written: object, length: int, what: str) -> Sequence[Any]:
    need(isinstance(written, list) and len(written) == length, f"{what} does not have {length} entries")
    return items(written, what)


def _action(written: object) -> str | None:
    return None if written is None else text(written, "an action")


def _game(jani: Jani, unsafe: object, goal: object, horizon: int | None) -> Game:
    """The game that the certificate speaks about. Unsafe counts before goal.

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


def _check(claim: _Claim) -> Checked:
    """Check that the parts of the claim belong to its verdict, then its strategy, refutation and run."""
    _check_parts(claim)
    chosen = {line.state: line.action for line in claim.strategy}
    for fault in claim.faults:
        _check_fault(claim, fault, chosen)
    faulty, lost = [fault.state for fault in claim.faults], [fault.outcome for fault in claim.faults]
    check_strategy(claim.game, [*claim.safe, *faulty], claim.radius, claim.strategy, claim.decision)
    check_refutation(claim.game, [*claim.not_safe, *lost], claim.radius, claim.refutation, claim.decision)
    if claim.trace:
        _check_trace(claim, [*claim.safe, *claim.not_safe, *faulty])
    asked = claim.trace or claim.faults or claim.radius is not None
    return Checked(claim.verdict, rests_on_search=False, words=(POLICY_WORD,) if asked else ())


def _check_parts(claim: _Claim) -> None:
    """Refuse empty claims and claims that mix verdicts, since nobody could say what was proven."""
    if claim.verdict == "bug":
        need(bool(claim.safe or claim.faults), "no state is claimed to be a bug")
        need(not claim.not_safe, "a bug is claimed to be safe, not to be lost")
        need(bool(claim.trace), "a bug needs an unsafe run")
    elif claim.verdict == "cleared":
        need(bool(claim.not_safe), "no state is claimed to be lost")
        need(
            not claim.safe and not claim.faults,
            "a state that is cleared is lost: it is not safe, and no fault",
        )
    else:
        need(claim.verdict == "safe", f"this is no verdict that can be proven: {claim.verdict[:60]}")
        need(bool(claim.safe), "no state is claimed to be safe")
        need(not (claim.not_safe or claim.faults or claim.trace), "a safe state has no run and no fault")


def _check_fault(claim: _Claim, fault: Fault, chosen: Mapping[Place, str | None]) -> None:
    """Refuse unless the policy's action in the state can have the outcome, and the strategy acts otherwise.

    That the state is safe and that the outcome is lost, both within the radius, is what the strategy and the
    refutation must prove: `_check` hands both states to them. So the action leaves the safe states, and the
    alternative does not.
    """
    need(claim.decision(fault.state) == fault.action, "the action of a fault is not the policy's")
    need(fault.outcome in claim.game.outcomes(fault.state, fault.action), "a fault names what is no outcome")
    need(
        chosen.get(fault.state) == fault.alternative,
        "the alternative of a fault is not what the strategy does",
    )


def _check_trace(claim: _Claim, claimed: Sequence[Place]) -> None:
    """Refuse unless the trace is a run of the policy to an unsafe state that visits all claimed states.

    Every step is one of the outcomes of the policy's action. The rest of the run from a claimed state on is a
    run from that state, so from each of them the policy can reach an unsafe state.
    """
    game = claim.game
    for state, following in pairwise(claim.trace):
        need(not game.is_unsafe(state) and not game.is_goal(state), "the run goes on after its end")
        need(
            following in game.outcomes(state, claim.decision(state)),
            "a step of the run is none of the policy",
        )
    need(game.is_unsafe(claim.trace[-1]), "the run does not end in an unsafe state")
    need(set(claimed) <= set(claim.trace), "a state that is claimed is not on the run")
