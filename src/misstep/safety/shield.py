"""A shield: the policy, except where its action could leave the safe region or would go round for ever."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from misstep.budget import Budget
from misstep.errors import LimitReached
from misstep.safety.exam import Exam, exam_of
from misstep.safety.lab import ModelLab
from misstep.safety.model import StateDict, draw

MAX_PLANNED = 50_000
"""States that a shield looks at to find a way to the goal."""
_MAX_ROUNDS = 20
_EXAMPLES = 5


class Shield:
    """Chooses moves in a game, for each state always the same. From a safe state it stays in the safe region.

    Where the policy's own action keeps to states that are decided safe it is taken; otherwise the one of the
    safe actions that the policy likes best. `plan` looks further: where that never reaches the goal although
    safe actions can, the shield takes those.
    """

    def __init__(self, lab: ModelLab) -> None:
        self.lab = lab
        self.overruled: dict[int, int] = {}
        """What is taken instead of the policy's action, where the shield has intervened."""
        self._chosen: dict[int, int | None] = {}

    def choose(self, s: int) -> int | None:
        """The label to take; None where the policy stops and nothing safe is known."""
        if s not in self._chosen:
            self._chosen[s] = self._decide(s)
        return self._chosen[s]

    def overrule(self, s: int, label: int) -> None:
        """From now on takes another label in a state."""
        self._chosen[s] = self.overruled[s] = label

    def plan(self, starts: Sequence[int], *, max_states: int = MAX_PLANNED) -> bool:
        """Finds ways to the goal for all that is reached from the starts; False where a limit was hit.

        Rounds of: what the shield reaches, which of it never comes to a goal, and the first step of a safe
        way there instead.
        """
        for _ in range(_MAX_ROUNDS):
            reached = self._reached(starts, max_states)
            if reached is None:
                return False
            fine = self._finding_goals(reached)
            stuck = [s for s in reached if s not in fine and self._goes_on(s)]
            ways = self._safe_ways(stuck, max_states) if stuck else {}
            for s, label in ways.items():
                self.overrule(s, label)
            if not ways:
                return True
        return False

    def _decide(self, s: int) -> int | None:
        game, moves = self.lab.game, self.lab.game.moves(s)
        if game.is_unsafe(s) or game.is_goal(s) or not moves:
            return None
        own = None if moves[0][1] else moves[0][0]
        for label, _, outcomes in moves:
            if all(self.lab.verdict(t) == "safe" for t in outcomes):
                if label != own:
                    self.overruled[s] = label
                return label
        return own

    def _goes_on(self, s: int) -> bool:
        """Whether the game goes on there, and unsafe states can still be avoided."""
        game = self.lab.game
        return not (game.is_unsafe(s) or game.is_goal(s)) and self.lab.verdict(s) == "safe"

    def _outcomes(self, s: int) -> list[int]:
        label = self.choose(s)
        return (
            [] if label is None else next(after for own, _, after in self.lab.game.moves(s) if own == label)
        )

    def _reached(self, starts: Iterable[int], max_states: int) -> dict[int, list[int]] | None:
        found: dict[int, list[int]] = {}
        left = [s for s in starts if self._goes_on(s)]
        while left:
            s = left.pop()
            if s not in found:
                found[s] = self._outcomes(s)
                left += found[s]
            if len(found) > max_states or self.lab.budget.is_over:
                return None
        return found

    def _finding_goals(self, reached: dict[int, list[int]]) -> set[int]:
        """The states from which the shield can come to a goal."""
        before: dict[int, list[int]] = {}
        for s, outcomes in reached.items():
            for t in outcomes:
                before.setdefault(t, []).append(s)
        return _backwards(before, [s for s in reached if self.lab.game.is_goal(s)])

    def _safe_ways(self, stuck: Sequence[int], max_states: int) -> dict[int, int]:
        """The first step of a way to a goal through safe states, for those of the states that have one."""
        game, left = self.lab.game, deque(stuck)
        moves: dict[int, list[tuple[int, list[int]]]] = {}
        before: dict[int, list[int]] = {}
        while left and len(moves) < max_states and not self.lab.budget.is_over:
            s = left.popleft()
            if s in moves:
                continue
            safe = self._goes_on(s)
            moves[s] = [
                (label, after)
                for label, _, after in (game.moves(s) if safe else ())
                if all(self.lab.verdict(t) == "safe" for t in after)
            ]
            for t in {t for _, after in moves[s] for t in after}:
                before.setdefault(t, []).append(s)
                left.append(t)
        distance = _distances(before, [s for s in moves if game.is_goal(s)])
        ways: dict[int, int] = {}
        for s in stuck:
            ranked = [(*_rank(after, distance), place) for place, (_, after) in enumerate(moves.get(s, []))]
            if ranked and min(ranked)[1] < _FAR:
                ways[s] = moves[s][min(ranked)[-1]][0]
        return ways


