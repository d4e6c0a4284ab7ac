"""Input that is legal and was refused once, or was read as something else; each case is small enough to see through."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import cast

import pytest

import misstep
from misstep import _core as core
from misstep.record.verify import verify_record

SAS = """begin_version
3
end_version
begin_metric
0
end_metric
2
begin_variable
var0
-1
3
{0}
{1}
{2}
end_variable
begin_variable
var1
-1
2
{3}
{4}
end_variable
0
begin_state
0
0
end_state
begin_goal
1
0 2
end_goal
1
begin_operator
go
0
1
0 0 0 2
1
end_operator
0
"""


@pytest.mark.parametrize(
    "names",
    [
        ("red", "green", "blue", "Atom p()", "NegatedAtom p()"),
        ("Atom at(a)", "Atom at(A)", "Atom AT(a)", "Atom at( a )", "<none of those>"),
        ("<none of those>", "NegatedAtom q()", "<none of those>", "", " "),
        ("Atom p()", "Atom p()", "Atom p()", "Atom p()", "Atom p()"),
        ("Atom not(p)", "Atom not (p)", "NegatedAtom p()", "Atom (", "Atom )"),
        ("Atom value(0, 1)", "x", "y", "NegatedAtom a()", "NegatedAtom b()"),
        ("Atom \x1b[31mred()", "Atom [bold]", "Atom ä(ö)", "Atom 1(2)", "Atom p(a,b)"),
    ],
)
def test_states_read_back_as_what_they_are(names: tuple[str, ...]) -> None:
    task = core.Task(SAS.format(*names))
    again = core.Task(task.sas)
    for values in itertools.product(range(3), range(2)):
        state = task.state_from_values(values)
        assert task.state(state.facts) == state
        assert again.state(state.facts).values == list(values)


def test_names_that_nothing_tells_apart_are_refused() -> None:
    with pytest.raises(misstep.InputError, match="cannot be told apart"):
        core.Task(SAS.format("Atom value(0, 1)", "Atom value(0, 1)", "x", "y", "z"))


def go_anywhere(batch: core.StateBatch) -> list[core.Action | None]:
    """Takes the first action."""
    task = cast(core.Task, batch.task)
    return [next(iter(task.applicable(state)), None) for state in batch]


def checked_test(domain: str, problem: str, **options: object) -> misstep.Report:
    """A test of which every certificate is valid."""
    report = misstep.test((domain, problem), go_anywhere, pool=20, **options)
    found = verify_record(report.record)
    assert found.is_sound and found.valid == len(report.bugs) + report.cleared > 0, found
    return report


def test_an_action_that_the_translator_splits() -> None:
    """`(or (p) (q))` makes two actions of one name; the one that needs p has no effect on p."""
    domain = """(define (domain d) (:predicates (p) (q) (r) (s))
     (:action first :parameters () :precondition () :effect (q))
     (:action split :parameters () :precondition (or (p) (q)) :effect (and (p) (r)))
     (:action last :parameters () :precondition (and (p) (r)) :effect (s))
     (:action undo :parameters () :precondition (r) :effect (and (not (p)) (not (q)) (not (r)))))"""
    problem = "(define (problem x) (:domain d) (:init) (:goal (s)))"
    task = misstep.load(domain, problem)
    split = [action for action in task.actions if action.name == "(split)"]
    assert len(split) == 2 and split[0].effect != split[1].effect
    for oracle in ("landmarks+perfect", "greedy+perfect", "bounds+perfect"):
        checked_test(domain, problem, oracle=oracle)


def test_deletes_outside_the_precondition() -> None:
    """`at` has one place at a time, so it is one variable; forgetting a place that is not the place is no change."""
    domain = """(define (domain d) (:predicates (at ?x) (road ?x ?y))
     (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y)) :effect (and (not (at ?x)) (at ?y)))
     (:action forget :parameters (?x) :precondition () :effect (not (at ?x))))"""
    problem = """(define (problem x) (:domain d) (:objects a b c)
     (:init (at a) (road a b) (road b c) (road c a)) (:goal (at c)))"""
    checked_test(domain, problem)
    when = domain.replace("(not (at ?x))))", "(when (at b) (not (at ?x)))))")
    with pytest.raises(misstep.UnsupportedFeature, match="conditional effect"):
        misstep.load(when, problem)


EITHER = """(define (domain d) (:requirements :typing) (:types a b c - object)
 (:predicates (near ?x ?x - (either a b)) (lit ?x) (done ?y - c))
 (:action light :parameters (?x - (either a b)) :precondition (not (lit ?x)) :effect (lit?x))
 (:action all :parameters (?y - c) :precondition (exists (?z ?w - (either b c)) (lit ?z)) :effect (done?y))
 (:action off :parameters () :precondition () :effect (forall (?x - (either a c)) (not (lit ?x)))))"""


def test_either_in_parameters_and_quantifiers() -> None:
    problem = (
        "(define (problem p) (:domain d) (:objects o - a p - b q - c) (:init) (:goal (and (lit o) (done q))))"
    )
    task = misstep.load(EITHER, problem)
    assert {action.name for action in task.actions} == {"(light o)", "(light p)", "(all q)", "(off)"}
    assert not any("misstep-either" in str(task.fact_name(0, value)) for value in range(task.domain_sizes[0]))
    checked_test(EITHER, problem)
    checked_test(EITHER, problem, unit_cost=True)
    with pytest.raises(misstep.UnsupportedFeature, match="`either` as the type of a object"):
        misstep.load(EITHER, problem.replace("o - a", "o - (either a b)"))


def test_goals_that_hold_already_or_never() -> None:
    """The translator writes a task without actions; a test says so and ends."""
    domain = EITHER
    for goal, bugs in (("(not (lit q))", 0), ("(lit q)", 0)):
        problem = f"(define (problem p) (:domain d) (:objects o - a p - b q - c) (:init) (:goal {goal}))"
        report = misstep.test((domain, problem), go_anywhere, pool=5)
        assert len(report.bugs) == bugs and report.cleared == 1
        assert verify_record(report.record).is_sound


@pytest.mark.parametrize(
    ("before", "encoding"),
    [("\ufeff", "utf-8"), ("; Müller\n", "utf-8"), ("; Müller\n", "latin-1"), ("\f\r", "ascii")],
)
def test_encodings_of_files(tmp_path: Path, before: str, encoding: str) -> None:
    """PDDL itself is ASCII; old benchmarks have letters of their time in comments, editors add marks."""
    problem = "(define (problem p) (:domain d) (:objects o - a p - b q - c) (:init) (:goal (lit o)))"
    for name, text in (("domain.pddl", EITHER), ("problem.pddl", problem)):
        (tmp_path / name).write_bytes((before + text).encode(encoding))
    assert misstep.load(tmp_path / "domain.pddl", tmp_path / "problem.pddl").initial_state.facts == []
    named = problem.replace("o - a", "ö - a").replace("(lit o)", "(lit ö)")
    (tmp_path / "problem.pddl").write_bytes((before + named).encode("utf-8"))
    with pytest.raises(misstep.InputError, match="Non-ASCII character outside comment"):
        misstep.load(tmp_path / "domain.pddl", tmp_path / "problem.pddl")
