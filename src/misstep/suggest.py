"""The "did you mean" of error messages."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A question with the nearest known words, or nothing where none is near."""
    near = get_close_matches(word, sorted(set(known)), n=2, cutoff=0.6)
    return f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else None
