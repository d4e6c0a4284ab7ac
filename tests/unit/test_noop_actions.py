"""Which actions of the PDDL change nothing, against trying every ground action in every reachable state."""

from pathlib import Path

import pytest

import misstep
from misstep.errors import UnsupportedFeature
from misstep.pddl.noop_actions import noop_actions
from tests.unit.gnn_models import ferry
from tests.unit.pddl_simulator import Simulator

DOMAIN = """
(define (domain corners)
  (:requirements :strips :typing :negative-preconditions :equality)
  (:types room)
  (:predicates (at ?r - room) (lit ?r - room) (door ?a ?b - room) (open) (seen ?r - room))
  (:action move :parameters (?a ?b - room) :precondition (and (at ?a) (door ?a ?b))
    :effect (and (at ?b) (not (at ?a))))
  (:action jump :parameters (?a ?b - room) :precondition (and (at ?a) (not (= ?a ?b)) (not (open)))
    :effect (and (at ?b) (not (at ?a))))
  (:action stay :parameters (?a - room) :precondition (and (at ?a) (not (open))) :effect (at ?a))
  (:action light :parameters (?a - room) :precondition (at ?a) :effect (and (at ?a) (lit ?a)))
  (:action look :parameters (?a ?b - room) :precondition (and (at ?a) (lit ?a)) :effect (seen ?b))
  (:action enter :parameters () :precondition (not (open)) :effect (open))
  (:action dark :parameters (?a - room) :precondition (and (at ?a) (lit ?a)) :effect (not (lit ?a)))
)
"""
PROBLEM = """
(define (problem p) (:domain corners) (:objects x y z - room)
  (:init (at x) (seen z) (door x x) (door x y) (door y x)) (:goal (and (lit y) (seen y))))
"""


def test_names_and_conditions(tmp_path: Path) -> None:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    domain.write_text(DOMAIN)
    problem.write_text(PROBLEM)
    task = misstep.load(domain, problem)
    found = {noop.name: noop for noop in noop_actions(task.pddl)}
    # `seen z` is true from the start and never taken away, so looking at z changes nothing.
    looks = {f"(look {room} z)" for room in "xyz"}
    assert found.keys() == {"(move x x)", "(stay x)", "(stay y)", "(stay z)"} | looks
    text = task.pddl.text
    assert [text(atom) for atom in found["(stay y)"].required] == ["(at y)"]
    assert [text(atom) for atom in found["(stay y)"].forbidden] == ["(open)"]
    assert [text(atom) for atom in found["(look x z)"].required] == ["(at x)", "(lit x)"]


def test_exactly_what_the_translator_leaves_out_and_can_happen(tmp_path: Path) -> None:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    domain.write_text(DOMAIN)
    problem.write_text(PROBLEM)
    task = misstep.load(domain, problem)
    view, known = task.pddl, {action.name for action in task.actions}
    simulator, noops = Simulator(task.problem), noop_actions(task.pddl)
    seen, todo = {simulator.initial}, [simulator.initial]
    while todo:
        state = todo.pop()
        texts = {str(atom) for atom in state}
        expected = set()
        for name in simulator.all_applicable(state):
            after = simulator.apply(name, state)
            if name not in known:
                assert after == state
                expected.add(name)
            if after not in seen:
                seen.add(after)
                todo.append(after)
        applicable = {
            noop.name
            for noop in noops
            if all(view.text(atom) in texts for atom in noop.required)
            and not any(view.text(atom) in texts for atom in noop.forbidden)
        }
        assert applicable == expected
    assert len(seen) > 50


def test_quantifiers_are_refused_by_name(tmp_path: Path) -> None:
    domain, problem = ferry(tmp_path)
    text = domain.read_text().replace(
        "(and (on ?c) (at-ferry ?p))", "(and (on ?c) (exists (?q - place) (at-ferry ?q)) (at-ferry ?p))"
    )
    domain.write_text(text)
    with pytest.raises(UnsupportedFeature, match="`debark` has `exists`"):
        noop_actions(misstep.load(domain, problem).pddl)
