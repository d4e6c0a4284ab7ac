"""The two answers of the checker: a refusal with its reason, or what was proven and on whose word."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class Refused(ValueError):
    """A certificate, or the file that it speaks about, is not what it says. The message is the reason."""


@dataclass(frozen=True)
class Checked:
    """A certificate was accepted.

    `words` are the sentences that the checker had to believe, each with its speaker. The verdict follows
    from them and from nothing else. `rests_on_search` says that one of them is a lower bound which a search
    found by looking at everything cheaper; repeating that search is the only way to be sure of it.
    """

    verdict: str
    rests_on_search: bool
    words: tuple[str, ...]


def need(condition: bool, otherwise: str) -> None:
    """Refuse unless the condition holds."""
    if not condition:
        raise Refused(otherwise)


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Turn every error inside into a refusal, because garbage proves nothing, whatever it does here.

    The checks refuse by `need` wherever they expect a defect. This net is for the defects that nobody thought
    of: it can turn a certificate down, and it can never let one pass.
    """
    try:
        yield
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"{what} cannot be read: {type(error).__name__}: {str(error)[:200]}") from None
