"""PDDL to FDR with Fast Downward's translator, as a separate program in a temporary directory."""

import re
import sys

from misstep._core import Budget
from misstep.errors import InputError, LimitReached
from misstep.formats.sexp import to_text
from misstep.pddl import Domain, Problem, without_costs
from misstep.pddl.either import without_either
from misstep.support.process import Finished, Scratch

# The translator makes millions of tuples and hardly a cycle among them: looking for cycles takes half of its
# time and finds next to nothing. What it makes, and what it needs at its peak, stays the same without.
_WITHOUT_CYCLE_COLLECTOR = (
    "import gc, runpy; gc.disable(); "
    "runpy.run_module('fast_downward.translate', run_name='__main__', alter_sys=True)"
)
_OUT_OF_MEMORY = 20
_INPUT_ERROR = 31
# In the block of an operator, an effect that begins with a number of conditions.
_CONDITIONAL = re.compile(r"^[1-9]\d*(?: -?\d+){5,}$", re.MULTILINE)


def translate(
    domain: Domain,
    problem: Problem,
    *,
    unit_cost: bool = False,
    budget: Budget | None = None,
) -> str:
    """The SAS text of the task. All variables are kept, so that a state says everything that can change.

    Where an action deletes one of several atoms that exclude each other and does not need it, the effect on
    their common variable depends on the state. Such tasks are translated once more, with a variable for each
    atom: then no effect does. What is conditional in the PDDL itself stays so.
    """
    forms = without_either(domain, problem)
    if unit_cost:
        forms = without_costs(*forms)
    texts = (domain.source.text, problem.source.text)
    if forms != (domain.form, problem.form):
        texts = (to_text(forms[0]), to_text(forms[1]))
    where = f"{domain.source.name}, {problem.source.name}"
    sas = _translated(texts, where, budget)
    if _CONDITIONAL.search(sas) is None:
        return sas
    return _translated(texts, where, budget, "--invariant-generation-max-candidates", "0")


def _translated(texts: tuple[str, str], where: str, budget: Budget | None, *options: str) -> str:
    with Scratch() as scratch:
        here = scratch.folder
        for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
            scratch.write(name, text)
        files = [
            "domain.pddl",
            "problem.pddl",
            "--sas-file",
            "task.sas",
            "--keep-unimportant-variables",
            *options,
        ]
        finished = scratch.run([sys.executable, "-c", _WITHOUT_CYCLE_COLLECTOR, *files], budget=budget)
        if finished.limit == "seconds":
            raise LimitReached(
                f"{where}: the translator was stopped when its time was up; "
                "allow more time or use a smaller problem",
                "seconds",
            )
        if finished.limit is not None:
            raise LimitReached(f"{where}: the translator was stopped when somebody asked for it", "stopped")
        sas = here / "task.sas"
        if finished.exit_code == 0 and sas.exists():
            return sas.read_text(encoding="utf-8")
        allowed_mb = None if budget is None else budget.memory_mb
        if _out_of_memory(finished, allowed_mb):
            allowed = "" if allowed_mb is None else f" ({allowed_mb:g} MB were allowed)"
            raise LimitReached(
                f"{where}: the translator ran out of memory{allowed}; allow more or use a smaller problem",
                "memory",
            )
        reason = f"the translator failed with exit code {finished.exit_code}; its last words"
        if finished.exit_code == _INPUT_ERROR:
            reason = "the translator does not accept this PDDL; its message"
        raise InputError(f"{where}: {reason}:\n{_tail(finished.output)}")


def _out_of_memory(finished: Finished, allowed_mb: float | None) -> bool:
    if finished.exit_code == _OUT_OF_MEMORY or "MemoryError" in finished.output:
        return True
    return allowed_mb is not None and finished.exit_code < 0


# A line of the translator may hold a whole problem.
_LONGEST_LINE = 300


def _tail(output: str, *, lines: int = 12) -> str:
    kept = [line.replace("\t", "  ") for line in output.splitlines() if line.strip()]
    kept = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ..." for line in kept]
    return "\n".join(f"  {line}" for line in kept[-lines:]) or "  (no output)"
