"""What a run of mutants showed: kept as lines of JSON, told by module, survivors as diffs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from misstep.statistics import rate_bounds
from tests.mutation.mutants import Block, Mutant, is_equivalent
from tests.mutation.trial import Tried

MOST_EQUIVALENT = 0.05
"""Of the mutants that are drawn; what is above counts as surviving."""


class Kept:
    """Results of all runs, one line each: the same command goes on where it was stopped."""

    def __init__(self, file: Path, tests: str) -> None:
        """`tests` is a digest of all tests: with other tests, a survivor is tried again."""
        self._file, self._tests = file, tests
        self._known: dict[str, Tried] = {}
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                self._learn(line)

    def _learn(self, line: str) -> None:
        try:
            data = json.loads(line)
            digest = data.pop("digest")
            tried = replace(Tried(**data), by=tuple(data["by"]))
        except (ValueError, TypeError, KeyError):
            return  # cut off when the machine stopped
        if tried.is_killed or digest == self._tests:
            self._known[tried.key] = tried

    def get(self, mutant: Mutant) -> Tried | None:
        return self._known.get(mutant.key)

    def add(self, tried: Tried) -> None:
        self._known[tried.key] = tried
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps({**asdict(tried), "digest": self._tests}) + "\n")


def score(killed: int, equivalent: int, total: int) -> tuple[int, int]:
    """Killed, and of how many: equivalent mutants leave the count, at most 5 % of all."""
    return killed, total - min(equivalent, int(MOST_EQUIVALENT * total))


def lines(
    mutants: Sequence[Mutant], results: Mapping[str, Tried], known: Sequence[Block], *, is_named: bool
) -> Iterable[str]:
    """Survivors as diffs with the command that repeats one, then killed and survived by module."""
    tried = [mutant for mutant in mutants if mutant.key in results]
    proven = {mutant.key: block for mutant in tried if (block := is_equivalent(mutant, known))}
    left = [mutant for mutant in tried if not results[mutant.key].is_killed and mutant.key not in proven]
    for mutant in left:
        result = results[mutant.key]
        yield f"\n{result.outcome} ({result.tests} tests){': ' + mutant.name if mutant.name else ''}"
        yield mutant.diff()
        yield f"  .venv/bin/python -m tests.mutation --only {mutant.key}"
    for mutant in tried:
        if results[mutant.key].is_killed and mutant.key in proven:
            yield f"\n{proven[mutant.key].where}: a test kills this mutant; it is not equivalent\n{mutant.diff()}"
    kind = "made by hand" if is_named else "drawn"
    yield f"\n{kind:34}{'killed':>8}{'timeout':>9}{'survived':>10}{'equivalent':>12}  killed of all"
    files = sorted({mutant.file for mutant in tried})
    for file in files:
        own = [mutant for mutant in tried if mutant.file == file]
        yield _row(file.removeprefix("src/misstep/"), own, results, proven)
    if len(files) > 1:
        yield _row("together", tried, results, proven)
    if len(tried) < len(mutants):
        yield f"{len(mutants) - len(tried)} are still to be tried; the same command goes on"


def _row(name: str, own: Sequence[Mutant], results: Mapping[str, Tried], proven: Mapping[str, Block]) -> str:
    killed = sum(results[mutant.key].is_killed for mutant in own)
    late = sum(results[mutant.key].outcome == "timeout" for mutant in own)
    equivalent = sum(mutant.key in proven and not results[mutant.key].is_killed for mutant in own)
    hits, total = (
        score(killed, equivalent, len(own)) if name == "together" else (killed, len(own) - equivalent)
    )
    survived = len(own) - killed - equivalent
    share = ""
    if total:
        bounds = rate_bounds(hits, total - hits, 0)
        share = f"{100 * hits / total:.0f} % ({100 * bounds.lo:.0f} to {100 * bounds.hi:.0f} %)"
    return f"{name:34}{killed:>8}{late:>9}{survived:>10}{equivalent:>12}  {share}"
