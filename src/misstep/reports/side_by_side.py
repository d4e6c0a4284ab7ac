"""A bug for the eye: what the policy does and what would be better, in two columns."""

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from misstep.task import Task

_ENDS = {
    "stuck": "the policy gives no action",
    "failed": "the policy gave no decision",
    "illegal": "the policy's answer is not applicable",
    "dead-end": "the goal is out of reach",
    "cut-off": "the run was cut off",
}


def side_by_side(task: "Task", certificate: dict[str, Any]) -> list[str]:
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


def _priced(task: "Task", names: list[str]) -> list[str]:
    width = max(map(len, names), default=0)
    return [f"{name:<{width}} {task.action(name).cost:>3}" for name in names]


def _total(task: "Task", names: list[str]) -> str:
    return f"goal reached at cost {sum(task.action(name).cost for name in names)}"


def _end(task: "Task", certificate: dict[str, Any]) -> str:
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
