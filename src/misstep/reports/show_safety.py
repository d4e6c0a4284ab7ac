"""An unsafe run for the eye: what changes step by step, the decision at fault, the safe alternative."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from misstep.record.record import Record
from misstep.reports.text import USUAL_WIDTH, filled, listed, padded, whole, width_of
from misstep.safety.course import SafeCourse, SafeCourses
from misstep.safety.model import StateDict
from misstep.safety.recorded import RecordedEvidence, Step
from misstep.safety.replay import ReplayedModel

MOST_OUTCOMES = 3
HEADLINE = "the policy can reach an unsafe state; a safe course exists"


def show_model_bug(record: Record, certificate: dict[str, Any], *, width: int = USUAL_WIDTH) -> list[str]:
    """A bug of a record: the run to an unsafe state, and where a safe course was left."""
    evidence = RecordedEvidence.read(record)
    steps = evidence.run(certificate)
    course = safe_course(SafeCourses(record, evidence), certificate)
    head = f"bug {certificate.get('id')}: {HEADLINE}"
    again = certificate.get("replay")
    where = [] if again is None else [f"Ask the policy again: {again}"]
    return [*filled(head, width), "", *explained_run(steps, certificate, course, width=width), *where]


def explained_run(
    steps: Sequence[Step], certificate: dict[str, Any], course: SafeCourse | None = None, *, width: int
) -> list[str]:
    """A run and below it the misstep, why the alternative is safe, and what the certificate proves."""
    said = [f"Misstep: {model_misstep(steps)}"]
    if course is not None:
        said.append(f"Safe: {why_safe(steps, course)}")
    said.append(f"Proven: {model_proof(certificate)}")
    return [*show_run(steps, width=width), "", *(line for text in said for line in filled(text, width))]


def show_run(steps: Sequence[Step], *, width: int = USUAL_WIDTH) -> list[str]:
    """A run, one decision a line with what it changes; `>` marks the decisions at fault."""
    if not steps:
        return []
    rows = [
        (step.action or "no action", _changes(step.state, following.state) or ["nothing"])
        for step, following in pairwise(steps)
    ]
    name = max([len("action"), *(width_of(whole(action)) for action, _ in rows)])
    lines = ["It starts where:", *listed(_values(steps[0].state), width), ""]
    if name > width // 2:  # what changes needs the other half, so it comes below the action
        lines.append("step   action, and below it what changes")
        for number, (action, changes) in enumerate(rows, start=1):
            lines.append(f"{number:>4} {_mark(steps, number)} {whole(action)}")
            lines += listed(changes, width, indent=9)
    else:
        lines.append(f"step   {padded('action', name)}  what changes")
        for number, (action, changes) in enumerate(rows, start=1):
            first, *rest = listed(changes, width - name - 9, indent=0)
            lines.append(f"{number:>4} {_mark(steps, number)} {padded(whole(action), name)}  {first}")
            lines += [f"{'':{name + 9}}{line}" for line in rest]
    return [*lines, "This is unsafe:", *listed(_values(steps[-1].state), width)]


def _mark(steps: Sequence[Step], number: int) -> str:
    return ">" if is_fault(steps, number - 1) else " "


def show_replayed_model(found: object, certificate: dict[str, Any], *, width: int = USUAL_WIDTH) -> list[str]:
    """What the policy does now, where it can still reach an unsafe state."""
    if not isinstance(found, ReplayedModel) or not found.steps:
        return []
    return explained_run(found.steps, certificate, width=width)


def model_bug_json(record: Record, certificate: dict[str, Any]) -> dict[str, Any]:
    """A bug as data: the certificate, its run with all states and actions, the steps that are at fault."""
    evidence = RecordedEvidence.read(record)
    steps, course = evidence.run(certificate), safe_course(SafeCourses(record, evidence), certificate)
    run = {
        **(certificate.get("run") or {}),
        "actions": [step.action for step in steps[:-1]],
        "states": [step.state for step in steps],
        "safe": [step.is_safe for step in steps],
        "missteps": [at for at in range(len(steps) - 1) if is_fault(steps, at)],
    }
    return {**certificate, "run": run, "safe_course": None if course is None else course.as_json()}


def is_fault(steps: Sequence[Step], at: int) -> bool:
    """Whether the decision after so many steps leaves the safe states for ever."""
    return steps[at].is_safe and steps[at + 1].is_lost


def model_misstep(steps: Sequence[Step]) -> str:
    """The first decision at fault, in words."""
    at = _first_fault(steps)
    if at is None:
        return "no single decision could be proven to be wrong."
    instead = "" if steps[at].alternative is None else f" instead of {steps[at].alternative}"
    outcome = _outcome(steps[at].state, steps[at + 1].state)
    return f"step {at + 1}, {steps[at].action}{instead}; after it ({outcome}) nobody can avoid unsafe states"


def _first_fault(steps: Sequence[Step]) -> int | None:
    return next((at for at in range(len(steps) - 1) if is_fault(steps, at)), None)


def safe_course(courses: SafeCourses, certificate: dict[str, Any]) -> SafeCourse | None:
    """What the strategy does where the policy made its first misstep, and where that leads."""
    at = _first_fault(courses.evidence.run(certificate))
    return None if at is None else courses.of(courses.evidence.keys(certificate)[at])


def why_safe(steps: Sequence[Step], course: SafeCourse) -> str:
    """Why what the strategy does at the first misstep is safe, in words."""
    at = _first_fault(steps)
    before = {} if at is None else steps[at].state
    ways = [_outcome(before, after) for after in course.outcomes[:MOST_OUTCOMES]]
    more = len(course.outcomes) - len(ways)
    listed_ways = "; or ".join(ways) + (f"; or {more} other states" if more > 0 else "")
    count = f"{course.states:,}" if course.is_whole else f"more than {course.states:,}"
    states = "1 state" if count == "1" else f"{count} states"
    unsafe = "and it is not unsafe" if count == "1" else "and none of them is unsafe"
    goal = ", and the goal is among them" if course.goals and course.states > 1 else ""
    return (
        f"{course.action} ({listed_ways}): going on by the strategy, {states} can be reached, {unsafe}{goal}"
    )


def model_proof(certificate: dict[str, Any]) -> str:
    """What the certificate proves, in words."""
    radius = certificate.get("radius")
    most = "" if radius is None else f" with at most {radius} deviations from the policy"
    return f"from the first state a strategy stays safe{most}; what the policy does leads to an unsafe state."


def _changes(before: StateDict, after: StateDict) -> list[str]:
    return [
        f"{name} {before.get(name)} -> {value}" for name, value in after.items() if before.get(name) != value
    ]


def _outcome(before: StateDict, after: StateDict) -> str:
    return ", ".join(_changes(before, after)) or "nothing changes"


def _values(state: dict[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in state.items()]
