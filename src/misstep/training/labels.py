"""What is good in a state, by asking teachers: regrets of actions, or the actions along a plan."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from misstep import _core
from misstep.errors import InputError
from misstep.plugins import make_part
from misstep.task import Task
from misstep.training.teacher_cache import TeacherCache, answer_key, task_digest
from misstep.training.teachers import Answer, AStarTeacher, GreedyTeacher, Teacher, replayed

Regrets = list[tuple[int, float | None]]
"""(Action number, what it costs more than the best one); None where that is unknown. The best comes first."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A state and what its actions are worth."""

    state: _core.State
    regrets: Regrets


def only_good(task: Task, state: _core.State, action: _core.Action) -> Sample:
    """A sample in which nothing but this action is good; its splits of the same name are this action, too."""
    others = [each for each in task.applicable(state) if each != action]
    regrets = [(each.index, 0.0 if each.name == action.name else float("inf")) for each in others]
    return Sample(state, [(action.index, 0.0), *sorted(regrets, key=lambda entry: entry[1])])


@dataclass
class Labeller:
    """Asks teachers about states of one task, replays their plans, and remembers the answers.

    A plan that does not work, and anything else that goes wrong with a teacher, is told through `report`; the
    answer is dropped.
    """

    task: Task
    teachers: Sequence[str]
    max_expansions: int
    cache: TeacherCache | None = None
    report: Callable[[str], None] = lambda _: None
    _parts: list[tuple[str, Teacher]] = field(init=False)
    _digest: bytes = field(init=False)

    def __post_init__(self) -> None:
        self._parts = [(text, make_part("teacher", text)) for text in self.teachers]
        self._digest = task_digest(self.task)

    def along_plan(self, state: _core.State) -> list[Sample]:
        """The states of the best plan from here, each with the plan's action as the only good one."""
        plan, _ = self._best(state)
        samples = []
        for action in plan or []:
            samples.append(only_good(self.task, state, action))
            state = self.task.apply(state, action)
        return samples

    def by_successors(self, state: _core.State) -> list[Sample]:
        """The state with the regret of every action, from plans of its successors; empty where none is known.

        A successor whose teachers reached a limit is unknown, not bad. The state itself is asked about first:
        where that fails, all its successors are likely to fail, each at the price of a whole search.
        """
        if self._best(state)[0] is None:
            return []
        known: list[tuple[int, float]] = []
        unknown: Regrets = []
        for action, successor in self.task.successors(state):
            cost = self._value(successor)
            if cost is None:
                unknown.append((action.index, None))
            else:
                known.append((action.index, action.cost + cost))
        best = min((cost for _, cost in known), default=float("inf"))
        if best == float("inf"):
            return []
        known.sort(key=lambda entry: (entry[1], entry[0]))
        return [Sample(state, [*((action, cost - best) for action, cost in known), *unknown])]

    def _value(self, state: _core.State) -> float | None:
        """The cost of the best plan that a teacher knows; infinity where one proves that there is none."""
        if self.task.is_goal(state):
            return 0.0
        plan, unsolvable = self._best(state)
        if plan is not None:
            return float(sum(action.cost for action in plan))
        return float("inf") if unsolvable else None

    def _best(self, state: _core.State) -> tuple[list[_core.Action] | None, bool]:
        best: list[_core.Action] | None = None
        unsolvable = False
        for text, teacher in self._parts:
            answer = self._ask(text, teacher, state)
            if answer.problem:
                self.report(f"teacher {text} on {self.task.source}: {answer.problem}")
            unsolvable |= answer.unsolvable and isinstance(teacher, AStarTeacher | GreedyTeacher)
            if answer.plan is None:
                continue
            try:
                plan = replayed(self.task, state, answer.plan)
            except InputError as error:
                self.report(
                    f"teacher {text} on {self.task.source} gave a wrong plan, which is dropped: {error}"
                )
                continue
            if best is None or _cost(plan) < _cost(best):
                best = plan
            if answer.optimal:
                break
        return best, unsolvable

    def _ask(self, text: str, teacher: Teacher, state: _core.State) -> Answer:
        key = answer_key(self._digest, state, text, self.max_expansions)
        known = self.cache.get(key) if self.cache is not None else None
        if known is not None:
            return known
        try:
            answer = teacher.answer(self.task, state, max_expansions=self.max_expansions)
        except InputError:
            raise  # the user's business: a planner that is not installed
        except Exception as error:  # a plugin may raise anything
            return Answer(problem=f"it failed: {type(error).__name__}: {error}")
        if self.cache is not None and not answer.problem:
            self.cache.put(key, answer)
        return answer


def _cost(plan: Sequence[_core.Action]) -> int:
    return sum(action.cost for action in plan)
