"""Goes through formulas and their source text."""

from collections.abc import Iterable, Iterator

from misstep.formats.sexp import Form, Node
from misstep.pddl.model import And, Atom, Domain, Exists, Forall, Formula, Imply, Not, Or


def atoms_in(
    parts: Iterable[Formula], *, bound: frozenset[str] = frozenset()
) -> Iterator[tuple[Atom, frozenset[str]]]:
    """All atoms in source order, `=` included, each with the quantified variables around it."""
    for part in parts:
        match part:
            case Atom():
                yield part, bound
            case Not(inner):
                yield from atoms_in((inner,), bound=bound)
            case And(inner_parts) | Or(inner_parts):
                yield from atoms_in(inner_parts, bound=bound)
            case Imply(premise, conclusion):
                yield from atoms_in((premise, conclusion), bound=bound)
            case Forall(variables, inner) | Exists(variables, inner):
                yield from atoms_in((inner,), bound=bound | {variable.name for variable in variables})


def universal_condition(domain: Domain) -> Form | None:
    """The first precondition part that is universal once negations are moved inwards: it becomes an axiom."""
    for section in domain.form[2:]:
        if isinstance(section, Form) and section[0] == ":action":
            for key, value in zip(section[2::2], section[3::2], strict=False):
                found = _universal(value, positive=True) if key == ":precondition" else None
                if found is not None:
                    return found
    return None


def _universal(node: Node, *, positive: bool) -> Form | None:
    if not isinstance(node, Form) or not node:
        return None
    if node[0] == ("forall" if positive else "exists"):
        return node
    for at, part in enumerate(node[1:]):
        flips = node[0] == "not" or (node[0] == "imply" and at == 0)
        found = _universal(part, positive=positive != flips)
        if found is not None:
            return found
    return None
