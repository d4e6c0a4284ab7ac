"""An unsafe run for the eye: what changes step by step, the decision at fault, the safe alternative."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from misstep.record.record import Record
from misstep.safety.recorded import RecordedEvidence, Step
from misstep.safety.replay import ReplayedModel


def show_model_bug(record: Record, certificate: dict[str, Any]) -> list[str]:
    """A bug of a record: the run to an unsafe state, and where a safe course was left."""
    steps = RecordedEvidence.read(record).run(certificate)
    head = f"bug {certificate.get('id')}: the policy can reach an unsafe state; a safe course exists"
    return [head, *show_run(steps), *_proof(certificate)]


def show_run(steps: Sequence[Step]) -> list[str]:
    """A run, one decision a line with what it changes; `>` marks the decisions at fault."""
    if not steps:
        return []
    rows = [("", "", f"{_values(steps[0].state)}")]
    for number, (step, following) in enumerate(pairwise(steps), start=1):
        at_fault = step.is_safe and following.is_lost
        left = f"{'>' if at_fault else ' '} {number}"
        rows.append((left, step.action or "no action", _changes(step, following)))
        if at_fault and step.alternative is not None:
            rows.append(
                ("", "", f"misstep: after this nobody can avoid unsafe states; {step.alternative} is safe")
            )
    width = max(len(left) for left, _, _ in rows)
    actions = max(len(action) for _, action, _ in rows)
    lines = [f"{left:<{width}}  {action:<{actions}}  {text}".rstrip() for left, action, text in rows]
    return [*lines, f"{'':<{width}}  unsafe: {_values(steps[-1].state)}"]


def show_replayed_model(found: object) -> list[str]:
    """What the policy does now, where it can still reach an unsafe state."""
    return show_run(found.steps) if isinstance(found, ReplayedModel) else []


def model_bug_json(record: Record, certificate: dict[str, Any]) -> dict[str, Any]:
    """A bug as data: the certificate, its run with all states and actions."""
    steps = RecordedEvidence.read(record).run(certificate)
    run = {
        **(certificate.get("run") or {}),
        "actions": [step.action for step in steps[:-1]],
        "states": [step.state for step in steps],
        "safe": [step.is_safe for step in steps],
    }
    return {**certificate, "run": run}


def _proof(certificate: dict[str, Any]) -> list[str]:
    radius = certificate.get("radius")
    if radius is None:
        return []
    return [f"safe with at most {radius} deviations from the policy"]


def _changes(before: Step, after: Step) -> str:
    changed = [
        f"{name} {before.state.get(name)} -> {value}"
        for name, value in after.state.items()
        if before.state.get(name) != value
    ]
    return ", ".join(changed) or "nothing changes"


def _values(state: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in state.items())
