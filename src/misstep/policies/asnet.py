"""ASNet policies: the network of one task, built from its PDDL view and evaluated natively."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from misstep._core import AsnetPolicy
from misstep.errors import InputError, LimitReached, UnsupportedFeature
from misstep.formats.asnet_model import AsnetModel, compound_types, domain_hash
from misstep.formats.asnet_policy import read_asnet
from misstep.pddl.view import GroundAtom, PddlView, SchemaInfo
from misstep.task import Task

Indices = NDArray[np.int32]


@dataclass(frozen=True)
class Asnet:
    """An ASNet (Toyer et al. 2018) as published (`.policy`, SQLite or TOML) or written by misstep."""

    file: Path = field(metadata={"help": "the policy's file"})

    unit_cost: ClassVar[bool] = True
    """The published policies were trained so: load their tasks with unit cost."""

    @cached_property
    def model(self) -> AsnetModel:
        """The weights; read once and shared by the tasks that the policy is bound to."""
        return read_asnet(self.file)

    def bind(self, task: Task, /) -> AsnetPolicy:
        """The policy for one task."""
        return bind_asnet(self.model, task, source=str(self.file))


class GroundNet(NamedTuple):
    """Which fact stands in which slot of which operator; facts by predicate, operators by schema.

    Schemas and predicates are numbered as in the model. `None` has no place in index arrays: -1 is a slot
    whose fact does not exist, and the variable of a fact that always holds.
    """

    operators: Indices
    """The task's action behind each operator; ascending inside a schema."""
    schema_start: Indices
    """Where each schema's operators begin, and the end."""
    slot_facts: tuple[Indices, ...]
    """By schema: (operators, slots)."""
    predicate_start: Indices
    """Where each predicate's facts begin, and the end."""
    fact_variables: Indices
    fact_values: Indices
    goal: NDArray[np.bool_]
    """Whether the goal wants the fact."""
    predicate_slots: tuple[tuple[tuple[int, int], ...], ...]
    """By predicate the (schema, slot) pairs that mention it, by schema, then slot."""


def bind_asnet(model: AsnetModel, task: Task, *, source: str = "<asnet>") -> AsnetPolicy:
    """The network of the model for one task. InputError where the model belongs to another domain."""
    net = ground_net(model, task, source=source)
    policy = AsnetPolicy(task, **network_arguments(model, net))
    policy.warnings = hash_warnings(model, task, source=source)
    return policy


def hash_warnings(model: AsnetModel, task: Task, *, source: str = "<asnet>") -> list[str]:
    """A warning where the domain's names are not those that the model's hash was made from.

    Names and shapes of all modules are checked apart from this, and the order of predicates and actions is
    the model's, so only the types can differ: the policy can be evaluated, but it may have been trained on
    something else.
    """
    if task.problem is None or model.domain_hash is None:
        return []
    domain = task.problem.domain
    schemas = {schema.name: schema for schema in domain.schemas}
    # A file without names has the order of the domain.
    predicates = model.predicates if set(model.predicates) == set(domain.predicates) else domain.predicates
    actions = model.actions if set(model.actions) == set(schemas) else schemas
    declared = [domain.predicates[name].parameters for name in predicates]
    declared += [schemas[name].parameters for name in actions]
    compounds = compound_types([typed.types for parameters in declared for typed in parameters])
    types = [*domain.supertypes, *compounds]
    if model.domain_hash == domain_hash(types, predicates, actions):
        return []
    return [
        f"{source}: the policy was trained for a domain with other types than {', '.join(types)}; all names "
        "and sizes fit, so it is used: check that this is the domain of its training"
    ]


def network_arguments(model: AsnetModel, net: GroundNet) -> dict[str, Any]:
    """A model and its ground network as the native core takes them."""
    return {
        "hidden": model.hidden,
        "operators": net.operators,
        "schema_start": net.schema_start,
        "slot_facts": list(net.slot_facts),
        "predicate_start": net.predicate_start,
        "fact_variables": net.fact_variables,
        "fact_values": net.fact_values,
        "goal": net.goal.astype(np.uint8),
        "predicate_slots": [list(slots) for slots in net.predicate_slots],
        "action_modules": [list(modules) for modules in model.action_modules],
        "predicate_modules": [list(modules) for modules in model.predicate_modules],
    }


def ground_net(model: AsnetModel, task: Task, *, source: str = "<asnet>") -> GroundNet:
    """Facts: reachable ones and those that always hold. Operators: reachable ones that change something.

    Reachable means by forward h^2, as in the training of the published policies: without it, and with
    operators that change nothing, the maxima over operators differ: the policies choose otherwise or fail.
    It is kept with the task: weights do not matter here, so all checkpoints of a training share it.
    """
    view = task.pddl
    if view is None:
        raise InputError(f"{source}: an ASNet needs the PDDL of the task; load it from PDDL, not from SAS")
    schemas, predicates = _match_domain(model, view, source)
    key = ("ground net", tuple(schemas), tuple(predicates))
    if key not in task.derived:
        task.derived[key] = _grounded(model, task, view, schemas, predicates, source)
    net: GroundNet = task.derived[key]
    return net


