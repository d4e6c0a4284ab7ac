"""How commands load tasks and policies from their arguments."""

from pathlib import Path
from typing import TYPE_CHECKING

from misstep.errors import InputError

if TYPE_CHECKING:
    from misstep._core import Budget
    from misstep.pddl.model import Domain
    from misstep.task import Task

# The translator is a Python program: less than this would not even start it.
_MIN_TRANSLATOR_MB = 256


def load_task(
    domain: "Path | Domain",
    problem: Path | None,
    *,
    unit_cost: bool,
    budget: "Budget | None" = None,
) -> "Task":
    """The task of a domain and a problem, or of a SAS file alone."""
    from misstep.task import load, load_sas

    if problem is not None:
        return load(domain, problem, unit_cost=unit_cost, budget=_for_translator(budget))
    assert isinstance(domain, Path)
    if domain.suffix.lower() == ".pddl":
        raise InputError(f"{domain}: a PDDL domain needs a problem; give DOMAIN and PROBLEM")
    return load_sas(domain, unit_cost=unit_cost)


def _for_translator(budget: "Budget | None") -> "Budget | None":
    from misstep._core import Budget

    if budget is None or budget.memory_mb is None or budget.memory_mb >= _MIN_TRANSLATOR_MB:
        return budget
    return Budget(seconds=budget.seconds_left, memory_mb=_MIN_TRANSLATOR_MB, stop=budget.stop)
