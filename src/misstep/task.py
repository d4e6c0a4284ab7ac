"""Tasks: the native class with its PDDL view, and the ways to load one."""

from collections.abc import Hashable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from misstep import _core
from misstep.errors import InputError, UnsupportedFeature
from misstep.formats.sas import read_sas, with_unit_cost
from misstep.pddl import Domain, Problem, read_domain, read_problem, universal_condition
from misstep.pddl.dropped import translation_warnings
from misstep.pddl.translate import translate
from misstep.pddl.view import PddlView
from misstep.support.plain import is_writable


class Task(_core.Task):
    """A classical planning task. Everything about states and actions is native; this adds the PDDL side.

    Tasks compare and hash by what they are as SAS text. They pickle: states, actions and batches take their
    task along, once for all that go into one pickle.
    """

    def __init__(
        self,
        sas_text: str,
        *,
        source: str = "<sas>",
        problem: Problem | None = None,
        warnings: Sequence[str] = (),
    ) -> None:
        # The name of a file need not be UTF-8; for messages it is written out.
        self.source = source.encode(errors="backslashreplace").decode()
        super().__init__(sas_text, source=self.source)
        self.problem = problem
        self.warnings = list(warnings)
        """What a user should know about how the task was read, such as dropped action schemas."""
        self.derived: dict[Hashable, Any] = {}
        """What was computed from the task and will be wanted again, such as ground networks; it is not pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.sas, self.source, self.problem, self.warnings)

    def __copy__(self) -> "Task":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Task":
        """The task itself: it does not change, and it is large."""
        return self

    def __repr__(self) -> str:
        return f"<Task {self.name}: {len(self.actions)} actions, {self.num_variables} variables>"

    @property
    def name(self) -> str:
        """Domain and problem as their PDDL calls them, or the SAS file: `gripper-prob01`."""
        if self.problem is None:
            return Path(self.source).stem
        domain, problem = self.problem.domain.name, self.problem.name
        return problem if domain in problem else f"{domain}-{problem}"

    @cached_property
    def pddl(self) -> PddlView | None:
        """Objects, predicates, schemas, bindings and static atoms; absent for a task that came from SAS."""
        if self.problem is None:
            return None
        names = [
            [self.fact_name(variable, value) for value in range(size)]
            for variable, size in enumerate(self.domain_sizes)
        ]
        return PddlView(self.problem, names, [action.name for action in self.actions])

    def state(self, facts: Sequence[str]) -> _core.State:
        """The state in which exactly these atoms hold; atoms that hold in every state may be left out."""
        static = self._static_names
        try:
            return super().state([fact for fact in facts if fact not in static] if static else facts)
        except TypeError:
            wrong = next((fact for fact in facts if not is_writable(fact)), facts)
            raise InputError(f"{self.source}: {wrong!a:.80} is no text, so it is no fact") from None

    @cached_property
    def _static_names(self) -> frozenset[str]:
        view = self.pddl
        return frozenset() if view is None else frozenset(map(view.text, view.static_atoms))

    def clear_action(self, name: str) -> _core.Action:
        """The action of this name; where several share it, by its entry in `split_names`."""
        index = self._by_clear_name.get(name)
        return self.action(name) if index is None else self.actions[index]

    @cached_property
    def split_names(self) -> dict[int, str]:
        """By its index, each action that the translator split: `(move a b) 2` for the second of the name."""
        return {
            index: f"{name} {place}"
            for name, each in self.splits.items()
            for place, index in enumerate(each, start=1)
        }

    @cached_property
    def splits(self) -> dict[str, list[int]]:
        """By their name, the indices of the actions that the translator made of one; of no other action."""
        same: dict[str, list[int]] = {}
        for action in self.actions if self.has_splits else ():
            same.setdefault(action.name, []).append(action.index)
        return {name: each for name, each in same.items() if len(each) > 1}

    @cached_property
    def _by_clear_name(self) -> dict[str, int]:
        return {name: index for index, name in self.split_names.items()}

    def pruned(self, *, budget: _core.Budget | None = None) -> "Task":
        """The task without facts and actions that forward h^2 shows unreachable; ASNet policies expect it."""
        sas = self.pruned_sas(budget=budget)
        return Task(sas, source=self.source, problem=self.problem, warnings=self.warnings)


def actions_named(task: Task, state: _core.State, plan: Sequence[str]) -> list[_core.Action]:
    """The actions of a plan; where several have one name (the translator split one), those that apply."""
    actions = []
    for name in plan:
        action, state = next(
            ((action, after) for action, after in task.successors(state) if action.name == name),
            (task.action(name), state),
        )
        actions.append(action)
    return actions


def _unpickled(sas: str, source: str, problem: Problem | None, warnings: list[str]) -> Task:
    return Task(sas, source=source, problem=problem, warnings=warnings)


def load(
    domain: str | Path | Domain,
    problem: str | Path,
    *,
    unit_cost: bool = False,
    budget: _core.Budget | None = None,
) -> Task:
    """Loads a task from PDDL. Read the domain once with `read_domain` where it serves many problems.

    `unit_cost` strips action costs before the translation, so that every action costs 1. The budget is for
    the translator, which runs as a separate program; `LimitReached` says that it was used up.
    """
    if not isinstance(domain, Domain):
        domain = read_domain(domain)
    read = read_problem(problem, domain)
    sas = translate(domain, read, unit_cost=unit_cost, budget=budget)
    warnings = translation_warnings(read, sas, unit_cost=unit_cost)
    try:
        return Task(sas, source=f"{read.source.name} (translated)", problem=read, warnings=warnings)
    except UnsupportedFeature as error:
        cause = universal_condition(domain)
        if cause is None:
            raise
        raise domain.source.unsupported(
            cause,
            f"universal condition `{cause[0]}`, which the translator turns into an axiom; list the atoms "
            f"instead of quantifying ({error})",
        ) from None


def load_sas(path: str | Path, *, unit_cost: bool = False) -> Task:
    """Loads a task from a SAS file, as Fast Downward's translator and others write it."""
    source = read_sas(path)
    return Task(with_unit_cost(source.text) if unit_cost else source.text, source=source.name)
