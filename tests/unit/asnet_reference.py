"""ASNets in plain numpy: slow and obvious, to check the native evaluation and to measure it against."""

import random
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from misstep._core import Heuristic, State, StateBatch
from misstep.formats.asnet_model import AsnetModel, Floats, Module, make_model
from misstep.pddl.view import PddlView
from misstep.policies.asnet import GroundNet
from misstep.task import Task


class AsnetReference:
    """Evaluates a batch of states layer by layer, as the definition says."""

    def __init__(self, model: AsnetModel, net: GroundNet, task: Task) -> None:
        self.model, self.net, self.task = model, net, task
        self._number = {int(action): at for at, action in enumerate(net.operators)}
        self._members = [self._slot_members(*slot) for slots in net.predicate_slots for slot in slots]

    def scores(self, states: StateBatch) -> tuple[Floats, NDArray[np.bool_]]:
        """The score of every operator in every state, and whether it is applicable there."""
        truth, applicable = self.inputs(states)
        return self.evaluate(truth, applicable, self.landmarks(states)), applicable

    def inputs(self, states: StateBatch) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which facts hold and which operators are applicable in every state."""
        values = np.asarray(states.values)
        constant = self.net.fact_variables < 0
        truth = np.where(constant, True, values[:, self.net.fact_variables] == self.net.fact_values)
        applicable = np.zeros((len(values), len(self.net.operators)), dtype=np.bool_)
        for row, state in enumerate(states):
            for action in self.task.applicable(state):
                if action.index in self._number:
                    applicable[row, self._number[action.index]] = True
        return truth, applicable

    def landmarks(self, states: StateBatch) -> Floats:
        """By operator whether it is the only one of a landmark, one of several, in none; else no columns."""
        if not self.model.landmarks:
            return np.zeros((len(states), len(self.net.operators), 0), dtype=np.float32)
        lmcut = Heuristic(self.task, "lmcut")
        bits = np.zeros((len(states), len(self.net.operators), 3), dtype=np.float32)
        for row, state in enumerate(states):
            found = lmcut.landmarks(state) or []
            for action, number in self._number.items():
                sizes = [len(actions) for actions, _ in found if self.task.actions[action] in actions]
                bits[row, number, 2 if not sizes else int(min(sizes) > 1)] = 1
        return bits

    def evaluate(self, truth: NDArray[np.bool_], applicable: NDArray[np.bool_], landmarks: Floats) -> Floats:
        """The score of every operator."""
        actions = self._first_layer(truth, applicable, landmarks)
        facts = None
        for layer in range(self.model.num_layers):
            facts = self._predicate_layer(layer, actions, facts)
            actions = self._action_layer(layer + 1, facts, actions)
        return actions[:, :, 0]

    def choose(self, states: StateBatch) -> list[int | None]:
        """The chosen action's number for each state."""
        scores, applicable = self.scores(states)
        result: list[int | None] = []
        for row, allowed in zip(scores, applicable, strict=True):
            best = [(-row[at], int(self.net.operators[at])) for at in np.flatnonzero(allowed)]
            result.append(min(best)[1] if best else None)
        return result

    def _first_layer(
        self, truth: NDArray[np.bool_], applicable: NDArray[np.bool_], landmarks: Floats
    ) -> Floats:
        inputs = _with_missing(truth[:, :, None])
        goal = _with_missing(np.broadcast_to(self.net.goal[None, :, None], (*truth.shape, 1)))
        layers = []
        for schema, slots in enumerate(self.net.slot_facts):
            own = applicable[:, self._operators(schema), None].astype(np.float32)
            parts = (inputs[:, slots, 0], goal[:, slots, 0], own, landmarks[:, self._operators(schema)])
            layers.append(_elu(_linear(np.concatenate(parts, axis=2), self.model.action_modules[0][schema])))
        return np.concatenate(layers, axis=1)

    def _predicate_layer(self, layer: int, actions: Floats, facts: Floats | None) -> Floats:
        padded = _with_missing(actions)
        result, slot = [], 0
        for predicate, slots in enumerate(self.net.predicate_slots):
            begin, end = self.net.predicate_start[predicate : predicate + 2]
            parts = [np.zeros((len(actions), end - begin, 0), dtype=np.float32)]
            for _ in slots:
                parts.append(padded[:, self._members[slot]].max(axis=2))
                slot += 1
            if facts is not None:
                parts.append(facts[:, begin:end])
            module = self.model.predicate_modules[layer][predicate]
            result.append(_elu(_linear(np.concatenate(parts, axis=2), module)))
        return np.concatenate(result, axis=1)

    def _action_layer(self, layer: int, facts: Floats, actions: Floats) -> Floats:
        padded = _with_missing(facts)
        result = []
        for schema, slots in enumerate(self.net.slot_facts):
            inputs = padded[:, slots].reshape(len(facts), len(slots), slots.shape[1] * self.model.hidden)
            own = actions[:, self._operators(schema)]
            outputs = _linear(np.concatenate((inputs, own), axis=2), self.model.action_modules[layer][schema])
            result.append(outputs if layer == self.model.num_layers else _elu(outputs))
        return np.concatenate(result, axis=1)

    def _operators(self, schema: int) -> slice:
        return slice(self.net.schema_start[schema], self.net.schema_start[schema + 1])

    def _slot_members(self, schema: int, position: int) -> NDArray[np.int32]:
        """For each fact of the slot's predicate its operators, padded with -1, the row of minus ones."""
        predicate = next(
            at for at, slots in enumerate(self.net.predicate_slots) if (schema, position) in slots
        )
        begin, end = self.net.predicate_start[predicate : predicate + 2]
        members: list[list[int]] = [[] for _ in range(end - begin)]
        for at, fact in enumerate(self.net.slot_facts[schema][:, position]):
            if fact >= 0:
                members[fact - begin].append(int(self.net.schema_start[schema]) + at)
        width = max(map(len, members), default=0)
        # Repeating a member leaves the maximum as it is.
        padded = [group + (group or [-1])[:1] * (max(width, 1) - len(group)) for group in members]
        return np.array(padded, dtype=np.int32).reshape(len(members), max(width, 1))


