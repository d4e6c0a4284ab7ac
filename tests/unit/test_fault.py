"""The decision at fault, on tasks small enough to know it."""

import math
from itertools import pairwise

import pytest

import misstep
from misstep._core import HeuristicPolicy, PolicyGraph, State
from misstep.bound import Bound
from misstep.claim import Claim, plan_claim
from misstep.explain.fault import Fault, localise
from misstep.lab import Lab
from misstep.oracle import open_case
from misstep.pool import PoolEntry
from misstep.proof import Surrounded
from tests.taskset import OWN

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


# The way from `a` is long, so that a search of few expansions does not find it; the plan that is known is dear.
LONG = {"b far": 20, "b a": 1, "a s": 1, "s a": 1, "a c1": 1, "c1 c2": 1, "c2 c3": 1, "c3 far": 1}


def round_trip(roads: dict[str, int], effort: float) -> tuple[Lab, Fault | None, State, float]:
    """Of a policy that walks from b to a, and then from a to s and back for ever: also a, and what was spent."""
    places = sorted({place for road in roads for place in road.split()})
    lengths = " ".join(f"(road {road}) (= (length {road}) {cost})" for road, cost in roads.items())
    task = misstep.load(
        DOMAIN,
        f"""(define (problem p) (:domain steps) (:objects {" ".join(places)} - place)
        (:init (at b) (= (total-cost) 0) {lengths}) (:goal (at far)) (:metric minimize (total-cost)))""",
    )
    moves = {"b": "a", "a": "s", "s": "a"}

    def choose(state: State) -> misstep.Action:
        return task.action(f"(go {place(state)} {moves[place(state)]})")

    lab = Lab(task=task, graph=PolicyGraph(task, misstep.per_state(choose)))
    start = task.initial_state
    case = open_case(lab, PoolEntry(0, start), lab.run([start])[0])
    assert case.run.outcome == "loop"
    lab.enter(plan_claim(start, [task.action("(go b far)")], "test"))
    before = lab.effort
    fault = localise(lab, case, effort=effort)
    return lab, fault, case.run.states[1], lab.effort - before


def test_a_plan_is_looked_for_where_a_loop_begins() -> None:
    """One expansion of A* does not find it. Greedy search expands a, c1, c2 and c3, among 8 actions."""
    lab, fault, a, spent = round_trip(LONG, effort=200)
    assert fault is not None
    assert (fault.step, fault.until, fault.action, fault.lower) == (1, 3, None, None)
    assert [action.name for action in fault.witness] == [
        "(go a c1)",
        "(go c1 c2)",
        "(go c2 c3)",
        "(go c3 far)",
    ]
    assert spent == lab.expansion_effort(a) + 4 * (8 + 1)


def test_without_effort_for_a_plan_the_window_begins_earlier() -> None:
    _, fault, _, _ = round_trip(LONG, effort=0)
    assert fault is not None
    assert (fault.step, fault.until, [action.name for action in fault.witness]) == (0, 3, ["(go b far)"])


@pytest.mark.parametrize("effort", [0, 200, 5e6])
def test_a_loop_that_costs_nothing_has_no_fault(effort: float) -> None:
    """Who goes round for ever may still take the cheapest course any time later."""
    _, fault, _, _ = round_trip({**LONG, "a s": 0, "s a": 0}, effort=effort)
    assert fault is None


def test_a_plan_of_the_start_makes_plans_of_the_states_on_its_way(task: misstep.Task) -> None:
    """So no search is needed: s a g is the plan, s a trap the run."""
    moves = {"s": "a", "a": "trap"}

    def choose(state: State) -> misstep.Action | None:
        to = moves.get(place(state))
        return None if to is None else task.action(f"(go {place(state)} {to})")

    lab = Lab(task=task, graph=PolicyGraph(task, misstep.per_state(choose)))
    start = task.initial_state
    case = open_case(lab, PoolEntry(0, start), lab.run([start])[0])
    lab.enter(plan_claim(start, [task.action("(go s a)"), task.action("(go a g)")], "test"))
    before = lab.effort
    fault = localise(lab, case, effort=0)
    assert fault is not None and (fault.step, fault.until) == (1, 2)
    assert [action.name for action in fault.witness] == ["(go a g)"]
    assert lab.effort == before


