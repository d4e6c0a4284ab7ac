"""Teachers, the cache of their answers, and what is made of them."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import misstep
from misstep._core import enumerate_states
from misstep.errors import InputError
from misstep.plugins import make_part
from misstep.training.labels import Labeller
from misstep.training.teacher_cache import TeacherCache, answer_key, task_digest
from misstep.training.teachers import Answer

GRIPPER = Path(__file__).parents[1] / "tasks" / "gripper"
SPANNER = Path(__file__).parents[1] / "tasks" / "spanner"
MANY = 10**6


@pytest.fixture
def task() -> misstep.Task:
    return misstep.load(GRIPPER / "domain.pddl", GRIPPER / "p01.pddl")


def test_regrets_by_successors_are_exact(task: misstep.Task) -> None:
    all_states = enumerate_states(task, max_states=10**6)
    values = all_states.values()
    labeller = Labeller(task, ["astar"], MANY)
    for number in range(0, len(all_states), 7):
        if values[number] == 0:
            continue
        [sample] = labeller.by_successors(all_states.state(number))
        exact = {action.index: regret for action, regret in all_states.regrets(number)}
        assert dict(sample.regrets) == exact
        assert sample.regrets[0][1] == 0


def test_dead_ends_are_bad_and_limits_unknown() -> None:
    task = misstep.load(SPANNER / "domain.pddl", SPANNER / "p01.pddl")
    all_states = enumerate_states(task, max_states=10**6)
    dead = [
        number
        for number, value in enumerate(all_states.values())
        if 0 < value < float("inf") and any(r == float("inf") for _, r in all_states.regrets(number))
    ]
    assert dead
    [sample] = Labeller(task, ["astar"], MANY).by_successors(all_states.state(dead[0]))
    assert dict(sample.regrets) == {a.index: r for a, r in all_states.regrets(dead[0])}
    few = Labeller(task, ["astar"], 1).by_successors(task.initial_state)
    assert all(regret != float("inf") for sample in few for _, regret in sample.regrets if regret is not None)


def test_a_plan_labels_its_states(task: misstep.Task) -> None:
    samples = Labeller(task, ["astar"], MANY).along_plan(task.initial_state)
    best = enumerate_states(task, max_states=10**6).values()[0]
    assert len(samples) == best
    state = task.initial_state
    for sample in samples:
        assert sample.state == state
        action, regret = sample.regrets[0]
        assert regret == 0
        assert {number for number, _ in sample.regrets} == {a.index for a in task.applicable(state)}
        state = task.apply(state, task.actions[action])
    assert task.is_goal(state)


def test_answers_are_kept_and_shared(task: misstep.Task, tmp_path: Path) -> None:
    cache = TeacherCache(tmp_path / "answers")
    first = Labeller(task, ["astar"], MANY, cache).by_successors(task.initial_state)
    cache.close()
    again = TeacherCache(tmp_path / "answers")
    labeller = Labeller(task, ["astar"], MANY, again)
    labeller._parts = [("astar", _Refuses())]
    assert labeller.by_successors(task.initial_state) == first
    other = task_digest(misstep.load(GRIPPER / "domain.pddl", GRIPPER / "p02.pddl"))
    keys = {
        answer_key(digest, task.initial_state, teacher, limit)
        for digest in (task_digest(task), other)
        for teacher in ("astar", "greedy")
        for limit in (1, 2)
    }
    assert len(keys) == 8
    again.close()


@dataclass(frozen=True)
class _Refuses:
    def answer(self, task: misstep.Task, state: misstep.State, *, max_expansions: int) -> Answer:
        raise AssertionError("the answer was known")


@dataclass(frozen=True)
class _Lies:
    def answer(self, task: misstep.Task, state: misstep.State, *, max_expansions: int) -> Answer:
        return Answer(("(move rooma roomb)",), optimal=True)


@dataclass(frozen=True)
class _Crashes:
    def answer(self, task: misstep.Task, state: misstep.State, *, max_expansions: int) -> Answer:
        raise RuntimeError("out of order")


@dataclass(frozen=True)
class _Despairs:
    def answer(self, task: misstep.Task, state: misstep.State, *, max_expansions: int) -> Answer:
        return Answer(unsolvable=True)


def test_bad_teachers_are_reported_and_ignored(task: misstep.Task) -> None:
    heard: list[str] = []
    labeller = Labeller(task, ["astar"], MANY, None, heard.append)
    expected = labeller.by_successors(task.initial_state)
    for bad, words in ((_Lies(), "wrong plan"), (_Crashes(), "out of order"), (_Despairs(), None)):
        heard.clear()
        labeller._parts = [("bad", bad), ("astar", make_part("teacher", "astar"))]
        assert labeller.by_successors(task.initial_state) == expected
        assert words is None or (heard and all(words in text for text in heard))
        labeller._parts = [("bad", bad)]
        assert labeller.by_successors(task.initial_state) == []


@pytest.mark.parametrize("text", ["astar", "astar:blind", "greedy", "greedy:improve=false"])
def test_native_teachers_find_plans(task: misstep.Task, text: str) -> None:
    heard: list[str] = []
    samples = Labeller(task, [text], MANY, None, heard.append).along_plan(task.initial_state)
    assert samples
    assert not heard


def test_a_command_as_teacher(task: misstep.Task, tmp_path: Path) -> None:
    names = [s.regrets[0][0] for s in Labeller(task, ["astar"], MANY).along_plan(task.initial_state)]
    plan = "".join(f"(action-{number})\n" for number in names)
    script = tmp_path / "planner.py"
    script.write_text(f"import sys\nopen(sys.argv[2], 'w').write({plan!r})\n", encoding="utf-8")
    heard: list[str] = []
    text = f"command:{sys.executable} {script} {{sas}} {{plan}}"
    samples = Labeller(task, [text], MANY, None, heard.append).along_plan(task.initial_state)
    assert [s.regrets[0][0] for s in samples] == names
    script.write_text("import sys\nopen(sys.argv[2], 'w').write('(action-0)')\n", encoding="utf-8")
    assert Labeller(task, [text], MANY, None, heard.append).along_plan(task.initial_state) == []
    assert heard
    assert "wrong plan" in heard[-1]
    script.write_text("raise SystemExit(3)\n", encoding="utf-8")
    assert Labeller(task, [text], MANY, None, heard.append).along_plan(task.initial_state) == []
    assert "ended with code 3" in heard[-1]
    with pytest.raises(InputError, match="cannot be started"):
        Labeller(task, ["command:/no/such/planner {sas}"], MANY).along_plan(task.initial_state)
