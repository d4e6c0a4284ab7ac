"""`gnn:FILE`: the relational network policies of Ståhlberg, Bonet & Geffner (KR 2022), evaluated natively.

The policy looks at all successors of a state as one batch and goes to the one of least value; or, with a network
of the kind `q`, at the state itself, in which every applicable action is an object.
"""

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from misstep import _core
from misstep.errors import InputError, UnsupportedFeature
from misstep.formats.gnn_file import read_gnn
from misstep.formats.gnn_model import GOAL_SUFFIX, GnnKind, GnnModel, Mlp, Readout, Relation, Weights
from misstep.pddl.noop_actions import noop_actions
from misstep.pddl.view import GroundAtom, PddlView
from misstep.plugins import option
from misstep.support.suggest import did_you_mean
from misstep.task import Task

_MOST_THREADS = 64


@dataclass(frozen=True)
class Gnn:
    """A graph neural network policy: a checkpoint of KR 2022 or of `misstep train gnn`; needs no PyTorch."""

    file: Path = field(metadata={"help": "the checkpoint"})
    threads: int | None = option(None, "cores that share the work on a state; by default all of this process")

    def __post_init__(self) -> None:
        if self.threads is not None and not 1 <= self.threads <= _MOST_THREADS:
            raise InputError(
                f"gnn: option `threads` is {self.threads}; it must lie between 1 and {_MOST_THREADS}"
            )

    @cached_property
    def model(self) -> GnnModel:
        """The network; read once and shared by the tasks it is bound to."""
        return read_gnn(self.file)

    @cached_property
    def network(self) -> _core.GnnNetwork:
        """The network in the native core."""
        return native_network(self.model)

    def bind(self, task: Task) -> _core.GnnPolicy:
        """The policy on a task of the network's domain."""
        threads = self.threads or min(len(os.sched_getaffinity(0)), _MOST_THREADS)
        return native_policy(task, self.model, self.network, threads=threads)


@dataclass(frozen=True, slots=True)
class Encoding:
    """How atoms become rows of the network's relations; relations without a module are left out."""

    relations: tuple[Relation, ...]
    fixed: tuple[tuple[tuple[int, ...], ...], ...]
    """For each relation the rows of every state: atoms that are always true, goals, types."""
    facts: tuple[tuple[tuple[int, tuple[int, ...]] | None, ...], ...]
    """By variable and value the relation and its row, where there is one; or several rows, one after the other."""
    actions: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Where actions are scored: by number the relation of an action and the objects after its own."""


def encode(view: PddlView, model: GnnModel) -> Encoding:
    """Binds the network's relations to what the task's domain has, by name and arity."""
    if model.published:
        check_predicates(view, model)
    else:
        check_relations(view, model)
    if view.negative_goal_atoms:
        atom = view.text(view.negative_goal_atoms[0])
        raise UnsupportedFeature(f"goal `(not {atom})`: the network {model.source} cannot see it")
    relations = tuple(relation for relation in model.relations if relation.module is not None)
    index = {relation.name: at for at, relation in enumerate(relations)}
    everything = tuple(range(len(view.objects)))

    def row(atom: GroundAtom, prefix: str = "", suffix: str = "") -> tuple[int, tuple[int, ...]] | None:
        at = index.get(prefix + view.predicates[atom.predicate].name + suffix)
        # Without arguments it says the same of every object (in networks of ours; the others do not see it).
        return None if at is None else (at, atom.objects or everything)

    goal = {"suffix": GOAL_SUFFIX} if model.published else {"prefix": _GOAL}
    fixed: list[dict[tuple[int, ...], None]] = [{} for _ in relations]
    always = [row(atom) for atom in view.static_atoms]
    goals = [row(atom, **goal) for atom in view.goal_atoms]
    kinds = [] if model.published else [(index[name], (thing,)) for name, thing in _kinds(view)]
    for found in (*always, *goals, *kinds):
        if found is not None:
            at, objects = found
            size = relations[at].arity
            for first in range(0, len(objects), size):
                fixed[at][objects[first : first + size]] = None
    facts = tuple(tuple(atom and row(atom) for atom in atoms) for atoms in view.fact_atoms)
    actions: tuple[tuple[int, tuple[int, ...]], ...] = ()
    if model.kind == "q":
        names = [_ACTION + schema.name for schema in view.schemas]
        actions = tuple((index[names[binding.schema]], binding.objects) for binding in view.bindings)
    return Encoding(relations, tuple(map(tuple, fixed)), facts, actions)


# No PDDL name has a colon.
_GOAL, _TYPE, _CONSTANT, _ACTION = "goal:", "type:", "constant:", "action:"


def relations_of(view: PddlView, kind: GnnKind) -> tuple[tuple[str, int], ...]:
    """What a network of ours sees of a domain: predicates, goals, types, constants; for `q` also actions.

    A predicate without arguments becomes a unary one that is true of all objects or of none. An action is an
    object of its own, related to its arguments; so a schema has one more than parameters.
    """
    predicates = [(each.name, max(1, each.arity)) for each in view.predicates]
    goals = [(_GOAL + name, arity) for name, arity in predicates]
    types = [(_TYPE + name, 1) for name in sorted(view.supertypes) if name != "object"]
    constants = [(_CONSTANT + each.name, 1) for each in view.problem.domain.constants]
    actions = [(_ACTION + each.name, 1 + len(each.parameters)) for each in view.schemas if kind == "q"]
    return (*predicates, *goals, *types, *constants, *actions)


def _kinds(view: PddlView) -> list[tuple[str, int]]:
    """What is always true of single objects: their types, with those above, and which constant they are."""
    found = []
    constants = {each.name for each in view.problem.domain.constants}
    for thing, (name, declared) in enumerate(zip(view.objects, view.object_types, strict=True)):
        found += [(_TYPE + each, thing) for each in view.supertypes.get(declared, ()) if each != "object"]
        if name in constants:
            found.append((_CONSTANT + name, thing))
    return found


def check_relations(view: PddlView, model: GnnModel) -> None:
    """A network of ours must have exactly the relations of the task's domain."""
    wanted = dict(relations_of(view, model.kind))
    given = {relation.name: relation.arity for relation in model.relations}
    domain = view.problem.domain.name
    for name in sorted(wanted.keys() | given.keys()):
        if wanted.get(name) != given.get(name):
            missing = "does not know" if name in wanted and name not in given else "expects another"
            hint = did_you_mean(name, given) or "use the domain file that it was trained with"
            raise InputError(f"{model.source}: the network {missing} `{name}` of domain `{domain}`; {hint}")