def _with_missing(values: NDArray[np.float32] | NDArray[np.bool_]) -> Floats:
    """With one more row at the end, which index -1 finds: what is missing counts as -1."""
    rows = values.astype(np.float32)
    return np.concatenate((rows, np.full((len(rows), 1, rows.shape[2]), -1, dtype=np.float32)), axis=1)


def _linear(inputs: Floats, module: Module) -> Floats:
    return inputs @ module.weights + module.bias


def _elu(values: Floats) -> Floats:
    return np.where(values > 0, values, np.expm1(np.minimum(values, 0)))


def random_model(
    view: PddlView | None,
    *,
    hidden: int = 16,
    num_layers: int = 2,
    seed: int = 0,
    landmarks: bool = False,
) -> AsnetModel:
    """An untrained network for a domain, with outputs of moderate size."""
    assert view is not None, "networks need the PDDL of the task"
    rng = np.random.default_rng(seed)

    def module(inputs: int, outputs: int) -> Module:
        weights = rng.normal(0, 1.5 / max(inputs, 1) ** 0.5, (inputs, outputs))
        return Module(weights.astype(np.float32), rng.normal(0, 0.5, outputs).astype(np.float32))

    uses = Counter(atom.predicate for schema in view.schemas for atom in schema.atoms)
    actions, predicates = {}, {}
    for layer in range(num_layers + 1):
        for index, schema in enumerate(view.schemas):
            slots = len(schema.atoms)
            inputs = 2 * slots + 1 + 3 * landmarks if layer == 0 else (slots + 1) * hidden
            actions[layer, index] = module(inputs, 1 if layer == num_layers else hidden)
    for layer in range(num_layers):
        for index in range(len(view.predicates)):
            predicates[layer, index] = module((uses[index] + (layer > 0)) * hidden, hidden)
    return make_model(
        "random",
        hidden=hidden,
        num_layers=num_layers,
        actions=[schema.name for schema in view.schemas],
        predicates=[predicate.name for predicate in view.predicates],
        action_arrays=actions,
        predicate_arrays=predicates,
    )


def walked_states(task: Task, number: int, *, seed: int = 0) -> list[State]:
    """The states of a random walk, which begins again where it can go no further."""
    rng = random.Random(seed)
    states: list[State] = []
    state = task.initial_state
    while len(states) < number:
        states.append(state)
        actions = task.applicable(state)
        state = task.apply(state, rng.choice(actions)) if actions else task.initial_state
    return states
