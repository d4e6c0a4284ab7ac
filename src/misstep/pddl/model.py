"""What a PDDL domain and problem say, as values."""

from dataclasses import dataclass
from typing import TypeAlias

from misstep.formats.sexp import Form, Source

OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Typed:
    """A variable, constant or object; more than one type means PDDL's `either`."""

    name: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Signature:
    """The declaration of a predicate or of a numeric function."""

    name: str
    parameters: tuple[Typed, ...]


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate (or function) applied to terms: `?x` is a variable, anything else an object."""

    predicate: str
    terms: tuple[str, ...]

    def __str__(self) -> str:
        return "(" + " ".join((self.predicate, *self.terms)) + ")"


@dataclass(frozen=True, slots=True)
class Not:
    """Negation; in an effect, deletion."""

    part: "Formula"


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction; `And(())` is true, and as an effect changes nothing."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction; `Or(())` is false."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Imply:
    """Implication."""

    premise: "Formula"
    conclusion: "Formula"


@dataclass(frozen=True, slots=True)
class Forall:
    """Universal quantification; as an effect, one effect for each binding."""

    variables: tuple[Typed, ...]
    part: "Formula"


@dataclass(frozen=True, slots=True)
class Exists:
    """Existential quantification."""

    variables: tuple[Typed, ...]
    part: "Formula"


Formula: TypeAlias = Atom | Not | And | Or | Imply | Forall | Exists


@dataclass(frozen=True, slots=True)
class Schema:
    """An action schema. `cost` is what it adds to `(total-cost)`: an integer, a function term, or absent."""

    name: str
    parameters: tuple[Typed, ...]
    precondition: Formula
    effect: Formula
    cost: int | Atom | None


@dataclass(frozen=True, slots=True)
class Domain:
    """A checked domain. Made once, it serves any number of problems."""

    name: str
    requirements: tuple[str, ...]
    supertypes: dict[str, tuple[str, ...]]
    """Every type with all types above it, itself first, `object` last."""
    constants: tuple[Typed, ...]
    predicates: dict[str, Signature]
    functions: dict[str, Signature]
    schemas: tuple[Schema, ...]
    source: Source
    form: Form


@dataclass(frozen=True, slots=True)
class Problem:
    """A checked problem of `domain`. The goal is a conjunction of literals."""

    name: str
    domain: Domain
    objects: tuple[Typed, ...]
    """The domain's constants first, then the problem's own objects, in source order."""
    init: tuple[Atom, ...]
    """The atoms that are true at the start, in source order and without repetition."""
    values: dict[Atom, int]
    """The initial values of numeric functions."""
    goal: tuple[Atom, ...]
    negative_goal: tuple[Atom, ...]
    has_metric: bool
    warnings: tuple[str, ...]
    source: Source
    form: Form
