"""A JANI interpreter for the trusted checker: small, slow, obvious, independent of everything else here."""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

State = tuple[tuple[str, Any], ...]
Json = Mapping[str, Any]

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "min": min, "max": max,
    "=": operator.eq, "≠": operator.ne, "<": operator.lt, "≤": operator.le, ">": operator.gt,
    "≥": operator.ge, "⇔": operator.eq, "pow": math.pow, "log": lambda a, b: math.log(a) / math.log(b),
    "%": lambda a, b: a % abs(b),
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {
    "¬": operator.not_, "floor": math.floor, "ceil": math.ceil, "trc": math.trunc, "abs": abs,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "sgn": lambda x: (x > 0) - (x < 0),
}  # fmt: skip
OTHERS: dict[str, Callable[[Callable[[Any], Any], Json], Any]] = {  # v evaluates a part of expression e
    "constant": lambda _, e: {"e": math.e, "π": math.pi}[e["constant"]],
    "∧": lambda v, e: v(e["left"]) and v(e["right"]),
    "∨": lambda v, e: v(e["left"]) or v(e["right"]),  # noqa: RUF001
    "⇒": lambda v, e: not v(e["left"]) or v(e["right"]),
    "ite": lambda v, e: v(e["then"]) if v(e["if"]) else v(e["else"]),
    "aa": lambda v, e: dict(enumerate(v(e["exp"])))[v(e["index"])],
    "av": lambda v, e: [v(x) for x in e["elements"]],
    "let": lambda v, e: v(e["expression"]),  # names it binds are not known here
}


