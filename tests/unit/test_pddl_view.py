"""The PDDL view against PDDL semantics, and against the shapes of networks that others trained."""

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from misstep.errors import InputError
from misstep.pddl import Atom, read_domain
from misstep.pddl.view import Constant, GroundAtom, LiftedAtom, Parameter
from misstep.task import Task, load
from tests.data import NO_DATA, data_folder
from tests.unit.pddl_simulator import Simulator

SWITCHES = """(define (domain switches)
(:requirements :strips :typing :negative-preconditions :equality)
(:types lamp room - object)
(:constants hall - room)
(:predicates (on ?l - lamp) (in ?l - lamp ?r - room) (broken ?l - lamp) (next ?a ?b - room) (here ?r - room)
             (seen ?r - room) (power))
(:action walk :parameters (?a ?b - room)
 :precondition (and (here ?a) (not (= ?a ?b)) (or (next ?a ?b) (next ?b ?a)))
 :effect (and (not (here ?a)) (here ?b) (seen ?b)))
(:action toggle-on :parameters (?l - lamp ?r - room)
 :precondition (and (here ?r) (in ?l ?r) (not (on ?l)) (not (broken ?l)) (power))
 :effect (on ?l))
(:action toggle-off :parameters (?l - lamp ?r - room)
 :precondition (and (here ?r) (in ?l ?r) (on ?l))
 :effect (not (on ?l)))
(:action carry :parameters (?l - lamp ?r - room)
 :precondition (and (here ?r) (in ?l hall) (exists (?x - room) (next ?r ?x)))
 :effect (and (not (in ?l hall)) (in ?l ?r)))
(:action blackout :parameters ()
 :precondition (here hall)
 :effect (forall (?l - lamp) (not (on ?l)))))"""
SWITCHES_1 = """(define (problem one) (:domain switches)
(:objects l1 l2 l3 - lamp kitchen attic - room)
(:init (power) (here hall) (next hall kitchen) (next kitchen attic) (in l1 hall) (in l2 attic) (in l3 kitchen)
       (on l3) (broken l2) (seen hall))
(:goal (and (on l1) (not (on l3)) (seen hall))))"""


def write(folder: Path, domain: str, problem: str) -> tuple[Path, Path]:
    (folder / "domain.pddl").write_text(domain)
    (folder / "problem.pddl").write_text(problem)
    return folder / "domain.pddl", folder / "problem.pddl"


def as_atoms(task: Task, ground: list[GroundAtom]) -> frozenset[Atom]:
    view = task.pddl
    assert view is not None
    names = [
        Atom(view.predicates[atom.predicate].name, tuple(view.objects[thing] for thing in atom.objects))
        for atom in ground
    ]
    assert len(names) == len(set(names)), "an atom is listed twice"
    return frozenset(names)


def check_walks(task: Task, *, walks: int, steps: int, exhaustive: bool) -> None:
    """Random walks on both sides: same atoms, same applicable actions, same goal states."""
    view = task.pddl
    assert view is not None
    assert task.problem is not None
    simulator = Simulator(task.problem)
    rng = random.Random(7)
    known = {action.name for action in task.actions}
    for _ in range(walks):
        state, atoms = task.initial_state, simulator.initial
        for _ in range(steps):
            assert as_atoms(task, view.atoms(state.values)) == atoms
            wanted = all(atom in atoms for atom in task.problem.goal) and not any(
                atom in atoms for atom in task.problem.negative_goal
            )
            assert task.is_goal(state) == wanted
            applicable = task.applicable(state)
            names = {action.name for action in applicable}
            assert names == {name for name in known if simulator.applicable(name, atoms)}
            if exhaustive:
                for name in set(simulator.all_applicable(atoms)) - names:
                    assert simulator.apply(name, atoms) == atoms, f"{name} is missing but changes the state"
            if not applicable:
                break
            action = rng.choice(applicable)
            state, atoms = task.apply(state, action), simulator.apply(action.name, atoms)


def check_bindings(task: Task) -> None:
    view = task.pddl
    assert view is not None
    for action, binding in zip(task.actions, view.bindings, strict=True):
        words = (view.schemas[binding.schema].name, *(view.objects[thing] for thing in binding.objects))
        assert action.name == "(" + " ".join(words) + ")"


def test_switches(tmp_path: Path) -> None:
    task = load(*write(tmp_path, SWITCHES, SWITCHES_1))
    check_walks(task, walks=20, steps=25, exhaustive=True)
    check_bindings(task)
    view = task.pddl
    assert view is not None
    assert set(map(view.text, view.static_atoms)) >= {"(power)", "(next hall kitchen)", "(broken l2)"}
    assert "(seen hall)" in map(view.text, view.static_atoms), "true at the start and never deleted"
    assert list(map(view.text, view.goal_atoms)) == ["(on l1)", "(seen hall)"]
    assert list(map(view.text, view.negative_goal_atoms)) == ["(on l3)"]


