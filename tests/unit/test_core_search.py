"""Searches of the native core: options, limits, threads, signals."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import threading
import time

import pytest

from misstep import InputError
from misstep import _core as core
from tests.unit.core_tasks import counter, delivery, fan

# A search that would go on for minutes; bounded all the same, in case that what is tested fails.
ENDLESS = 40


def test_a_plan() -> None:
    task = delivery()
    result = core.search(task, "astar:lmcut")
    assert (result.outcome, result.limit, result.cost, result.lower_bound) == ("solved", None, 4, 4)
    assert [str(a) for a in result.plan] == ["(load parcel a)", "(drive lorry a b)", "(unload parcel b)"]
    assert all(action.task is task for action in result.plan)
    assert result.expanded <= result.evaluated <= result.generated + 1
    assert result.registered >= len(result.plan)
    assert result.seconds >= 0
    assert "solved, cost 4" in repr(result)


def test_no_plan() -> None:
    task = delivery()
    start = task.state(["(broken lorry)", "(at lorry a)", "(at parcel a)"])
    for config in ("astar:blind", "astar:hmax", "astar:lmcut", "gbfs:ff"):
        result = core.search(task, config, state=start)
        assert (result.outcome, result.limit, result.cost, result.plan) == ("unsolvable", None, None, [])
        assert result.lower_bound == math.inf


@pytest.mark.parametrize(
    "config", ["", "astar", "astar:", ":ff", "astar:hff", "dijkstra:blind", "astar:ff:x"]
)
def test_unknown_searches_are_refused(config: str) -> None:
    with pytest.raises(InputError):
        core.search(delivery(), config)


@pytest.mark.parametrize("config", ["astar:blind", "astar:hmax", "gbfs:blind", "ehc:hmax"])
def test_limit_on_time(config: str) -> None:
    result = core.search(counter(ENDLESS), config, budget=core.Budget(seconds=0.2, memory_mb=800))
    assert (result.outcome, result.limit) == ("limit", "seconds")
    assert result.lower_bound <= ENDLESS


@pytest.mark.parametrize("config", ["astar:lmcut", "gbfs:lmcut"])
def test_limit_in_the_middle_of_an_expansion(config: str) -> None:
    """The first state has so many successors that evaluating them takes minutes."""
    result = core.search(fan(3000, switches=300), config, budget=core.Budget(seconds=0.5))
    assert (result.outcome, result.limit, result.expanded) == ("limit", "seconds", 1)
    assert result.lower_bound <= 900


@pytest.mark.parametrize("config", ["astar:blind", "gbfs:blind", "ehc:blind"])
def test_limit_on_memory(config: str) -> None:
    result = core.search(counter(ENDLESS), config, budget=core.Budget(memory_mb=20, seconds=60))
    assert (result.outcome, result.limit, result.cost) == ("limit", "memory", None)
    assert 10e6 < result.bytes < 50e6
    assert result.registered > 100_000


def test_limit_on_expansions_is_exact() -> None:
    result = core.search(counter(ENDLESS), "astar:blind", budget=core.Budget(expansions=1234))
    assert (result.outcome, result.limit, result.expanded) == ("limit", "expansions", 1234)
    assert result.lower_bound >= 1


def test_other_threads_run_during_a_search() -> None:
    flag = core.StopFlag()

    def tick() -> None:
        for _ in range(20):
            time.sleep(0.001)
        flag.set()

    thread = threading.Thread(target=tick)
    thread.start()
    budget = core.Budget(seconds=60, memory_mb=800, stop=flag)
    result = core.search(counter(ENDLESS), "astar:blind", budget=budget)
    thread.join()
    assert result.limit == "stopped"


@pytest.mark.parametrize("config", ["astar:blind", "astar:hmax", "gbfs:blind", "ehc:hmax"])
def test_a_flag_stops_a_search(config: str) -> None:
    flag = core.StopFlag()
    timer = threading.Timer(0.2, flag.set)
    timer.start()
    budget = core.Budget(seconds=60, memory_mb=800, stop=flag)
    result = core.search(counter(ENDLESS), config, budget=budget)
    timer.join()
    assert (result.outcome, result.limit) == ("limit", "stopped")
    assert flag.is_set
    flag.clear()
    assert not flag.is_set


def test_two_searches_at_once() -> None:
    """On one task, from two threads."""
    task = counter(14)
    results: list[core.SearchResult] = []
    threads = [
        threading.Thread(target=lambda: results.append(core.search(task, "astar:hmax"))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(r.cost, r.registered) for r in results] == [(14, 2**14)] * 2


INTERRUPTED = """
from misstep import _core as core
from tests.unit.core_tasks import counter
task = counter({bits})
print("ready", flush=True)
{call}
"""
CALLS = {
    "search": "core.search(task, 'astar:hmax', budget=core.Budget(seconds=60, memory_mb=800))",
    "evaluate": """
import numpy as np
h = core.Heuristic(task, "lmcut")
for _ in range(1000):
    h.evaluate(core.StateBatch(task, np.zeros((100_000, task.num_variables), dtype=np.int32)))
""",
    "count": "core.count_states(task, 1000, budget=core.Budget(seconds=30))",
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_stops_native_work(call: str) -> None:
    script = INTERRUPTED.format(bits=ENDLESS if call != "count" else 24, call=CALLS[call])
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=120)[1]
    finally:
        process.kill()
        process.wait()
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0


@pytest.mark.parametrize("config", ["astar:blind", "gbfs:ff", "ehc:ff"])
def test_seeds(config: str) -> None:
    """A seed changes the order, the same seed does not; the numbers of the tie-break stay without one."""
    task = counter(8)
    plans = [[str(a) for a in core.search(task, config, seed=seed).plan] for seed in (None, None, 1, 1, 2, 3)]
    assert plans[0] == plans[1]
    assert plans[2] == plans[3]
    assert len({tuple(plan) for plan in plans}) > 1


def test_counts() -> None:
    task = counter(5)
    assert core.count_states(task, 0) == [1]
    assert core.count_states(task, 2) == [1, 5, 10]
    assert core.count_states(task, 99) == [1, 5, 10, 10, 5, 1]
    goal = task.state_from_values([1] * 5)
    assert core.count_states(task, 3, state=goal) == [1]
