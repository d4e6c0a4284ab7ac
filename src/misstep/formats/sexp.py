"""S-expressions that remember where they stand, the ground on which the PDDL readers are built."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from misstep.errors import InputError, UnsupportedFeature

MAX_DEPTH = 200
# A `?` begins a word, whether there is a blank before it or not.
_TOKEN = re.compile(r"[()]|;[^\n]*|\?[^\s();?]*|[^\s();?]+")


class Symbol(str):
    """A word in lower case (PDDL ignores case) with its offset in the source text."""

    __slots__ = ("offset",)
    offset: int


class Form(list["Symbol | Form"]):
    """A parenthesised list with the offset of its opening parenthesis."""

    __slots__ = ("offset",)

    def __init__(self, offset: int, items: Iterable["Symbol | Form"] = ()) -> None:
        super().__init__(items)
        self.offset = offset


Node: TypeAlias = Symbol | Form


class Source:
    """A text and the name it came from; makes the errors that point into it."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self._line_starts: list[int] | None = None

    @classmethod
    def read(cls, path: str | Path, *, kind: str) -> "Source":
        """Reads a file; `kind` says in errors what was expected there, such as `PDDL domain`."""
        try:
            raw = Path(path).read_bytes()
        except FileNotFoundError:
            raise InputError(
                f"{path}: no such file; a {kind} file was expected here, check the path"
            ) from None
        except IsADirectoryError:
            raise InputError(f"{path}: this is a directory; give a {kind} file inside it") from None
        except OSError as error:
            raise InputError(f"{path!s:.200s}: cannot read the {kind} file: {error.strerror}") from None
        except ValueError as error:  # a NUL, half a surrogate pair
            raise InputError(
                f"{path!s:.200s}: no name of a {kind} file ({error}), nor a text that starts with `(`"
            ) from None
        if b"\0" in raw:
            raise InputError(f"{path}: this is a binary file, not a {kind} file; check the path")
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("latin-1")  # Old benchmark files have such letters in comments.
        return cls(text, str(path))

    def where(self, node: Node | int) -> str:
        """`file:line:column` of a node or an offset, counted from 1."""
        offset = node if isinstance(node, int) else node.offset
        if self._line_starts is None:
            self._line_starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        line = bisect_right(self._line_starts, offset)
        return f"{self.name}:{line}:{offset - self._line_starts[line - 1] + 1}"

    def error(self, node: Node | int, message: str) -> InputError:
        """An error at this place; raise what comes back."""
        return InputError(f"{self.where(node)}: {message}")

    def unsupported(self, node: Node | int, message: str) -> UnsupportedFeature:
        """The error for legal input that misstep does not handle; raise what comes back."""
        return UnsupportedFeature(f"{self.where(node)}: {message}")


def parse(source: Source) -> Form:
    """The one list that the text holds, with comments left out and words in lower case."""
    root: Form | None = None
    open_forms: list[Form] = []
    for match in _TOKEN.finditer(source.text):
        token, offset = match.group(), match.start()
        if token[0] == ";":
            continue
        if root is not None and not open_forms:
            raise source.error(offset, f"`{token}` after the end of the file's expression; remove it")
        if token == "(":
            form = Form(offset)
            if open_forms:
                open_forms[-1].append(form)
            else:
                root = form
            open_forms.append(form)
            if len(open_forms) > MAX_DEPTH:
                raise source.error(
                    offset, f"parentheses nested deeper than {MAX_DEPTH}; flatten the expression"
                )
        elif token == ")":
            if not open_forms:
                raise source.error(offset, "`)` without an opening parenthesis; remove it")
            open_forms.pop()
        else:
            symbol = Symbol(token.lower())
            symbol.offset = offset
            if not open_forms:
                raise source.error(offset, f"`{token}` where `(define` was expected; this is not a PDDL file")
            open_forms[-1].append(symbol)
    if root is None:
        raise source.error(0, "the file is empty; `(define ...)` was expected")
    if open_forms:
        raise source.error(open_forms[-1], "this parenthesis is never closed; add the missing `)`")
    return root


def to_text(node: Node) -> str:
    """One line of PDDL with the same meaning."""
    return node if isinstance(node, Symbol) else "(" + " ".join(map(to_text, node)) + ")"
