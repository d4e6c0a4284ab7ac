"""Mutations of bytes and of texts: what accidents do, and what a reader's author may have forgotten."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Mutation = Callable[[bytes, random.Random], bytes]

NUMBERS = (
    *("0", "-1", "1", "2", "3", "1000000", "2147483647", "2147483648", "-2147483649", "4294967295"),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "1" + "0" * 40,
        "9" * 5000,
        "0.5",
        "-0.0",
        "1e400",
        "1e-400",
    ),
    *("nan", "inf", "-inf", "0x10", "00", "1_0", "\N{ARABIC-INDIC DIGIT THREE}", ""),
)
ODD = (
    *(
        "\0",
        "\ufeff",
        "\x1b[31m",
        "\r",
        "\r\n",
        "\t",
        "\u2028",
        "\U0001f600",
        "\x7f",
        "é",
        "İ",
        "<b>",
        "%s",
        "{}",
        "'",
    ),
    *(
        '"',
        "\\",
        "\\ud800",
        "#",
        ";",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "=",
        "?",
        "-",
        "~",
        "x" * 100_000,
    ),
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_WORD = re.compile(rb"[^\s(){}\[\],:]+")


def damage(data: bytes, rng: random.Random) -> bytes:
    """One to four random changes of bytes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(_DAMAGES)(data, rng)
    return data


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    begin = rng.randrange(len(data) + 1)
    longest = rng.choice((1, 4, 40, 400, len(data)))
    return begin, min(len(data), begin + rng.randrange(longest + 1))


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return b"\xff"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _remove(data: bytes, rng: random.Random) -> bytes:
    begin, end = _span(data, rng)
    return data[:begin] + data[end:]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    begin, end = _span(data, rng)
    return data[:end] + data[begin:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def _move(data: bytes, rng: random.Random) -> bytes:
    begin, end = _span(data, rng)
    rest = data[:begin] + data[end:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + data[begin:end] + rest[at:]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _random_bytes(data: bytes, rng: random.Random) -> bytes:
    begin, end = _span(data, rng)
    return data[:begin] + rng.randbytes(min(end - begin, 4000)) + data[end:]


def _odd(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(ODD).encode() + data[at:]


def _number(data: bytes, rng: random.Random) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return _odd(data, rng)
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(NUMBERS).encode() + data[match.end() :]


def _word(data: bytes, rng: random.Random) -> bytes:
    """A word of the file in the place of another."""
    found = list(_WORD.finditer(data))
    if not found:
        return _odd(data, rng)
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(found).group() + data[match.end() :]


_DAMAGES: tuple[Mutation, ...] = (
    *(_flip, _remove, _repeat, _move, _cut, _random_bytes, _odd, _number, _number, _word, _word),
)


def lines(data: bytes, rng: random.Random) -> bytes:
    """Lines are left out, repeated, moved, joined, or one of their words is changed."""
    parts = data.split(b"\n")
    at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    sort = rng.randrange(7)
    if sort == 0:
        del parts[at]
    elif sort == 1:
        parts.insert(other, parts[at])
    elif sort == 2:
        parts[at], parts[other] = parts[other], parts[at]
    elif sort == 3:
        parts[at : at + 2] = [b" ".join(parts[at : at + 2])]
    elif sort == 4:
        parts[at] = _number(parts[at], rng)
    elif sort == 5:
        parts[at] = _word(parts[at], rng)
    else:
        return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"\x0b")))
    return b"\n".join(parts)


_LISP = re.compile(rb"[()]|;[^\n]*|[^\s();]+")
_LISP_WORDS = (
    *(
        b"and",
        b"or",
        b"not",
        b"imply",
        b"forall",
        b"exists",
        b"when",
        b"=",
        b"either",
        b"-",
        b"increase",
        b"total-cost",
    ),
    *(
        b":parameters",
        b":precondition",
        b":effect",
        b":types",
        b":constants",
        b":predicates",
        b":functions",
        b":action",
    ),
    *(
        b":derived",
        b":durative-action",
        b":requirements",
        b":adl",
        b":objects",
        b":init",
        b":goal",
        b":metric",
        b"object",
    ),
    *(
        b"minimize",
        b"number",
        b"?x",
        b"?",
        b"()",
        b"define",
        b"domain",
        b"problem",
        b"at",
        b"at start",
        b"preference",
    ),
)


def lisp(data: bytes, rng: random.Random) -> bytes:
    """Words and whole lists of an expression are left out, repeated, exchanged, wrapped or nested deeply."""
    tokens = [token for token in _LISP.findall(data) if token[:1] != b";"]
    for _ in range(rng.choice((1, 1, 2, 3))):
        tokens = _changed_lisp(tokens, rng)
    return b" ".join(tokens)


def _changed_lisp(tokens: list[bytes], rng: random.Random) -> list[bytes]:
    if not tokens:
        return [rng.choice(_LISP_WORDS)]
    begin, end = _part(tokens, rng.randrange(len(tokens)))
    part = tokens[begin:end]
    other = tokens[slice(*_part(tokens, rng.randrange(len(tokens))))]
    sort = rng.randrange(8)
    if sort == 0:
        new: list[bytes] = []
    elif sort == 1:
        new = part + part
    elif sort == 2:
        new = other
    elif sort == 3:
        new = [rng.choice(_LISP_WORDS)]
    elif sort == 4:
        new = [b"(", rng.choice(_LISP_WORDS), *part, b")"]
    elif sort == 5:
        deep = rng.choice((5, 150, 250, 5000))
        new = [b"(", rng.choice((b"and", b"not", b"or", b"when")), *part] * deep + [b")"] * deep
    elif sort == 6:
        new = [rng.choice(NUMBERS).encode() or b"0"]
    else:
        new = [rng.choice(ODD).encode()]
    return tokens[:begin] + new + tokens[end:]


def _part(tokens: list[bytes], at: int) -> tuple[int, int]:
    """The word at a place, or the whole list that opens there; a closing parenthesis alone."""
    if tokens[at] != b"(":
        return at, at + 1
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end] == b"(") - (tokens[end] == b")")
        if depth == 0:
            return at, end + 1
    return at, len(tokens)
