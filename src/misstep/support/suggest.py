"""The "did you mean" of error messages."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A question with the nearest known word, or nothing where none is near."""
    near = get_close_matches(word, sorted(set(known)), n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else None
