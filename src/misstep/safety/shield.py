"""A shield: the policy, except where its action could leave the safe region or would go round for ever."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from misstep._core import GoalPlan
from misstep.budget import Budget
from misstep.errors import LimitReached
from misstep.safety.exam import Exam, exam_of, how_it_stops
from misstep.safety.lab import ModelLab
from misstep.safety.model import StateDict, draw

MAX_PLANNED = 2_000_000
"""States that a shield looks at to find the best safe ways to the goal."""
_EXAMPLES = 5


class Shield:
    """Chooses moves in a game, for each state always the same. From a safe state it stays in the safe region.

    Where the policy's own action keeps to states that are decided safe it is taken; otherwise the one of the
    safe actions that the policy likes best. `plan` looks further: among the safe actions the shield then takes
    those that reach the goal most often, and of these the one that the policy likes best.
    """

    def __init__(self, lab: ModelLab) -> None:
        self.lab = lab
        self.overruled: dict[int, int] = {}
        """What is taken instead of the policy's action, where the shield has intervened."""
        self.goals: GoalPlan | None = None
        """How often the goal can be reached without risk, once that is planned."""
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
        """Reaches the goal from the starts as often as anybody can without risk; False where a limit was hit.

        Where more than so many states can be reached nothing is planned: the shield is only safe there.

        Value iteration over all that can be reached says how often that is, and which safe actions attain it.
        The policy's own is one of them or is overruled. Then rounds of: what the shield reaches, which of it
        never comes to a goal, and there the action that is nearest to one.
        """
        if self.lab.task.files.goal is None:
            return True
        goals = GoalPlan(self.lab.game, list(starts), max_states=max_states, budget=self.lab.budget)
        if not goals.complete:  # what was not seen may be a better way, and looking on may never end
            return False
        self.goals = goals
        self._chosen.clear()
        self.overruled.clear()
        while (reached := self._reached(starts, max_states)) is not None:
            fine = self._finding_goals(reached)
            ways = {s: self.goals.way(s) for s in reached if s not in fine}
            new = {s: way for s, way in ways.items() if way is not None and way != self._chosen[s]}
            for s, label in new.items():
                self.overrule(s, label)
            if not new:
                return True
        return False

    def _decide(self, s: int) -> int | None:
        game, moves = self.lab.game, self.lab.game.moves(s)
        if game.is_unsafe(s) or game.is_goal(s) or not moves:
            return None
        own = None if moves[0][1] else moves[0][0]
        best = self.goals.best(s) if self.goals is not None else []
        for label, _, outcomes in moves:
            if label in best if best else all(self.is_safe(t) for t in outcomes):
                if label != own:
                    self.overruled[s] = label
                return label
        return own

    def _goes_on(self, s: int) -> bool:
        """Whether the game goes on there, and unsafe states can still be avoided."""
        game = self.lab.game
        return not (game.is_unsafe(s) or game.is_goal(s)) and self.is_safe(s)

    def is_safe(self, s: int) -> bool:
        """Whether unsafe states are known to be avoidable from there."""
        return (self.goals is not None and self.goals.is_safe(s)) or self.lab.verdict(s) == "safe"

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
        found = {s for s in before if self.lab.game.is_goal(s)}
        left = list(found)
        while left:
            new = [s for s in before.get(left.pop(), ()) if s not in found]
            found.update(new)
            left += new
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
    goals_without_risk: int
    """The runs without it that reach the goal and nowhere take an action that may end unsafe whatever follows."""
    best_goal_rate: float | None
    """How often a policy that takes no such action can reach the goal; None where a limit was hit."""

    def as_json(self) -> dict[str, Any]:
        """As the JSON of tests has it."""
        counts = {
            entry.name: getattr(self, entry.name) for entry in fields(self) if entry.type in ("int", int)
        }
        safe = self.without.runs
        rates = {
            "goal_rate_without_risk": round(self.goals_without_risk / safe, 4) if safe else 0.0,
            "best_goal_rate": None if self.best_goal_rate is None else round(self.best_goal_rate, 4),
        }
        exams = {"without": self.without.as_json(), "with": self.covered.as_json(), **rates}
        return {**counts, "lost": self.lost, "from_safe_starts": exams}


def measure(shield: Shield, starts: Sequence[int], *, runs: int, max_steps: int, seed: int) -> ShieldReport:
    """Random runs of the bare and of the shielded policy, from the same start states.

    LimitReached where the budget of the shield's lab is spent before they are all done.
    """
    lab = shield.lab
    over = lab.budget
    verdicts = Counter(lab.verdict(s) for s in starts if not over.is_over)
    _need_time(over)
    complete = shield.plan(starts)
    _need_time(over)
    rng = random.Random(seed)
    picks = [rng.choice(starts) for _ in range(runs)]
    bare = [_run(shield, start, max_steps, rng, shielded=False) for start in picks if not over.is_over]
    covered = [_run(shield, start, max_steps, rng, shielded=True) for start in picks if not over.is_over]
    _need_time(over)
    safe = [i for i, start in enumerate(picks) if lab.verdict(start) == "safe"]
    goals = shield.goals
    best = sum(goals.value(picks[i]) for i in safe) / len(safe) if goals and complete and safe else None
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
        sum(bare[i].end == "goal" and not bare[i].risks for i in safe),
        best,
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
    risks: int = 0
    """Steps of which some outcome is not known to be safe."""


def _run(shield: Shield, start: int, max_steps: int, rng: random.Random, *, shielded: bool) -> _Run:
    s, run, game = start, _Run("cut-off"), shield.lab.game
    for _ in range(max_steps):
        if game.is_unsafe(s) or game.is_goal(s):
            run.end = "unsafe" if game.is_unsafe(s) else "goal"
            return run
        own = policy_move(shield.lab, s)
        label = shield.choose(s) if shielded else None if own is None else own[0]
        if label is None:
            run.end = how_it_stops(game, s) or "stuck"
            return run
        run.steps += 1
        run.interventions += own is None or label != own[0]
        if not shielded and own is not None and not run.risks:
            run.risks += not all(map(shield.is_safe, own[1]))
        s = draw(game, s, label, rng)
    if game.is_unsafe(s) or game.is_goal(s):
        run.end = "unsafe" if game.is_unsafe(s) else "goal"
    return run


def policy_move(lab: ModelLab, s: int) -> tuple[int, list[int]] | None:
    """What the policy does in a state, and the outcomes; None where it stops."""
    for label, deviates, outcomes in lab.game.moves(s)[:1]:
        return None if deviates else (label, outcomes)
    return None
