"""External planners that work, hang, crash, lie or are not there; the working one is Fast Downward itself."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from misstep import Budget, InputError, StopFlag, Task, load, search
from misstep.planners.fast_downward import FastDownward, find_driver, numbered_sas
from misstep.plugins import make_part
from misstep.reference import fdr
from misstep.reference.plan import validate
from misstep.testing.random_tasks import random_sas
from tests.integration.cli import processes_with

needs_downward = pytest.mark.skipif(find_driver() is None, reason="up-fast-downward is not installed")


@pytest.fixture
def task(courier: tuple[Path, Path]) -> Task:
    return load(*courier)


def _fake(folder: Path, body: str) -> FastDownward:
    script = folder / "fake.py"
    script.write_text(f"import os, subprocess, sys, time\nfrom pathlib import Path\n{body}\n")
    return FastDownward(program=script)


def _numbers(task: Task) -> str:
    """A plan as a planner would write it."""
    return "".join(f"(action-{action.index})\n" for action in search(task, "astar:lmcut").plan)


@needs_downward
@pytest.mark.parametrize("text", ["lama-first", "astar(lmcut())", "eager_greedy([ff()],preferred=[ff()])"])
def test_it_plans_from_any_state(task: Task, text: str) -> None:
    part = make_part("search", f"external:{text}")
    assert (part.search, str(part)) == (text, f"external:{text}")
    for state in (None, task.apply(task.initial_state, task.applicable(task.initial_state)[-1])):
        result = part.run(task, state=state, budget=Budget(seconds=60, memory_mb=2000))
        assert (result.outcome, result.limit, result.note, result.lower_bound) == ("solved", None, "", 0)
        names = [action.name for action in result.plan]
        start = tuple((state or task.initial_state).values)
        assert validate(fdr.parse(task.sas), start, names) == result.cost
        best = search(task, "astar:lmcut", state=state).cost
        assert best is not None
        assert result.cost >= best
        if text.startswith("astar"):
            assert result.cost == best
        assert result.expanded > 0


@needs_downward
def test_the_best_plan_before_the_time_is_up_counts(task: Task) -> None:
    result = FastDownward("lama").run(task, budget=Budget(seconds=30))
    assert result.outcome == "solved"
    assert result.cost == search(task, "astar:lmcut").cost


@needs_downward
def test_that_nothing_can_be_done_is_not_believed() -> None:
    task = next(
        t
        for t in (Task(random_sas(seed)) for seed in range(1000))
        if search(t, "astar:blind").outcome == "unsolvable"
    )
    result = FastDownward("astar(blind())").run(task, budget=Budget(seconds=60))
    assert (result.outcome, result.limit, result.lower_bound) == ("limit", "incomplete", 0)
    assert "nobody checked" in result.note


def test_a_planner_that_hangs_is_killed_with_its_children(tmp_path: Path, task: Task) -> None:
    word = f"hanging-{os.getpid()}-{time.monotonic_ns()}"
    child = f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', '{word}'])"
    result = _fake(tmp_path, f"{child}\ntime.sleep(60)").run(task, budget=Budget(seconds=0.5))
    assert (result.outcome, result.limit, result.plan, result.cost) == ("limit", "seconds", [], None)
    end = time.monotonic() + 60
    while processes_with(word):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_a_hanging_planner_found_before_is_kept(tmp_path: Path, task: Task) -> None:
    plan = _numbers(task)
    ready, stop = tmp_path / "ready", StopFlag()
    body = (
        f"Path('plan.1').write_text({plan!r})\n"
        f"Path('plan.2').write_text({plan[: len(plan) // 2]!r})\n"
        f"Path({str(ready)!r}).touch()\ntime.sleep(600)"
    )

    def stop_once_it_hangs() -> None:
        while not ready.exists():
            time.sleep(0.05)
        stop.set()

    threading.Thread(target=stop_once_it_hangs, daemon=True).start()
    result = _fake(tmp_path, body).run(task, budget=Budget(seconds=300, stop=stop))
    assert (result.outcome, result.limit) == ("solved", "stopped")
    assert result.cost == search(task, "astar:lmcut").cost


@pytest.mark.parametrize(
    ("body", "limit", "note"),
    [
        ("sys.exit('no idea')", "failed", "without a plan"),
        ("print('out of ideas'); sys.exit(32)", "failed", "exit code 32\n  out of ideas"),
        ("os.kill(os.getpid(), 11)", "failed", "signal 11"),
        ("raise ValueError('oops')", "failed", "oops"),
        ("pass", "failed", "without a plan and without an error"),
        ("Path('plan').write_text('')", "failed", "not a goal state"),
        ("Path('plan').write_text('(fly home)')", "failed", "no action of the task"),
        ("Path('plan').write_text('(action-99999)')", "failed", "no action of the task"),
        ("Path('plan').write_bytes(bytes(range(256)))", "failed", "no action of the task"),
        ("sys.exit(22)", "memory", "ran out of memory"),
        ("sys.exit(23)", "seconds", "time was up"),
        ("sys.exit(12)", "incomplete", "gave up"),
        ("sys.exit(11)", "incomplete", "nobody checked"),
    ],
)
def test_failures_are_told(tmp_path: Path, task: Task, body: str, limit: str, note: str) -> None:
    result = _fake(tmp_path, body).run(task, budget=Budget(seconds=60))
    assert (result.outcome, result.limit, result.plan, result.cost) == ("limit", limit, [], None)
    assert note in result.note


def test_a_plan_with_an_inapplicable_step_is_no_plan(tmp_path: Path, task: Task) -> None:
    lines = _numbers(task).splitlines(keepends=True)
    result = _fake(tmp_path, f"Path('plan').write_text({''.join(reversed(lines))!r})").run(task)
    assert (result.outcome, result.limit) == ("limit", "failed")
    assert "is not applicable" in result.note


def test_a_planner_that_is_not_there(tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="does not exist; check the option `program`"):
        FastDownward(program=tmp_path / "nowhere.py").run(task)
    not_a_program = tmp_path / "planner"
    not_a_program.write_text("")
    with pytest.raises(InputError, match="cannot start"):
        FastDownward(program=not_a_program).run(task)
    monkeypatch.setattr("misstep.planners.fast_downward.find_driver", lambda: None)
    with pytest.raises(InputError, match=r'pip install "misstep\[planners\]"'):
        FastDownward().run(task)


def test_actions_that_share_a_name_are_told_apart() -> None:
    sas = next(
        text
        for text in map(random_sas, range(1000))
        if len({action.name for action in Task(text).actions}) < len(Task(text).actions)
        and Task(text).applicable(Task(text).initial_state)
    )
    task = Task(sas)
    state = task.apply(task.initial_state, task.applicable(task.initial_state)[0])
    again = Task(numbered_sas(task, state))
    assert again.initial_state.values == state.values
    assert [a.name for a in again.actions] == [f"(action-{i})" for i in range(len(task.actions))]
    assert [a.effect for a in again.actions] == [a.effect for a in task.actions]