def test_schemas_list_distinct_atoms_in_source_order(tmp_path: Path) -> None:
    task = load(*write(tmp_path, SWITCHES, SWITCHES_1))
    view = task.pddl
    assert view is not None
    index = {predicate.name: at for at, predicate in enumerate(view.predicates)}
    walk, on, _, carry, blackout = view.schemas
    first, second = Parameter(0), Parameter(1)
    assert walk.atoms == (
        LiftedAtom(index["here"], (first,)),
        LiftedAtom(index["next"], (first, second)),
        LiftedAtom(index["next"], (second, first)),
        LiftedAtom(index["here"], (second,)),
        LiftedAtom(index["seen"], (second,)),
    )
    assert [view.predicates[atom.predicate].name for atom in on.atoms] == [
        "here",
        "in",
        "on",
        "broken",
        "power",
    ]
    hall = Constant(view.objects.index("hall"))
    assert carry.atoms == (
        LiftedAtom(index["here"], (second,)),
        LiftedAtom(index["in"], (first, hall)),
        LiftedAtom(index["in"], (first, second)),
    )
    assert carry.quantified
    assert blackout.atoms == (LiftedAtom(index["here"], (hall,)),)
    assert carry.atoms[1].ground((3, 2)) == GroundAtom(index["in"], (3, view.objects.index("hall")))


def test_courier(courier: tuple[Path, Path]) -> None:
    task = load(*courier)
    check_walks(task, walks=5, steps=30, exhaustive=True)
    check_bindings(task)


def real_domains() -> list[object]:
    own = sorted((Path(__file__).parents[1] / "tasks").glob("*/domain.pddl"))
    folder = data_folder()
    if folder is None:
        return [*own, pytest.param(Path(), marks=pytest.mark.skip(reason=NO_DATA))]
    return [*own, *sorted(folder.glob("*/*/domain.pddl"))]


def name_of(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.parent.name}"


@pytest.mark.parametrize("domain_file", real_domains(), ids=name_of)
def test_real_domains(domain_file: Any) -> None:
    domain = read_domain(domain_file)
    problems = [path for path in domain_file.parent.rglob("*.pddl") if path != domain_file]
    smallest = min(problems, key=lambda path: (path.stat().st_size, path.name))
    task = load(domain, smallest, unit_cost=True)
    small = sum(len(task.problem.objects) ** len(schema.parameters) for schema in domain.schemas) < 5000
    check_walks(task, walks=3, steps=15, exhaustive=small)
    check_bindings(task)


def policies() -> list[Any]:
    folder = data_folder()
    if folder is None:
        return [pytest.param(Path(), marks=pytest.mark.skip(reason=NO_DATA))]
    return sorted(folder.glob("asnets/*/*.policy"))


@pytest.mark.parametrize("policy_file", policies(), ids=lambda path: path.parent.name)
def test_schema_atoms_fit_the_trained_networks(policy_file: Any) -> None:
    """An ASNet's first layer has 2k+1 inputs for an action with k atoms; predicates pool their slots."""
    problem = min(policy_file.parent.rglob("problems/*.pddl"), key=lambda path: path.stat().st_size)
    view = load(policy_file.parent / "domain.pddl", problem, unit_cost=True).pddl
    assert view is not None
    with sqlite3.connect(f"file:{policy_file}?mode=ro", uri=True) as connection:
        rows = connection.execute(
            "select sig, idx, length(weights) from asnets_weights where layer = 0 and sig in (0, 2)"
        ).fetchall()
    width = 16
    actions = {idx: size // 4 // width for sig, idx, size in rows if sig == 0}
    assert actions == {at: 2 * len(schema.atoms) + 1 for at, schema in enumerate(view.schemas)}
    slots = [0] * len(view.predicates)
    for schema in view.schemas:
        for atom in schema.atoms:
            slots[atom.predicate] += 1
    predicates = {idx - 1: size // 4 // width // width for sig, idx, size in rows if sig == 2 and size}
    assert predicates == {at: count for at, count in enumerate(slots) if count}


def test_a_view_is_absent_without_pddl(data: Path) -> None:
    from misstep.task import load_sas

    for path in sorted((data / "gnn").glob("*.cpddlsas")):
        task = load_sas(path)
        assert task.pddl is None
        assert task.applicable(task.initial_state)


def test_an_unknown_problem_file_is_no_traceback(courier: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load(courier[0], tmp_path / "none.pddl")
