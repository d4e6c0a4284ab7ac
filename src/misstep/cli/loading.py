"""How commands load tasks and policies from their arguments."""

from pathlib import Path
from typing import TYPE_CHECKING

from misstep.errors import InputError

if TYPE_CHECKING:
    from misstep.pddl.model import Domain
    from misstep.task import Task

# The translator is a Python program: less than this would not even start it.
_MIN_TRANSLATOR_MB = 256


def load_task(
    domain: "Path | Domain",
    problem: Path | None,
    *,
    unit_cost: bool,
    seconds: float | None = None,
    memory_mb: int | None = None,
) -> "Task":
    """The task of a domain and a problem, or of a SAS file alone."""
    from misstep.task import load, load_sas

    if problem is not None:
        memory = None if memory_mb is None else max(memory_mb, _MIN_TRANSLATOR_MB)
        return load(domain, problem, unit_cost=unit_cost, max_seconds=seconds, max_memory_mb=memory)
    assert isinstance(domain, Path)
    if domain.suffix.lower() == ".pddl":
        raise InputError(f"{domain}: a PDDL domain needs a problem; give DOMAIN and PROBLEM")
    return load_sas(domain, unit_cost=unit_cost)
