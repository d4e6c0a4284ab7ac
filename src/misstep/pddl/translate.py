"""PDDL to FDR with Fast Downward's translator, as a separate program in a temporary directory."""

import sys
import tempfile
from pathlib import Path

from misstep.errors import InputError, LimitReached
from misstep.pddl import Domain, Problem, without_costs
from misstep.support.process import Finished, run_bounded

_OUT_OF_MEMORY = 20
_INPUT_ERROR = 31


def translate(
    domain: Domain,
    problem: Problem,
    *,
    unit_cost: bool = False,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
) -> str:
    """The SAS text of the task. All variables are kept, so that a state says everything that can change."""
    texts = without_costs(domain, problem) if unit_cost else (domain.source.text, problem.source.text)
    with tempfile.TemporaryDirectory(prefix="misstep-") as folder:
        here = Path(folder)
        for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
            (here / name).write_text(text, encoding="utf-8")
        files = ["domain.pddl", "problem.pddl", "--sas-file", "task.sas", "--keep-unimportant-variables"]
        finished = run_bounded(
            [sys.executable, "-m", "fast_downward.translate", *files],
            cwd=here,
            max_seconds=max_seconds,
            max_memory_mb=max_memory_mb,
        )
        where = f"{domain.source.name}, {problem.source.name}"
        if finished.timed_out:
            raise LimitReached(
                f"{where}: the translator was stopped after {max_seconds:g} seconds; "
                "allow more time or use a smaller problem",
                "seconds",
            )
        sas = here / "task.sas"
        if finished.exit_code == 0 and sas.exists():
            return sas.read_text(encoding="utf-8")
        if _out_of_memory(finished, max_memory_mb):
            allowed = "" if max_memory_mb is None else f" ({max_memory_mb} MB were allowed)"
            raise LimitReached(
                f"{where}: the translator ran out of memory{allowed}; allow more or use a smaller problem",
                "memory",
            )
        reason = f"the translator failed with exit code {finished.exit_code}; its last words"
        if finished.exit_code == _INPUT_ERROR:
            reason = "the translator does not accept this PDDL; its message"
        raise InputError(f"{where}: {reason}:\n{_tail(finished.output)}")


def _out_of_memory(finished: Finished, max_memory_mb: int | None) -> bool:
    if finished.exit_code == _OUT_OF_MEMORY or "MemoryError" in finished.output:
        return True
    return max_memory_mb is not None and finished.exit_code < 0


def _tail(output: str, *, lines: int = 12) -> str:
    kept = [line.replace("\t", "  ") for line in output.splitlines() if line.strip()]
    return "\n".join(f"  {line}" for line in kept[-lines:]) or "  (no output)"
