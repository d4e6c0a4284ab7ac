"""What the PDDL reader makes of correct files."""

from misstep.formats.sexp import Source, to_text
from misstep.pddl import (
    And,
    Atom,
    Exists,
    Forall,
    Imply,
    Not,
    Or,
    Typed,
    parse_domain,
    parse_problem,
    without_costs,
)

DOMAIN = """
; Letters of any case mean the same.
(DEFINE (domain Rich)
  (:requirements :adl :action-costs)
  (:types a b - top c - b top)
  (:constants k - c)
  (:predicates (p ?x ?y - top) (q ?x - (either a c)) (r))
  (:functions (total-cost) (d ?x - top) - number)
  (:action Act
    :parameters (?x - a ?y)
    :precondition (and (p ?X ?y) (or (r) (not (q ?x))) (imply (r) (= ?x ?y))
                       (forall (?z - top) (q ?z)) (exists (?z ?w - b) (p ?z ?w)))
    :effect (and (not (r)) (forall (?z - a) (q ?z)) (increase (total-cost) (d ?x))))
  (:action free :parameters () :effect (increase (total-cost) 3))
  (:action nothing :effect ()))
"""
PROBLEM = """(define (problem one) (:domain rich) (:objects o1 O2 - a other)
  (:init (r) (p o1 o2) (P o1 O2) (not (q o1)) (= (d o1) 4) (= (total-cost) 0))
  (:goal (and (q o1) (and (not (r))))) (:metric minimize (total-cost)))"""


def test_domain() -> None:
    domain = parse_domain(Source(DOMAIN, "d"))
    assert domain.name == "rich"
    assert domain.supertypes == {
        "object": ("object",),
        "a": ("a", "top", "object"),
        "b": ("b", "top", "object"),
        "c": ("c", "b", "top", "object"),
        "top": ("top", "object"),
    }
    assert domain.constants == (Typed("k", ("c",)),)
    assert domain.predicates["q"].parameters == (Typed("?x", ("a", "c")),)
    act, free, nothing = domain.schemas
    assert act.parameters == (Typed("?x", ("a",)), Typed("?y", ("object",)))
    assert act.precondition == And(
        (
            Atom("p", ("?x", "?y")),
            Or((Atom("r", ()), Not(Atom("q", ("?x",))))),
            Imply(Atom("r", ()), Atom("=", ("?x", "?y"))),
            Forall((Typed("?z", ("top",)),), Atom("q", ("?z",))),
            Exists((Typed("?z", ("b",)), Typed("?w", ("b",))), Atom("p", ("?z", "?w"))),
        )
    )
    assert act.effect == And((Not(Atom("r", ())), Forall((Typed("?z", ("a",)),), Atom("q", ("?z",)))))
    assert act.cost == Atom("d", ("?x",))
    assert (free.effect, free.cost) == (And(()), 3)
    assert (nothing.precondition, nothing.effect, nothing.cost) == (And(()), And(()), None)


def test_problem() -> None:
    problem = parse_problem(Source(PROBLEM, "p"), parse_domain(Source(DOMAIN, "d")))
    assert problem.objects == (
        Typed("k", ("c",)),
        Typed("o1", ("a",)),
        Typed("o2", ("a",)),
        Typed("other", ("object",)),
    )
    assert problem.init == (Atom("r", ()), Atom("p", ("o1", "o2")))
    assert problem.values == {Atom("d", ("o1",)): 4, Atom("total-cost", ()): 0}
    assert (problem.goal, problem.negative_goal) == ((Atom("q", ("o1",)),), (Atom("r", ()),))
    assert problem.has_metric


def test_without_costs_reads_as_the_same_domain_without_numbers() -> None:
    domain = parse_domain(Source(DOMAIN, "d"))
    problem = parse_problem(Source(PROBLEM, "p"), domain)
    domain_text, problem_text = map(to_text, without_costs(domain.form, problem.form))
    for word in ("increase", "total-cost", ":metric", ":functions", ":action-costs"):
        assert word not in domain_text + problem_text
    stripped = parse_domain(Source(domain_text, "d"))
    assert stripped.functions == {}
    for before, after in zip(domain.schemas, stripped.schemas, strict=True):
        assert (before.name, before.parameters, before.precondition) == (
            after.name,
            after.parameters,
            after.precondition,
        )
        assert before.effect == after.effect
        assert after.cost is None
    again = parse_problem(Source(problem_text, "p"), stripped)
    assert (again.objects, again.init, again.goal, again.negative_goal) == (
        problem.objects,
        problem.init,
        problem.goal,
        problem.negative_goal,
    )
    assert again.values == {}
    assert not again.has_metric
