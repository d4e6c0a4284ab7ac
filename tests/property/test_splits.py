"""Policies that answer with any split of an action, against PDDL by its definition on sets of atoms.

A translator makes several operators of an action whose precondition has an `or` or an `exists`. By PDDL they are
one action: which of them a policy names says nothing.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable

import pytest

import misstep
from misstep._core import Action, State
from misstep.errors import UnsupportedFeature
from misstep.pddl import Atom
from misstep.record.verify import verify_record
from tests.unit.pddl_simulator import Atoms, Simulator

TASKS = 40
OBJECTS = ("a", "b", "c")


def literals(rng: random.Random, terms: list[str], count: int, *, negative: float) -> list[str]:
    found = []
    for _ in range(count):
        atom = rng.choice([f"({p} {rng.choice(terms)})" for p in "pqr"] if terms else ["(s)", "(t)"])
        atom = rng.choice(["(s)", "(t)"]) if rng.random() < 0.2 else atom
        found.append(f"(not {atom})" if rng.random() < negative else atom)
    return found


def random_domain(rng: random.Random) -> tuple[str, str]:
    actions, added = [], list[str]()
    for number in range(rng.randint(3, 5)):
        terms = ["?x"] if rng.random() < 0.6 else list(rng.sample(OBJECTS, 1))
        cases = literals(rng, terms, rng.randint(2, 4), negative=0.2)
        if rng.random() < 0.3:
            cases.append(f"(exists (?y - thing) (and {' '.join(literals(rng, ['?y'], 1, negative=0.0))}))")
        if rng.random() < 0.3:
            cases.append(f"(and {' '.join(literals(rng, terms, 2, negative=0.2))})")
        more = " ".join(literals(rng, terms, rng.randint(0, 1), negative=0.2))
        effects = list(dict.fromkeys(literals(rng, terms, rng.randint(1, 3), negative=0.4)))
        effects = [one for one in effects if f"(not {one})" not in effects]
        added += [one.replace("?x", rng.choice(OBJECTS)) for one in effects if not one.startswith("(not")]
        parameters = "(?x - thing)" if terms == ["?x"] else "()"
        actions.append(
            f"(:action act{number} :parameters {parameters}\n  :precondition (and (or {' '.join(cases)}) {more})\n"
            f"  :effect (and {' '.join(effects)} (increase (total-cost) {rng.randint(0, 3)})))"
        )
    atoms = [f"({p} {o})" for p in "pqr" for o in OBJECTS] + ["(s)", "(t)"]
    start = rng.sample(atoms, rng.randint(2, 5))
    wanted = sorted({*added} - {*start})  # else the goal is hardly ever in reach
    init, goal = " ".join(start), " ".join(rng.sample(wanted, min(len(wanted), rng.randint(1, 3))))
    domain = (
        "(define (domain d) (:requirements :adl :action-costs) (:types thing) (:functions (total-cost) - number)\n"
        f" (:constants {' '.join(OBJECTS)} - thing)\n"
        " (:predicates (p ?x - thing) (q ?x - thing) (r ?x - thing) (s) (t))\n" + "\n".join(actions) + ")"
    )
    problem = (
        "(define (problem x) (:domain d) (:objects)\n"
        f" (:init {init} (= (total-cost) 0)) (:goal (and {goal})) (:metric minimize (total-cost)))"
    )
    return domain, problem


class Plain:
    """A task as sets of atoms, and what is best in each of its reachable states."""

    def __init__(self, task: misstep.Task) -> None:
        assert task.problem is not None
        self.simulator = Simulator(task.problem)
        self.problem = task.problem
        changing = {task.fact_name(v, x) for v, size in enumerate(task.domain_sizes) for x in range(size)}
        self.fixed = {atom for atom in self.simulator.initial if text(atom) not in changing}
        self.costs = {action.name: action.cost for action in task.actions}
        self.steps = self._explored()
        self.best = self._best()

    def atoms(self, state: State) -> Atoms:
        return frozenset(self.fixed | {atom_of(fact) for fact in state.facts})

    def is_goal(self, atoms: Atoms) -> bool:
        return atoms.issuperset(self.problem.goal)

    def _explored(self) -> dict[Atoms, dict[str, Atoms]]:
        steps: dict[Atoms, dict[str, Atoms]] = {}
        waiting = [self.simulator.initial]
        while waiting:
            here = waiting.pop()
            if here not in steps:
                steps[here] = {
                    name: self.simulator.apply(name, here) for name in self.simulator.all_applicable(here)
                }
                waiting += steps[here].values()
        return steps

    def _best(self) -> dict[Atoms, float]:
        into: dict[Atoms, list[tuple[Atoms, int]]] = {}
        for here, ways in self.steps.items():
            for name, there in ways.items():
                if there != here:  # else it may be none of the task's
                    into.setdefault(there, []).append((here, self.costs[name]))
        best: dict[Atoms, float] = dict.fromkeys(self.steps, math.inf)
        waiting = [(0, at, here) for at, here in enumerate(self.steps) if self.is_goal(here)]
        for _, _, here in waiting:
            best[here] = 0
        while waiting:
            cost, _, here = heapq.heappop(waiting)
            for before, more in into.get(here, ()) if cost == best[here] else ():
                if cost + more < best[before]:
                    best[before] = cost + more
                    heapq.heappush(waiting, (cost + more, id(before), before))
        return best

    def pays(self, atoms: Atoms, choose: Callable[[Atoms], str | None]) -> float:
        """What a policy pays, infinity where it does not reach the goal."""
        spent, seen = 0, set[Atoms]()
        while not self.is_goal(atoms):
            name = choose(atoms)
            if atoms in seen or name is None or name not in self.steps[atoms]:
                return math.inf
            seen.add(atoms)
            spent += self.costs[name]
            atoms = self.steps[atoms][name]
        return spent


def text(atom: Atom) -> str:
    return f"({' '.join([atom.predicate, *atom.terms])})"


def atom_of(fact: str) -> Atom:
    predicate, *terms = fact.strip("()").split()
    return Atom(predicate, tuple(terms))


def check(number: int) -> tuple[int, int, int]:
    """The states tested, the bugs, and the answers with a split that does not apply where another one does."""
    rng = random.Random(number)
    try:
        task = misstep.load(*random_domain(rng))
    except (UnsupportedFeature, misstep.InputError):
        return 0, 0, 0
    if len(task.actions) == 0:  # the goal is out of reach
        return 0, 0, 0
    plain, odd = Plain(task), 0
    named: dict[str, list[Action]] = {}
    for action in task.actions:
        named.setdefault(action.name, []).append(action)
    assert all(" #" not in name for name in named), "splits are told apart though they do the same"

    def choose(atoms: Atoms) -> str | None:
        """Mostly something that applies, often what is best; always the same."""
        draw = random.Random(f"{number} {sorted(map(text, atoms))}")
        good = [name for name in plain.steps[atoms] if name in named]
        if not good or draw.random() < 0.1:
            return draw.choice([*named, None])
        if draw.random() < 0.6:
            good.sort(key=lambda name: plain.costs[name] + plain.best[plain.steps[atoms][name]])
            return good[0]
        return draw.choice(good)

    def policy(state: State) -> Action | str | None:
        nonlocal odd
        name = choose(plain.atoms(state))
        if name is None or rng.random() < 0.2:
            return name
        split = rng.choice(named[name])  # another one each time: no one may call that random
        applicable = task.applicable(state)
        odd += split not in applicable and any(one.name == name for one in applicable)
        return split

    report = misstep.test(task, misstep.per_state(policy), pool=12, oracle="greedy+perfect", seed=number)
    states = {entry["id"]: entry["facts"] for entry in report.record.store.lines("pool.jsonl")}
    for event in report.tally.judged.values():
        atoms = plain.atoms(task.state(states[event.id]))
        pays, best = plain.pays(atoms, choose), plain.best[atoms]
        assert event.verdict == ("bug" if pays > best else "cleared"), (number, event)
        if event.verdict == "bug":
            assert event.cost.lo == event.cost.hi == pays and event.best.hi == best, (number, event)
    verified = verify_record(report.record)
    assert verified.is_sound and verified.valid == len(report.tally.judged), (number, verified)
    return len(report.tally.judged), len(report.bugs), odd


@pytest.mark.parametrize("first", range(0, TASKS, 10))
def test_any_split_is_the_action(first: int) -> None:
    tested, bugs, odd = (sum(each) for each in zip(*map(check, range(first, first + 10)), strict=True))
    assert tested > 10 and 0 < bugs < tested and odd > 10
