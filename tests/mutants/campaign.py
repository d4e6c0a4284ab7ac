"""Mutants of all formats in turn, each in a process of its own, until the time is up."""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.specimen import Specimen
from tests.mutants.specimens import specimens
from tests.mutants.trial import Ended, attempt


@dataclass(frozen=True)
class Mutant:
    """The `number`-th mutant of a format: a file with another content."""

    format: str
    number: int
    file: Path
    content: bytes


def campaign(
    folder: Path, seconds: float, seed: int, *, each: int = 0, only: str = "", grow_mb: float
) -> Iterator[tuple[Mutant, Ended]]:
    """Every mutant and how the command ended; a mutant depends on seed, format and number alone."""
    (folder / "seeds").mkdir()
    known = [one for one in specimens(folder / "seeds") if re.search(only, one.name)]
    for specimen in known:
        for number in range(len(specimen.ways)):
            whole = specimen.file, specimen.file.read_bytes()
            ended = _tried(specimen, *whole, number, folder / "trial", grow_mb)
            assert ended.wrong is None and ended.code != 4, (
                f"{specimen.name} undamaged, way {number}: {ended}"
            )
    begin, number = time.monotonic(), 0
    while number < each or time.monotonic() - begin < seconds:
        for specimen in known:
            rng = random.Random(f"{seed} {specimen.name} {number}")
            file, content = specimen.mutant(rng)
            ended = _tried(specimen, file, content, number, folder / "trial", grow_mb)
            yield Mutant(specimen.name, number, file, content), ended
        number += 1


def _tried(
    specimen: Specimen, file: Path, content: bytes, number: int, folder: Path, grow_mb: float
) -> Ended:
    folder.mkdir()
    try:
        place = specimen.place(folder, file, content)
        way = specimen.ways[number % len(specimen.ways)]
        return attempt(lambda: way(place), folder, grow_mb=grow_mb)
    finally:
        shutil.rmtree(folder)
