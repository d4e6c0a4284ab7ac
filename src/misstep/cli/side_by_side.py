"""A bug for the eye: what the policy does and what would be better, in two columns."""

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from misstep.task import Task

_ENDS = {
    "solved": "the goal is reached",
    "stuck": "the policy gives no action",
    "illegal": "the policy's answer is not applicable",
    "dead-end": "the goal is out of reach",
    "cut-off": "the run was cut off",
}


def side_by_side(task: "Task", certificate: dict[str, Any]) -> list[str]:
    """The policy's run and the plan of a bug's certificate, with costs; `>` marks the decision at fault."""
    policy, better = certificate["run"]["actions"], certificate["witness"]
    fault = certificate["fault"]["step"] if certificate["fault"] is not None else None
    left = [f"{'>' if at == fault else ' '} {text}" for at, text in enumerate(_priced(task, policy))]
    left.append(f"  {_end(task, certificate)}")
    right = [*_priced(task, better), _total(task, better)]
    if certificate["run"]["outcome"] == "solved":
        left[-1] = f"  {_total(task, policy)}"
    width = max(map(len, left))
    rows = zip_longest(["  the policy", *left], ["a better way", *right], fillvalue="")
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
        state = task.apply(state, task.action(name))
        if state in seen:
            break
        seen.append(state)
    return f"and so on from step {seen.index(state) + 1}, for ever"
