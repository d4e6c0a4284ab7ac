"""A JANI interpreter for the trusted checker: small, slow, obvious, independent of everything else here."""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

State = tuple[tuple[str, Any], ...]

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "min": min, "max": max,
    "%": lambda a, b: a - abs(b) * math.floor(a / abs(b)) if isinstance(a, int) and isinstance(b, int) else
    math.fmod(a, b) + (abs(b) if math.fmod(a, b) < 0 else 0),
    "pow": lambda a, b: math.pow(a, b), "log": lambda a, b: math.log(a) / math.log(b),
    "=": operator.eq, "≠": operator.ne, "<": operator.lt, "≤": operator.le, ">": operator.gt,
    "≥": operator.ge, "⇔": operator.eq,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "¬": operator.not_, "floor": math.floor, "ceil": math.ceil, "trc": math.trunc, "abs": abs,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "sgn": lambda x: (x > 0) - (x < 0),
}  # fmt: skip


class Jani:
    """A JANI model, interpreted. A state is a tuple of (name, value), sorted by name."""

    def __init__(self, model: Mapping[str, Any], constants: Mapping[str, Any]) -> None:
        self.model, self.functions = model, {f["name"]: f for f in model.get("functions", [])}
        self.constants: dict[str, Any] = {}
        for c in model.get("constants", []):
            value = constants.get(c["name"], c.get("value"))
            self.constants[c["name"]] = self.value(value, self.constants)
        automata = {a["name"]: a for a in model["automata"]}
        elements = [e["automaton"] for e in model["system"]["elements"]]
        self.names = [
            name if elements.count(name) == 1 else f"{name}[{elements[:i].count(name)}]"
            for i, name in enumerate(elements)
        ]
        self.automata = [automata[name] for name in elements]
        for automaton in self.automata:
            self.functions |= {f["name"]: f for f in automaton.get("functions", [])}
        owners = [model, *self.automata]
        self.transient = {v["name"] for o in owners for v in o.get("variables", []) if v.get("transient")}
        actions = [a["name"] for a in model.get("actions", [])]
        alone = [{"synchronise": [a], "result": a} for a in actions] if len(elements) == 1 else []
        self.vectors = [
            (v.get("result") or "", v["synchronise"]) for v in model["system"].get("syncs", alone)
        ]
        for i in range(len(elements)):  # an edge without a label moves alone
            self.vectors.append(("", ["" if i == j else None for j in range(len(elements))]))

    def value(self, e: Any, env: Mapping[str, Any]) -> Any:
        """Evaluate an expression."""
        if isinstance(e, str):
            return env[e]
        if not isinstance(e, dict):
            return e
        if "constant" in e:
            return {"e": math.e, "π": math.pi}[e["constant"]]
        op = e["op"]
        if op in OPERATORS:
            return OPERATORS[op](self.value(e["left"], env), self.value(e["right"], env))
        if op in FUNCTIONS:
            return FUNCTIONS[op](self.value(e["exp"], env))
        if op in ("∧", "∨", "⇒"):  # noqa: RUF001
            left = self.value(e["left"], env)
            return self.value(e["right"], env) if left == (op != "∨") else op != "∧"  # noqa: RUF001
        if op == "ite":
            return self.value(e["then"] if self.value(e["if"], env) else e["else"], env)
        if op == "let" and not e.get("variables"):
            return self.value(e["expression"], env)
        if op == "aa":
            return self.value(e["exp"], env)[self.value(e["index"], env)]
        if op == "av":
            return [self.value(x, env) for x in e["elements"]]
        if op == "ac":
            return [self.value(e["exp"], {**env, e["var"]: i}) for i in range(self.value(e["length"], env))]
        if op == "call":
            function = self.functions[e["function"]]
            names = [p["name"] for p in function["parameters"]]
            args = [self.value(a, env) for a in e["args"]]
            return self.value(function["body"], {**env, **dict(zip(names, args, strict=True))})
        raise NotImplementedError(f"operator {op!r}")

    def scope(self, state: State, i: int | None, *, in_place: bool = True) -> dict[str, Any]:
        """All names that instance i (or the model) sees; transient variables as the locations set them."""
        flat, env = dict(state), dict(self.constants)
        for k, automaton in enumerate([self.model, *self.automata], -1):
            prefix = "" if k < 0 else self.names[k] + "."
            if k not in (-1, i):
                continue
            for v in automaton.get("variables", []):
                if v.get("transient"):
                    env[v["name"]] = self.value(v["initial-value"], env)
                elif (name := prefix + v["name"]) in flat:
                    env[v["name"]] = flat[name]
                else:
                    cells = itertools.takewhile(
                        flat.__contains__, (f"{name}[{n}]" for n in itertools.count())
                    )
                    env[v["name"]] = [flat[c] for c in cells]
        for k, automaton in enumerate(self.automata if in_place else []):
            for place in automaton["locations"]:
                if place["name"] == self.location(flat, k):
                    for t in place.get("transient-values", []):
                        env[t["ref"]] = self.value(t["value"], env)
        return env

    def location(self, flat: Mapping[str, Any], k: int) -> Any:
        """Where an instance is; automata with one location are not written."""
        return flat.get(f"{self.names[k]}@location", self.automata[k]["locations"][0]["name"])

    def holds(self, condition: Any, state: State) -> bool:
        """Whether an expression, or a state-condition with locations, is true."""
        if not isinstance(condition, dict) or condition.get("op") != "state-condition":
            return bool(self.value(condition, self.scope(state, None)))
        places = all(
            self.location(dict(state), [a["name"] for a in self.automata].index(p["automaton"]))
            == p["location"]
            for p in condition.get("locations", [])
        )
        return places and bool(self.value(condition.get("exp", True), self.scope(state, None)))

    def moves(self, state: State) -> dict[str, set[Any]]:
        """Each applicable label with all outcomes of all its edges."""
        flat, result = dict(state), dict[str, set[Any]]()
        for label, vector in self.vectors:
            parts = [k for k, action in enumerate(vector) if action is not None]
            enabled = [
                [
                    [(k, d) for d in edge["destinations"] if self.possible(d, state, k)]
                    for edge in self.automata[k]["edges"]
                    if (edge.get("action") or "") == vector[k]
                    and edge["location"] == self.location(flat, k)
                    and self.value(edge.get("guard", {"exp": True})["exp"], self.scope(state, k))
                ]
                for k in parts
            ]
            for edges in itertools.product(*enabled):
                for outcome in itertools.product(*edges):
                    result.setdefault(label, set()).add(self.outcome(state, outcome))
        return result

    def possible(self, d: Mapping[str, Any], state: State, k: int) -> bool:
        """An outcome of probability 0 is none."""
        return bool(self.value(d.get("probability", {"exp": 1})["exp"], self.scope(state, k)) > 0)

    def outcome(self, state: State, parts: Sequence[tuple[int, Mapping[str, Any]]]) -> Any:
        """The state after these destinations: equal indices at once, ascending indices one after another."""
        flat = dict(state)
        todo = [(a.get("index", 0), k, a) for k, d in parts for a in d.get("assignments", [])]
        targets = [a["ref"] for _, _, a in todo if isinstance(a["ref"], str)]
        if len({index for index, _, _ in todo}) > 1 and self.transient & set(targets):
            raise NotImplementedError("a transient variable that later assignments of an edge may read")
        for _, group in itertools.groupby(sorted(todo, key=lambda x: x[0]), key=lambda x: x[0]):
            new = dict(flat)
            for _, k, a in group:
                env = self.scope(tuple(flat.items()), k, in_place=False)  # transient: reset
                for name, value in self.targets(a, env, k, flat):
                    new[name] = float(value) if isinstance(flat[name], float) else value
            flat = new
        for k, d in parts:
            if f"{self.names[k]}@location" in flat:
                flat[f"{self.names[k]}@location"] = d["location"]
        return tuple(sorted(flat.items()))

    def targets(
        self, a: Mapping[str, Any], env: Mapping[str, Any], k: int, flat: Mapping[str, Any]
    ) -> Iterator[tuple[str, Any]]:
        """The names an assignment writes, with their values; transient ones are not part of the state."""
        ref, value = a["ref"], self.value(a["value"], env)
        base = ref if isinstance(ref, str) else ref["exp"]
        local = any(v["name"] == base for v in self.automata[k].get("variables", []))
        name = f"{self.names[k]}.{base}" if local else base
        if not isinstance(ref, str):
            name = f"{name}[{self.value(ref['index'], env)}]"
        cells = (
            [(f"{name}[{i}]", x) for i, x in enumerate(value)] if isinstance(value, list) else [(name, value)]
        )
        yield from ((n, x) for n, x in cells if n in flat)