def _grounded(
    model: AsnetModel,
    task: Task,
    view: PddlView,
    schemas: Sequence[int],
    predicates: Sequence[int],
    source: str,
) -> GroundNet:
    """A schema and a predicate of the view have the numbers `schemas` and `predicates` in the model."""
    reachable = task.h2()
    if reachable.limit is not None:
        raise LimitReached(f"{source}: h^2 did not end for {task.source}", reachable.limit)

    facts: list[list[tuple[GroundAtom, int, int]]] = [[] for _ in model.predicates]
    for atom in view.static_atoms:
        facts[predicates[atom.predicate]].append((atom, -1, 0))
    for variable, atoms in enumerate(view.fact_atoms):
        for value, fact in enumerate(atoms):
            if fact is not None and reachable.facts[variable][value]:
                facts[predicates[fact.predicate]].append((fact, variable, value))
    in_order = [fact for group in facts for fact in group]
    number = {atom: at for at, (atom, _, _) in enumerate(in_order)}
    goal = set(view.goal_atoms)

    operators: list[list[int]] = [[] for _ in model.actions]
    rows: list[list[list[int]]] = [[] for _ in model.actions]
    reached, changing = reachable.actions, [bool(action.effect) for action in task.actions]
    for action, binding in enumerate(view.bindings):
        if reached[action] and changing[action]:
            at = schemas[binding.schema]
            lifted = view.schemas[binding.schema].atoms
            operators[at].append(action)
            rows[at].append([number.get(atom.ground(binding.objects), -1) for atom in lifted])
    return GroundNet(
        operators=_indices([action for group in operators for action in group]),
        schema_start=_starts(operators),
        slot_facts=tuple(
            _indices(group).reshape(len(group), slots)
            for group, slots in zip(rows, model.action_slots, strict=True)
        ),
        predicate_start=_starts(facts),
        fact_variables=_indices([variable for _, variable, _ in in_order]),
        fact_values=_indices([value for _, _, value in in_order]),
        goal=np.array([atom in goal for atom, _, _ in in_order], dtype=np.bool_),
        predicate_slots=_predicate_slots(view, schemas, predicates),
    )


def _match_domain(model: AsnetModel, view: PddlView, source: str) -> tuple[list[int], list[int]]:
    """The model's number of each schema and of each predicate of the view."""
    schemas = _match_names("actions", model.actions, [schema.name for schema in view.schemas], source)
    predicates = _match_names("predicates", model.predicates, [each.name for each in view.predicates], source)
    for schema, at in zip(view.schemas, schemas, strict=True):
        if schema.quantified:
            raise UnsupportedFeature(f"action `{schema.name}` has quantified atoms, which ASNets cannot read")
        if len(schema.atoms) != model.action_slots[at]:
            raise InputError(
                f"{source}: action `{schema.name}` has {model.action_slots[at]} atoms in the policy and "
                f"{len(schema.atoms)} in the domain; use the domain that the policy was trained for"
            )
    for at, slots in enumerate(_predicate_slots(view, schemas, predicates)):
        if len(slots) != model.predicate_slots[at]:
            raise InputError(
                f"{source}: predicate `{model.predicates[at]}` is used {model.predicate_slots[at]} times in "
                f"the policy and {len(slots)} times in the domain; use the domain of the policy's training"
            )
    return schemas, predicates


def _match_names(what: str, trained: Sequence[str], declared: Sequence[str], source: str) -> list[int]:
    if len(trained) == len(declared) and all(name == f"#{at}" for at, name in enumerate(trained)):
        return list(range(len(declared)))  # The file has no names, only their order.
    if sorted(trained) != sorted(declared):
        raise InputError(
            f"{source}: the policy was trained for another domain: its {what} are {', '.join(trained)}; "
            f"this domain has {', '.join(declared)}"
        )
    number = {name: at for at, name in enumerate(trained)}
    return [number[name] for name in declared]


def _predicate_slots(
    view: PddlView, schemas: Sequence[int], predicates: Sequence[int]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    slots: list[list[tuple[int, int]]] = [[] for _ in predicates]
    by_number: list[tuple[int, SchemaInfo]] = sorted(zip(schemas, view.schemas, strict=True))
    for at, schema in by_number:
        for position, atom in enumerate(schema.atoms):
            slots[predicates[atom.predicate]].append((at, position))
    return tuple(map(tuple, slots))


def _indices(values: Sequence[object]) -> Indices:
    return np.array(values, dtype=np.int32)


def _starts(groups: Sequence[Sequence[object]]) -> Indices:
    return _indices([0, *np.cumsum([len(group) for group in groups])])
