"""The engine as a library: `misstep.test(task, policy, ...)` and what it takes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Event
from misstep.formats.unified import is_unified_problem, unified_texts
from misstep.pddl import is_pddl_text
from misstep.policy import Policy, PolicyPart
from misstep.record.record import Record
from misstep.reports.report import Report
from misstep.session import Session
from misstep.task import Task, load

_PARTS = ("oracle", "objective", "fuzzer", "bias")
TaskLike: TypeAlias = Any
"""A `Task` or `SafetyTask`; a pair (domain, problem) of files or texts; a JANI or SAS file; a unified-planning
`Problem`."""


def test(
    task: TaskLike,
    policy: str | Policy | PolicyPart,
    *,
    out: str | Path | None = None,
    on_event: Callable[[Event], None] | None = None,
    jobs: int = 1,
    **options: Any,
) -> Report:
    """Tests a policy on a task and returns what was found.

    `policy` is a text as on the command line, or a callable that takes a batch of states and returns an
    action, an action's name or None for each. A function of one state is taken as it is where it says so: its first
    parameter is called `state`, or annotated with State; `misstep.per_state` lifts any other one.
    `options` are the fields of `misstep.Config`: `pool=100`, `seed=0`, `seconds=None`, `oracle=...`,
    `bias=...`, `fuzzer=...`, `objective=...`; the last four may be texts or parts. With `out` the record is
    a directory; else it is kept in memory, and `report.save(directory)` writes it. `jobs` threads work on
    coming states of a task; the result is the same, whatever their number. `on_event` is called with every
    event, and about once a second with a `misstep.Progress`: how the test goes, in numbers.
    """
    session = make_session(task, policy, **options)
    session.jobs, session.progress_seconds = jobs, None if on_event is None else 1.0
    if out is not None:
        session.record = Record.create(Path(out))
    try:
        for event in session.events():
            if on_event is not None:
                on_event(event)
    finally:
        session.record.close()
    return Report(session.record, tally=session.tally)


def make_session(task: TaskLike, policy: str | Policy | PolicyPart, **options: Any) -> Session:
    """A session in memory whose task and policy are given as objects or as texts."""
    given = {name: value for name, value in options.items() if value is not None}
    parts = {kind: given.pop(kind) for kind in _PARTS if _is_part(given.get(kind))}
    if "oracle" in parts and not isinstance(parts["oracle"], list | tuple):
        parts["oracle"] = [parts["oracle"]]
    named, made = _resolve(task, unit_cost=bool(given.get("unit_cost", False)))
    text = policy if isinstance(policy, str) else policy_name(policy)
    config = Config.from_table({**named, "policy": text, **given}, where="misstep.test")
    return Session(config, task=made, policy=None if isinstance(policy, str) else policy, parts=parts)


def _is_part(value: object) -> bool:
    """Whether a part came as an object; texts go into the configuration."""
    first = next(iter(value), None) if isinstance(value, list | tuple) else value
    return first is not None and not isinstance(first, str)


def policy_name(policy: object) -> str:
    """How records call a policy that came as an object; it cannot be loaded again by that name."""
    name = getattr(policy, "__name__", None) or type(policy).__name__
    return f"object:{name}"


def _resolve(task: TaskLike, *, unit_cost: bool) -> tuple[dict[str, Any], Task | None]:
    """What the configuration names, or the task itself."""
    if isinstance(task, Task):
        return {}, task
    if is_unified_problem(task):
        task = unified_texts(task)
    if isinstance(task, tuple | list) and len(task) == 2:
        if any(is_pddl_text(part) for part in task):
            return {}, load(*task, unit_cost=unit_cost)
        return {"domain": str(task[0]), "problem": str(task[1])}, None
    if isinstance(task, str | Path):
        kind = "model" if Path(task).suffix.lower() == ".jani" else "domain"
        return {kind: str(task)}, None
    from misstep.safety.model import SafetyTask  # the JANI side is loaded when it is needed

    if isinstance(task, SafetyTask):
        if task.asked is None:
            raise InputError(
                "a SafetyTask that is tested comes from a file: SafetyTask.load(FILE), misstep.load(FILE)"
            )
        return dict(task.asked), None
    raise InputError(
        "a task is a misstep.Task or SafetyTask, a pair (domain, problem) of files or PDDL texts, a JANI or "
        f"SAS file, or a unified-planning Problem, but this is {type(task).__name__}"
    )
