"""SafetyTask: a JANI model with its conditions, and states as dictionaries of names and values."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from misstep._core import Budget, JaniGame, JaniModel, SafetyPolicy
from misstep.config import Config
from misstep.errors import InputError
from misstep.formats.jani import JaniTask, read_task

Value = int | float | bool | str
StateDict = dict[str, Value]


@dataclass(frozen=True)
class Semantics:
    """How to read a model where JANI leaves a choice, or where a model leaves JANI.

    Values out of bounds are an `error`, moved into them (`clip`), a reason to `drop` the outcome, or, reals
    only, `allow`ed. Outcomes are drawn (never: decided about) `label` by label, all outcome states alike, or
    `edge` by edge as simulators do: any enabled edge, then by probability.
    """

    ignore_rates: bool = False
    integers: str = "error"
    reals: str = "allow"
    keep_impossible: bool = False
    box_points: int = 0
    outcome_mode: str = "label"

    def __post_init__(self) -> None:
        """Refuse what is not known here; the rest is checked where the model is read."""
        if self.outcome_mode not in ("label", "edge"):
            raise InputError(f"unknown outcome mode {self.outcome_mode!r}; known are label, edge")

    def stated(self) -> dict[str, Any]:
        """What a certificate must say: all that differs from the default and changes what can happen."""
        usual = Semantics(ignore_rates=self.ignore_rates, outcome_mode=self.outcome_mode)
        plain = asdict(usual)
        return {key: value for key, value in asdict(self).items() if value != plain[key]}


class SafetyTask:
    """A model, its unsafety condition, and its goal and start states where it has them."""

    def __init__(
        self,
        files: JaniTask,
        *,
        constants: Mapping[str, Any] | None = None,
        semantics: Semantics | None = None,
    ):
        self.files = files
        self.semantics = semantics or Semantics()
        self.asked: dict[str, Any] | None = None
        """The fields of a `Config` that name this task; None where it was not loaded from a file."""
        self.constants = dict(constants or {})
        self.model = JaniModel.parse(
            files.model,
            files.file,
            constants=[(name, json.dumps(value)) for name, value in self.constants.items()],
            ignore_rates=self.semantics.ignore_rates,
            integers=self.semantics.integers,
            reals=self.semantics.reals,
            keep_impossible=self.semantics.keep_impossible,
            box_points=self.semantics.box_points,
        )
        self._fields: list[str] = self.model.fields
        self._index = {name: i for i, name in enumerate(self._fields)}
        self.labels: list[str] = self.model.labels
        self._locations = {f"{name}@location": places for name, _, places in self.model.instances}

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        properties: str | Path | None = None,
        name: str | None = None,
        unsafe: str | None = None,
        goal: str | None = None,
        constants: Mapping[str, Any] | None = None,
        semantics: Semantics | None = None,
    ) -> SafetyTask:
        """Read a model and the conditions of a property; see `misstep.formats.jani.read_task`."""
        files = read_task(
            Path(path),
            properties=Path(properties) if properties else None,
            name=name,
            unsafe=unsafe,
            goal=goal,
        )
        task = cls(files, constants=constants, semantics=semantics)
        given = {
            "model": path,
            "properties": properties,
            "property_name": name,
            "unsafe": unsafe,
            "goal": goal,
        }
        task.asked = {
            **{key: str(value) for key, value in given.items() if value is not None},
            "constant": [f"{name}={json.dumps(value)}" for name, value in task.constants.items()],
            **asdict(task.semantics),
        }
        return task

    def game(
        self, policy: SafetyPolicy | None = None, *, horizon: int | None = None, normalised: bool = False
    ) -> JaniGame:
        """A fresh game. With a horizon, states after that many steps count as safe ends."""
        goal = None if self.files.goal is None else json.dumps(self.files.goal)
        return JaniGame(
            self.model,
            json.dumps(self.files.unsafe),
            goal,
            policy=policy,
            horizon=horizon,
            normalised=normalised,
            by_edge=self.semantics.outcome_mode == "edge",
        )

    @property
    def shown_fields(self) -> list[str]:
        """The names in `to_dict`, in order."""
        return [name for name in self._fields if len(self._locations.get(name, "..")) > 1]

    def to_dict(self, values: Sequence[Value]) -> StateDict:
        """Values by name; locations by name, and only of automata that have more than one."""
        state: StateDict = {}
        for name, value in zip(self._fields, values, strict=True):
            places = self._locations.get(name)
            if places is None:
                state[name] = value
            elif len(places) > 1:
                state[name] = places[int(value)]
        return state

    def to_values(self, state: Mapping[str, Any], *, default: Sequence[Value] | None = None) -> list[Value]:
        """The inverse of `to_dict`; what is not named comes from `default`."""
        if unknown := set(state) - self._index.keys():
            raise InputError(f"the model has no variable {sorted(unknown)[0]!r}")
        values: list[Value] = []
        for i, name in enumerate(self._fields):
            places = self._locations.get(name)
            if name not in state:
                if places is not None and len(places) == 1:
                    values.append(0)
                elif default is None:
                    raise InputError(f"the state gives no value for {name!r}")
                else:
                    values.append(default[i])
            elif places is not None:
                if state[name] not in places:
                    raise InputError(f"{name}: unknown location {state[name]!r}")
                values.append(places.index(str(state[name])))
            else:
                values.append(state[name])
        return values

    def state(self, game: JaniGame, s: int) -> StateDict:
        """A state of the game as a dictionary."""
        return self.to_dict(game.values(s))

    def start_states(
        self, game: JaniGame, *, count: int = 1000, seed: int = 0, budget: Budget | None = None
    ) -> list[int]:
        """S0: the initial states, the listed ones, and up to `count` drawn from a start condition."""
        initial: list[int] = game.initial()
        start = self.files.start
        if start is None:
            return initial
        if not isinstance(start, dict):
            raise InputError(f"{self.files.file}: the start condition is not an object")
        if start.get("op") != "states-values":
            found = game.sample(json.dumps(start), count, seed=seed, budget=budget)
            return list(dict.fromkeys([*initial, *found]))
        default, entries = game.values(initial[0]), start.get("values", [])
        where = f"{self.files.file}: start states: $.values"
        if not isinstance(entries, list):
            raise InputError(f"{where}: expected a list")
        listed: list[int] = []
        for i, entry in enumerate(entries):
            try:
                listed.append(game.add(self.to_values(self._listed(entry), default=default)))
            except InputError as error:
                raise InputError(f"{where}[{i}]: {error}") from None
            except (AttributeError, IndexError, KeyError, TypeError):
                raise InputError(f"{where}[{i}]: expected locations and variables with values") from None
        return list(dict.fromkeys([*initial, *listed]))

    def _listed(self, entry: Mapping[str, Any]) -> StateDict:
        """A start state of PlaJA's `states-values`; transient variables and lone locations are left out."""
        state: StateDict = {}
        for place in entry.get("locations", []):
            own = [name for name, kind, _ in self.model.instances if kind == place["automaton"]]
            state[f"{own[place.get('index', 0)] if len(own) > 1 else own[0]}@location"] = place["location"]
        for item in entry.get("variables", []):
            value, name = item["value"], item["var"]
            if isinstance(name, dict):  # {"op": "aa", "exp": array, "index": i}
                name = f"{name['exp']}[{name['index']}]"
            if isinstance(value, list):
                state.update({f"{name}[{i}]": cell for i, cell in enumerate(value)})
            else:
                state[str(name)] = value
        return {k: v for k, v in state.items() if k in self._index and len(self._locations.get(k, "..")) > 1}


