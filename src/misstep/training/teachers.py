"""Teachers: parts that plan from a state, so that a policy learns from the plan. They are not trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from misstep import _core
from misstep._core import Budget
from misstep.errors import InputError
from misstep.planners.fast_downward import FastDownward, numbered_sas, read_plan
from misstep.plugins import option
from misstep.support.process import Scratch, command_words, read_left
from misstep.task import Task

# External planners count no expansions that could be compared: they get this time a call instead.
_CALL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a teacher says about a state."""

    plan: tuple[str, ...] | None = None
    """Names of actions; nothing where it found no plan."""
    optimal: bool = False
    """Whether it claims that no plan is cheaper."""
    unsolvable: bool = False
    """Whether it claims that there is no plan."""
    problem: str = ""
    """What went wrong, where it did not just reach a limit."""


class Teacher(Protocol):
    """Plans from a state within a number of expansions."""

    def answer(self, task: Task, state: _core.State, *, max_expansions: int) -> Answer:
        """The same answer for the same state, always."""


@dataclass(frozen=True)
class AStarTeacher:
    """A*: optimal plans with an admissible heuristic."""

    heuristic: str = option("lmcut", "blind, hmax or lmcut")

    def answer(self, task: Task, state: _core.State, *, max_expansions: int) -> Answer:
        """An optimal plan, the proof that there is none, or nothing."""
        budget = Budget(expansions=max_expansions)
        found = _core.search(task, f"astar:{self.heuristic}", state=state, budget=budget)
        if found.outcome == "solved":
            return Answer(_names(found.plan), optimal=self.heuristic in ("blind", "hmax", "lmcut"))
        return Answer(unsolvable=found.outcome == "unsolvable")


@dataclass(frozen=True)
class GreedyTeacher:
    """Lazy greedy best-first search with h^FF, then plan improvement.

    Lazy, because a state is evaluated only when it is expanded: with the same expansions it solves more of the larger
    tasks (transport, blocksworld), in a tenth of the time.
    """

    improve: bool = option(True, "look for cheaper plans in the neighbourhood of the first")

    def answer(self, task: Task, state: _core.State, *, max_expansions: int) -> Answer:
        """A plan of any quality, which improvement makes cheaper."""
        budget = Budget(expansions=max_expansions)
        found = _core.search(task, "lazy:ff", state=state, budget=budget)
        if found.outcome != "solved":
            return Answer(unsolvable=found.outcome == "unsolvable")
        if not self.improve:
            return Answer(_names(found.plan))
        better = _core.improve_plan(task, state, found.plan, budget=budget)
        return Answer(_names(better.plan), optimal=better.exhausted)


@dataclass(frozen=True)
class FastDownwardTeacher:
    """Fast Downward in a process of its own: `downward:lama-first` or any alias or search."""

    search: str = option("lama-first", "an alias, or a search such as `astar(lmcut())`")
    seconds: float = option(_CALL_SECONDS, "time for one call")

    def answer(self, task: Task, state: _core.State, *, max_expansions: int) -> Answer:
        """Its best plan; `max_expansions` means nothing here."""
        found = FastDownward(self.search).run(task, state=state, budget=Budget(seconds=self.seconds))
        problem = found.note if found.limit == "failed" else ""
        return Answer(_names(found.plan) if found.outcome == "solved" else None, problem=problem)


@dataclass(frozen=True)
class CommandTeacher:
    """Any planner: a command in which `{sas}` is the task's file and `{plan}` the file it writes its plan to.

    Actions are called `action-NUMBER` in the task's file, and so they are in the plan.
    """

    command: str = option("", "such as `my-planner {sas} {plan}`")
    seconds: float = option(_CALL_SECONDS, "time for one call")

    def answer(self, task: Task, state: _core.State, *, max_expansions: int) -> Answer:
        """The plan that the command wrote; `max_expansions` means nothing here."""
        with Scratch() as scratch:
            files = {
                "sas": scratch.write("task.sas", numbered_sas(task, state)),
                "plan": scratch.folder / "plan",
            }
            words = command_words(self.command, what="teacher", **files)
            if not words:
                raise InputError("teacher `command` needs a command; write `command:PROGRAM {sas} {plan}`")
            try:
                finished = scratch.run(words, budget=Budget(seconds=self.seconds))
            except OSError as error:
                raise InputError(f"teacher `{self.command}`: cannot be started: {error.strerror}") from None
            text = read_left(files["plan"]) if files["plan"].is_file() else None
        if text is None:
            failed = finished.exit_code != 0 and finished.limit is None
            return Answer(problem=f"`{words[0]}` {finished.failure}" if failed else "")
        try:
            return Answer(_names(read_plan(task, state, text)))
        except InputError as error:
            return Answer(problem=f"`{words[0]}` wrote a wrong plan: {error}")


def _names(plan: Sequence[_core.Action]) -> tuple[str, ...]:
    return tuple(action.name for action in plan)


def replayed(task: Task, state: _core.State, names: Sequence[str]) -> list[_core.Action]:
    """The actions of a plan; InputError where they are none of the task or do not lead to a goal."""
    plan: list[_core.Action] = []
    for name in names:
        # The translator may split an action into several of the same name: any that is applicable will do.
        fits = [action for action in task.applicable(state) if action.name == name]
        if not fits:
            raise InputError(f"step {len(plan) + 1}, {name}, is not applicable")
        plan.append(fits[0])
        state = task.apply(state, fits[0])
    if not task.is_goal(state):
        raise InputError("it ends in a state that is not a goal state")
    return plan
