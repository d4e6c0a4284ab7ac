"""Every check on every random task; a failure names the seed of the task."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.reference.fdr import Task
from misstep.testing.strategies import tasks
from tests.property import (
    check_failures,
    check_fuzzing,
    check_heuristics,
    check_improve,
    check_oracles,
    check_policy_graph,
    check_searches,
    check_states,
    check_undo,
)
from tests.property.cases import CHUNKS, FIRST_SEED, FUZZING, Case, case_of, numbered

CHECKS = (
    *check_states.CHECKS,
    *check_heuristics.CHECKS,
    *check_searches.CHECKS,
    *check_improve.CHECKS,
    *check_policy_graph.CHECKS,
    *check_failures.CHECKS,
    *check_undo.CHECKS,
    *check_fuzzing.CHECKS,
    *check_oracles.CHECKS,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda r: f"{r.start}-{r.stop - 1}")
def test_numbered(check: Callable[[Case], None], seeds: range) -> None:
    for seed in seeds:
        try:
            check(numbered(seed))
        except Exception as error:
            error.add_note(f"random task {seed}: misstep.testing.random_tasks.random_sas({seed})")
            raise


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
def test_shrinking(check: Callable[[Case], None]) -> None:
    """The same checks on tasks that Hypothesis makes: fewer, but it shrinks what fails."""

    @settings(max_examples=300 if FUZZING else 15, deadline=None, derandomize=not FUZZING)
    @given(task=tasks(), seed=st.integers(0, 1000))
    def run(task: Task, seed: int) -> None:
        check(case_of(task, seed=seed))

    run()


def test_the_tasks_are_varied() -> None:
    """The generator still makes what the checks are for."""
    cases = [numbered(seed) for seed in range(FIRST_SEED, FIRST_SEED + 500)]  # however many are checked
    share = len(cases) / 20
    assert sum(case.exact[case.reference.initial] == float("inf") for case in cases) > share
    assert sum(0 < case.exact[case.reference.initial] < float("inf") for case in cases) > 4 * share
    assert sum(any(a.cost == 0 for a in case.reference.actions) for case in cases) > 4 * share
    assert sum(not all(case.native.h2().actions) for case in cases) > share
    assert sum(len(case.reference.facts) > 64 for case in cases) > share / 4
    assert sum(len(case.depths) > 30 for case in cases) > share
