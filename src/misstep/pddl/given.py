"""PDDL as users give it: the name of a file, or the text itself."""

from pathlib import Path

from misstep.formats.sexp import Source


def is_pddl_text(given: object) -> bool:
    """Whether this is PDDL and no file name: a text that starts with a parenthesis or a comment."""
    return isinstance(given, str) and given.lstrip("\ufeff \t\r\n")[:1] in ("(", ";")


def source_of(given: str | Path, *, kind: str) -> Source:
    """The text with a name for messages; `kind` says what was expected, such as `PDDL domain`."""
    if isinstance(given, str) and is_pddl_text(given):
        return Source(given, f"<{kind}>")
    return Source.read(given, kind=kind)
