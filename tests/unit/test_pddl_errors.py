"""Every mistake in PDDL gets one error at the right place."""

from pathlib import Path
from typing import Any

import pytest

from misstep.errors import InputError, UnsupportedFeature
from misstep.formats.sexp import MAX_DEPTH, Source
from misstep.pddl import parse_domain, parse_problem

DOMAIN = """(define (domain d)
(:requirements :strips :typing)
(:types truck - vehicle place)
(:constants home - place)
(:predicates (at ?v - vehicle ?p - place) (free))
(:action go :parameters (?v - vehicle ?p - place)
 :precondition (free)
 :effect (at ?v ?p)))"""
PROBLEM = """(define (problem p) (:domain d)
(:objects t - truck shop - place)
(:init (free) (at t home))
(:goal (at t shop)))"""


def read(domain: Any, problem: Any) -> Any:
    return parse_problem(Source(problem, "p.pddl"), parse_domain(Source(domain, "d.pddl")))


def test_the_unchanged_files_are_fine() -> None:
    problem = read(DOMAIN, PROBLEM)
    assert problem.warnings == ()
    assert [thing.name for thing in problem.objects] == ["home", "t", "shop"]


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        (":strips", ":stripes", "d.pddl:2:16", "unknown requirement `:stripes`; did you mean `:strips`?"),
        (
            "(?v - vehicle ?p - place)\n",
            "(?v - vehicel ?p - place)\n",
            "d.pddl:6:31",
            "did you mean `vehicle`?",
        ),
        (":effect (at ?v ?p)", ":effect (att ?v ?p)", "d.pddl:8:11", "undeclared predicate `att`"),
        (":effect (at ?v ?p)", ":effect (at ?w ?p)", "d.pddl:8:14", "undeclared variable `?w`"),
        (":effect (at ?v ?p)", ":effect (at ?v work)", "d.pddl:8:17", "undeclared object `work`"),
        (
            ":effect (at ?v ?p)",
            ":effect (at ?v)",
            "d.pddl:8:10",
            "has 1 arguments here but is declared with 2",
        ),
        (":effect (at ?v ?p)", ":effekt (at ?v ?p)", "d.pddl:8:2", "did you mean `:effect`?"),
        (":effect (at ?v ?p)", ":effect", "d.pddl:8:2", "nothing follows `:effect`"),
        (":effect (at ?v ?p)", ":effect (or (free) (free))", "d.pddl:8:10", "`or` in an effect"),
        (":effect (at ?v ?p)", "", "d.pddl:6:1", "has no `:effect`"),
        (":precondition (free)", ":precondition free", "d.pddl:7:16", "where a condition was expected"),
        (
            ":precondition (free)",
            ":precondition (not)",
            "d.pddl:7:16",
            "`not` takes 1 arguments, here it has 0",
        ),
        ("truck - vehicle place", "truck - vehicle vehicle - truck", "d.pddl:3:", "its own supertype"),
        ("truck - vehicle place", "truck - vehicle place -", "d.pddl:3:31", "`-` without a type"),
        ("(free))\n", "(free) (free))\n", "d.pddl:5:50", "`free` is declared twice"),
        ("?p - place)\n", "?v - place)\n", "d.pddl:6:39", "`?v` is declared twice"),
        ("(:predicates", "(:predicate", "d.pddl:5:1", "did you mean `:predicates`?"),
        ("(define (domain d)", "(define (problem d)", "d.pddl:1:9", "swap the files?"),
        ("?p)))", "?p))", "d.pddl:1:1", "never closed"),
        ("?p)))", "?p))))", "d.pddl:8:22", "`)`"),
        ("(define (domain d)", "define (domain d)", "d.pddl:1:1", "this is not a PDDL file"),
        ("(define (domain d)", "(" * (MAX_DEPTH + 1), f"d.pddl:1:{MAX_DEPTH + 1}", "nested deeper"),
    ],
)
def test_mistakes_in_the_domain(old: str, new: str, place: str, words: str) -> None:
    assert old in DOMAIN
    with pytest.raises(InputError) as caught:
        read(DOMAIN.replace(old, new, 1), PROBLEM)
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)
    assert not isinstance(caught.value, UnsupportedFeature)


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("shop - place", "shop - plaice", "p.pddl:2:28", "did you mean `place`?"),
        ("(at t home)", "(at t hole)", "p.pddl:3:21", "undeclared object `hole`; did you mean `home`?"),
        ("(at t home)", "(at shop home)", "p.pddl:3:19", "`shop` is of type `place`, but `?v` of `at`"),
        ("(at t home)", "(at t home home)", "p.pddl:3:15", "declared with 2; write it as `(at ?v ?p)`"),
        ("(at t home)", "(and (free))", "p.pddl:3:15", "list the true atoms"),
        ("(at t home)", "free", "p.pddl:3:15", "an atom was expected"),
        ("(at t home)", "(= (cost) 1)", "p.pddl:3:19", "undeclared function `cost`"),
        ("(at t shop)", "(at t t)", "p.pddl:4:14", "type error: `t` is of type `truck`"),
        ("(at t shop)", "(on t shop)", "p.pddl:4:9", "undeclared predicate `on`"),
        ("(at t shop)", "(at t shopp)", "p.pddl:4:14", "did you mean `shop`?"),
        ("(at t shop)", "(not (at t t))", "p.pddl:4:19", "type error"),
        ("(:goal (at t shop))", "", "p.pddl:1:1", "no `:goal` section"),
        ("(:goal (at t shop))", "(:goal (free) (free))", "p.pddl:4:1", "one condition"),
        ("t - truck", "home - truck", "p.pddl:2:11", "already a constant"),
        ("t - truck", "t t - truck", "p.pddl:2:13", "declared twice"),
        ("(:init", "(:initial", "p.pddl:3:1", "did you mean `:init`?"),
    ],
)
def test_mistakes_in_the_problem(old: str, new: str, place: str, words: str) -> None:
    assert old in PROBLEM
    with pytest.raises(InputError) as caught:
        read(DOMAIN, PROBLEM.replace(old, new, 1))
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        (":strips", ":durative-actions", "d.pddl:2:16", "requirement `:durative-actions`"),
        (":strips", ":numeric-fluents", "d.pddl:2:16", "requirement `:numeric-fluents`"),
        (":effect (at ?v ?p)", ":effect (when (free) (free))", "d.pddl:8:10", "conditional effect `when`"),
        (":effect (at ?v ?p)", ":effect (assign (c) 1)", "d.pddl:8:10", "numeric effect `assign`"),
        (":precondition (free)", ":precondition (> (c) 1)", "d.pddl:7:16", "numeric condition `>`"),
        ("(:action go", "(:derived (free) (free)) (:action go", "d.pddl:6:1", "derived predicate"),
        ("(:action go", "(:durative-action go", "d.pddl:6:1", "`:durative-action`"),
    ],
)
def test_what_is_legal_but_not_handled_is_named(old: str, new: str, place: str, words: str) -> None:
    assert old in DOMAIN
    with pytest.raises(UnsupportedFeature) as caught:
        read(DOMAIN.replace(old, new, 1), PROBLEM)
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("(at t shop)", "(or (at t shop) (free))", "p.pddl:4:8", "goal with `or`"),
        ("(at t shop)", "(and (free) (exists (?p - place) (at t ?p)))", "p.pddl:4:20", "goal with `exists`"),
        ("(at t shop)", "(and)", "p.pddl:4:8", "an empty goal"),
        ("(at t home)", "(at 5 (free))", "p.pddl:3:15", "timed initial literal"),
        ("(:goal", "(:metric maximize (total-cost)) (:goal", "p.pddl:4:1", "this `:metric`"),
        ("(:goal", "(:constraints) (:goal", "p.pddl:4:1", "`:constraints`"),
    ],
)
def test_what_a_problem_may_not_use_is_named(old: str, new: str, place: str, words: str) -> None:
    assert old in PROBLEM
    with pytest.raises(UnsupportedFeature) as caught:
        read(DOMAIN, PROBLEM.replace(old, new, 1))
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)


def test_another_domain_name_is_a_warning() -> None:
    (warning,) = read(DOMAIN, PROBLEM.replace("(:domain d)", "(:domain e)")).warnings
    assert warning.startswith("p.pddl:1:30: the problem is for domain `e`")


@pytest.mark.parametrize(
    "text", ["", "; only a comment\n", "()", "(define)", "(define (domain))", "(define (domain d) x)"]
)
def test_no_domain_at_all(text: str) -> None:
    with pytest.raises(InputError, match=r"^d\.pddl:1:\d+: "):
        parse_domain(Source(text, "d.pddl"))


def test_missing_directory_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; a PDDL domain file was expected"):
        Source.read(tmp_path / "none.pddl", kind="PDDL domain")
    with pytest.raises(InputError, match="this is a directory"):
        Source.read(tmp_path, kind="PDDL domain")
    (tmp_path / "binary.pddl").write_bytes(b"\x7fELF\0\0")
    with pytest.raises(InputError, match="binary file"):
        Source.read(tmp_path / "binary.pddl", kind="PDDL domain")
