"""JANI models, interpreted: which states there are, what holds in them, and what can happen.

The semantics is that of the JANI specification, with outcomes instead of probabilities: choosing a label
means that any enabled edge of it, and any destination of that edge with a positive probability, may happen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from misstep.reference.checked import need
from misstep.reference.jani_expressions import Evaluate, Fuel, Function, Scope, compile_expression
from misstep.reference.jani_writes import (
    TYPES,
    Assignment,
    Destination,
    Edge,
    Update,
    Variable,
    Write,
    each,
    grouped,
    merged,
    truth,
    write,
)
from misstep.reference.reading import record, refusal, text

State = tuple[Any, ...]
"""The values of the variables that last, then the locations of the automata that have more than one."""
Json = Mapping[str, Any]


class Instance:
    """An automaton of the system, under a name of its own, with what its names mean."""

    def __init__(self, name: str, declared: Json) -> None:
        self.name, self.declared = name, declared
        self.locations = [text(p["name"], "a location") for p in declared["locations"]]
        self.place: int | None = None
        self.edges: dict[tuple[str, str], list[Edge]] = {}
        self.transient_values: dict[str, list[tuple[Variable, Evaluate]]] = {}

    def location(self, state: Sequence[Any]) -> str:
        """Where it is. An automaton with one location is always there, and states do not mention it."""
        return self.locations[0] if self.place is None else str(state[self.place])


class Jani:
    """A model with values for its constants. Of JANI's open choices `keep_impossible` alone is known.

    With it outcomes of probability 0 count as possible. Any other entry of `semantics` is refused, since it
    would change what can happen in a way that is not known here.
    """

    def __init__(self, model: Json, constants: Json, semantics: Json) -> None:
        self.keep_impossible = _keeps_impossible(semantics)
        self.fuel = Fuel()
        self.constants = _constants(model, constants, self.fuel)
        self.instances = _instances(model)
        self._declare(model)
        self.labels = _vectors(model, self.instances)
        for instance, scope in zip(self.instances, self.scopes, strict=True):
            self._connect(instance, scope)

    def _declare(self, model: Json) -> None:
        """Give every variable and every location its place in the environment.

        First come the variables that last, then the locations: they are the state. Transient variables
        follow.
        """
        owners = [("", model), *((f"{i.name}.", i.declared) for i in self.instances)]
        declared = [(own, v) for own, (_, owner) in enumerate(owners) for v in owner.get("variables", [])]
        lasting = [(own, v) for own, v in declared if not v.get("transient", False)]
        passing = [(own, v) for own, v in declared if v.get("transient", False)]
        several = [instance for instance in self.instances if len(instance.locations) > 1]
        for place, instance in enumerate(several, len(lasting)):
            instance.place = place
        self.width = len(lasting) + len(several)
        known: list[dict[str, Variable]] = [{} for _ in owners]
        for place, (own, v) in [*enumerate(lasting), *enumerate(passing, self.width)]:
            name = text(v["name"], "a variable")
            known[own][name] = self._variable(owners[own][0] + name, place, v)
        self.variables = [known[own][v["name"]] for own, v in lasting]
        self.initial = [self._initial(known[own][v["name"]], v) for own, v in passing]
        self._open_scopes(model, known)

    def _open_scopes(self, model: Json, known: Sequence[Mapping[str, Variable]]) -> None:
        """Say what names mean in the model and in each instance, whose own names come before the model's."""
        width = self.width + len(self.initial)
        self.scope = Scope(self.constants, self.fuel, _places(known[0]), {}, width)
        self.scope.functions.update(_functions(model, self.scope))
        self.seen = [{**known[0], **own} for own in known[1:]]
        self.scopes = [
            replace(self.scope, places=_places(names), functions=dict(self.scope.functions))
            for names in self.seen
        ]
        for instance, scope in zip(self.instances, self.scopes, strict=True):
            scope.functions.update(_functions(instance.declared, scope))

    def _variable(self, name: str, place: int, declared: Json) -> Variable:
        kind, length = declared["type"], None
        if isinstance(kind, dict) and kind.get("kind") == "array":
            kind, length = kind["base"], len(self._constant(declared["initial-value"]))
        low, high = -math.inf, math.inf
        if isinstance(kind, dict):
            need(kind.get("kind") == "bounded", f"the type of {name} is not known here")
            if not declared.get("transient", False):  # bounds are for values that last
                low = self._constant(kind.get("lower-bound", -math.inf))
                high = self._constant(kind.get("upper-bound", math.inf))
            kind = kind["base"]
        need(
            isinstance(kind, str) and kind in TYPES, f"the type of {name} is not known here: {str(kind)[:60]}"
        )
        return Variable(name, place, kind, low, high, length)

    def _initial(self, variable: Variable, declared: Json) -> Any:
        """The value that a transient variable has whenever nothing says otherwise."""
        value = self._constant(declared["initial-value"])
        return value if variable.length is not None else variable.stored(value)

    def _constant(self, e: Any) -> Any:
        if isinstance(e, float) and math.isinf(e):
            return e
        return compile_expression(e, Scope(self.constants, self.fuel))(())

    def _connect(self, instance: Instance, scope: Scope) -> None:
        """Compile the edges of an instance, and the transient values of its locations."""
        names = self.seen[self.instances.index(instance)]
        for edge in instance.declared.get("edges", []):
            guard = compile_expression(edge.get("guard", {"exp": True})["exp"], scope)
            ends = [self._destination(d, instance, scope, names) for d in edge["destinations"]]
            key = (text(edge["location"], "the location of an edge"), edge.get("action") or "")
            instance.edges.setdefault(key, []).append(Edge(guard, ends))
        for place in instance.declared["locations"]:
            instance.transient_values[place["name"]] = [
                (names[t["ref"]], compile_expression(t["value"], scope))
                for t in place.get("transient-values", [])
            ]

    def _destination(
        self, d: Json, instance: Instance, scope: Scope, names: Mapping[str, Variable]
    ) -> Destination:
        probability = compile_expression(d.get("probability", {"exp": 1})["exp"], scope)
        assignments = [self._assignment(a, scope, names) for a in d.get("assignments", [])]
        need(
            d["location"] in instance.locations, f"{instance.name} has no location {str(d['location'])[:60]}"
        )
        update = Update(grouped((a.order, a.write) for a in assignments), instance.place, d["location"])
        return Destination(probability, assignments, update)

    def _assignment(self, a: Json, scope: Scope, names: Mapping[str, Variable]) -> Assignment:
        ref, cell = a["ref"], None
        if isinstance(ref, dict):
            need(ref.get("op") == "aa", "an assignment is to a variable or to a cell of an array")
            ref, cell = ref["exp"], compile_expression(ref["index"], scope)
        need(isinstance(ref, str) and ref in names, f"there is no variable {str(ref)[:60]}")
        options = self._options(a, scope, names[ref])
        value = compile_expression(0 if options else a["value"], scope)
        index = a.get("index", 0)
        need(type(index) is int, "the index of an assignment is no integer")
        return Assignment(index, Write(names[ref], cell, value), options)

    def _options(
        self, a: Json, scope: Scope, variable: Variable
    ) -> Callable[[Sequence[Any]], Iterable[Any]] | None:
        """The values among which chance may choose (a box of integers, all values such that), or None."""
        e = a.get("value")
        if e is None:
            low, high = (compile_expression(a[end], scope) for end in ("lower-bound", "upper-bound"))
            return lambda env: self._counted(range(low(env), high(env) + 1))
        if not (isinstance(e, dict) and e.get("op") == "nondet"):
            return None
        such_that, place = compile_expression(e["exp"], scope.bind(text(e["var"], "a variable"))), scope.width
        need(variable.kind != "real", "a real value such that something holds is not known here")
        domain = (
            (False, True) if variable.kind == "bool" else range(int(variable.low), int(variable.high) + 1)
        )

        return lambda env: [x for x in self._counted(domain) if truth(such_that((*env[:place], x)))]

    def _counted(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values, after a look at how many they are."""
        self.fuel.burn(len(values))
        return values

    def read(self, values: object) -> State:
        """The state that a certificate writes as names with values; refused where it is none of the model.

        All variables and all automata with several locations have a value that they can have, and there is
        nothing else.
        """
        if not isinstance(values, dict):
            raise refusal(values, "a state", "an object")
        left = dict(values)
        state = [variable.read(left) for variable in self.variables]
        for instance in self.instances:
            if instance.place is not None:
                place = left.pop(f"{instance.name}@location", None)
                need(place in instance.locations, f"a state puts {instance.name} where it cannot be")
                state.append(place)
        need(not left, f"a state names what the model does not have: {str([*left][:1])[:100]}")
        return tuple(state)

    def condition(self, e: Any) -> Callable[[State], bool]:
        """Whether an expression over the global names, or a state-condition with locations, holds."""
        places: list[tuple[Instance, str]] = []
        if isinstance(e, dict) and e.get("op") == "state-condition":
            places = [self._stated(place) for place in e.get("locations", [])]
            e = e.get("exp", True)
        compiled = compile_expression(e, self.scope)
        return lambda state: (
            all(instance.location(state) == name for instance, name in places)
            and truth(compiled(self.view(state)))
        )

    def _stated(self, place: Json) -> tuple[Instance, str]:
        """The instance that a condition speaks of: the index counts among its copies, or else among all."""
        own = [i for i in self.instances if i.declared["name"] == place["automaton"]]
        index = place.get("index", 0)
        need(type(index) is int and 0 <= index < max(len(own), len(self.instances)), "no such automaton")
        return (own[index] if index < len(own) else self.instances[index]), place["location"]

    def view(self, state: State) -> Sequence[Any]:
        """The environment of a state: transient variables have the values that the locations give them."""
        if not self.initial:
            return state
        env = [*state, *self.initial]
        for instance in self.instances:
            for variable, value in instance.transient_values[instance.location(state)]:
                env[variable.place] = value(env)
        return env

    def outcomes(self, state: State, label: str) -> set[State]:
        """All states that may follow if this label is chosen; none where it is not applicable.

        Each vector of the label needs one enabled edge of every automaton that takes part, and every
        combination of such edges and of their destinations may happen.
        """
        env, found = self.view(state), set[State]()
        for vector in self.labels.get(label, ()):
            enabled = [self._enabled(instance, action, env) for instance, action in vector]
            for edges in itertools.product(*enabled):
                for updates in itertools.product(*edges):
                    self.fuel.burn(1)
                    found.add(self.after(state, updates))
        return found

    def applicable(self, state: State) -> list[str]:
        """The labels that have an outcome in a state."""
        return [label for label in self.labels if self.outcomes(state, label)]

    def _enabled(self, instance: Instance, action: str, env: Sequence[Any]) -> list[list[Update]]:
        """For each edge of the action whose guard holds, what may happen."""
        return [
            [update for end in edge.destinations for update in self._possible(end, env)]
            for edge in instance.edges.get((instance.location(env), action), ())
            if truth(edge.guard(env))
        ]

    def _possible(self, end: Destination, env: Sequence[Any]) -> Iterator[Update]:
        """The update of a destination, once for each choice of its open values; none at probability 0."""
        if not (self.keep_impossible or end.probability(env) > 0):
            return
        if all(assignment.options is None for assignment in end.assignments):
            yield end.update
            return
        choices = [[a.write] if a.options is None else each(a, env) for a in end.assignments]
        for choice in itertools.product(*choices):
            self.fuel.burn(1)
            groups = grouped(zip((a.order for a in end.assignments), choice, strict=True))
            yield end.update._replace(groups=groups)

    def after(self, state: State, updates: Sequence[Update]) -> State:
        """The state after a step. Groups of writes go one after another, the writes of one group at once."""
        env = [*state, *self.initial]
        for _, writes in updates[0].groups if len(updates) == 1 else merged(updates):
            write(env, writes)
        for update in updates:
            if update.place is not None:
                env[update.place] = update.location
        return tuple(env[: self.width])


def _keeps_impossible(semantics: object) -> bool:
    if not isinstance(semantics, dict):
        raise refusal(semantics, "the semantics", "an object")
    unknown = [str(name)[:60] for name in semantics if name != "keep_impossible"]
    need(not unknown, f"semantics with {', '.join(unknown[:9])} is not known here")
    return truth(semantics.get("keep_impossible", False))


def _constants(model: Json, given: Json, fuel: Fuel) -> dict[str, Any]:
    """The values of the constants: those that the certificate states, for the others those of the model."""
    declared = model.get("constants", [])
    record(given, "the constants", (), optional=[text(c["name"], "a constant") for c in declared])
    values: dict[str, Any] = {}
    for c in declared:
        e = given.get(c["name"], c.get("value"))
        values[c["name"]] = compile_expression(e, Scope(dict(values), fuel))(())
    return values


def _instances(model: Json) -> list[Instance]:
    """The automata of the system; copies of one automaton are told apart by their numbers."""
    elements = [text(e["automaton"], "an automaton") for e in model["system"]["elements"]]
    automata = {a["name"]: a for a in model["automata"]}
    numbered = [
        f"{e}[{elements[:i].count(e)}]" if elements.count(e) > 1 else e for i, e in enumerate(elements)
    ]
    return [Instance(name, automata[e]) for name, e in zip(numbered, elements, strict=True)]


def _vectors(model: Json, instances: Sequence[Instance]) -> dict[str, list[list[tuple[Instance, str]]]]:
    """For every label, which automata must move together for it, and by which actions.

    Edges without an action move alone, under the empty label. A lone automaton without vectors moves under
    the names of its actions.
    """
    alone = [{"synchronise": [a["name"]], "result": a["name"]} for a in model.get("actions", [])]
    vectors = model["system"].get("syncs", alone if len(instances) == 1 else [])
    labels: dict[str, list[list[tuple[Instance, str]]]] = {}
    for vector in vectors:
        taking = zip(instances, vector["synchronise"], strict=True)
        part = [(instance, text(action, "an action")) for instance, action in taking if action is not None]
        labels.setdefault(vector.get("result") or "", []).append(part)
    for instance in instances:
        labels.setdefault("", []).append([(instance, "")])
    return labels


def _functions(owner: Json, scope: Scope) -> dict[str, Function]:
    return {text(f["name"], "a function"): Function(f, scope) for f in owner.get("functions", [])}


def _places(variables: Mapping[str, Variable]) -> dict[str, int]:
    return {name: variable.place for name, variable in variables.items()}
