"""Shrinking: from a bug to a later buggy state on its run, to which a walk leads that is no longer."""

from collections.abc import Sequence
from dataclasses import dataclass

from misstep._core import Action, Budget, State, improve_plan
from misstep.formats.sas import with_goal, with_unit_cost
from misstep.judge import Judgement
from misstep.lab import Lab
from misstep.oracle import Case, Panel, open_case
from misstep.pool import PoolEntry
from misstep.task import Task


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A bug state that is reached with no more actions than the original, and whose run is no longer."""

    case: Case
    judgement: Judgement
    walk: tuple[Action, ...] | None
    """From the initial state; None where the pool does not say how the bug was reached."""
    steps_on_run: int
    """How far down the run of the original bug the state lies."""
    latest: int
    """How far down the latest state lies that is a bug; beyond `steps_on_run` where a longer walk leads to it."""


# States on the run whose walks are shortened: each takes a search.
_MOST_WALKS = 8


def shrink(
    lab: Lab,
    panel: Panel[State, Case],
    case: Case,
    walk: Sequence[Action] | None,
    *,
    max_expansions: int = 20_000,
) -> Shrunk:
    """The latest state on a bug's run that the oracles prove to be a bug too, and to which no longer walk leads.

    Two things are made smaller: the run of the policy and the walk from the initial state to where it starts. A later
    state has a shorter run, but it is often farther from the initial state; then an earlier one is taken, so that
    neither gets longer. Without a known walk the run alone counts.
    """
    found, judgement, latest = _latest_bug(lab, panel, case)
    if walk is None:
        return Shrunk(found, judgement, None, latest, latest)
    at = latest
    for _ in range(_MOST_WALKS):
        if at <= 0:
            break
        whole = [*walk, *case.run.actions[:at]]
        shorter = _shorter(lab.task, whole, case.run.states[at], max_expansions)
        if len(shorter) <= len(walk):
            if at < latest:
                candidate = _case(lab, case.run.states[at])
                word = None if candidate is None else panel.test(candidate)[0]
                if candidate is None or word is None or not word.is_bug:
                    at -= 1
                    continue
                found, judgement = candidate, word
            return Shrunk(found, judgement, shorter, at, latest)
        # A step changes the distance from the initial state by one at most.
        at -= len(shorter) - len(walk)
    shorter = _shorter(lab.task, walk, case.state, max_expansions)
    return Shrunk(case, panel.judge(case), shorter, 0, latest)


def _latest_bug(lab: Lab, panel: Panel[State, Case], case: Case) -> tuple[Case, Judgement, int]:
    """The latest state on the run that the oracles prove to be a bug, and how far down the run it lies.

    If a state on a run is a bug, so are all before it (h* falls by at most what the policy pays), so the
    latest one is found by bisection. Where the oracles cannot decide it may be missed; what is returned is
    proven.
    """
    states, actions = case.run.states, case.run.actions
    end = len(actions) if case.run.outcome in ("stuck", "illegal") else len(actions) - 1
    good, bad = end + 1, 0
    found, (judgement, _) = case, panel.test(case)
    while good - bad > 1:
        middle = (good + bad) // 2
        candidate = _case(lab, states[middle])
        word = None if candidate is None else panel.test(candidate)[0]
        if candidate is not None and word is not None and word.is_bug:
            bad, found, judgement = middle, candidate, word
        else:
            good = middle
    return found, judgement, bad


def walk_to(lab: Lab, entry: PoolEntry) -> tuple[Action, ...] | None:
    """From the initial state along the origins of pool entries; None where a pool does not say."""
    walks: list[tuple[Action, ...]] = []
    at: PoolEntry | None = entry
    while at is not None and at.parent is not None:
        walks.append(at.walk)
        at = lab.entry(at.parent)
    if at is None or at.state != lab.task.initial_state:
        return None
    return tuple(action for walk in reversed(walks) for action in walk)


def _case(lab: Lab, state: State) -> Case | None:
    """A state on the run is no pool state: it has an entry of its own, without origin."""
    runs = lab.run([state])
    return open_case(lab, PoolEntry(0, state), runs[0]) if runs else None


def _shorter(task: Task, walk: Sequence[Action], goal: State, max_expansions: int) -> tuple[Action, ...]:
    """A walk to a state is a plan of the task that has this state as its goal: improve it. Its actions count, not
    their costs."""
    sas = with_unit_cost(with_goal(task.sas, dict(enumerate(goal.values))))
    towards = Task(sas, source=task.source)
    by_index = [towards.actions[action.index] for action in walk]
    start = towards.state_from_values(task.initial_state.values)
    result = improve_plan(towards, start, by_index, budget=Budget(expansions=max_expansions))
    return tuple(task.actions[action.index] for action in result.plan)
