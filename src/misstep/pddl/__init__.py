"""PDDL: a checked domain and problem as values, with errors that name file, line and column."""

from misstep.pddl.domain import parse_domain, read_domain
from misstep.pddl.given import is_pddl_text
from misstep.pddl.model import (
    And,
    Atom,
    Domain,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Problem,
    Schema,
    Signature,
    Typed,
)
from misstep.pddl.problem import parse_problem, read_problem
from misstep.pddl.unit_cost import without_costs
from misstep.pddl.walk import atoms_in, universal_condition

__all__ = [
    "And",
    "Atom",
    "Domain",
    "Exists",
    "Forall",
    "Formula",
    "Imply",
    "Not",
    "Or",
    "Problem",
    "Schema",
    "Signature",
    "Typed",
    "atoms_in",
    "is_pddl_text",
    "parse_domain",
    "parse_problem",
    "read_domain",
    "read_problem",
    "universal_condition",
    "without_costs",
]
