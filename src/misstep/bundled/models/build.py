"""A small language for writing JANI models in Python: expressions by operators, edges by dictionaries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Operand = "E | int | float | bool"


class E:
    """A JANI expression; `==` and `!=` build comparisons, so expressions are not for sets or dictionaries."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, json: Any) -> None:
        self.json = json

    def _with(self, op: str, other: Any) -> E:
        return E({"op": op, "left": self.json, "right": raw(other)})

    def __add__(self, other: Any) -> E:
        return self._with("+", other)

    def __sub__(self, other: Any) -> E:
        return self._with("-", other)

    def __mul__(self, other: Any) -> E:
        return self._with("*", other)

    def __truediv__(self, other: Any) -> E:
        return self._with("/", other)

    def __radd__(self, other: Any) -> E:
        return E(other) + self

    def __rsub__(self, other: Any) -> E:
        return E(other) - self

    def __rmul__(self, other: Any) -> E:
        return E(other) * self

    def __lt__(self, other: Any) -> E:
        return self._with("<", other)

    def __le__(self, other: Any) -> E:
        return self._with("≤", other)

    def __gt__(self, other: Any) -> E:
        return self._with(">", other)

    def __ge__(self, other: Any) -> E:
        return self._with("≥", other)

    def __eq__(self, other: object) -> E:  # type: ignore[override]
        return self._with("=", other)

    def __ne__(self, other: object) -> E:  # type: ignore[override]
        return self._with("≠", other)

    def __and__(self, other: Any) -> E:
        return self._with("∧", other)

    def __or__(self, other: Any) -> E:
        return self._with("∨", other)  # noqa: RUF001

    def __invert__(self) -> E:
        return E({"op": "¬", "exp": self.json})

    def __neg__(self) -> E:
        return E(0) - self


def raw(value: Any) -> Any:
    """The JSON of an expression or a plain value."""
    return value.json if isinstance(value, E) else value


def call(op: str, value: Any) -> E:
    """A function of one argument: sin, cos, abs, ..."""
    return E({"op": op, "exp": raw(value)})


def ite(condition: E, then: Any, otherwise: Any) -> E:
    """If, then, else."""
    return E({"op": "ite", "if": condition.json, "then": raw(then), "else": raw(otherwise)})


def clamp(value: Any, low: float, high: float) -> E:
    """The nearest value between the bounds."""
    return E({"op": "max", "left": low, "right": {"op": "min", "left": high, "right": raw(value)}})


def conjunction(parts: Sequence[E]) -> E:
    """All of them; true where there are none."""
    result = E(True)
    for i, part in enumerate(parts):
        result = part if i == 0 else result & part
    return result


def total(parts: Sequence[Any]) -> E:
    """Their sum."""
    result = E(0)
    for i, part in enumerate(parts):
        result = E(raw(part)) if i == 0 else result + part
    return result


Outcome = Mapping[str, Any]


class Builder:
    """One automaton with one location; every edge has a label."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._variables: list[dict[str, Any]] = []
        self._edges: list[dict[str, Any]] = []
        self._labels: dict[str, None] = {}
        self._steps: int | None = None

    def _variable(self, name: str, base: str, low: float, high: float, initial: float) -> E:
        kind = {"kind": "bounded", "base": base, "lower-bound": low, "upper-bound": high}
        self._variables.append({"name": name, "type": kind, "initial-value": initial})
        return E(name)

    def integer(self, name: str, low: int, high: int, initial: int) -> E:
        """A bounded integer."""
        return self._variable(name, "int", low, high, initial)

    def real(self, name: str, low: float, high: float, initial: float) -> E:
        """A bounded real."""
        return self._variable(name, "real", low, high, initial)

    def clock(self, steps: int | None) -> E:
        """Counts steps up to a limit, if there is one; returns whether the limit is reached."""
        self._steps = steps
        if steps is None:
            return E(False)
        return self.integer("step", 0, steps, 0) >= steps

    def edge(self, label: str, guard: E, *outcomes: Outcome) -> None:
        """One edge; each outcome assigns values simultaneously."""
        self._labels.setdefault(label)
        if self._steps is not None:
            guard = guard & (E("step") < self._steps)
            outcomes = tuple({**outcome, "step": E("step") + 1} for outcome in outcomes)
        destinations = [
            {
                "location": "l",
                "probability": {"exp": 1 / len(outcomes)},
                "assignments": [{"ref": name, "value": raw(value)} for name, value in outcome.items()],
            }
            for outcome in outcomes
        ]
        edge = {"location": "l", "action": label, "guard": {"exp": guard.json}, "destinations": destinations}
        self._edges.append(edge)

    def document(
        self, *, unsafe: E, goal: E | None, starts: Sequence[Mapping[str, float]] = ()
    ) -> dict[str, Any]:
        """The model, with a policy-testing property; `starts` are further start states."""
        test: dict[str, Any] = {"op": "PA", "reach": {"op": "state-condition", "exp": unsafe.json}}
        if goal is not None:
            test["objective"] = {"op": "objective", "goal": {"op": "state-condition", "exp": goal.json}}
        if starts:
            values = [{"variables": [{"var": k, "value": v} for k, v in start.items()]} for start in starts]
            test["start"] = {"op": "states-values", "values": values}
        labels = list(self._labels)
        return {
            "jani-version": 1,
            "name": self.name,
            "type": "mdp",
            "features": ["derived-operators", "trigonometric-functions"],
            "actions": [{"name": label} for label in labels],
            "variables": self._variables,
            "properties": [{"name": "safety", "expression": test}],
            "automata": [
                {
                    "name": "main",
                    "locations": [{"name": "l"}],
                    "initial-locations": ["l"],
                    "edges": self._edges,
                }
            ],
            "system": {
                "elements": [{"automaton": "main"}],
                "syncs": [{"synchronise": [label], "result": label} for label in labels],
            },
        }


def grid(count: int, low: float, high: float) -> list[float]:
    """Evenly spaced values, rounded so that they are written shortly."""
    if count == 1:
        return [low]
    digits = 6 - max(0, math.ceil(math.log10(max(abs(low), abs(high), 1))))
    return [round(low + (high - low) * i / (count - 1), digits) for i in range(count)]
