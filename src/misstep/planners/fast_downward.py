"""Fast Downward as an external planner: LAMA and all its other searches, bounded, killed, not trusted."""

import importlib.util
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from misstep import _core
from misstep.errors import InputError
from misstep.plugins import option
from misstep.support.process import Finished, Scratch, read_left
from misstep.task import Task

# Exit codes of the planner's driver.
_NO_PLAN_EXISTS = (10, 11)
_SEARCH_ENDED = 12
_OUT_OF_MEMORY = (20, 22, 24)
_OUT_OF_TIME = (21, 23)


@dataclass(frozen=True, slots=True)
class ExternalResult:
    """What became of an external planner. Its plans are checked; anything else it says is a note."""

    outcome: str
    """`solved` or `limit`. Never `unsolvable`: that the planner says so proves nothing."""
    plan: list[_core.Action] = field(default_factory=list)
    cost: int | None = None
    limit: str | None = None
    """`seconds`, `memory`, `stopped`; `incomplete` where it gave up, `failed` where it crashed or erred."""
    note: str = ""
    """What happened, where there is something to say."""
    seconds: float = 0.0
    expanded: int = 0
    evaluated: int = 0
    lower_bound: float = 0.0


@dataclass(frozen=True)
class FastDownward:
    """Fast Downward in a process of its own: `external:lama-first`, `external:lama`, any alias or search.

    `lama` improves its plan until the time is up, so give it a limit.
    """

    search: str = option("lama-first", "an alias, or a search such as `eager_greedy([ff()])`")
    program: Path | None = option(None, "another copy of fast-downward.py than up-fast-downward's")

    def run(
        self,
        task: Task,
        *,
        state: _core.State | None = None,
        budget: _core.Budget | None = None,
        seed: int | None = None,
        below: int | None = None,
    ) -> ExternalResult:
        """Plans from `state`, or from the initial state. `seed`, `below` and expansions mean nothing here.

        InputError where the planner is not installed; every other failure is told in the result.
        """
        command = [*self._driver(), "--plan-file", "plan", *self._searching()]
        start = time.perf_counter()
        with Scratch() as scratch:
            folder = scratch.folder
            scratch.write("task.sas", numbered_sas(task, state))
            try:
                finished = scratch.run(command, budget=budget)
            except OSError as error:
                raise InputError(f"search `{self}`: cannot start {command[0]}: {error.strerror}") from None
            plans = [read_left(path) for path in sorted(folder.glob("plan*")) if path.is_file()]
        return self._result(task, state, finished, plans, time.perf_counter() - start)

    def __str__(self) -> str:
        return f"external:{self.search}"

    def _driver(self) -> list[str]:
        program = self.program or find_driver()
        if program is None:
            raise InputError(
                f"search `{self}` needs Fast Downward, which is not installed; "
                'pip install "misstep[planners]"'
            )
        if not program.is_file():
            raise InputError(f"search `{self}`: {program} does not exist; check the option `program`")
        path = str(program.absolute())
        return [sys.executable, path] if program.suffix == ".py" else [path]

    def _searching(self) -> list[str]:
        is_alias = "(" not in self.search
        return ["--alias", self.search, "task.sas"] if is_alias else ["task.sas", "--search", self.search]

    def _result(
        self,
        task: Task,
        state: _core.State | None,
        finished: Finished,
        plans: list[str],
        seconds: float,
    ) -> ExternalResult:
        limit, note = _reason(finished)
        best: list[_core.Action] | None = None
        for text in plans:
            try:
                plan = read_plan(task, state, text)
            except InputError as error:
                # A planner that is killed while it writes leaves a part of a plan.
                if limit is None:
                    limit, note = "failed", f"{self} wrote a wrong plan: {error}"
            else:
                best = plan if best is None or _cost(plan) < _cost(best) else best
        expanded, evaluated = (_count(word, finished.output) for word in ("Expanded", "Evaluated"))
        if best is not None:
            # A limit that ended the improvement of a plan is worth knowing; that nothing followed is not.
            limit = None if limit == "incomplete" else limit
            return ExternalResult("solved", best, _cost(best), limit, note, seconds, expanded, evaluated)
        if limit is None:
            limit, note = "failed", f"{self} ended without a plan and without an error{_tail(finished)}"
        return ExternalResult("limit", [], None, limit, note, seconds, expanded, evaluated)


def find_driver() -> Path | None:
    """The driver in the package up-fast-downward, found without importing that package."""
    spec = importlib.util.find_spec("up_fast_downward")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / "downward" / "fast-downward.py"
    return path if path.is_file() else None


def numbered_sas(task: Task, state: _core.State | None) -> str:
    """The task as SAS text from another state, with actions named by number: names need not be unique."""
    text = task.sas
    if state is not None:
        values = "\n".join(map(str, state.values))
        text = re.sub(r"begin_state\n.*?\nend_state", f"begin_state\n{values}\nend_state", text, flags=re.S)
    numbers = iter(range(len(task.actions)))
    return re.sub(r"(?<=\nbegin_operator\n).*", lambda _: f"action-{next(numbers)}", text)


def read_plan(task: Task, state: _core.State | None, text: str) -> list[_core.Action]:
    """The plan in a file that a planner wrote for `numbered_sas`; InputError where it is no plan."""
    plan = []
    at = task.initial_state if state is None else state
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(";") or not line.strip():
            continue
        match = re.fullmatch(r"\(action-(\d+) ?\)", line.strip())
        if match is None or int(match[1]) >= len(task.actions):
            raise InputError(f"line {number}, {line[:60]!r}, is no action of the task")
        plan.append(task.actions[int(match[1])])
        try:
            at = task.apply(at, plan[-1])
        except InputError:
            raise InputError(f"step {len(plan)}, {plan[-1].name}, is not applicable") from None
    if not task.is_goal(at):
        raise InputError("it ends in a state that is not a goal state")
    return plan


def _reason(finished: Finished) -> tuple[str | None, str]:
    """Why there may be no plan, or no better one."""
    if finished.limit == "stopped":
        return "stopped", "the planner was stopped when somebody asked for it"
    if finished.limit is not None or finished.exit_code in _OUT_OF_TIME:
        return "seconds", "the planner was stopped when its time was up"
    if finished.exit_code in _OUT_OF_MEMORY or "bad_alloc" in finished.output:
        return "memory", "the planner ran out of memory"
    if finished.exit_code in _NO_PLAN_EXISTS:
        return "incomplete", "the planner says that there is no plan, which nobody checked"
    if finished.exit_code == _SEARCH_ENDED:
        return "incomplete", "the planner gave up; its search is incomplete"
    if finished.exit_code < 0:
        return "failed", f"the planner was killed by signal {-finished.exit_code}{_tail(finished)}"
    if finished.exit_code > _SEARCH_ENDED:
        return "failed", f"the planner failed with exit code {finished.exit_code}{_tail(finished)}"
    return None, ""


def _tail(finished: Finished, *, lines: int = 5) -> str:
    kept = [line for line in finished.output.splitlines() if line.strip()][-lines:]
    return "".join(f"\n  {line}" for line in kept)


def _count(word: str, output: str) -> int:
    """The number of states that the last search of the planner told."""
    found = re.findall(rf"{word} (\d+) state", output)
    return int(found[-1]) if found else 0


def _cost(plan: list[_core.Action]) -> int:
    return sum(action.cost for action in plan)