def load_model(config: Config) -> SafetyTask:
    """The model that a configuration names, read as it says."""
    if config.model is None:
        raise InputError("there is no JANI model; name one")
    return SafetyTask.load(
        config.model,
        properties=config.properties,
        name=config.property_name,
        unsafe=config.unsafe,
        goal=config.goal,
        constants=parse_constants(config.constant),
        semantics=semantics_of(config),
    )


def semantics_of(config: Config) -> Semantics:
    """How a configuration says that models are read."""
    return Semantics(**{field.name: getattr(config, field.name) for field in fields(Semantics)})


def parse_constants(texts: Sequence[str], *, option: str = "--constant") -> dict[str, Any]:
    """`NAME=VALUE` each; values are JSON: 3, 0.5, true. `option` is where they come from, for messages."""
    constants: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name in constants:
            raise InputError(f"{option} {text!r}: {name!r} was given a value before; give it once")
        try:
            constants[name] = json.loads(value)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"{option} {text!r}: expected NAME=VALUE, the value a number or true or false")
    return constants


def draw(game: JaniGame, s: int, label: int, rng: random.Random) -> int:
    """A random outcome of an applicable label, as the task's `outcome_mode` says."""
    outcomes = next(outcomes for number, _, outcomes in game.moves(s) if number == label)
    weights = game.weights(s, label)
    return rng.choices(outcomes, weights)[0] if weights else rng.choice(outcomes)
