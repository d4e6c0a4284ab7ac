"""How tasks are loaded from what a configuration or a record names."""

from pathlib import Path

from misstep.budget import Budget
from misstep.errors import InputError
from misstep.formats.sexp import Source
from misstep.pddl import parse_domain, parse_problem
from misstep.pddl.model import Domain
from misstep.record.record import DOMAIN, PROBLEM, TASK, Record
from misstep.task import Task, load, load_sas

# The translator is a Python program: less than this would not even start it.
_MIN_TRANSLATOR_MB = 256


def load_task(
    domain: Path | Domain | None, problem: Path | None, *, unit_cost: bool, budget: Budget | None = None
) -> Task:
    """The task of a domain and a problem, or of a SAS file alone."""
    if domain is None:
        raise InputError(
            "there is no task to test; give a PDDL domain and problem, a SAS file or a JANI model"
        )
    if problem is not None:
        return load(domain, problem, unit_cost=unit_cost, budget=_for_translator(budget))
    if isinstance(domain, Domain) or domain.suffix.lower() == ".pddl":
        raise InputError(f"{domain}: a PDDL domain needs a problem; give DOMAIN and PROBLEM")
    return load_sas(domain, unit_cost=unit_cost)


def recorded_task(record: Record) -> Task:
    """The task that a record is about, from the record alone: nothing is translated again."""
    sas = record.store.read(TASK)
    if sas is None:
        raise InputError(f"{record.where}: there is no {TASK} in the record")
    where, domain, problem = record.where, record.store.read(DOMAIN), record.store.read(PROBLEM)
    if domain is None or problem is None:
        return Task(sas, source=f"{where}/{TASK}")
    read = parse_problem(
        Source(problem, f"{where}/{PROBLEM}"), parse_domain(Source(domain, f"{where}/{DOMAIN}"))
    )
    return Task(sas, source=f"{where}/{TASK}", problem=read)


def _for_translator(budget: Budget | None) -> Budget | None:
    if budget is None or budget.memory_mb is None or budget.memory_mb >= _MIN_TRANSLATOR_MB:
        return budget
    return Budget(seconds=budget.seconds_left, memory_mb=_MIN_TRANSLATOR_MB, stop=budget.stop)