_FAR = 1 << 60


def _rank(outcomes: Sequence[int], distance: dict[int, int]) -> tuple[int, int, int]:
    """Few outcomes from which no goal can be reached, then the nearest and the farthest of the others."""
    known = [distance.get(t, _FAR) for t in outcomes]
    return sum(d == _FAR for d in known), min(known), max((d for d in known if d < _FAR), default=_FAR)


def _backwards(before: dict[int, list[int]], ends: Iterable[int]) -> set[int]:
    return set(_distances(before, ends))


def _distances(before: dict[int, list[int]], ends: Iterable[int]) -> dict[int, int]:
    found = dict.fromkeys(ends, 0)
    left = deque(found)
    while left:
        t = left.popleft()
        for s in before.get(t, ()):
            if s not in found:
                found[s] = found[t] + 1
                left.append(s)
    return found


@dataclass(frozen=True)
class ShieldReport:
    """Runs without and with the shield from the same start states."""

    runs: int
    unsafe_without: int
    unsafe_with: int
    steps: int
    interventions: int
    safe_starts: int
    """Start states from which unsafe states can be avoided."""
    lost_starts: int
    """Start states from which nobody can avoid them."""
    undecided_starts: int
    lost: list[StateDict]
    """Some of the lost ones."""
    without: Exam
    """The runs from safe start states without the shield."""
    covered: Exam
    """The same with it."""

    def as_json(self) -> dict[str, Any]:
        """As the JSON of tests has it."""
        counts = {
            entry.name: getattr(self, entry.name) for entry in fields(self) if entry.type in ("int", int)
        }
        exams = {"without": self.without.as_json(), "with": self.covered.as_json()}
        return {**counts, "lost": self.lost, "from_safe_starts": exams}


def measure(shield: Shield, starts: Sequence[int], *, runs: int, max_steps: int, seed: int) -> ShieldReport:
    """Random runs of the bare and of the shielded policy, from the same start states.

    LimitReached where the budget of the shield's lab is spent before they are all done.
    """
    lab = shield.lab
    over = lab.budget
    verdicts = Counter(lab.verdict(s) for s in starts if not over.is_over)
    _need_time(over)
    shield.plan(starts)
    _need_time(over)
    rng = random.Random(seed)
    picks = [rng.choice(starts) for _ in range(runs)]
    bare = [_run(lab, None, start, max_steps, rng) for start in picks if not over.is_over]
    covered = [_run(lab, shield, start, max_steps, rng) for start in picks if not over.is_over]
    _need_time(over)
    safe = [i for i, start in enumerate(picks) if lab.verdict(start) == "safe"]
    return ShieldReport(
        runs,
        sum(run.end == "unsafe" for run in bare),
        sum(run.end == "unsafe" for run in covered),
        sum(run.steps for run in covered),
        sum(run.interventions for run in covered),
        verdicts["safe"],
        verdicts["unsafe"],
        verdicts["unknown"],
        [lab.task.state(lab.game, s) for s in starts if lab.verdict(s) == "unsafe"][:_EXAMPLES],
        exam_of(bare[i].end for i in safe),
        exam_of(covered[i].end for i in safe),
    )


def _need_time(budget: Budget) -> None:
    if budget.is_over:
        raise LimitReached(
            "the time was up before the shield was measured; allow more --seconds", budget.over or "seconds"
        )


@dataclass(slots=True)
class _Run:
    end: str
    steps: int = 0
    interventions: int = 0


def _run(lab: ModelLab, shield: Shield | None, start: int, max_steps: int, rng: random.Random) -> _Run:
    s, run, game = start, _Run("cut-off"), lab.game
    for _ in range(max_steps):
        if game.is_unsafe(s) or game.is_goal(s):
            run.end = "unsafe" if game.is_unsafe(s) else "goal"
            return run
        own = policy_move(lab, s)
        label = (None if own is None else own[0]) if shield is None else shield.choose(s)
        if label is None:
            run.end = "stuck" if game.moves(s) else "dead-end"
            return run
        run.steps += 1
        run.interventions += own is None or label != own[0]
        s = draw(game, s, label, rng)
    if game.is_unsafe(s) or game.is_goal(s):
        run.end = "unsafe" if game.is_unsafe(s) else "goal"
    return run


def policy_move(lab: ModelLab, s: int) -> tuple[int, list[int]] | None:
    """What the policy does in a state, and the outcomes; None where it stops."""
    for label, deviates, outcomes in lab.game.moves(s)[:1]:
        return None if deviates else (label, outcomes)
    return None
