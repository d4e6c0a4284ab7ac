"""What the translator said, kept by digest for all tests and between runs: to start it takes longer than most tests.

`install` has misstep look here first, in this process. Tests of the translator's process itself are marked with
`translator`: for them, and for commands that they start, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from misstep.budget import Budget
from misstep.pddl import translate

VARIABLE = "MISSTEP_TESTS_TRANSLATE"
"""Set where the translator runs whatever is kept."""
_FOLDER = Path(__file__).parents[1] / ".pytest_cache" / "sas"


def kept(parts: tuple[str | bytes, ...], make: Callable[[], str]) -> str:
    """The text that belongs to these parts; made once by whichever process comes first. Errors are not kept."""
    key = hashlib.sha256(version("fast-downward.translate").encode())
    for part in parts:
        key.update(hashlib.sha256(part.encode() if isinstance(part, str) else part).digest())
    path = _FOLDER / f"{key.hexdigest()}.sas"
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        text = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    return text


def install() -> None:
    """From now on `misstep.load` starts the translator only for what no test had translated before."""
    program = Path(translate.__file__).read_bytes()
    original = translate._translated

    def translated(texts: tuple[str, str], where: str, budget: Budget | None, *options: str) -> str:
        if VARIABLE in os.environ or (budget is not None and budget.is_over):
            return original(texts, where, budget, *options)
        return kept((program, *texts, *options), lambda: original(texts, where, budget, *options))

    translate._translated = translated
