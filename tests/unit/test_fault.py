"""The decision at fault, on tasks small enough to know it."""

import math
from itertools import pairwise

import pytest

import misstep
from misstep._core import PolicyGraph, State
from misstep.bound import Bound
from misstep.claim import plan_claim
from misstep.explain.fault import Fault, localise
from misstep.lab import Lab
from misstep.oracle import open_case
from misstep.pool import PoolEntry

DOMAIN = """(define (domain steps) (:requirements :strips :typing :action-costs) (:types place)
  (:predicates (at ?p - place) (road ?a ?b - place)) (:functions (length ?a ?b - place) (total-cost))
  (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) (length ?a ?b)))))"""
ROADS = {"s a": 1, "a g": 1, "s b": 1, "b g": 5, "b a": 1, "a trap": 1, "a s": 1}
MAP = " ".join(f"(road {road}) (= (length {road}) {cost})" for road, cost in ROADS.items())
PROBLEM = f"""(define (problem p) (:domain steps) (:objects s a b g trap - place)
  (:init (at s) (= (total-cost) 0) {MAP})
  (:goal (at g)) (:metric minimize (total-cost)))"""


@pytest.fixture(scope="module")
def task() -> misstep.Task:
    return misstep.load(DOMAIN, PROBLEM)


def place(state: State) -> str:
    return state.facts[0].strip("()").split()[1]


def fault_of(
    task: misstep.Task, moves: dict[str, str | None], *, known: str | None = None
) -> tuple[Lab, Fault | None, str]:
    """Where a policy goes wrong that walks so; None stands for no answer, a road elsewhere for a wrong one.

    `known` are the places of the plan that is known; by default it is a best one.
    """

    def choose(state: State) -> misstep.Action | None:
        to = moves[place(state)]
        if to is None:
            return None
        return task.action(f"(go {to})" if " " in to else f"(go {place(state)} {to})")

    lab = Lab(task=task, graph=PolicyGraph(task, misstep.per_state(choose)))
    start = task.initial_state
    case = open_case(lab, PoolEntry(0, start), lab.run([start])[0])
    plan = misstep.search(task, "astar:blind").plan
    if known is not None:
        plan = [task.action(f"(go {one} {other})") for one, other in pairwise(known.split())]
    lab.enter(plan_claim(start, plan, "test"))
    return lab, localise(lab, case), case.run.outcome


@pytest.mark.parametrize(
    ("moves", "outcome", "step", "action"),
    [
        ({"s": "b", "b": "g"}, "solved", 0, "(go s b)"),  # costs 6 where 2 are enough
        ({"s": "a", "a": "trap", "trap": None}, "dead-end", 1, "(go a trap)"),
        ({"s": "a", "a": "s"}, "loop", 1, "(go a s)"),
        ({"s": "a", "a": None}, "stuck", 1, None),
        ({"s": None}, "stuck", 0, None),
        ({"s": "b g"}, "illegal", 0, "(go b g)"),
        ({"s": "a", "a": "b g"}, "illegal", 1, "(go b g)"),
        ({"s": "b", "b": "a", "a": "s b"}, "illegal", 0, "(go s b)"),  # the detour comes first
    ],
)
def test_the_first_wrong_decision(
    task: misstep.Task, moves: dict[str, str | None], outcome: str, step: int, action: str | None
) -> None:
    _, fault, found = fault_of(task, moves)
    assert found == outcome and fault is not None
    assert (fault.step, None if fault.action is None else fault.action.name) == (step, action)
    assert fault.note.step == step and fault.as_json()["better"] == fault.witness[0].name
    assert fault.schema == (None if action is None else "go")


def test_a_mistake_that_the_known_plan_makes_too(task: misstep.Task) -> None:
    """The plan s b a g costs 3 where 2 are enough: measured by it, the policy's detour over b is no mistake."""
    moves: dict[str, str | None] = {"s": "b", "b": "a", "a": "s"}
    lab, fault, outcome = fault_of(task, moves, known="s b a g")
    assert outcome == "loop" and fault is not None and fault.is_single
    assert (fault.step, fault.better) == (0, "(go s a)")
    assert lab.best(task.initial_state) == Bound(2, 2)


def test_a_better_plan_that_turns_up_on_the_way(task: misstep.Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the start cannot be searched, a search on the run still finds that b to g over a costs 2, not 5."""
    monkeypatch.setattr("misstep.explain.fault._Bisection._look_at_start", lambda *_: None)
    moves: dict[str, str | None] = {"s": "b", "b": "a", "a": "trap", "trap": None}
    lab, fault, outcome = fault_of(task, moves, known="s b g")
    assert outcome == "dead-end" and fault is not None
    assert lab.best(task.initial_state).hi == 3  # the known plan costs 6
    assert (fault.step, fault.until, fault.better) == (2, 3, "(go a g)")


def test_a_good_run_has_none(task: misstep.Task) -> None:
    lab, fault, outcome = fault_of(task, {"s": "a", "a": "g"})
    assert outcome == "solved" and fault is None
    assert lab.best(task.initial_state).hi == 2 < math.inf


def test_a_loop_without_good_bounds_is_a_window(task: misstep.Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep.explain.fault._Bisection._is_bad", lambda *_: False)
    _, fault, outcome = fault_of(task, {"s": "b", "b": "a", "a": "s"})
    assert outcome == "loop" and fault is not None
    assert (fault.step, fault.until, fault.action, fault.better, fault.lower) == (0, 3, None, None, None)
    assert not fault.note.is_single
