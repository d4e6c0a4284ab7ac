"""How tasks are loaded: from files, texts and objects (`misstep.load`), and as configurations and records name them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

from misstep.budget import Budget
from misstep.errors import InputError
from misstep.formats.sexp import Source
from misstep.formats.unified import is_unified_problem, unified_texts
from misstep.pddl import is_pddl_text, parse_domain, parse_problem
from misstep.pddl.model import Domain
from misstep.record.record import DOMAIN, PROBLEM, TASK, Record
from misstep.task import Task, load_sas
from misstep.task import load as load_pddl

if TYPE_CHECKING:
    from misstep.safety.model import SafetyTask

# The translator is a Python program: less than this would not even start it.
_MIN_TRANSLATOR_MB = 256


class UnifiedProblem(Protocol):
    """A `Problem` of the library unified-planning."""

    @property
    def user_types(self) -> Any:
        """Its types."""
        ...

    @property
    def fluents(self) -> Any:
        """What changes."""
        ...


@overload
def load(
    domain: str | Path | Domain, problem: str | Path, *, unit_cost: bool = False, budget: Budget | None = None
) -> Task: ...
@overload
def load(domain: UnifiedProblem, *, unit_cost: bool = False, budget: Budget | None = None) -> Task: ...
@overload
def load(
    domain: str | Path, *, unit_cost: bool = False, budget: Budget | None = None
) -> "Task | SafetyTask": ...
def load(
    domain: str | Path | Domain | UnifiedProblem,
    problem: str | Path | None = None,
    *,
    unit_cost: bool = False,
    budget: Budget | None = None,
) -> "Task | SafetyTask":
    """Loads a task: PDDL (a domain and a problem), a SAS file, a JANI model, or a problem of unified-planning.

    PDDL may be files or texts; read the domain once with `misstep.read_domain` where it serves many problems.
    `unit_cost` strips action costs, so that every action costs 1. The budget is for the translator, which
    runs as a separate program; `LimitReached` says that it was used up. A file that ends in `.jani` is a model, a
    `SafetyTask` whose condition is the one that its properties name; where you choose among properties, or give
    constants, use `misstep.safety.model.SafetyTask.load`.
    """
    if problem is not None:
        if not isinstance(domain, str | Path | Domain):
            raise InputError(
                f"a problem was given, so the domain is a file or a text, but this is {_named(domain)}"
            )
        return load_pddl(domain, problem, unit_cost=unit_cost, budget=budget)
    if is_unified_problem(domain):
        return load_pddl(*unified_texts(domain), unit_cost=unit_cost, budget=budget)
    if not isinstance(domain, str | Path):
        raise InputError(
            "a task is loaded from PDDL (a domain and a problem), a SAS file, a JANI model, or a unified-planning "
            f"Problem, but this is {_named(domain)}"
        )
    if is_pddl_text(domain):
        raise InputError("a PDDL domain needs a problem; give both: misstep.load(domain, problem)")
    path = Path(domain)
    if path.suffix.lower() == ".jani":
        from misstep.safety.model import SafetyTask  # the JANI side is loaded when it is needed

        if unit_cost:
            raise InputError(f"{path}: actions of a JANI model have no costs; leave `unit_cost` out")
        return SafetyTask.load(path)
    return load_task(path, None, unit_cost=unit_cost, budget=budget)


def _named(value: object) -> str:
    """For messages."""
    return f"of type {type(value).__name__}"


def load_task(
    domain: Path | Domain | None, problem: Path | None, *, unit_cost: bool, budget: Budget | None = None
) -> Task:
    """The task of a domain and a problem, or of a SAS file alone."""
    if domain is None:
        raise InputError(
            "there is no task to test; give a PDDL domain and problem, a SAS file or a JANI model"
        )
    if problem is not None:
        return load_pddl(domain, problem, unit_cost=unit_cost, budget=_for_translator(budget))
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
