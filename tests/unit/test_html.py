"""The page as text: everything is escaped, and its small data says the same as the certificates."""

import json
import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep import InputError, PartError
from misstep.drawing import Edge, Place, Role, Scene
from misstep.drawings.rules import usual_scene
from misstep.events import Finished, Judged, Misstep, Started
from misstep.judge import Verdict
from misstep.loading import recorded_task
from misstep.reference import fdr
from misstep.reports.comparison import compare
from misstep.reports.html.charts import bugs_over_time, gap_bars
from misstep.reports.html.course_data import task_data
from misstep.reports.html.drawn import drawn_scene
from misstep.reports.html.markup import element, safe_text, script_json
from misstep.reports.html.page import make_page
from misstep.reports.html.sections import oracle_table
from misstep.reports.report import Report
from misstep.reports.show import explain, headline
from misstep.reports.summary import kinds
from misstep.tally import Tally
from misstep.testing.random_tasks import to_sas
from tests.conftest import COURIER

BAD = "</script><script>alert(1)</script>\"'&\x1b[31m"


@cache
def report() -> Report:
    return misstep.test(COURIER, "heuristic:ff", pool=12, oracle="planner:lazy:ff")


def data_of(page: str) -> Any:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found)


def test_texts_are_escaped() -> None:
    made = element("p", BAD, title=BAD, hidden=True, id=None)
    assert "<script" not in made and "\x1b" not in made
    assert made.count("&lt;/script&gt;") == 4 and " hidden" in made and " id" not in made
    assert element("b", element("i", "x"), 3, None, ["<", element("br")]) == "<b><i>x</i>3&lt;<br/></b>"


def test_data_cannot_end_its_script() -> None:
    text = script_json({"a": BAD, "b": "\u2028"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": BAD, "b": "\u2028"}


def test_long_names_are_cut_and_stay_different() -> None:
    one, other = "a" * 100_000 + "x" + "a" * 100_000, "a" * 100_000 + "y" + "a" * 100_000
    assert safe_text(one) != safe_text(other)
    assert len(safe_text(one)) < 100
    assert safe_text(f"(at {one} b)") == f"(at {safe_text(one)} b)"  # the same name inside an atom
    assert len(safe_text("a b " * 100_000)) <= 2000
    assert safe_text("(at van depot)") == "(at van depot)"


def test_the_small_data_leads_through_the_same_states() -> None:
    """Courses that are followed by values alone, as the page does, against the ones of the certificates."""
    task = recorded_task(report().record)
    data = json.loads(script_json(task_data(report(), task, usual_scene(task))))
    assert len(data["bugs"]) == len(report().bugs) > 3
    for bug, small in zip(report().bugs, data["bugs"], strict=True):
        both = compare(task, bug.certificate)
        said = explain(both, bug.certificate)
        start = list(data["initial"])
        for at in range(0, len(small["start"]), 2):
            start[small["start"][at]] = small["start"][at + 1]
        shared, *rest = small["plan"]
        numbers = (small["run"], [*small["run"][:shared], *rest])
        for course, steps in zip((both.policy, both.better), numbers, strict=True):
            states = [list(start)]
            for number in steps:
                effect = data["actions"][number][2]
                following = list(states[-1])
                for at in range(0, len(effect), 2):
                    following[effect[at]] = effect[at + 1]
                states.append(following)
            assert states == [list(state.values) for state in course.states]
            assert [data["actions"][number][:2] for number in steps] == [
                [action.name, action.cost] for action in course.actions
            ]
        texts = data["texts"]
        assert texts[small["head"]] == headline(both)
        assert (texts[small["proof"]], texts[small["misstep"]]) == (said.proof, said.misstep)
        assert [texts[fact] for fact in small["needed"]] == said.needed
        assert (small["step"], small["until"], small["back"]) == (both.step, both.until, both.back_to)
        assert small["replay"] == bug.certificate.get("replay")


def test_the_page_says_what_was_found(tmp_path: Path) -> None:
    page = make_page([report()])
    found = report().finished
    assert f"<h1>{found.bugs} bugs in {found.tested} tested states</h1>" in page
    assert page == make_page([report()])
    for event in report().tally.bugs:
        assert f'href="#r0-bug-{event.id}"' in page
    assert "http://" not in re.sub(r"http://www\.w3\.org/\d+/svg", "", page)  # a name, not an address
    assert "https://" not in page and "innerHTML" not in page
    assert report().write_html(tmp_path / "page.html").read_text(encoding="utf-8") == page
    with pytest.raises(InputError, match="choose another --out"):
        report().write_html(tmp_path / "absent" / "page.html")


def test_the_page_begins_with_a_bug_that_is_well_explained() -> None:
    found = report()
    representatives = [kind.representative for kind in kinds(found.families)]
    assert len(representatives) > 1
    for told in representatives:  # the others have a wide window
        tally = Tally()
        for event in [*found.tally.judged.values(), found.finished]:
            if isinstance(event, Judged) and event.verdict is Verdict.BUG:
                until = 1 if event.id == told else 5
                event = replace(event, fault=Misstep(step=0, until=until, action=None, better=None))
            tally.add(event)
        assert f'data-first="{told}"' in make_page([Report(found.record, tally=tally)])


def test_several_tests_are_compared_first() -> None:
    page = make_page([report(), report()])
    assert page.index("Comparison") < page.index('id="r0"') < page.index('id="r1"')
    assert len(data_of(page)) == 2


def test_hostile_events_are_only_text() -> None:
    tally = Tally()
    tally.add(Started(task=BAD, policy=BAD, seed=0, oracles=()))
    tally.warnings.append(BAD)
    tally.add(Finished(tested=0, limits_hit=(f"{BAD}: {BAD}",), extra={"error": BAD}))
    page = make_page([Report(report().record, tally=tally)])
    assert "<script>alert" not in page and "\x1b" not in page
    assert page.count("<script") == 3


def test_a_test_without_bugs_has_no_viewer() -> None:
    tally = Tally()
    for event in report().tally.judged.values():
        if event.verdict is not Verdict.BUG:
            tally.add(event)
    page = make_page([Report(report().record, tally=tally)])
    assert "<h1>0 bugs in" in page and 'id="r0-viewer"' not in page


def test_oracles_that_settled_equally_many_states_stay_in_order() -> None:
    names, tally = [f"oracle-{number}" for number in range(12)], Tally()
    some = next(iter(report().tally.judged.values()))
    for number, name in enumerate(names):
        tally.add(replace(some, id=number, verdict=Verdict.CLEARED, oracle=name))
    shown = str(oracle_table(Report(report().record, tally=tally)))
    assert re.findall(r"oracle-\d+", shown) == names


def test_gaps_are_counted_once() -> None:
    assert gap_bars([1, 1, 3, math.inf]) == [("1", 2), ("2", 0), ("3", 1), ("never", 1)]
    many = [*range(1, 101), math.inf, math.inf]
    bars = gap_bars(many)
    assert len(bars) <= 13 and sum(count for _, count in bars) == len(many)
    assert bars[0] == ("1-9", 9) and bars[-1] == ("never", 2)
    assert gap_bars([math.inf]) == [("never", 1)]


def test_the_curve_ends_with_all_bugs() -> None:
    chart = bugs_over_time(report())
    assert chart is not None
    ends = [float(number) for number in re.findall(r"V([\d.]+)", chart.partition('class="curve"')[0])]
    assert min(ends) == 12.0  # the top


class Odd:
    """A drawing of somebody else's."""

    name = "odd"

    def __init__(self, made: object) -> None:
        self.made = made

    def scene(self, task: object, usual: object, /) -> Any:
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


PLACE = Place("a", 0, 0)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (ValueError("no idea"), "no idea"),
        (None, "returned NoneType instead of a Scene"),
        (Scene(layout="sphere"), "layout `sphere`"),
        (Scene(places=(PLACE, PLACE)), "two places of one name"),
        (Scene(places=(PLACE,), edges=(Edge(0, 1),)), "a way from place 0 to 1"),
        (Scene(roles={"at": Role("under")}), "the role `under`"),
        (PartError("it is not made for this task"), "it is not made for this task"),
        (Scene(places=(3,)), "'int' object has no attribute 'name'"),
        (Scene(places=(Place("a", math.nan, 0),)), "not JSON compliant"),
        (Scene(places=(Place("a", object(), 0),)), "not JSON serializable"),
        (
            Scene(notes={"van": 3}),  # type: ignore[dict-item]
            "'int' object is not iterable",
        ),
    ],
)
def test_a_bad_drawing_is_named_and_the_page_is_made_all_the_same(made: object, words: str) -> None:
    task = recorded_task(report().record)
    scene, problem = drawn_scene(task, Odd(made))
    assert scene == usual_scene(task)
    assert problem is not None and words in problem and "drawn by the rules for any domain" in problem
    assert isinstance(made, PartError) or "drawing `odd`" in problem
    told: list[str] = []
    page = make_page([report()], drawing=Odd(made), tell=told.append)
    assert told == [problem] and str(element("li", problem)) in page
    assert data_of(page) == data_of(make_page([report()]))


