"""What there is instead, for error messages."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like this one, or nothing where none is near."""
    near = get_close_matches(word, sorted(set(known)), n=1, cutoff=0.6)
    return near[0] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A question with the nearest known word, or nothing where none is near."""
    near = nearest(word, known)
    return f"did you mean `{near}`?" if near else None


def some_of(names: Sequence[str], most: int = 10) -> str:
    """The first names, and how many more there are; `none` where there are none."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "none") + more
