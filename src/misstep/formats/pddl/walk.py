"""Goes through formulas."""

from collections.abc import Iterable, Iterator

from misstep.formats.pddl.model import And, Atom, Exists, Forall, Formula, Imply, Not, Or


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
