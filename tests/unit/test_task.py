"""Loading tasks: costs, warnings, domains read once, SAS files, pruning."""

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep import InputError, UnsupportedFeature, load, load_sas, read_domain, search
from misstep.pddl import read_problem
from misstep.pddl.translate import translate

DOMAIN = """(define (domain d) (:requirements :adl)
(:predicates (p ?x) (q ?x) (r))
(:action a :parameters (?x) :precondition (p ?x) :effect (and (q ?x) (not (p ?x))))
(:action never :parameters (?x) :precondition (and (r) (q ?x)) :effect (p ?x)))"""
PROBLEM = "(define (problem p) (:domain d) (:objects x y) (:init (p x) (p y)) (:goal (and (q x))))"


@pytest.fixture
def small(tmp_path: Path) -> Any:
    def write(domain: Any = DOMAIN, problem: Any = PROBLEM) -> Any:
        (tmp_path / "domain.pddl").write_text(domain)
        (tmp_path / "problem.pddl").write_text(problem)
        return tmp_path / "domain.pddl", tmp_path / "problem.pddl"

    return write


def test_public_names_exist() -> None:
    for name in misstep.__all__:
        assert getattr(misstep, name) is not None
    with pytest.raises(AttributeError):
        misstep.no_such_name  # noqa: B018
    assert set(misstep.__all__) <= set(dir(misstep))


def test_page_one(courier: tuple[Path, Path]) -> None:
    task = load(*courier)
    state = task.initial_state
    assert "(at red depot)" in state.facts
    assert [str(action) for action in task.applicable(state)] == [
        action.name for action, _ in task.successors(state)
    ]
    after = task.apply(state, task.action("(drive red depot market)"))
    assert "(at red market)" in after.facts
    assert after == task.state(
        [*(fact for fact in state.facts if fact != "(at red depot)"), "(at red market)"]
    )
    assert state.task is task


def test_costs(courier: tuple[Path, Path]) -> None:
    assert load(*courier).action("(drive red depot mill)").cost == 4
    unit = load(*courier, unit_cost=True)
    assert {action.cost for action in unit.actions} == {1}


def test_a_domain_is_read_once_for_many_problems(
    courier: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = read_domain(courier[0])
    monkeypatch.setattr("misstep.task.read_domain", None)
    second = tmp_path / "second.pddl"
    second.write_text(courier[1].read_text().replace("(waiting lamp depot)", "(waiting lamp harbour)"))
    costs = [search(load(domain, path), "astar:lmcut").cost for path in (courier[1], second)]
    assert costs[0] == 21
    assert costs[1] != costs[0]


def test_all_variables_are_kept(small: Callable[..., Any]) -> None:
    task = load(*small())
    names = {task.fact_name(at, value) for at, size in enumerate(task.domain_sizes) for value in range(size)}
    assert "(q y)" in names, "it matters for no goal, but states must stay complete"


def test_dropped_schema_is_a_warning(small: Callable[..., Any]) -> None:
    task = load(*small())
    (warning,) = task.warnings
    assert "no action of `never` can ever be applied" in warning


def test_trivial_tasks_say_so(small: Callable[..., Any]) -> None:
    unreachable = load(*small(problem=PROBLEM.replace("(and (q x))", "(r)")))
    assert any("cannot be reached" in warning for warning in unreachable.warnings)
    always = PROBLEM.replace("(and (q x))", "(r)").replace("(p y)", "(p y) (r)")
    holds = load(*small(problem=always))
    assert any("holds in every state" in warning for warning in holds.warnings)
    for task in (unreachable, holds):
        assert task.pddl is not None
        atoms = {task.pddl.text(atom) for atom in task.pddl.atoms(task.initial_state.values)}
        assert atoms == {"(p x)", "(p y)"} | ({"(r)"} if task is holds else set())
    assert search(unreachable, "astar:lmcut").outcome == "unsolvable"
    assert search(holds, "astar:lmcut").cost == 0


def test_contradictory_goal_is_unsolvable(small: Callable[..., Any]) -> None:
    task = load(*small(problem=PROBLEM.replace("(and (q x))", "(and (q x) (not (q x)))")))
    assert search(task, "astar:lmcut").outcome == "unsolvable"


def test_axioms_are_refused(small: Callable[..., Any]) -> None:
    domain = DOMAIN.replace(":precondition (p ?x)", ":precondition (and (p ?x) (not (exists (?y) (q ?y))))")
    with pytest.raises(UnsupportedFeature, match=r"domain\.pddl:3:60: universal condition `exists`.* axiom"):
        load(*small(domain=domain))
    with pytest.raises(UnsupportedFeature, match=r"domain\.pddl:3:43: universal condition `forall`"):
        load(*small(domain=DOMAIN.replace(":precondition (p ?x)", ":precondition (forall (?y) (p ?y))")))


def test_existential_conditions_need_no_axiom(small: Callable[..., Any]) -> None:
    domain = DOMAIN.replace(":precondition (p ?x)", ":precondition (and (p ?x) (not (forall (?y) (q ?y))))")
    assert search(load(*small(domain=domain)), "astar:blind").cost == 1


def test_sas_files(courier: tuple[Path, Path], tmp_path: Path) -> None:
    domain = read_domain(courier[0])
    text = translate(domain, read_problem(courier[1], domain))
    file = tmp_path / "task.sas"
    file.write_bytes(text.replace("\n", "\r\n").encode())
    assert search(load_sas(file), "astar:lmcut").cost == 21
    unit = search(load_sas(file, unit_cost=True), "astar:lmcut")
    assert unit.cost == len(unit.plan)
    file.write_text(text.replace("begin_state", "begin_sate"))
    with pytest.raises(InputError, match=r"task\.sas:\d+"):
        load_sas(file)


def test_other_translators_sas_files(data: Path) -> None:
    files = sorted((data / "gnn").glob("*.cpddlsas"))
    assert files
    for path in files:
        problem = next((data / "gnn").rglob(f"{path.stem}.pddl"))
        theirs = search(load_sas(path), "astar:lmcut").cost
        assert theirs == search(load(problem.parents[1] / "domain.pddl", problem), "astar:lmcut").cost


def test_transport_without_road_lengths(data: Path) -> None:
    folder = data / "asnets" / "transport"
    problem = folder / "problems" / "opt-p01.pddl"
    dropped = load(folder / "domain.pddl", problem)
    assert any("`drive` is dropped" in warning and "--unit-cost" in warning for warning in dropped.warnings)
    task = load(folder / "domain.pddl", problem, unit_cost=True)
    assert task.warnings == []
    assert search(task, "astar:lmcut").cost == 5


def test_pruned_keeps_the_pddl_view(courier: tuple[Path, Path]) -> None:
    task = load(*courier)
    pruned = task.pruned()
    assert pruned.pddl is not None
    assert task.pddl is not None
    assert len(pruned.actions) <= len(task.actions)
    assert search(pruned, "astar:lmcut").cost == 21
    views = [view.pddl.atoms(view.initial_state.values) for view in (task, pruned)]
    assert set(views[0]) == set(views[1])


def test_tasks_are_freed(courier: tuple[Path, Path]) -> None:
    task = load(*courier)
    assert task.pddl is not None
    states = [task.initial_state, *(state for _, state in task.successors(task.initial_state))]
    seen = weakref.ref(task)
    del task, states
    gc.collect()
    assert seen() is None
