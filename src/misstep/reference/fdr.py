"""Finite-domain planning tasks straight from their definition: states, actions, and SAS text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from misstep.reference.checked import need, refusing

State = tuple[int, ...]
Facts = Mapping[int, int]


@dataclass(frozen=True)
class Action:
    """A partial state that must hold and a partial state that is written over the current one."""

    name: str
    precondition: Facts
    effect: Facts
    cost: int

    def applicable(self, state: State) -> bool:
        """Whether the precondition is part of the state."""
        return holds(self.precondition, state)

    def apply(self, state: State) -> State:
        """The state after the action; refused where it is not applicable."""
        need(self.applicable(state), f"{self.name} is not applicable")
        return self.written(state)

    def written(self, state: State) -> State:
        """The state with the effect written over it."""
        values = list(state)
        for variable, value in self.effect.items():
            values[variable] = value
        return tuple(values)


@dataclass(frozen=True)
class Task:
    """Variables with finitely many values, an initial state, a goal that is a partial state, and actions.

    `facts[variable][value]` says in PDDL what the value means: an atom, `(not ...)` around one, or None for
    "none of the others".
    """

    facts: tuple[tuple[str | None, ...], ...]
    initial: State
    goal: Facts
    actions: tuple[Action, ...]

    @cached_property
    def numbers(self) -> Mapping[str, Sequence[int]]:
        """The numbers of the actions of every name; several where the translator split a disjunction."""
        found: dict[str, list[int]] = {}
        for number, action in enumerate(self.actions):
            found.setdefault(action.name, []).append(number)
        return found

    def named(self, name: str) -> Sequence[Action]:
        """The actions of a name."""
        return [self.actions[number] for number in self.numbers.get(name, ())]

    @cached_property
    def needing(self) -> Mapping[tuple[int, int], Sequence[int]]:
        """The numbers of the actions that need a fact, for every fact."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, action in enumerate(self.actions):
            for fact in action.precondition.items():
                found.setdefault(fact, []).append(number)
        return found

    @cached_property
    def size(self) -> int:
        """How many facts all variables, preconditions and effects have: the work of one look at all."""
        return len(self.facts) + sum(1 + len(a.precondition) + len(a.effect) for a in self.actions)

    def is_goal(self, state: State) -> bool:
        """Whether the goal is part of the state."""
        return holds(self.goal, state)

    def successors(self, state: State) -> list[tuple[Action, State]]:
        """Every applicable action, in the order of the file, and where it leads."""
        return [(action, action.apply(state)) for action in self.actions if action.applicable(state)]


def holds(facts: Facts, state: State) -> bool:
    """Whether a partial state is part of a state."""
    return all(state[variable] == value for variable, value in facts.items())


def state_of(task: Task, atoms: Collection[str]) -> State:
    """The one state in which exactly these atoms are true; refused where there is none, or more than one.

    Every variable takes the value whose atom is listed. Where none is listed it takes the value that is no
    atom ("none of the others", or the negation of the only atom). That every listed atom is the value of
    exactly one variable is checked at the end, so no atom is left over and none is used twice.
    """
    listed, values, used = set(atoms), list[int](), 0
    for names in task.facts:
        chosen = [value for value, name in enumerate(names) if is_atom(name) and name in listed]
        used += len(chosen)
        chosen = chosen or [value for value, name in enumerate(names) if not is_atom(name)]
        need(len(chosen) == 1, f"the facts give {len(chosen)} values to the variable with {str(names)[:80]}")
        values += chosen
    need(used == len(listed), "a fact of the state is not one of the task, or one of two variables")
    return tuple(values)


def is_atom(name: str | None) -> bool:
    """Whether the value of a variable is a PDDL atom, and not the absence of all its atoms."""
    return name is not None and not name.startswith("(not ")


def parse(text: str) -> Task:
    """Read SAS text of version 3, as the translator writes it; refuse text that breaks the format.

    Axioms and conditional effects are refused too, because nothing here knows them. Without a metric every
    action costs 1.
    """
    with refusing("the task"):
        return _parse(text)


