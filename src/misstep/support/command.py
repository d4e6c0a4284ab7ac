"""Commands that are printed for people to run."""

import shlex
from pathlib import PurePath


def command(*words: object) -> str:
    """A command of misstep as any shell takes it, whatever blanks, quotes or stars its paths hold."""
    return shlex.join(["misstep", *map(_word, words)])


def _word(word: object) -> str:
    """The word as a text; a path that begins with a hyphen would be taken for an option."""
    text = str(word)
    return f"./{text}" if isinstance(word, PurePath) and text.startswith("-") else text
