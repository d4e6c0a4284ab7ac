"""A format: a file to damage, what damages it, and the commands that read it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from misstep.cli import app, timing
from tests.mutants import documents, texts
from tests.mutants.texts import Mutation

Way = Callable[[Path], int]
"""Gives a damaged file to misstep and returns the exit code."""

LIMITS = ("--seconds", "4", "--memory-mb", "100")


@dataclass(frozen=True)
class Specimen:
    """A format: an undamaged file, what damages it, and what reads it.

    Where there are `others`, such as all files of a record, one of them is damaged. `tree` is the directory around
    the file, if it is one of several.
    """

    name: str
    file: Path
    mutation: Mutation
    ways: tuple[Way, ...]
    tree: Path | None = None
    others: tuple[tuple[Path, Mutation], ...] = ()

    def mutant(self, rng: random.Random) -> tuple[Path, bytes]:
        """The file that is damaged and its new content; every third one is damaged byte by byte."""
        file, mutation = rng.choice(((self.file, self.mutation), *self.others))
        data = file.read_bytes()
        return file, texts.damage(data, rng) if rng.random() < 1 / 3 else mutation(data, rng)

    def place(self, folder: Path, file: Path, content: bytes) -> Path:
        """Writes a mutant into an empty folder, with copies of the files around it."""
        place = folder / file.name
        if self.tree is not None:
            shutil.copytree(self.tree, folder / self.tree.name)
            place = folder / self.tree.name / file.relative_to(self.tree)
        place.write_bytes(content)
        return place


def command(*words: str | Path) -> Way:
    """A command line; `{}` stands for the damaged file, `{dir}` for its directory, `{text}` for its content."""

    def way(file: Path) -> int:
        timing.begin()
        named = {"{}": str(file), "{dir}": str(file.parent)}
        if any("{text}" in str(word) for word in words):
            named["{text}"] = file.read_bytes().decode(errors="replace").replace("\0", "")
        line = [str(word) for word in words]
        for mark, text in named.items():
            line = [word.replace(mark, text) for word in line]
        return app.run(line)

    return way


def by_name(path: Path) -> Mutation:
    """What damages a file of this name."""
    sorts = {
        ".json": documents.json_text,
        ".jsonl": documents.json_lines,
        ".toml": documents.toml,
        ".pddl": texts.lisp,
        ".jani": documents.json_text,
        ".db": documents.sqlite,
        ".safetensors": documents.safetensors,
        ".asnet": documents.safetensors,
    }
    return sorts.get(path.suffix, texts.lines)