class Jani:
    """A JANI model, interpreted. A state is a tuple of (name, value), sorted by name.

    Integers out of bounds are an error, reals are not. With `keep_impossible` outcomes of probability 0 are
    possible; no other semantics is known here.
    """

    def __init__(self, model: Json, constants: Json, semantics: Json) -> None:
        if unknown := semantics.keys() - {"keep_impossible"}:
            raise NotImplementedError(f"semantics with {', '.join(sorted(unknown))}")
        self.keep_impossible = semantics.get("keep_impossible", False)
        self.model, self.constants = model, dict[str, Any]()
        for c in model.get("constants", []):
            self.constants[c["name"]] = self.value(constants.get(c["name"], c.get("value")), self.constants)
        elements = [e["automaton"] for e in model["system"]["elements"]]
        self.automata = [next(a for a in model["automata"] if a["name"] == name) for name in elements]
        copies = [f"[{elements[:i].count(e)}]" * (elements.count(e) > 1) for i, e in enumerate(elements)]
        self.names = [name + copy for name, copy in zip(elements, copies, strict=True)]
        self.variables = [  # full name, the instance that sees it (-1: all do), declaration
            (v["name"] if k < 0 else f"{self.names[k]}.{v['name']}", k, v)
            for k, owner in enumerate([model, *self.automata], -1)
            for v in owner.get("variables", [])
        ]
        self.domains = {name: self.domain(v["type"]) for name, _, v in self.variables}
        self.cells = {name: [name] for name, _, v in self.variables if not v.get("transient")}
        for name, _, v in self.variables:
            if name in self.cells and isinstance(v["type"], dict) and v["type"]["kind"] == "array":
                length = len(self.value(v["initial-value"], self.constants))
                self.cells[name] = [f"{name}[{i}]" for i in range(length)]
        alone = [{"synchronise": [a["name"]], "result": a["name"]} for a in model.get("actions", [])]
        syncs = model["system"].get("syncs", alone if len(elements) == 1 else [])
        self.vectors = [(v.get("result") or "", v["synchronise"]) for v in syncs]
        self.vectors += [("", ["" if n == m else None for m in self.names]) for n in self.names]  # no label

    def domain(self, declared: Any) -> tuple[str, Any, Any]:
        """The base type of a variable, or of the cells of an array, and its bounds."""
        if isinstance(declared, str):
            return declared, -math.inf, math.inf
        if declared["kind"] == "array":
            return self.domain(declared["base"])
        low, high = declared.get("lower-bound", -math.inf), declared.get("upper-bound", math.inf)
        return declared["base"], self.value(low, self.constants), self.value(high, self.constants)

    def is_state(self, state: State) -> bool:
        """Whether all variables, and all automata with several locations, have a value that they can have."""
        flat, types = dict(state), {"bool": bool, "int": int, "real": float}
        for name, cells in self.cells.items():
            kind, low, high = self.domains[name]
            for x in (flat.pop(cell, None) for cell in cells):
                if type(x) is not types[kind] or (kind == "int" and not low <= x <= high):
                    return False
        places = [(self.names[k], [p["name"] for p in a["locations"]]) for k, a in enumerate(self.automata)]
        return all(flat.pop(f"{n}@location", None) in p for n, p in places if len(p) > 1) and not flat

    def value(self, e: Any, env: Json) -> Any:
        """Evaluate an expression."""
        if not isinstance(e, dict):
            return env[e] if isinstance(e, str) else e
        op = e.get("op", "constant")
        if op in BINARY:
            return BINARY[op](self.value(e["left"], env), self.value(e["right"], env))
        if op in UNARY:
            return UNARY[op](self.value(e["exp"], env))
        if op in OTHERS:
            return OTHERS[op](lambda part: self.value(part, env), e)
        if op == "ac":
            return [self.value(e["exp"], {**env, e["var"]: i}) for i in range(self.value(e["length"], env))]
        if op == "call":  # the body sees the names around the function, not those around the call
            function = env[f"{e['function']}()"]
            pairs = zip(function["parameters"], e["args"], strict=True)
            return self.value(function["body"], env["()"] | {p["name"]: self.value(a, env) for p, a in pairs})
        raise NotImplementedError(f"operator {op!r}")

    def scope(self, state: Json, i: int, *, transient: Json | None = None) -> dict[str, Any]:
        """All names that instance i sees (-1: the model); transient ones as given, or as locations say."""
        env: dict[str, Any] = dict(self.constants)
        env["()"] = env  # what functions see
        for owner in [self.model, *self.automata[i : i + 1]] if i >= 0 else [self.model]:
            env |= {f"{f['name']}()": f for f in owner.get("functions", [])}
        for name, k, v in self.variables:
            if k in (-1, i) and v.get("transient"):
                env[v["name"]] = (transient or {}).get(name, self.value(v["initial-value"], env))
            elif k in (-1, i):
                values = [state[cell] for cell in self.cells[name]]
                env[v["name"]] = values[0] if self.cells[name] == [name] else values
        for k, automaton in enumerate(self.automata if transient is None else []):
            place = next(p for p in automaton["locations"] if p["name"] == self.location(state, k))
            env |= {t["ref"]: self.value(t["value"], env) for t in place.get("transient-values", [])}
        return env

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
        scopes = [self.scope(flat, k) for k, _ in enumerate(self.automata)]
        for label, vector in self.vectors:
            enabled = [
                [
                    [(k, d) for e in edge["destinations"] for d in self.possible(e, scopes[k], k)]
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
                    result.setdefault(label, set()).add(self.outcome(flat, parts))
        return result

    def possible(self, d: Json, env: Json, k: int) -> Iterator[Json]:
        """The destination, once for each choice of its non-deterministic values; none at probability 0."""
        if self.keep_impossible or self.value(d.get("probability", {"exp": 1})["exp"], env) > 0:
            options = [[{**a, "value": x} for x in self.values(a, env, k)] for a in d.get("assignments", [])]
            yield from ({**d, "assignments": choice} for choice in itertools.product(*options))

    def values(self, a: Json, env: Json, k: int) -> Sequence[Any]:
        """What an assignment may assign: its value, all integers of a box, or all values such that."""
        e, (kind, low, high) = a.get("value"), self.domains[self.full_name(a, k)]
        if e is None:
            return range(self.value(a["lower-bound"], env), self.value(a["upper-bound"], env) + 1)
        if isinstance(e, dict) and e.get("op") == "nondet":
            domain = (False, True) if kind == "bool" else range(low, high + 1)
            return [x for x in domain if self.value(e["exp"], {**env, e["var"]: x})]
        return [e]

    def full_name(self, a: Json, k: int) -> str:
        """The variable that an assignment of instance k writes to."""
        name = a["ref"] if isinstance(a["ref"], str) else a["ref"]["exp"]
        return local if (local := f"{self.names[k]}.{name}") in self.domains else str(name)

    def outcome(self, state: Json, parts: Sequence[tuple[int, Json]]) -> State:
        """The state after these destinations: equal indices at once, ascending indices one after another."""
        new, transient = dict(state), dict[str, Any]()
        todo = [(a.get("index", 0), k, a) for k, d in parts for a in d["assignments"]]
        for _, group in itertools.groupby(sorted(todo, key=lambda x: x[0]), key=lambda x: x[0]):
            writes: dict[str, Any] = {}
            for _, k, a in group:
                env, name = self.scope(new, k, transient=transient), self.full_name(a, k)
                value = self.value(a["value"], env)
                cell = name if isinstance(a["ref"], str) else f"{name}[{self.value(a['ref']['index'], env)}]"
                cells = {f"{cell}[{i}]": x for i, x in enumerate(value)} if isinstance(value, list) else None
                kind, low, high = self.domains[name]
                for target, x in (cells or {cell: value}).items():
                    if target in new and kind != "real" and not low <= x <= high:
                        raise ValueError(f"{x} is out of the bounds of {name}")
                    writes[target] = float(x) + 0.0 if kind == "real" else x  # no negative zero
            transient |= {name: x for name, x in writes.items() if name not in new}
            new |= {name: x for name, x in writes.items() if name in new}
        new |= {at: d["location"] for k, d in parts if (at := f"{self.names[k]}@location") in new}
        return tuple(sorted(new.items()))
