"""An unsafe run for the eye: what changes step by step, the decision at fault, the safe alternative."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from misstep.record.record import Record
from misstep.reports.text import USUAL_WIDTH, filled, harmless, listed, padded, width_of
from misstep.safety.recorded import RecordedEvidence, Step
from misstep.safety.replay import ReplayedModel

HEADLINE = "the policy can reach an unsafe state; a safe course exists"


def show_model_bug(record: Record, certificate: dict[str, Any], *, width: int = USUAL_WIDTH) -> list[str]:
    """A bug of a record: the run to an unsafe state, and where a safe course was left."""
    steps = RecordedEvidence.read(record).run(certificate)
    head = f"bug {certificate.get('id')}: {HEADLINE}"
    again = certificate.get("replay")
    where = [] if again is None else [f"Ask the policy again: {again}"]
    return [*filled(head, width), "", *explained_run(steps, certificate, width=width), *where]


def explained_run(steps: Sequence[Step], certificate: dict[str, Any], *, width: int) -> list[str]:
    """A run and below it the misstep and what the certificate proves."""
    proven = filled(f"Proven: {model_proof(certificate)}", width)
    misstep = filled(f"Misstep: {model_misstep(steps)}", width)
    return [*show_run(steps, width=width), "", *misstep, *proven]


def show_run(steps: Sequence[Step], *, width: int = USUAL_WIDTH) -> list[str]:
    """A run, one decision a line with what it changes; `>` marks the decisions at fault."""
    if not steps:
        return []
    rows = [(step.action or "no action", _changes(step, following)) for step, following in pairwise(steps)]
    longest = max([len("action"), *(width_of(harmless(action[:200])) for action, _ in rows)])
    name = min(longest, max(len("action"), width // 3))
    lines = ["It starts where:", *listed(_values(steps[0].state), width), ""]
    lines.append(f"step   {padded('action', name)}  what changes")
    for number, (action, changes) in enumerate(rows, start=1):
        mark = ">" if is_fault(steps, number - 1) else " "
        first, *rest = listed(changes, width - name - 9, indent=0)
        lines.append(f"{number:>4} {mark} {padded(action, name)}  {first}")
        lines += [f"{'':{name + 9}}{line}" for line in rest]
    return [*lines, "This is unsafe:", *listed(_values(steps[-1].state), width)]


def show_replayed_model(found: object, certificate: dict[str, Any], *, width: int = USUAL_WIDTH) -> list[str]:
    """What the policy does now, where it can still reach an unsafe state."""
    if not isinstance(found, ReplayedModel) or not found.steps:
        return []
    return explained_run(found.steps, certificate, width=width)


def model_bug_json(record: Record, certificate: dict[str, Any]) -> dict[str, Any]:
    """A bug as data: the certificate, its run with all states and actions, the steps that are at fault."""
    steps = RecordedEvidence.read(record).run(certificate)
    run = {
        **(certificate.get("run") or {}),
        "actions": [step.action for step in steps[:-1]],
        "states": [step.state for step in steps],
        "safe": [step.is_safe for step in steps],
        "missteps": [at for at in range(len(steps) - 1) if is_fault(steps, at)],
    }
    return {**certificate, "run": run}


def is_fault(steps: Sequence[Step], at: int) -> bool:
    """Whether the decision after so many steps leaves the safe states for ever."""
    return steps[at].is_safe and steps[at + 1].is_lost


def model_misstep(steps: Sequence[Step]) -> str:
    """The first decision at fault, in words."""
    at = next((at for at in range(len(steps) - 1) if is_fault(steps, at)), None)
    if at is None:
        return "no single decision could be proven to be wrong."
    instead = "" if steps[at].alternative is None else f" instead of {steps[at].alternative}"
    return f"step {at + 1}, {steps[at].action}{instead}; after it nobody can avoid unsafe states"


def model_proof(certificate: dict[str, Any]) -> str:
    """What the certificate proves, in words."""
    radius = certificate.get("radius")
    most = "" if radius is None else f" with at most {radius} deviations from the policy"
    return f"from the first state a strategy stays safe{most}; what the policy does leads to an unsafe state."


def _changes(before: Step, after: Step) -> list[str]:
    changed = [
        f"{name} {before.state.get(name)} -> {value}"
        for name, value in after.state.items()
        if before.state.get(name) != value
    ]
    return changed or ["nothing"]


def _values(state: dict[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in state.items()]
