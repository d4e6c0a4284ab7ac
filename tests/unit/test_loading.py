"""`misstep.load` takes what README promises: PDDL, SAS files, JANI models, problems of unified-planning."""

import json
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.bundled.models import generate
from misstep.errors import InputError
from misstep.safety.model import SafetyTask
from tests.conftest import COURIER


@pytest.fixture(scope="module")
def task() -> misstep.Task:
    return misstep.load(*COURIER)


def test_files_texts_and_a_domain_that_was_read_are_one_task(task: misstep.Task) -> None:
    texts = [file.read_text() for file in COURIER]
    assert misstep.load(texts[0], texts[1]) == task
    assert misstep.load(misstep.read_domain(COURIER[0]), COURIER[1]) == task
    assert misstep.load(domain=str(COURIER[0]), problem=str(COURIER[1])) == task


def test_a_sas_file(task: misstep.Task, tmp_path: Path) -> None:
    file = tmp_path / "output.sas"
    file.write_text(task.sas)
    for given in (file, str(file)):
        loaded = misstep.load(given)
        assert isinstance(loaded, misstep.Task) and loaded == task and loaded.pddl is None
    cheap = misstep.load(file, unit_cost=True)
    assert isinstance(cheap, misstep.Task) and {action.cost for action in cheap.actions} == {1}


def test_a_problem_of_unified_planning() -> None:
    shortcuts = pytest.importorskip("unified_planning.shortcuts")
    lit = shortcuts.Fluent("lit")
    on = shortcuts.InstantaneousAction("on")
    on.add_precondition(shortcuts.Not(lit))
    on.add_effect(lit, True)
    problem = shortcuts.Problem("lamp")
    problem.add_fluent(lit, default_initial_value=False)
    problem.add_action(on)
    problem.add_goal(lit)
    task = misstep.load(problem)
    assert [action.name for action in misstep.search(task, "astar:blind").plan] == ["(on)"]
    assert task.pddl is not None


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    file = tmp_path / "line.jani"
    file.write_text(json.dumps(generate("two_way_line")))
    return file


def test_a_jani_model_can_be_tested(model_file: Path) -> None:
    model = misstep.load(model_file)
    assert isinstance(model, SafetyTask) and "accelerate" in model.labels
    by_name = misstep.test(model_file, "zoo:two_way_line", runs=10, seed=1)
    by_object = misstep.test(model, "zoo:two_way_line", runs=10, seed=1)
    assert by_object.is_safety
    assert [event.id for event in by_object.tally.judged.values()] == [
        event.id for event in by_name.tally.judged.values()
    ]
    assert (by_object.rate, by_object.finished.runs) == (by_name.rate, 10)


def test_a_model_with_conditions_of_its_own_is_tested_with_them(model_file: Path) -> None:
    """What was chosen when it was loaded holds in the test, and in the record."""
    unsafe = json.dumps({"op": "=", "left": "speed", "right": 1})
    model = SafetyTask.load(model_file, unsafe=unsafe)
    report = misstep.test(model, lambda state, labels: labels[0], runs=5)
    assert report.record.config().unsafe == unsafe
    usual = misstep.test(model_file, lambda state, labels: labels[0], runs=5)
    assert report.record.environment()["question_sha256"] != usual.record.environment()["question_sha256"]
    with pytest.raises(InputError, match=r"comes from a file: SafetyTask\.load"):
        misstep.test(SafetyTask(model.files), lambda state, labels: labels[0], runs=5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((COURIER[0],), "a PDDL domain needs a problem"),
        ((COURIER[0].read_text(),), "a PDDL domain needs a problem"),
        (("absent.sas",), "absent.sas"),
        (("absent.jani",), "absent.jani"),
        ((3,), "a task is loaded from PDDL .*but this is of type int"),
        ((None,), "a task is loaded from PDDL .*but this is of type NoneType"),
        ((3, COURIER[1]), "the domain is a file or a text, but this is of type int"),
    ],
)
def test_what_is_no_task_is_said(given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        misstep.load(*given)


def test_models_have_no_costs(model_file: Path) -> None:
    with pytest.raises(InputError, match="have no costs"):
        misstep.load(model_file, unit_cost=True)
