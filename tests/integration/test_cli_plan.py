"""`misstep plan` from outside: results, limits and what happens with bad input."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from misstep.pddl import read_domain, read_problem
from misstep.pddl.translate import translate
from tests.integration.cli import begin, misstep, processor_seconds

KEYS = {"outcome", "cost", "plan", "expanded", "evaluated", "seconds"}
DOMAIN = """(define (domain d) (:requirements :strips)
(:predicates (p ?x) (q ?x) (r))
(:action a :parameters (?x) :precondition (p ?x) :effect (q ?x))
(:action b :parameters (?x) :precondition (and (q ?x) (r)) :effect (not (r))))"""


@pytest.fixture
def task(tmp_path: Path) -> Any:
    """Writes a problem of the small domain with this init and goal."""

    def write(init: str, goal: str, *, domain: str = DOMAIN) -> Any:
        (tmp_path / "domain.pddl").write_text(domain)
        (tmp_path / "problem.pddl").write_text(
            f"(define (problem p) (:domain d) (:objects x y)\n(:init {init})\n(:goal {goal}))"
        )
        return tmp_path / "domain.pddl", tmp_path / "problem.pddl"

    return write


@pytest.mark.parametrize(
    "search", ["astar:lmcut", "astar:blind", "astar:hmax", "astar:heuristic=lmcut", "astar"]
)
def test_optimal_searches_find_the_cheapest_plan(courier: tuple[Path, Path], search: str) -> None:
    result = misstep("plan", *courier, "--search", search, "--json").json
    assert set(result) >= KEYS
    assert (result["outcome"], result["cost"], len(result["plan"])) == ("solved", 21, 12)
    assert all(step.startswith("(") and step.endswith(")") for step in result["plan"])


@pytest.mark.parametrize("search", ["gbfs:ff", "ehc:ff"])
def test_other_searches_find_a_plan(courier: tuple[Path, Path], search: str) -> None:
    result = misstep("plan", *courier, "--search", search, "--json").json
    assert result["outcome"] == "solved"
    assert result["cost"] >= 21


def test_unit_cost(courier: tuple[Path, Path]) -> None:
    result = misstep("plan", *courier, "--unit-cost", "--json").json
    assert result["cost"] == len(result["plan"])
    assert result["cost"] <= 12


def test_sas_file_gives_the_same(courier: tuple[Path, Path], tmp_path: Path) -> None:
    domain = read_domain(courier[0])
    file = tmp_path / "task.sas"
    file.write_text(translate(domain, read_problem(courier[1], domain)))
    assert misstep("plan", file, "--json").json["cost"] == 21
    unit = misstep("plan", file, "--json", "--unit-cost").json
    assert unit["cost"] == len(unit["plan"])


def test_text_output_and_plan_file(courier: tuple[Path, Path], tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    ended = misstep("plan", *courier, "--out", plan)
    assert ended.code == 0
    assert "cost 21" in ended.err
    steps = ended.out.splitlines()
    assert len(steps) == 12
    assert plan.read_text().splitlines() == [*steps, "; cost = 21"]
    quiet = misstep("plan", *courier, "--quiet")
    assert (quiet.out.splitlines(), quiet.err) == (steps, "")


def test_same_seed_same_plan(courier: tuple[Path, Path]) -> None:
    runs = [misstep("plan", *courier, "--json", "--seed", "5", "--search", "gbfs:ff").json for _ in range(2)]
    assert runs[0]["plan"] == runs[1]["plan"]
    assert runs[0]["expanded"] == runs[1]["expanded"]


def test_unsolvable_is_an_outcome(task: Any) -> None:
    ended = misstep("plan", *task("(p x)", "(and (q x) (q y))"), "--json")
    assert (ended.code, ended.json["outcome"], ended.json["cost"]) == (0, "unsolvable", None)


def test_unsolvable_though_relaxed_plans_exist(task: Any) -> None:
    domain = DOMAIN.replace(":effect (q ?x)", ":effect (and (q ?x) (not (p x)) (not (p y)))")
    domain = domain.replace("(:predicates", "(:constants x y)\n(:predicates")
    files = task("(p x) (p y)", "(and (q x) (q y))", domain=domain)
    files[1].write_text(files[1].read_text().replace("(:objects x y)", ""))
    ended = misstep("plan", *files, "--json")
    assert (ended.code, ended.json["outcome"]) == (0, "unsolvable")
    assert ended.json["expanded"] > 0, "the translator saw it, so the search was not tested"


def test_zero_applicable_actions(task: Any) -> None:
    ended = misstep("plan", *task("(r)", "(q x)"), "--json")
    assert (ended.code, ended.json["outcome"]) == (0, "unsolvable")
    assert misstep("plan", *task("(r)", "(r)"), "--json").json["plan"] == []


def test_a_domain_without_any_action(task: Any) -> None:
    domain = "(define (domain d) (:predicates (p ?x) (r)))"
    assert misstep("plan", *task("(r)", "(p x)", domain=domain), "--json").json["outcome"] == "unsolvable"


def test_limits_are_outcomes(courier: tuple[Path, Path]) -> None:
    expansions = misstep("plan", *courier, "--max-expansions", "3", "--json")
    assert (expansions.code, expansions.json["outcome"], expansions.json["limit"]) == (
        0,
        "limit",
        "expansions",
    )
    seconds = misstep("plan", *courier, "--seconds", "0.02", "--json")
    assert (seconds.code, seconds.json["outcome"], seconds.json["limit"]) == (0, "limit", "seconds")


def large_courier(folder: Any, *, places: int, parcels: int) -> Any:
    """A problem of the bundled domain with more states than any test can visit."""
    names = [f"p{at}" for at in range(places)]
    roads = [(a, b) for a in names for b in names if a != b]
    goods = [f"b{at}" for at in range(parcels)]
    init = [f"(road {a} {b}) (= (distance {a} {b}) 1)" for a, b in roads]
    init += [f"(waiting {b} {names[at % places]})" for at, b in enumerate(goods)]
    goal = [f"(waiting {b} {names[(at + 1) % places]})" for at, b in enumerate(goods)]
    file = folder / "large.pddl"
    file.write_text(
        f"(define (problem large) (:domain courier) (:objects {' '.join(names)} - place v w - van "
        f"{' '.join(goods)} - parcel)\n(:init {' '.join(init)} (at v p0) (empty v) (at w p1) (empty w))\n"
        f"(:goal (and {' '.join(goal)}))\n"
        "(:metric minimize (total-cost)))"
    )
    return file


def test_memory_limit_of_the_search(courier: tuple[Path, Path], tmp_path: Path) -> None:
    problem = large_courier(tmp_path, places=8, parcels=12)
    ended = misstep("plan", courier[0], problem, "--search", "astar:blind", "--memory-mb", "8", "--json")
    assert (ended.code, ended.json["outcome"], ended.json["limit"]) == (0, "limit", "memory")


def test_time_limit_of_the_search(courier: tuple[Path, Path], tmp_path: Path) -> None:
    problem = large_courier(tmp_path, places=8, parcels=12)
    ended = misstep("plan", courier[0], problem, "--search", "astar:blind", "--seconds", "2", "--json")
    assert (ended.code, ended.json["outcome"], ended.json["limit"]) == (0, "limit", "seconds")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(courier: tuple[Path, Path], tmp_path: Path, number: signal.Signals) -> None:
    problem = large_courier(tmp_path, places=8, parcels=12)
    running = begin("plan", courier[0], problem, "--search", "astar:lmcut", "--json")
    while processor_seconds(running.pid) < 1.0:  # of which loading takes less than half
        assert running.process.poll() is None, "the task is too easy for this test"
        time.sleep(0.05)
    os.kill(running.pid, number)
    ended = running.end(timeout=100)
    assert (ended.code, ended.out) == (2, "")
    assert "interrupted" in ended.err
    assert "Traceback" not in ended.err


def test_dropped_schema_with_its_reason(courier: tuple[Path, Path], tmp_path: Path) -> None:
    problem = tmp_path / "no-distances.pddl"
    lines = courier[1].read_text().splitlines()
    problem.write_text("\n".join(line for line in lines if "(= (distance" not in line))
    ended = misstep("plan", courier[0], problem, "--json")
    assert ended.json["outcome"] == "unsolvable"
    assert "`drive` is dropped: its cost `(distance ?from ?to)` has no initial value" in ended.err
    assert "--unit-cost" in ended.err
    assert misstep("plan", courier[0], problem, "--unit-cost", "--json").json["warnings"] == []


def test_partly_missing_costs(courier: tuple[Path, Path], tmp_path: Path) -> None:
    problem = tmp_path / "one-missing.pddl"
    problem.write_text(courier[1].read_text().replace("(= (distance mill harbour) 1)", ""))
    assert "`(distance mill harbour)` has no initial value" in misstep("plan", courier[0], problem).err


@pytest.mark.parametrize(
    ("init", "goal", "words"),
    [
        ("(p x)", "(nowhere x)", "problem.pddl:3:9: undeclared predicate `nowhere`"),
        ("(p x)", "(q z)", "problem.pddl:3:11: undeclared object `z`"),
        ("(p x y)", "(q x)", "problem.pddl:2:8: `p` has 2 arguments"),
        ("(p x", "(q x)", "never closed"),
    ],
)
def test_bad_problems(task: Any, init: str, goal: str, words: str) -> None:
    ended = misstep("plan", *task(init, goal), "--json")
    assert (ended.code, ended.out) == (4, "")
    assert words in ended.err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (":strips", ":stripz", "domain.pddl:1:35: unknown requirement `:stripz`; did you mean `:strips`?"),
        (":strips", ":preferences", "domain.pddl:1:35: requirement `:preferences`"),
        (":effect (q ?x)", ":effect (when (r) (q ?x))", "domain.pddl:3:58: conditional effect `when`"),
        (":effect (q ?x)", ":effect (q ?x", "never closed"),
    ],
)
def test_bad_domains(task: Any, old: str, new: str, words: str) -> None:
    ended = misstep("plan", *task("(p x)", "(q x)", domain=DOMAIN.replace(old, new)), "--json")
    assert (ended.code, ended.out) == (4, "")
    assert words in ended.err


def test_axioms_of_the_translator_are_refused_with_their_cause(task: Any) -> None:
    domain = DOMAIN.replace(":precondition (p ?x)", ":precondition (forall (?y) (not (q ?y)))")
    ended = misstep("plan", *task("(p x) (q y) (r)", "(and (q x))", domain=domain))
    assert ended.code == 4
    assert "axiom" in ended.err
    assert "`forall`" in ended.err


def test_missing_files(courier: tuple[Path, Path], tmp_path: Path) -> None:
    for arguments in (
        [tmp_path / "no.pddl", courier[1]],
        [courier[0], tmp_path / "no.pddl"],
        [tmp_path / "no.sas"],
    ):
        ended = misstep("plan", *arguments)
        assert ended.code == 4
        assert "no such file" in ended.err


def test_plan_file_that_cannot_be_written(courier: tuple[Path, Path], tmp_path: Path) -> None:
    ended = misstep("plan", *courier, "--out", tmp_path / "no" / "plan")
    assert ended.code == 4
    assert "cannot write the plan" in ended.err


def test_truncated_sas_is_an_error_at_every_length(courier: tuple[Path, Path], tmp_path: Path) -> None:
    """In one process, because there are many lengths; the core must neither crash nor accept."""
    from misstep.errors import InputError
    from misstep.task import Task

    domain = read_domain(courier[0])
    text = translate(domain, read_problem(courier[1], domain))
    for length in [*range(400), *range(400, len(text) - 2, 97)]:
        with pytest.raises(InputError):
            Task(text[:length])
    file = tmp_path / "short.sas"
    file.write_text(text[: len(text) // 2])
    ended = misstep("plan", file, "--json")
    assert (ended.code, ended.out) == (4, "")
    assert "short.sas:" in ended.err


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\xff\xfe\x00garbage", b"begin_version\n99\nend_version\n"]
)
def test_garbage_sas(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "garbage.sas"
    file.write_bytes(content)
    ended = misstep("plan", file)
    assert ended.code == 4
    assert "garbage.sas" in ended.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--search", "atsar"], "did you mean `astar`?"),
        (["--search", "astar:lmcutt"], "did you mean `lmcut`?"),
        (["--search", "astar:depth=2"], "has no option `depth`"),
        (["--seconds", "-1"], "--seconds"),
        (["--seconds", "soon"], "--seconds"),
        (["--seconds", "nan"], "--seconds"),
        (["--seconds", "inf"], "--seconds"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "9" * 30], "--seed"),
        (["--max-expansions", "-1"], "--max-expansions"),
        (["--memory-mb", "0"], "--memory-mb"),
        (["--memory-mb", "9" * 30], "--memory-mb"),
        (["--sedes", "3"], "--sedes"),
    ],
)
def test_usage_errors(courier: tuple[Path, Path], arguments: list[str], words: str) -> None:
    ended = misstep("plan", *courier, *arguments)
    assert (ended.code, ended.out) == (4, "")
    assert words in ended.err


def test_json_is_one_line_of_json_only(courier: tuple[Path, Path]) -> None:
    ended = misstep("plan", *courier, "--json")
    assert list(json.loads(ended.out))[:6] == ["outcome", "cost", "plan", "expanded", "evaluated", "seconds"]
