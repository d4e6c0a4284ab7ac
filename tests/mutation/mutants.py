"""Mutants: drawn by a seed, or written down by hand, and how they are shown."""

from __future__ import annotations

import ast
import difflib
import hashlib
import random
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from tests.mutation.operators import Edit, differs, edits

ROOT = Path(__file__).parents[2]
TARGETS = (
    "reference/*.py",
    "judge.py",
    "objectives/*.py",
    "claim.py",
    "oracle.py",
    "explain/fault.py",
    "record/*.py",
    "session.py",
    "pytest_plugin.py",
    "reports/junit.py",
    "cli/test*.py",
)
"""What is mutated, below src/misstep."""


class Stale(Exception):
    """A text that was written down is not in the module any more."""


@dataclass(frozen=True)
class Mutant:
    """A module and its changed text."""

    file: str
    """From the root of the checkout."""
    changed: bytes
    lines: tuple[int, int]
    """The statement that changes."""
    is_at_import: bool = False
    name: str = ""
    """Of one that was made by hand."""

    @cached_property
    def key(self) -> str:
        """The same for the same change of the same text."""
        text = self.file.encode() + b"\0" + (ROOT / self.file).read_bytes() + b"\0" + self.changed
        return hashlib.sha256(text).hexdigest()[:10]

    @property
    def module(self) -> str:
        parts = Path(self.file).with_suffix("").parts[1:]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def diff(self) -> str:
        """Only the lines that change, with their place."""
        before = (ROOT / self.file).read_text(encoding="utf-8").splitlines()
        after = self.changed.decode().splitlines()
        lines = list(difflib.unified_diff(before, after, lineterm="", n=0))
        return "\n".join([f"{self.file}:{self.lines[0]}", *(line for line in lines[2:] if line[:2] != "@@")])


def targets(patterns: Iterable[str] = TARGETS) -> list[str]:
    """The files that are mutated, from the root of the checkout, in a fixed order."""
    package = ROOT / "src" / "misstep"
    found = [sorted(package.glob(pattern)) for pattern in patterns]
    return [file.relative_to(ROOT).as_posix() for files in found for file in files]


def all_of(file: str) -> list[Mutant]:
    """Every mutant of one module."""
    source = (ROOT / file).read_bytes()
    return [_mutant(file, source, edit) for edit in edits(source) if differs(source, edit)]


def draw(files: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """So many of all mutants of these files, all equally likely."""
    sources = {file: (ROOT / file).read_bytes() for file in files}
    everything = [(file, edit) for file in files for edit in edits(sources[file])]
    random.Random(seed).shuffle(everything)
    usable = ((file, edit) for file, edit in everything if differs(sources[file], edit))
    return [_mutant(file, sources[file], edit) for file, edit in islice(usable, count)]


def with_keys(files: Sequence[str], keys: Container[str]) -> list[Mutant]:
    """Those of all mutants that have one of these keys."""
    found = []
    for file in files:
        source = (ROOT / file).read_bytes()
        found += [one for edit in edits(source) if (one := _mutant(file, source, edit)).key in keys]
    return found


def _mutant(file: str, source: bytes, edit: Edit) -> Mutant:
    return Mutant(file, edit.apply(source), edit.lines, edit.is_at_import)


@dataclass(frozen=True)
class Block:
    """One entry of `named.txt` or `equivalent.txt`: lines that go, lines that come, and a text."""

    file: str
    text: str
    minus: tuple[str, ...]
    plus: tuple[str, ...]
    inside: str
    where: str
    """File and line of the entry itself."""


def blocks(file: Path) -> list[Block]:
    """Entries, separated by empty lines: `# text`, `@ FILE [def NAME]`, then `-` and `+` lines; the order is free."""
    found = []
    number = 1
    for entry in file.read_text(encoding="utf-8").split("\n\n"):
        lines = entry.strip("\n").split("\n")
        marks = {mark: [line[1:].strip() for line in lines if line[:1] == mark] for mark in "#@-"}
        marks["+"] = [line[1:].removeprefix(" ").rstrip() for line in lines if line[:1] == "+"]
        where = f"{file.name}:{number}"
        number += entry.count("\n") + 2
        if not marks["@"]:
            continue  # a comment alone
        place, _, inside = marks["@"][0].partition(" def ")
        if not (marks["#"] and marks["-"] and marks["+"]):
            raise Stale(f"{where}: an entry has lines that begin with `#`, `@`, `-` and `+`")
        text = " ".join(marks["#"])
        found.append(Block(place, text, tuple(marks["-"]), tuple(marks["+"]), inside, where))
    return found


def place_of(block: Block) -> tuple[int, list[str]]:
    """The index of the first line that goes, and all lines of the module; Stale unless there is exactly one."""
    path = ROOT / block.file
    if not path.is_file():
        raise Stale(f"{block.where}: there is no file {block.file}")
    lines = path.read_text(encoding="utf-8").split("\n")
    bare = [line.strip() for line in lines]
    size = len(block.minus)
    places = [at for at in range(len(lines)) if tuple(bare[at : at + size]) == block.minus]
    if block.inside:
        places = [at for at in places if _function(lines, at) == block.inside]
    if len(places) != 1:
        how = (
            "is not there any more"
            if not places
            else f"is there {len(places)} times: add ` def NAME` to the file"
        )
        raise Stale(f"{block.where}: in {block.file}, {' / '.join(block.minus)!r} {how}")
    return places[0], lines


def _function(lines: Sequence[str], at: int) -> str:
    indent = len(lines[at]) - len(lines[at].lstrip())
    for line in reversed(lines[:at]):
        words = line.split("(")[0].split()
        if words[:1] in (["def"], ["class"]) and len(line) - len(line.lstrip()) < indent:
            return words[1]
    return ""


def from_block(block: Block) -> Mutant:
    """Lines come with the indentation of the first line that goes, besides their own."""
    at, lines = place_of(block)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    plus = [indent + line for line in block.plus]
    changed = "\n".join([*lines[:at], *plus, *lines[at + len(block.minus) :]]).encode()
    try:
        compile(changed, block.file, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise Stale(f"{block.where}: what it makes is not Python: {error}") from None
    return Mutant(block.file, changed, (at + 1, at + len(block.minus)), name=block.text)


def is_equivalent(mutant: Mutant, known: Iterable[Block]) -> Block | None:
    """The entry that proves that nothing can tell the mutant, if there is one; brackets do not matter."""
    own = [block for block in known if block.file == mutant.file]
    meant = ast.dump(ast.parse(mutant.changed)) if own else ""
    return next((block for block in own if ast.dump(ast.parse(from_block(block).changed)) == meant), None)
