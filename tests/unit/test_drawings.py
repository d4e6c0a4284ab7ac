"""Drawings by rules: what is a place, what is where, and that no thing is ever drawn in two places."""

import random
from collections import Counter

import pytest

import misstep
from misstep import Task
from misstep.drawing import Scene
from misstep.drawings.facts import read_words
from misstep.drawings.layout import grid_points, map_points, turned
from misstep.drawings.rules import Rules, usual_scene
from misstep.pddl import read_domain, read_problem
from tests.taskset import OWN, PddlTask, own_tasks, shared_tasks

# One of each domain: others differ in size alone.
TASKS = list({task.domain: task for task in (*own_tasks()[::-1], *shared_tasks())}.values())


def load(given: PddlTask) -> Task:
    problem = read_problem(given.problem, read_domain(given.domain))
    return Task(given.sas("--keep-unimportant-variables"), problem=problem)


def own(domain: str, number: int = 3) -> Task:
    return load(PddlTask(OWN / domain / "domain.pddl", OWN / domain / f"p{number:02}.pddl"))


def written(domain: str, problem: str) -> Scene:
    """The scene of a task that is written out."""
    return usual_scene(misstep.load(domain, problem))


def kinds(scene: Scene) -> dict[str, str]:
    return {name: role.kind for name, role in scene.roles.items()}


def walk(task: Task, steps: int) -> list[list[str]]:
    """The facts of states on random walks."""
    rng, state, found = random.Random(0), task.initial_state, [task.initial_state.facts]
    for _ in range(steps):
        successors = task.successors(state)
        state = rng.choice(successors)[1] if successors else task.initial_state
        found.append(state.facts)
    return found


@pytest.mark.parametrize("given", TASKS, ids=lambda given: given.name)
def test_no_thing_is_in_two_places(given: PddlTask) -> None:
    """In states of random walks, at most one fact says of a thing where it is."""
    task = load(given)
    scene = usual_scene(task)
    places = {place.name for place in scene.places}
    for facts in walk(task, 40):
        where: Counter[str] = Counter(scene.inside.keys())
        for fact in filter(None, map(read_words, facts)):
            role = scene.roles.get(fact.predicate)
            if role is not None and role.kind in ("in", "on", "held"):
                where[fact.objects[role.subject]] += 1
        assert not [name for name, count in where.items() if count > 1], facts
        assert not places & where.keys(), "a place is in nothing"


@pytest.mark.parametrize("given", TASKS, ids=lambda given: given.name)
def test_scenes_are_sound(given: PddlTask) -> None:
    task = load(given)
    scene = usual_scene(task)
    assert usual_scene(task) == scene  # the same page every time
    assert Rules().scene(task, scene) == scene
    points = [(place.x, place.y) for place in scene.places]
    if scene.layout in ("grid", "map"):
        assert len(set(points)) == len(points)
    assert {edge.start for edge in scene.edges} | {edge.end for edge in scene.edges} <= set(
        range(len(points))
    )


def test_vans_are_at_places_and_parcels_in_vans() -> None:
    scene = usual_scene(own("transport"))
    assert scene.layout == "map"
    assert kinds(scene) == {"at": "in", "in": "in", "room": "tag"}
    assert {place.name for place in scene.places} == {
        name for name in own("transport").pddl.objects if name.startswith("town")
    }
    assert all(edge.label.isdigit() for edge in scene.edges)  # how long the roads are


def test_blocks_are_stacked() -> None:
    scene = usual_scene(own("blocks"))
    assert not scene.places
    assert kinds(scene) == {
        "on": "on", "on-table": "held", "holding": "held", "clear": "hidden", "hand-empty": "hidden",
    }  # fmt: skip


def test_discs_stand_on_pegs() -> None:
    scene = usual_scene(own("hanoi"))
    assert kinds(scene)["on"] == "on"
    assert {place.name for place in scene.places} == {"peg1", "peg2", "peg3"}


def test_a_grid_by_names_with_a_token_and_marks() -> None:
    scene = usual_scene(own("visitall"))
    assert scene.layout == "grid"
    assert {(place.name, place.x, place.y) for place in scene.places} >= {("c-0-0", 0, 0), ("c-2-1", 2, 1)}
    assert (scene.roles["robot-at"].kind, scene.roles["robot-at"].label) == ("token", "robot")
    assert scene.roles["visited"].kind == "mark"


def test_a_grid_is_turned_as_its_relations_say() -> None:
    """`over` and `right-of` of the floor tiles, `(step a b down)` of Sokoban's cells."""
    for domain, pairs in {
        "floortile": (("t-0-1", "t-0-0", 0, -1), ("t-1-0", "t-0-0", 1, 0)),
        "sokoban": (("c-1-2", "c-1-1", 0, 1), ("c-2-1", "c-1-1", 1, 0)),
    }.items():
        scene = usual_scene(own(domain))
        assert scene.layout == "grid"
        at = {place.name: (place.x, place.y) for place in scene.places}
        for one, other, right, down in pairs:
            assert (at[one][0] - at[other][0], at[one][1] - at[other][1]) == (right, down)


def test_floors_stand_above_each_other() -> None:
    scene = usual_scene(own("miconic"))
    assert scene.layout == "column"
    assert scene.roles["lift-at"].kind == "token"
    assert scene.notes["p1"] == ("origin f5", "target f2")


def test_what_carries_may_be_named_first() -> None:
    scene = usual_scene(own("spanner"))
    role = scene.roles["has"]  # (has bob spanner1)
    assert (role.kind, role.subject, role.target) == ("in", 1, 0)
    assert scene.inside == {"nut1": "gate", "nut2": "gate"}