def test_where_our_rules_fail_states_are_lists_of_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep.reports.html.drawn.usual_scene", lambda task: 1 // 0)
    told: list[str] = []
    page = make_page([report()], tell=told.append)
    assert len(told) == 1 and "ZeroDivisionError" in told[0] and "a bug in misstep" in told[0]
    (data,) = data_of(page)
    assert data["scene"]["roles"] == {} and len(data["bugs"]) == len(report().bugs) > 0


def test_atoms_of_one_variable_with_different_numbers_of_arguments() -> None:
    """PDDL has a number of arguments for each predicate; a SAS file may name any atoms."""
    facts = (("(at home)", "(at)", "(at far away)"), ("(open)", "(open door)"))
    steps = [
        fdr.Action(f"(go {one} {other})", {0: one}, {0: other}, 1)
        for one, other in ((0, 1), (1, 2), (2, 0), (1, 0))
    ]
    unlock = fdr.Action("(unlock)", {1: 0}, {1: 1}, 1)
    task = misstep.Task(to_sas(fdr.Task(facts, (0, 0), {0: 2}, (*steps, unlock))))
    moves = {"(at home)": "(go 0 1)", "(at)": "(go 1 0)"}
    walk = misstep.per_state(
        lambda state: task.action(next(moves[fact] for fact in state.facts if fact in moves))
    )
    found = misstep.test(task, walk, pool=4)
    told: list[str] = []
    (data,) = data_of(make_page([found], tell=told.append))
    assert told == [] and len(data["bugs"]) == len(found.bugs) > 0
    assert {role[0] for role in data["scene"]["roles"].values()} == {"tag"}


def test_a_good_drawing_is_used() -> None:
    scene = Scene(places=(PLACE,), layout="map")
    assert drawn_scene(recorded_task(report().record), Odd(scene)) == (scene, None)


def test_judged_rows_name_the_misstep() -> None:
    page = make_page([report()])
    faults = [event.fault for event in report().tally.bugs if isinstance(event, Judged) and event.fault]
    assert faults and all(f"step {fault.step + 1}, " in page for fault in faults if fault.is_single)
