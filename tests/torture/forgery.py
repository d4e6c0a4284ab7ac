"""Forgers: certificates and shared evidence that somebody changed. None may pass and say something false."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from random import Random
from typing import Any

import misstep
from misstep.record.record import CLEARED, EVIDENCE, Record
from misstep.reference.bits import BitTask
from misstep.reference.certificate import check
from misstep.reference.checked import Refused
from misstep.reference.digest import digest
from misstep.reference.fdr import State as Values
from misstep.reference.fdr import parse
from misstep.reference.functions import Functions
from misstep.reference.packing import unpacked_lines
from tests.property.tampering import damaged, tampered
from tests.property.truth import check_truth

# Forgeries of each sort that are tried on a record.
_TRIES = 8


class Forger:
    """Whoever changes the records of tests on one task; `best` are the exact costs of its states."""

    def __init__(self, task: misstep.Task, best: Mapping[Values, float]) -> None:
        self.best = best
        self._sas = task.sas
        self.names = sorted({action.name for action in task.actions})
        self.tampered = 0
        """Changed certificates with the old digest."""
        self.forged = 0
        """Changed certificates with a new digest, and certificates beside changed evidence, ..."""
        self.accepted = 0
        """... and those of them that were accepted: they have to be true."""

    @cached_property
    def task(self) -> BitTask:
        """As the checker reads it."""
        return BitTask(parse(self._sas))

    def false(self, record: Record, rng: Random) -> Iterator[str]:
        """Changes something in copies of a record, and says what was accepted and should not be."""
        certificates = [*record.bugs().values(), *record.store.lines(CLEARED)]
        if not certificates:
            return
        lines = list(unpacked_lines(record.store.lines(EVIDENCE)))
        functions = Functions(self.task, lines)
        for _ in range(_TRIES):
            changed = tampered(rng.choice(certificates), rng, self.names)
            self.tampered += 1
            if self._accepts(changed, functions):
                yield f"a certificate that was tampered with is accepted: {changed}"
            changed["sha256"] = digest(changed)
            yield from self._forged(changed, functions)
        for _ in range(_TRIES if lines else 0):
            number = rng.randrange(len(lines))
            other = [*lines[:number], damaged(lines[number], rng), *lines[number + 1 :]]
            users = [c for c in certificates if "'proof'" in str(c)]
            yield from self._forged(rng.choice(users or certificates), Functions(self.task, other))

    def kinds(self, record: Record) -> Counter[str]:
        """What the lower bounds of certificates rest on, with how many do."""
        found: Counter[str] = Counter()
        lines = {line["name"]: line for line in unpacked_lines(record.store.lines(EVIDENCE))}
        for certificate in [*record.bugs().values(), *record.store.lines(CLEARED)]:
            for evidence in (certificate["lower"], (certificate["fault"] or {}).get("lower")):
                if evidence is not None:
                    found[evidence["kind"]] += 1
                    names = lines[evidence["proof"]]["functions"] if "proof" in evidence else ()
                    found.update({lines[name]["kind"] for name in names})
        return found

    def _forged(self, certificate: dict[str, Any], functions: Functions) -> Iterator[str]:
        self.forged += 1
        if not self._accepts(certificate, functions):
            return
        self.accepted += 1
        try:
            check_truth(self.task.task, certificate, known=self.best)
        except AssertionError as error:
            yield f"a forged certificate is accepted and not true: {error}: {certificate}"

    def _accepts(self, certificate: dict[str, Any], functions: Functions) -> bool:
        """Any error but a refusal goes up: the checker must not break, whatever it reads."""
        try:
            check(certificate, self.task.task, functions)
        except Refused:
            return False
        return True