def test_a_plan_of_a_later_state_makes_one_of_each_earlier_state(task: misstep.Task) -> None:
    """The plan that is known costs 6; from a, after one step of the run, the goal is 1 away."""
    lab = Lab(task=task, graph=PolicyGraph(task, misstep.per_state(lambda state: None)))
    start = task.initial_state
    walk = Lab(task=task, graph=PolicyGraph(task, misstep.per_state(lambda s: task.action(WALK[place(s)]))))
    case = open_case(lab, PoolEntry(0, start), walk.run([start])[0])
    lab.enter(plan_claim(start, [task.action("(go s b)"), task.action("(go b g)")], "test"))
    lab.enter(plan_claim(case.run.states[1], [task.action("(go a g)")], "test"))
    localise(lab, case, effort=0)
    assert lab.best(start).hi == 2
    assert [action.name for action in lab.plan(start) or ()] == ["(go s a)", "(go a g)"]


WALK = {"s": "(go s a)", "a": "(go a s)"}


@pytest.mark.parametrize(("domain", "problem"), [("npuzzle", "p02"), ("blocks", "p03")])
def test_what_a_search_proves_comes_with_a_proof(domain: str, problem: str) -> None:
    """LM-cut alone does not show these faults."""
    folder = OWN / domain
    task = misstep.load(folder / "domain.pddl", folder / f"{problem}.pddl")
    lab = Lab(task=task, graph=PolicyGraph(task, HeuristicPolicy(task, "blind")), max_steps=50)
    start = task.initial_state
    case = open_case(lab, PoolEntry(0, start), lab.run([start])[0])
    lab.enter(plan_claim(start, misstep.search(task, "astar:blind").plan, "test"))
    fault = localise(lab, case)
    assert fault is not None and fault.lower is not None
    assert isinstance(fault.lower.evidence, Surrounded)
    assert not fault.rests_on_search


def test_after_a_good_state_six_looks_may_be_in_vain() -> None:
    """All states are as good as the start, but only of p12 that is known: a plan is looked up there.

    The start is looked at first of all, for a better plan than the one that is known.
    The run is stuck in p24; so between 0 and 25 comes 12, and between 12 and 25 then 18. From there, of eleven
    states, a growing share of them is left out at either end: 12 + 2, 25 - 4, 12 + 6, 25 - 8, 12 + 10.
    """
    last, rest = 24, ["h k", "k m", "m g"]
    roads = {f"p{at} p{at + 1}": 1 for at in range(last)} | {f"p{at} h": 97 - at for at in range(last + 1)}
    roads |= dict.fromkeys(rest, 1)
    places = sorted({place for road in roads for place in road.split()})
    lengths = " ".join(f"(road {road}) (= (length {road}) {cost})" for road, cost in roads.items())
    task = misstep.load(
        DOMAIN,
        f"""(define (problem p) (:domain steps) (:objects {" ".join(places)} - place)
        (:init (at p0) (= (total-cost) 0) {lengths}) (:goal (at g)) (:metric minimize (total-cost)))""",
    )

    def choose(state: State) -> misstep.Action | None:
        at = int(place(state)[1:])
        return task.action(f"(go p{at} p{at + 1})") if at < last else None

    lab = Lab(task=task, graph=PolicyGraph(task, misstep.per_state(choose)))
    start = task.initial_state
    case = open_case(lab, PoolEntry(0, start), lab.run([start])[0])
    lab.enter(plan_claim(start, [task.action(f"(go {road})") for road in ("p0 h", *rest)], "test"))
    looks = list[str]()

    def look(state: State) -> Claim[State] | None:
        looks.append(place(state))
        if looks[-1] != "p12":
            return None
        return plan_claim(state, [task.action(f"(go {road})") for road in ("p12 h", *rest)], "test")

    lab.lookups.append(look)
    fault = localise(lab, case, effort=0)  # one expansion a search, which finds no plan of four steps
    assert looks == ["p0", "p12", "p18", "p14", "p21", "p18", "p17", "p22"]
    assert fault is not None and (fault.step, fault.until) == (12, 25)