def test_a_hand_holds_a_block_and_is_not_in_it() -> None:
    """Matching blocksworld: `(holding hand block)`."""
    scene = written(
        """(define (domain hands) (:predicates (on ?x ?y) (table ?x) (top ?x) (holding ?h ?x) (empty ?h) (soft ?x))
        (:action pick :parameters (?h ?x) :precondition (and (top ?x) (table ?x) (empty ?h))
         :effect (and (not (top ?x)) (not (table ?x)) (not (empty ?h)) (holding ?h ?x)))
        (:action stack :parameters (?h ?x ?y) :precondition (and (holding ?h ?x) (top ?y))
         :effect (and (not (holding ?h ?x)) (not (top ?y)) (empty ?h) (top ?x) (on ?x ?y)))
        (:action unstack :parameters (?h ?x ?y) :precondition (and (on ?x ?y) (top ?x) (empty ?h))
         :effect (and (holding ?h ?x) (top ?y) (not (empty ?h)) (not (top ?x)) (not (on ?x ?y)))))""",
        """(define (problem p) (:domain hands) (:objects a b c left right) (:init (table a) (table b) (table c)
        (top a) (top b) (top c) (empty left) (empty right) (soft b)) (:goal (and (on a b) (on b c))))""",
    )
    role = scene.roles["holding"]
    assert (role.kind, role.subject, role.target) == ("in", 1, 0)
    assert scene.notes == {"b": ("soft",)}  # what holds of one block and not of the others


def test_what_is_always_aboard_is_drawn_there() -> None:
    """Two things are known of an instrument: what it is on, and what it aims at. It is drawn on the former."""
    scene = written(
        """(define (domain d) (:requirements :typing) (:types craft tool star mode)
        (:predicates (points ?c - craft ?s - star) (on_board ?t - tool ?c - craft) (aims ?t - tool ?s - star)
         (supports ?t - tool ?m - mode) (ready ?t - tool) (image ?s - star ?m - mode))
        (:action turn :parameters (?c - craft ?a ?b - star) :precondition (points ?c ?a)
         :effect (and (points ?c ?b) (not (points ?c ?a))))
        (:action aim :parameters (?c - craft ?t - tool ?s - star) :precondition (and (on_board ?t ?c)
         (points ?c ?s) (aims ?t ?s)) :effect (ready ?t))
        (:action snap :parameters (?c - craft ?t - tool ?s - star ?m - mode) :precondition (and (on_board ?t ?c)
         (points ?c ?s) (ready ?t) (supports ?t ?m)) :effect (image ?s ?m)))""",
        """(define (problem p) (:domain d) (:objects c1 - craft t1 - tool s1 s2 s3 - star red blue - mode)
        (:init (points c1 s2) (on_board t1 c1) (aims t1 s1) (supports t1 red) (supports t1 blue))
        (:goal (and (image s2 red) (image s3 blue))))""",
    )
    assert scene.inside == {"t1": "c1"}
    assert scene.notes == {"t1": ("aims s1", "supports red", "supports blue")}


def test_of_two_opposites_the_rarer_is_written() -> None:
    """What holds of all objects of a kind is their type, and is written at none of them."""
    scene = written(
        """(define (domain d) (:predicates (child ?c) (picky ?c) (plain ?c) (fed ?c))
        (:action feed :parameters (?c) :precondition (and (child ?c) (plain ?c)) :effect (fed ?c))
        (:action spoil :parameters (?c) :precondition (and (child ?c) (picky ?c)) :effect (fed ?c)))""",
        """(define (problem p) (:domain d) (:objects a b c) (:init (child a) (child b) (child c) (plain a) (plain b)
        (picky c)) (:goal (and (fed a) (fed b) (fed c))))""",
    )
    assert scene.notes == {"c": ("picky",)}


def test_nothing_is_anywhere_but_lamps_are_wired() -> None:
    scene = usual_scene(own("lights"))
    assert (scene.layout, len(scene.places), len(scene.edges)) == ("map", 5, 5)
    assert kinds(scene) == {"lit": "mark"}


def test_a_task_without_pddl_is_drawn() -> None:
    """A SAS file names facts, and nothing else."""
    task = own("visitall")
    scene = usual_scene(Task(task.sas))
    assert scene.layout == "grid" and scene.roles["robot-at"].kind == "token"


def test_names_that_make_no_grid() -> None:
    assert grid_points(["a1", "a2", "a3", "a4"]) is None  # one number each
    assert grid_points(["c-0-0", "c-0-1"]) is None  # too few
    assert grid_points(["c-0-0", "d-0-0", "c-1-0", "c-1-1"]) is None  # two at one place
    assert grid_points(["c-0-0", "c-90-0", "c-0-90", "c-90-90"]) is None  # nearly all holes
    assert grid_points(["c-3-7", "c-4-7", "c-3-8", "c-4-8"]) == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_turning_keeps_distances() -> None:
    points = [(0.0, 0.0), (1.0, 0.0), (0.0, 2.0)]
    made = turned(points, [(0, 2, (1, 0)), (0, 1, (0, -1))])  # the third is right of the first
    assert made == [(0.0, 1.0), (0.0, 0.0), (2.0, 1.0)]


def test_a_map_shows_neighbours_near() -> None:
    """On a ring of eight, neighbours are nearer than all others."""
    points = map_points(8, [(at, (at + 1) % 8) for at in range(8)])
    for at in range(8):
        apart = sorted(range(8), key=lambda other: abs(complex(*points[at]) - complex(*points[other])))
        assert set(apart[1:3]) == {(at + 1) % 8, (at - 1) % 8}
    assert map_points(1, []) == [(0.0, 0.0)]
