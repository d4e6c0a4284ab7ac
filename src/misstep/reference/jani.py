"""A JANI interpreter for the trusted checker: small, slow, obvious, independent of everything else here."""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

State = tuple[tuple[str, Any], ...]
Json = Mapping[str, Any]

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "min": min, "max": max,
    "%": lambda a, b: a - abs(b) * (a // abs(b)) if isinstance(a, int) and isinstance(b, int) else
    math.fmod(a, b) + (abs(b) if math.fmod(a, b) < 0 else 0),
    "pow": math.pow, "log": lambda a, b: math.log(a) / math.log(b), "=": operator.eq, "≠": operator.ne,
    "<": operator.lt, "≤": operator.le, ">": operator.gt, "≥": operator.ge, "⇔": operator.eq,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "¬": operator.not_, "floor": math.floor, "ceil": math.ceil, "trc": math.trunc, "abs": abs,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "sgn": lambda x: (x > 0) - (x < 0),
}  # fmt: skip


class Jani:
    """A JANI model, interpreted. A state is a tuple of (name, value), sorted by name.

    `semantics` may say otherwise than: `integers` out of bounds are an "error", `reals` are "allow"ed, outcomes
    of probability 0 are no outcomes (`keep_impossible`), and no `box_points` stand for a real box.
    """

    def __init__(self, model: Json, constants: Json, semantics: Json) -> None:
        self.semantics = {"integers": "error", "reals": "allow", "box_points": 0, **semantics}
        self.model, self.constants = model, dict[str, Any]()
        for c in model.get("constants", []):
            value = constants.get(c["name"], c.get("value"))
            self.constants[c["name"]] = self.value(value, self.constants)
        elements = [e["automaton"] for e in model["system"]["elements"]]
        self.automata = [next(a for a in model["automata"] if a["name"] == name) for name in elements]
        self.names = [
            name if elements.count(name) == 1 else f"{name}[{elements[:i].count(name)}]"
            for i, name in enumerate(elements)
        ]
        self.variables = [  # by full name: who sees it (-1: everybody) and its declaration
            (f"{self.names[k]}.{v['name']}" if k >= 0 else v["name"], k, v)
            for k, owner in enumerate([model, *self.automata], -1)
            for v in owner.get("variables", [])
        ]
        self.types = {name: v["type"] for name, _, v in self.variables}
        actions = [a["name"] for a in model.get("actions", [])]
        alone = [{"synchronise": [a], "result": a} for a in actions] if len(elements) == 1 else []
        syncs = model["system"].get("syncs", alone)
        self.vectors = [(v.get("result") or "", v["synchronise"]) for v in syncs]
        for i in range(len(elements)):  # an edge without a label moves alone
            self.vectors.append(("", ["" if i == j else None for j in range(len(elements))]))

    def value(self, e: Any, env: Json) -> Any:
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
        if op == "call":  # the body sees the names around the function, not those around the call
            function, outer = env[f"{e['function']}()"], env["outer"]
            names = [p["name"] for p in function["parameters"]]
            args = [self.value(a, env) for a in e["args"]]
            return self.value(function["body"], {**outer, "outer": outer, **dict(zip(names, args, strict=True))})
        raise NotImplementedError(f"operator {op!r}")

    def scope(self, state: Json, i: int, *, transient: Json | None = None) -> dict[str, Any]:
        """All names that instance i sees (-1: the model); transient variables as given or as locations set them."""
        env: dict[str, Any] = dict(self.constants)
        for owner in [self.model] if i < 0 else [self.model, self.automata[i]]:
            env |= {f"{f['name']}()": f for f in owner.get("functions", [])}
        for name, k, v in self.variables:
            if k not in (-1, i):
                continue
            if v.get("transient"):
                env[v["name"]] = (transient or {}).get(name, self.value(v["initial-value"], env))
            elif name in state:
                env[v["name"]] = state[name]
            else:
                cells = itertools.takewhile(state.__contains__, (f"{name}[{n}]" for n in itertools.count()))
                env[v["name"]] = [state[cell] for cell in cells]
        for k, automaton in enumerate(self.automata if transient is None else []):
            place = next(p for p in automaton["locations"] if p["name"] == self.location(state, k))
            env |= {t["ref"]: self.value(t["value"], env) for t in place.get("transient-values", [])}
        return {**env, "outer": env}

    def location(self, state: Json, k: int) -> Any:
        """Where an instance is; automata with one location are not written."""
        return state.get(f"{self.names[k]}@location", self.automata[k]["locations"][0]["name"])

    def holds(self, condition: Any, state: State) -> bool:
        """Whether an expression, or a state-condition with locations, is true."""
        flat = dict(state)
        if isinstance(condition, dict) and condition.get("op") == "state-condition":
            for p in condition.get("locations", []):
                own = [k for k, a in enumerate(self.automata) if a["name"] == p["automaton"]]
                k = p.get("index", 0)  # among its copies, or among all
                if self.location(flat, own[k] if k < len(own) else k) != p["location"]:
                    return False
            condition = condition.get("exp", True)
        return bool(self.value(condition, self.scope(flat, -1)))

    def moves(self, state: State) -> dict[str, set[State]]:
        """Each applicable label with all outcomes of all its edges."""
        flat, result = dict(state), dict[str, set[State]]()
        scopes = [self.scope(flat, k) for k in range(len(self.automata))]
        for label, vector in self.vectors:
            enabled = [
                [
                    [(k, d) for d in edge["destinations"] for d in self.possible(d, scopes[k], k)]
                    for edge in self.automata[k]["edges"]
                    if (edge.get("action") or "") == action
                    and edge["location"] == self.location(flat, k)
                    and self.value(edge.get("guard", {"exp": True})["exp"], scopes[k])
                ]
                for k, action in enumerate(vector)
                if action is not None
            ]
            for edges in itertools.product(*enabled):
                for parts in itertools.product(*edges):
                    if (outcome := self.outcome(flat, parts)) is not None:
                        result.setdefault(label, set()).add(outcome)
        return result

    def possible(self, d: Json, env: Json, k: int) -> Iterator[Json]:
        """The destination, once for each choice of its non-deterministic values; none at probability 0."""
        probability = self.value(d.get("probability", {"exp": 1})["exp"], env)
        if probability > 0 or self.semantics.get("keep_impossible"):
            options = [[{**a, "value": x} for x in self.values(a, env, k)] for a in d.get("assignments", [])]
            yield from ({**d, "assignments": choice} for choice in itertools.product(*options))

    def values(self, a: Json, env: Json, k: int) -> Sequence[Any]:
        """What an assignment may assign: its value, all values of a box, or all values such that."""
        kind, low, high = self.bounds(self.full_name(a["ref"], k))
        if "value" not in a:
            low, high = self.value(a["lower-bound"], env), self.value(a["upper-bound"], env)
            if kind == "int":
                return range(low, high + 1)
            n = self.semantics["box_points"]
            return [low + (high - low) * (i / (n - 1)) for i in range(n)] if low <= high else []
        if isinstance(a["value"], dict) and a["value"].get("op") == "nondet":
            e, domain = a["value"], (False, True) if kind == "bool" else range(low, high + 1)
            return [x for x in domain if self.value(e["exp"], {**env, e["var"]: x})]
        return [a["value"]]

    def full_name(self, ref: Any, k: int) -> str:
        """The variable an assignment of instance k writes to."""
        name = ref if isinstance(ref, str) else ref["exp"]
        local = f"{self.names[k]}.{name}"
        return local if local in self.types else str(name)

    def bounds(self, name: str) -> tuple[str, Any, Any]:
        """Base type and bounds of a variable, or of the cells of an array."""
        declared: Any = self.types[name]
        while isinstance(declared, dict) and declared["kind"] == "array":
            declared = declared["base"]
        if isinstance(declared, str):
            return declared, -math.inf, math.inf
        low, high = declared.get("lower-bound", -math.inf), declared.get("upper-bound", math.inf)
        return declared["base"], self.value(low, self.constants), self.value(high, self.constants)

    def outcome(self, state: Json, parts: Sequence[tuple[int, Json]]) -> State | None:
        """The state after these destinations: equal indices at once, ascending indices one after another."""
        new, transient = dict(state), dict[str, Any]()
        todo = [(a.get("index", 0), k, a) for k, d in parts for a in d["assignments"]]
        for _, group in itertools.groupby(sorted(todo, key=lambda x: x[0]), key=lambda x: x[0]):
            writes: dict[str, Any] = {}
            for _, k, a in group:
                env, name = self.scope(new, k, transient=transient), self.full_name(a["ref"], k)
                value = self.value(a["value"], env)
                cell = name if isinstance(a["ref"], str) else f"{name}[{self.value(a['ref']['index'], env)}]"
                cells = [(f"{cell}[{i}]", x) for i, x in enumerate(value)] if isinstance(value, list) else []
                for target, x in cells or [(cell, value)]:
                    if target in new and (x := self.bounded(name, x)) is None:
                        return None
                    if writes.setdefault(target, x) != x:
                        raise ValueError(f"two different values for {target} at the same time")
            transient |= {name: x for name, x in writes.items() if name not in new}
            new |= {name: x for name, x in writes.items() if name in new}
        new |= {at: d["location"] for k, d in parts if (at := f"{self.names[k]}@location") in new}
        return tuple(sorted(new.items()))

    def bounded(self, name: str, x: Any) -> Any:
        """The value as the variable takes it; None where it is out of bounds and such outcomes are dropped."""
        kind, low, high = self.bounds(name)
        x = float(x) + 0.0 if kind == "real" else x  # no negative zero
        treatment = self.semantics["reals" if kind == "real" else "integers"]
        if low <= x <= high or treatment == "allow":
            return x
        if treatment == "error":
            raise ValueError(f"{x} is out of the bounds of {name}")
        return None if treatment == "drop" else max(low, min(high, x))
