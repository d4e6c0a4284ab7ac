"""A bug for the eye: what the policy does and what would be better, in two columns."""

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from misstep.explain.words import does
from misstep.loading import recorded_task
from misstep.record.record import Record
from misstep.record.replay import Replay, Replayed
from misstep.task import Task

if TYPE_CHECKING:
    from misstep.safety.replay import ModelReplay, ReplayedModel

_ENDS = {
    "stuck": "the policy gives no action",
    "illegal": "the policy's answer is not applicable",
    "dead-end": "the goal is out of reach",
    "cut-off": "the run was cut off",
    "failed": "the policy failed to answer",
}


def show_bug(record: Record, certificate: dict[str, Any]) -> list[str]:
    """A bug of a record: what goes wrong, both courses side by side, what the certificate proves."""
    if is_safety(certificate):
        from misstep.reports.show_safety import show_model_bug  # the JANI side is loaded when it is needed

        return show_model_bug(record, certificate)
    head = f"bug {certificate.get('id')}: the policy {does(certificate['run']['outcome'])}"
    return [head, *side_by_side(recorded_task(record), certificate)]


def is_safety(certificate: dict[str, Any]) -> bool:
    """Whether a certificate is about a JANI model."""
    return certificate.get("kind") == "safety"


def show_replayed(
    again: "Replay | ModelReplay", found: "Replayed | ReplayedModel", certificate: dict[str, Any]
) -> list[str]:
    """What the policy does now, beside the known plan where there is one."""
    if not isinstance(again, Replay) or not isinstance(found, Replayed):
        from misstep.reports.show_safety import show_replayed_model

        return show_replayed_model(found)
    run = {"outcome": found.run.outcome, "actions": [action.name for action in found.run.actions]}
    same = run["actions"] == certificate["run"]["actions"]
    return side_by_side(
        again.task, {**certificate, "run": run, "fault": certificate["fault"] if same else None}
    )


def bug_json(record: Record, certificate: dict[str, Any]) -> dict[str, Any]:
    """The same as data."""
    if is_safety(certificate):
        from misstep.reports.show_safety import model_bug_json

        return model_bug_json(record, certificate)
    return dict(certificate)


def side_by_side(task: Task, certificate: dict[str, Any]) -> list[str]:
    """The policy's run and the plan of a bug's certificate, with costs; `>` marks the decision at fault."""
    policy, better = certificate["run"]["actions"], certificate["witness"]
    fault = certificate["fault"]["step"] if certificate["fault"] is not None else None
    solved = certificate["run"]["outcome"] == "solved"
    lines = [*_priced(task, policy), _total(task, policy) if solved else _end(task, certificate)]
    left = ["  the policy", *(f"{'>' if at == fault else ' '} {line}" for at, line in enumerate(lines))]
    right = ["a better way", *_priced(task, better), _total(task, better)]
    width = max(map(len, left))
    rows = zip_longest(left, right, fillvalue="")
    return [f"{one:<{width}}  |  {other}".rstrip() for one, other in rows]


def _priced(task: Task, names: list[str]) -> list[str]:
    width = max(map(len, names), default=0)
    return [f"{name:<{width}} {task.action(name).cost:>3}" for name in names]


def _total(task: Task, names: list[str]) -> str:
    return f"goal reached at cost {sum(task.action(name).cost for name in names)}"


def _end(task: Task, certificate: dict[str, Any]) -> str:
    """How a run ended; for a loop the step from which on it repeats."""
    outcome = certificate["run"]["outcome"]
    if outcome != "loop":
        return _ENDS[outcome]
    state = task.state(certificate["state"])
    seen = [state]
    for name in certificate["run"]["actions"]:
        # Where the translator split an action into several of one name, one that works here.
        state = next(after for action, after in task.successors(state) if action.name == name)
        if state in seen:
            break
        seen.append(state)
    return f"and so on from step {seen.index(state) + 1}, for ever"