def _parse(text: str) -> Task:
    blocks, rest = _blocks(text)
    variables, groups, operators = blocks["variable"], blocks["mutex_group"], blocks["operator"]
    expected = [str(len(variables)), str(len(groups)), str(len(operators)), "0"]
    need(
        rest == expected,
        "the numbers of variables, mutex groups, operators and axioms (0) do not fit the text",
    )
    (version,), (metric,), (state,), (goal,) = map(blocks.__getitem__, ("version", "metric", "state", "goal"))
    need(version == ["3"] and metric in (["0"], ["1"]), "version 3 and a metric of 0 or 1 expected")
    need(
        all(int(size) == len(pairs) for size, *pairs in groups), "a mutex group has another size than it says"
    )
    facts = tuple(_variable(lines) for lines in variables)
    initial = tuple(int(value) for value in state)
    need(len(initial) == len(facts), "the initial state gives values to another number of variables")
    _partial([*enumerate(initial)], facts)
    actions = tuple(_action(lines, facts, metric=metric == ["1"]) for lines in operators)
    return Task(facts, initial, _partial(_rows(goal, 2), facts), actions)


def _blocks(text: str) -> tuple[dict[str, list[list[str]]], list[str]]:
    """The lines between `begin_X` and `end_X` for every kind X of block, and the words outside of them."""
    kinds = ("version", "metric", "variable", "mutex_group", "state", "goal", "operator")
    text = "\n".join(line.strip() for line in text.split("\n"))
    block = re.compile(rf"^begin_({'|'.join(kinds)})\n(.*?)^end_\1$", re.M | re.S)
    found: dict[str, list[list[str]]] = {kind: [] for kind in kinds}
    for kind, body in block.findall(text):
        found[kind].append(body.splitlines())
    return found, block.sub("", text).split()


def _variable(lines: Sequence[str]) -> tuple[str | None, ...]:
    _, layer, size, *atoms = lines
    need(layer == "-1", "a variable of an axiom")
    need(int(size) == len(atoms), "a variable has another number of values than it says")
    return tuple(_atom(atom) for atom in atoms)


def _rows(lines: Sequence[str], width: int) -> list[tuple[int, ...]]:
    """The rows of integers that follow their number."""
    count, *rest = lines
    rows = [tuple(int(word) for word in line.split()) for line in rest]
    fits = int(count) == len(rows) and all(len(row) == width for row in rows)
    need(fits, f"{count} rows of {width} integers expected, not {str(rest)[:80]}")
    return rows


def _partial(pairs: Iterable[tuple[int, ...]], domains: Sequence[Sequence[object]]) -> Facts:
    """A partial state: known variables, known values, at most one value each."""
    facts: dict[int, int] = {}
    for variable, value in pairs:
        known = 0 <= variable < len(domains) and 0 <= value < len(domains[variable])
        need(known, f"there is no value {value} of variable {variable}")
        need(facts.setdefault(variable, value) == value, f"two values for variable {variable}")
    return facts


def _action(lines: Sequence[str], domains: Sequence[Sequence[object]], *, metric: bool) -> Action:
    name, size, *rest = lines
    count, cost = int(size), int(lines[-1])
    effects = _rows(rest[count:-1], 4)  # conditions of an effect would make its row longer
    required = _rows([size, *rest[:count]], 2)
    required += [(variable, before) for _, variable, before, _ in effects if before != -1]
    effect = _partial([(variable, after) for _, variable, _, after in effects], domains)
    need(cost >= 0, f"{name} has a negative cost")
    return Action(f"({name})", _partial(required, domains), effect, cost if metric else 1)


def _atom(text: str) -> str | None:
    """`Atom on(a, b)` becomes `(on a b)`."""
    kind, _, atom = text.partition(" ")
    if kind not in ("Atom", "NegatedAtom"):
        return None
    name, _, arguments = atom.rstrip(")").partition("(")
    pddl = f"({' '.join([name, *arguments.replace(',', ' ').split()])})"
    return pddl if kind == "Atom" else f"(not {pddl})"
