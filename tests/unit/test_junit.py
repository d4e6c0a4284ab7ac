"""JUnit XML of hand-made and of real reports."""

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

import misstep
from misstep.events import Finished, Started
from misstep.record.record import Record
from misstep.reports.junit import write_junit
from misstep.reports.report import Report
from misstep.reports.rules import Rules
from misstep.tally import Tally

HOSTILE = "p<script>&\"'\x00\x1b[31m\u202e\ufffe\ud800]]>.pddl"


@pytest.fixture(scope="module")
def found() -> misstep.Report:
    from tests.conftest import COURIER

    return misstep.test(COURIER, "zoo:courier", pool=15)


def written(file: Path) -> Xml.Element:
    return Xml.fromstring(file.read_bytes())


def cases(root: Xml.Element, tag: str) -> list[str]:
    return [case.get("name", "") for case in root.iter("testcase") if case.find(tag) is not None]


def test_one_case_a_family(found: misstep.Report, tmp_path: Path) -> None:
    write_junit(tmp_path / "junit.xml", [found], rules=None, broken={})
    root = written(tmp_path / "junit.xml")
    assert len(cases(root, "failure")) == len(found.families) > 1
    (suite,) = root.findall("testsuite")
    for element in (root, suite):
        assert element.get("tests") == element.get("failures") == str(len(found.families))
    texts = [failure.text or "" for failure in root.iter("failure")]
    assert texts[0].startswith(f"bug {found.families[0].representative}: the policy")
    assert f"bugs      {len(found.bugs)}" in (suite.findtext("system-out") or "")


def test_with_rules_families_fail_that_break_one(found: misstep.Report, tmp_path: Path) -> None:
    known = {(family.outcome, family.schema) for family in found.families[1:]}
    rules = Rules(new_families=True, max_bug_rate=0.9)
    write_junit(tmp_path / "j.xml", [found], rules=rules, broken={"new_families": "1 family"}, known=known)
    root = written(tmp_path / "j.xml")
    first = found.families[0]
    alike = [family for family in found.families if (family.outcome, family.schema) not in known]
    assert first in alike or not alike
    assert len(cases(root, "failure")) == len(alike) + 1
    assert "new_families" in cases(root, "failure") and "max_bug_rate" not in cases(root, "failure")
    assert [case.get("name") for case in root.findall("testsuite[@name='rules']/testcase")] == [
        "max_bug_rate",
        "new_families",
    ]


def test_errors_and_what_was_not_tested(tmp_path: Path) -> None:
    reports = []
    for finished in (
        Finished(extra={"error": "cannot be read"}),
        Finished(limits_hit=("translate: seconds",)),
    ):
        started = Started(task="p.pddl", policy="p", seed=0, oracles=())
        reports.append(Report(Record.in_memory(), tally=Tally(started=started, finished=finished)))
    write_junit(tmp_path / "j.xml", reports, rules=None, broken={})
    root = written(tmp_path / "j.xml")
    assert cases(root, "error") == ["loading"] and cases(root, "skipped") == ["testing"]
    assert (root.get("errors"), root.get("skipped"), root.get("failures")) == ("1", "1", "0")


def test_hostile_names_are_valid_xml(tmp_path: Path) -> None:
    started = Started(task=HOSTILE, policy=HOSTILE, seed=0, oracles=())
    finished = Finished(extra={"error": HOSTILE * 1000})
    report = Report(Record.in_memory(), tally=Tally(started=started, finished=finished))
    write_junit(tmp_path / "j.xml", [report], rules=None, broken={})
    name = written(tmp_path / "j.xml").find("testsuite").get("name")
    assert name.startswith("p<script>&\"'\\x00\\x1b[31m\\u202e") and "]]>" in name
    assert name.isprintable()


DEAD = Finished(tested=3, unknown=3, failed=3)
LIVE = Finished(tested=3, cleared=3)


def summed_up(name: str, finished: Finished) -> Report:
    started = Started(task=name, policy="p", seed=0, oracles=())
    return Report(Record.in_memory(), tally=Tally(started=started, finished=finished))


def test_a_policy_that_is_dead_on_one_task_is_an_error_there(tmp_path: Path) -> None:
    reports = [summed_up("live.pddl", LIVE), summed_up("dead.pddl", DEAD)]
    write_junit(tmp_path / "j.xml", reports, rules=None, broken={})
    root = written(tmp_path / "j.xml")
    assert cases(root, "error") == ["answers of the policy"]
    assert [suite.get("errors") for suite in root.findall("testsuite")] == ["0", "1"]
    assert root.find(".//error").get("message") == ("nothing was tested: no usable answer in 3 of 3 states")


@pytest.mark.parametrize(("finished", "skipped"), [(DEAD, ["max_gap"]), (LIVE, [])])
def test_rules_about_nothing_are_no_rules_that_hold(
    tmp_path: Path, finished: Finished, skipped: list[str]
) -> None:
    write_junit(tmp_path / "j.xml", [summed_up("p", finished)], rules=Rules(max_gap=3), broken={})
    assert cases(written(tmp_path / "j.xml"), "skipped") == skipped
