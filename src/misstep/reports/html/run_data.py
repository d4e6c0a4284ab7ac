"""The bugs of a safety test as small data for a page: every state of the unsafe runs once."""

import math
from typing import Any

from misstep.reports.html.course_data import most_telling
from misstep.reports.html.markup import safe_text
from misstep.reports.report import Report
from misstep.reports.show_safety import HEADLINE, is_fault, model_misstep, model_proof, safe_course, why_safe
from misstep.safety.course import SafeCourses
from misstep.safety.recorded import Key, RecordedEvidence


def model_data(report: Report) -> dict[str, Any]:
    """All that the page needs to show the bugs of a record."""
    evidence = RecordedEvidence.read(report.record)
    courses = SafeCourses(report.record, evidence)
    rows: list[list[Any]] = []
    numbers: dict[Key, int] = {}
    bugs = []
    for bug in most_telling(report):
        keys, steps = evidence.keys(bug.certificate), evidence.run(bug.certificate)
        for key, step in zip(keys, steps, strict=True):
            if key not in numbers:
                numbers[key] = len(rows)
                values = [_value(value) for value in step.state.values()]
                told = [None if word is None else safe_text(word) for word in (step.action, step.alternative)]
                rows.append([values, *told, int(step.is_safe), int(step.is_lost)])
        replay = bug.certificate.get("replay")
        course = safe_course(courses, bug.certificate)
        bugs.append(
            {
                "id": safe_text(str(bug.certificate.get("id", bug.id))),
                "head": HEADLINE,
                "run": [numbers[key] for key in keys],
                "faults": [at for at in range(len(steps) - 1) if is_fault(steps, at)],
                "misstep": safe_text(model_misstep(steps)),
                "why": None if course is None else safe_text(why_safe(steps, course)),
                "proof": model_proof(bug.certificate),
                "replay": None if replay is None else safe_text(str(replay)),
            }
        )
    fields = [safe_text(str(name)) for name in evidence.header["fields"]]
    return {"kind": "model", "fields": fields, "states": rows, "bugs": bugs}


def _value(value: object) -> object:
    """A number that JSON has; all else is shown as text."""
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return safe_text(str(value))