def check_predicates(view: PddlView, model: GnnModel) -> None:
    """The network must know exactly the predicates of the task's domain, each also as a goal."""
    wanted = {predicate.name: predicate.arity for predicate in view.predicates}
    wanted |= {name + GOAL_SUFFIX: arity for name, arity in wanted.items()}
    given = {relation.name: relation.arity for relation in model.relations}
    domain = view.problem.domain.name
    for name, arity in wanted.items():
        if name not in given:
            hint = did_you_mean(name, given) or "the network was trained for another domain"
            raise InputError(
                f"{model.source}: the network does not know `{name}` of domain `{domain}`; {hint}"
            )
        if given[name] != arity:
            raise InputError(
                f"{model.source}: `{name}` has arity {given[name]} in the network "
                f"and {arity} in domain `{domain}`"
            )
    extra = sorted(given.keys() - wanted.keys())
    if extra:
        raise InputError(
            f"{model.source}: the network expects the predicate `{extra[0]}`, which domain `{domain}` does "
            "not have; use the domain file that it was trained with"
        )


def identifier(action_name: str) -> str:
    """`(move a b)` as `move(a, b)`: the text by which the authors' code sorts actions."""
    schema, *objects = action_name[1:-1].split()
    return f"{schema}({', '.join(objects)})"


def native_network(model: GnnModel) -> _core.GnnNetwork:
    """The weights in the layout of the native core."""
    relations = [relation for relation in model.relations if relation.module is not None]
    if model.hidden_size % 8:
        raise UnsupportedFeature(f"{model.source}: hidden size {model.hidden_size}; multiples of 8 are known")
    return _core.GnnNetwork(
        model.hidden_size,
        model.iterations,
        [relation.arity for relation in relations],
        [_mlp(relation.module) for relation in relations if relation.module is not None],
        _mlp(model.update),
        _readout(model.readout),
        None if model.solvable is None else _readout(model.solvable),
        smooth=model.published,
        scores_actions=model.kind == "q",
    )


def native_policy(
    task: Task, model: GnnModel, network: _core.GnnNetwork, *, threads: int = 1
) -> _core.GnnPolicy:
    """The policy of a network on a task. What it decides does not depend on the number of threads."""
    view = task.pddl
    if view is None:
        raise InputError(f"{task.source}: a SAS task has no predicates and objects; load the PDDL files")
    encoding = encode(view, model)
    # Networks of ours choose among the task's own actions.
    noops = noop_actions(view) if model.published else []
    where = {
        atom: (variable, value)
        for variable, atoms in enumerate(view.fact_atoms)
        for value, atom in enumerate(atoms)
        if atom is not None
    }
    names = [*view.action_names, *(noop.name for noop in noops)]
    order = sorted(range(len(names)), key=lambda at: (identifier(names[at]), at))
    rank = [0] * len(names)
    for position, at in enumerate(order):
        rank[at] = position
    return _core.GnnPolicy(
        task,
        network,
        len(view.objects),
        [[thing for row in rows for thing in row] for rows in encoding.fixed],
        [
            (variable, value, *found)
            for variable, atoms in enumerate(encoding.facts)
            for value, found in enumerate(atoms)
            if found is not None
        ],
        [
            (noop.name, [where[atom] for atom in noop.required], [where[atom] for atom in noop.forbidden])
            for noop in noops
        ],
        rank,
        encoding.actions,
        threads=threads,
    )


def _mlp(mlp: Mlp) -> tuple[Weights, ...]:
    return (mlp.weight1, mlp.bias1, mlp.weight2, mlp.bias2)


def _readout(readout: Readout) -> tuple[Weights, ...]:
    return (*_mlp(readout.pre), *_mlp(readout.post))
