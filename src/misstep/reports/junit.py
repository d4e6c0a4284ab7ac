"""JUnit XML, which every CI system shows: one case a family of bugs, one a rule."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from misstep.explain.words import counted, does, limit_words
from misstep.record.store import write_whole
from misstep.reports.difference import FamilyKey
from misstep.reports.failures import nothing_tested, undecided_rules
from misstep.reports.report import Report
from misstep.reports.rules import Rules, breaks_a_rule
from misstep.reports.summary import summary_lines
from misstep.reports.text import USUAL_WIDTH, harmless, shorten
from misstep.status import is_dead, tested

# What XML 1.0 cannot hold at all, not even written as a number.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Names of cases are shown in lists; what the policy does is in the text of the case.
_LONGEST_NAME = 200


def write_junit(
    file: Path,
    reports: Sequence[Report],
    *,
    rules: Rules | None,
    broken: Mapping[str, str],
    known: Collection[FamilyKey] = (),
) -> None:
    """Writes the file, complete or not at all."""
    root = Xml.Element("testsuites", name="misstep")
    for report in reports:
        _suite(root, report, rules, known)
    if rules is not None:
        suite = Xml.SubElement(root, "testsuite", name="rules")
        undecided = undecided_rules(reports)
        for name in rules.given:
            case = _case(suite, "misstep.rules", name)
            if name in broken:
                _mark(case, "failure", broken[name], "")
            elif undecided is not None:
                _mark(case, "skipped", undecided, "")
        _count(suite)
    _count(root, inner=True)
    Xml.indent(root)
    write_whole(
        file, '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"
    )


def _suite(root: Xml.Element, report: Report, rules: Rules | None, known: Collection[FamilyKey]) -> None:
    started, found = report.tally.started, report.finished
    task = "?" if started is None else started.task
    suite = Xml.SubElement(root, "testsuite", name=_clean(task), time=f"{found.seconds.get('total', 0):.3f}")
    where = f"misstep.{_clean(task)}"
    if report.error is not None:
        _mark(_case(suite, where, "loading"), "error", report.error, "")
    elif not tested(found):
        _mark(_case(suite, where, "testing"), "skipped", "; ".join(map(limit_words, found.limits_hit)), "")
    else:
        _families(suite, where, report, rules, known)
        out = Xml.SubElement(suite, "system-out")
        out.text = _clean("\n".join(summary_lines(report)))
    _count(suite)


def _families(
    suite: Xml.Element, where: str, report: Report, rules: Rules | None, known: Collection[FamilyKey]
) -> None:
    for number, family in enumerate(report.families, start=1):
        said = does(family.outcome) + ("" if family.schema is None else f" ({family.schema})")
        case = _case(suite, where, f"family {number}: the policy {said}")
        text = report.show(family.representative, width=USUAL_WIDTH)  # whatever terminal writes it
        if breaks_a_rule(report, family, rules, known):
            _mark(case, "failure", f"{counted(len(family.members), 'bug')}: the policy {said}", text)
        else:
            Xml.SubElement(case, "system-out").text = _clean(text)
    if is_dead(report.finished):
        why = nothing_tested(report.finished, report.failures) or ""
        reasons = dict.fromkeys(failure.reason for failure in report.failures)
        _mark(_case(suite, where, "answers of the policy"), "error", why, "\n".join(reasons))
    elif not report.families:
        _case(suite, where, "no bugs")


def _case(suite: Xml.Element, where: str, name: str) -> Xml.Element:
    return Xml.SubElement(suite, "testcase", classname=where, name=_clean(shorten(name, _LONGEST_NAME)))


def _mark(case: Xml.Element, tag: str, message: str, text: str) -> None:
    mark = Xml.SubElement(case, tag, message=_clean(message))
    mark.text = _clean(text)


def _count(suite: Xml.Element, *, inner: bool = False) -> None:
    cases = list(suite.iter("testcase")) if inner else suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))


def _clean(text: str) -> str:
    """The text without characters that XML cannot hold, which are written out instead."""
    return _IMPOSSIBLE.sub(
        lambda found: found[0].encode("unicode_escape").decode(), harmless(text, keep_lines=True)
    )
