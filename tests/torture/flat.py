"""Flat worlds: tasks over variables with several values, handed over as a SAS file, without any translator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import misstep
from tests.torture.world import Action, Atom, Literal, State
from tests.torture.worlds import COSTS

Facts = dict[int, int]


@dataclass(frozen=True)
class Rule:
    """An action: what it needs and what it sets, by variable."""

    needs: Facts
    sets: Facts
    cost: int


@dataclass(frozen=True)
class FlatWorld:
    """Variables by their number of values, where they begin, and what the rules and the goal say."""

    sizes: tuple[int, ...]
    first: tuple[int, ...]
    rules: tuple[Rule, ...]
    goal: Facts
    has_metric: bool

    @property
    def initial(self) -> State:
        """The first state, as atoms."""
        return frozenset(atom(variable, value) for variable, value in enumerate(self.first))

    def is_goal(self, state: State) -> bool:
        """Whether the goal holds."""
        return all(atom(*fact) in state for fact in self.goal.items())

    def actions(self) -> Iterator[Action]:
        """All actions."""
        for number, rule in enumerate(self.rules):
            yield Action(
                f"(do {number})",
                tuple(Literal(atom(*fact)) for fact in rule.needs.items()),
                (),
                frozenset(atom(*fact) for fact in rule.sets.items()),
                frozenset(
                    atom(v, other)
                    for v, new in rule.sets.items()
                    for other in range(self.sizes[v])
                    if other != new
                ),
                rule.cost if self.has_metric else 1,
            )

    def load(self) -> misstep.Task:
        """As misstep reads it."""
        return misstep.Task(self.text())

    def text(self) -> str:
        """The SAS file."""
        lines = ["begin_version", "3", "end_version", "begin_metric", str(int(self.has_metric)), "end_metric"]
        lines.append(str(len(self.sizes)))
        for variable, size in enumerate(self.sizes):
            lines += ["begin_variable", f"var{variable}", "-1", str(size)]
            lines += [f"Atom v{variable}({value})" for value in range(size)]
            lines.append("end_variable")
        lines += ["0", "begin_state", *map(str, self.first), "end_state"]
        lines += ["begin_goal", str(len(self.goal)), *(f"{v} {value}" for v, value in self.goal.items())]
        lines += ["end_goal", str(len(self.rules))]
        for number, rule in enumerate(self.rules):
            prevail = {v: value for v, value in rule.needs.items() if v not in rule.sets}
            lines += ["begin_operator", f"do {number}", str(len(prevail))]
            lines += [f"{v} {value}" for v, value in prevail.items()]
            lines.append(str(len(rule.sets)))
            lines += [f"0 {v} {rule.needs.get(v, -1)} {new}" for v, new in rule.sets.items()]
            lines += [str(rule.cost), "end_operator"]
        return "\n".join([*lines, "0", ""])


def atom(variable: int, value: int) -> Atom:
    """The fact that a variable has a value."""
    return (f"v{variable}", str(value))


def random_flat_world(rng: Random) -> FlatWorld:
    """Some hundred states, one-way doors, blind effects, zero costs; mostly with a goal that a walk reaches."""
    sizes = tuple(rng.choice((2, 2, 3, 3, 4, 5, 7)) for _ in range(rng.randint(3, 6)))
    first = tuple(rng.randrange(size) for size in sizes)
    menu, loose = rng.choice(COSTS), rng.choice((0.1, 0.3, 0.6))
    rules: list[Rule] = []
    for _ in range(rng.randint(6, 45)):
        if rules and rng.random() < 0.35:  # the way back, for which another price may be asked
            there = rng.choice(rules)
            both = there.needs.keys() & there.sets.keys()
            needs = there.needs | there.sets
            sets = {v: there.needs[v] for v in both} or {0: rng.randrange(sizes[0])}
        else:
            chosen = rng.sample(range(len(sizes)), rng.choice((1, 2, 2, 3)))
            needs = {v: rng.randrange(sizes[v]) for v in chosen if rng.random() > loose}
            sets = {v: rng.randrange(sizes[v]) for v in chosen[: rng.choice((1, 1, 2))]}
        sets = {v: new for v, new in sets.items() if needs.get(v) != new}
        if sets:
            rules.append(Rule(needs, sets, rng.choice(menu)))
    end = rng.choice((first, tuple(rng.randrange(size) for size in sizes)))
    if rng.random() < 0.8:
        end = _walked(first, rules, rng)
    goal = {v: end[v] for v in rng.sample(range(len(sizes)), rng.randint(1, len(sizes)))}
    return FlatWorld(sizes, first, tuple(rules), goal, rng.random() < 0.85)


def _walked(first: tuple[int, ...], rules: list[Rule], rng: Random) -> tuple[int, ...]:
    at = dict(enumerate(first))
    for _ in range(rng.randint(3, 60)):
        open_rules = [rule for rule in rules if all(at[v] == value for v, value in rule.needs.items())]
        if open_rules:
            at |= rng.choice(open_rules).sets
    return tuple(at.values())
