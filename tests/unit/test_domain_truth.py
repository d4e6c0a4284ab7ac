"""The exact solvers of the benchmark on truth, against all costs of small tasks by Dijkstra's algorithm."""

from __future__ import annotations

import itertools
import random

import pytest

import misstep
from benchmarks.domain_truth import Solver, blocksworld, gripper
from misstep.generators.ours import bundled_domain
from misstep.reference.fdr import parse
from misstep.testing.exhaustive import atoms, depths, exact_costs

BLOCKS = bundled_domain("blocks").replace("on-table", "ontable")
GRIPPER = bundled_domain("gripper").replace("robot-in", "at-robby").replace("(in ", "(at ")
PLENTY = 60.0


def towers(names: list[str], rng: random.Random) -> list[str]:
    """The blocks in some order, each on the table or on the one before."""
    rng.shuffle(names)
    facts = [f"(ontable {names[0]})"]
    for below, block in itertools.pairwise(names):
        facts.append(f"(on {block} {below})" if rng.random() < 0.6 else f"(ontable {block})")
    return facts


def compare(solver: Solver, domain: str, problem: str, goal: list[str]) -> None:
    task = misstep.load(domain, problem)
    reference = parse(task.sas)
    for values, least in exact_costs(reference, depths(reference, reference.initial)).items():
        assert solver(atoms(reference, values), goal, PLENTY) == least, values


@pytest.mark.parametrize("seed", range(6))
def test_blocksworld(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"b{number}" for number in range(5)]
    start = towers(names, rng)
    covered = {fact.split()[-1].rstrip(")") for fact in start if fact.startswith("(on ")}
    start += [f"(clear {name})" for name in names if name not in covered]
    goal = towers(names, rng)
    problem = f"""(define (problem p) (:domain blocks) (:objects {" ".join(names)})
        (:init {" ".join(start)} (hand-empty)) (:goal (and {" ".join(goal)})))"""
    compare(blocksworld, BLOCKS, problem, goal)


def test_a_tower_of_all_blocks_stands_on_the_table() -> None:
    problem = """(define (problem p) (:domain blocks) (:objects a b c d)
        (:init (ontable a) (on b a) (on c b) (on d c) (clear d) (hand-empty))
        (:goal (and (on b a) (on a d) (on d c))))"""
    compare(blocksworld, BLOCKS, problem, ["(on b a)", "(on a d)", "(on d c)"])
    with pytest.raises(SystemExit, match="leaves open"):
        blocksworld(["(ontable a)", "(ontable b)", "(ontable c)"], ["(on a b)"], PLENTY)


def test_blocksworld_ends_with_its_time() -> None:
    assert blocksworld(["(ontable a)", "(on b a)"], ["(on a b)", "(ontable b)"], 0.0) is None


@pytest.mark.parametrize("balls", [1, 2, 3, 4])
def test_gripper(balls: int) -> None:
    names = [f"ball{number}" for number in range(balls)]
    goal = [f"(at {name} b)" for name in names]
    problem = f"""(define (problem p) (:domain gripper) (:objects {" ".join(names)} - ball a b - room)
        (:init (at-robby a) (free left) (free right) {" ".join(f"(at {name} a)" for name in names)})
        (:goal (and {" ".join(goal)})))"""
    compare(gripper, GRIPPER, problem, goal)
