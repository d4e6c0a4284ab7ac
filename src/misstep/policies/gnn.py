"""`gnn:FILE`: the relational network policies of Ståhlberg, Bonet & Geffner (KR 2022), evaluated natively.

The policy looks at all successors of a state as one batch and goes to the one of least value.
"""

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from misstep import _core
from misstep.errors import InputError, UnsupportedFeature
from misstep.formats.gnn_checkpoint import GOAL_SUFFIX, GnnModel, Mlp, Readout, Relation, Weights, read_gnn
from misstep.pddl.noop_actions import noop_actions
from misstep.pddl.view import GroundAtom, PddlView
from misstep.plugins import option
from misstep.support.suggest import did_you_mean
from misstep.task import Task

_MOST_THREADS = 64


@dataclass(frozen=True)
class Gnn:
    """A graph neural network policy (KR 2022) from its PyTorch checkpoint; PyTorch is not needed."""

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
    """For each relation the rows of every state: atoms that are always true, and goals."""
    facts: tuple[tuple[tuple[int, tuple[int, ...]] | None, ...], ...]
    """By variable and value the relation and its row, where there is one."""


def encode(view: PddlView, model: GnnModel) -> Encoding:
    """Binds the network's predicates to those of the task, by name and arity."""
    check_predicates(view, model)
    if view.negative_goal_atoms:
        atom = view.text(view.negative_goal_atoms[0])
        raise UnsupportedFeature(f"goal `(not {atom})`: the network {model.source} cannot see it")
    relations = tuple(relation for relation in model.relations if relation.module is not None)
    index = {relation.name: at for at, relation in enumerate(relations)}

    def row(atom: GroundAtom, suffix: str = "") -> tuple[int, tuple[int, ...]] | None:
        at = index.get(view.predicates[atom.predicate].name + suffix)
        return None if at is None else (at, atom.objects)

    fixed: list[dict[tuple[int, ...], None]] = [{} for _ in relations]
    always = [row(atom) for atom in view.static_atoms]
    goals = [row(atom, GOAL_SUFFIX) for atom in view.goal_atoms]
    for found in (*always, *goals):
        if found is not None:
            fixed[found[0]][found[1]] = None
    facts = tuple(tuple(atom and row(atom) for atom in atoms) for atoms in view.fact_atoms)
    return Encoding(relations, tuple(map(tuple, fixed)), facts)


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
    )


def native_policy(
    task: Task, model: GnnModel, network: _core.GnnNetwork, *, threads: int = 1
) -> _core.GnnPolicy:
    """The policy of a network on a task. What it decides does not depend on the number of threads."""
    view = task.pddl
    if view is None:
        raise InputError(f"{task.source}: a SAS task has no predicates and objects; load the PDDL files")
    encoding = encode(view, model)
    noops = noop_actions(view)
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
        threads=threads,
    )


def _mlp(mlp: Mlp) -> tuple[Weights, ...]:
    return (mlp.weight1, mlp.bias1, mlp.weight2, mlp.bias2)


def _readout(readout: Readout) -> tuple[Weights, ...]:
    return (*_mlp(readout.pre), *_mlp(readout.post))
