"""The contracts for other people's parts: ours keep them, and every kind of breach is noticed."""

from collections.abc import Callable
from typing import Any

import pytest

import misstep
from misstep.testing import (
    ContractBroken,
    check_bias,
    check_fuzzer,
    check_objective,
    check_oracle,
    check_policy,
)
from misstep.testing.contract import MAX_SECONDS
from tests.unit import broken_fuzzers
from tests.unit import broken_parts as broken

TASKS = 12


def names(cases: list[tuple[Any, str]]) -> list[str]:
    return [type(part).__name__ for part, _ in cases]


def patience(part: object) -> float:
    return broken.MOMENT if isinstance(part, broken_fuzzers.ENDLESS) else MAX_SECONDS


def is_noticed(check: Callable[[], None], part: object, rule: str) -> ContractBroken:
    with pytest.raises(ContractBroken) as caught:
        check()
    assert rule in caught.value.rule, str(caught.value)
    assert type(part).__module__ in str(caught.value) and "rule: " in str(caught.value)
    return caught.value


@pytest.mark.parametrize(("part", "rule"), broken.ORACLES, ids=names(broken.ORACLES))
def test_broken_oracles(part: Any, rule: str) -> None:
    is_noticed(lambda: check_oracle(part, tasks=TASKS, max_seconds=patience(part)), part, rule)


@pytest.mark.parametrize(("part", "rule"), broken.BIASES, ids=names(broken.BIASES))
def test_broken_biases(part: Any, rule: str) -> None:
    is_noticed(lambda: check_bias(part, tasks=TASKS), part, rule)


@pytest.mark.parametrize(("part", "rule"), broken_fuzzers.FUZZERS, ids=names(broken_fuzzers.FUZZERS))
def test_broken_fuzzers(part: Any, rule: str) -> None:
    is_noticed(lambda: check_fuzzer(part, tasks=TASKS, max_seconds=patience(part)), part, rule)


@pytest.mark.parametrize(("part", "rule"), broken.OBJECTIVES, ids=names(broken.OBJECTIVES))
def test_broken_objectives(part: Any, rule: str) -> None:
    is_noticed(lambda: check_objective(part, tasks=TASKS), part, rule)


@pytest.mark.parametrize(("part", "rule"), broken.POLICIES, ids=names(broken.POLICIES))
def test_broken_policies(part: Any, rule: str) -> None:
    is_noticed(lambda: check_policy(part), part, rule)


def test_the_task_of_a_breach_can_be_made_again() -> None:
    breach = is_noticed(lambda: check_oracle(broken.TooHigh(), tasks=TASKS), broken.TooHigh(), "lower bound")
    assert breach.sas is not None and breach.sas in str(breach)
    assert len(misstep.Task(breach.sas).actions) > 0


def test_sound_parts_keep_their_contracts() -> None:
    check_oracle(broken.Saying(), tasks=TASKS)
    check_bias(broken.Weighing(), tasks=TASKS)
    check_fuzzer(broken_fuzzers.Stepping(), tasks=TASKS)
    check_objective(broken.Doubling(), tasks=TASKS)
    check_policy(broken.Choosing())
    check_policy(misstep.per_state(lambda state: None))


@pytest.mark.parametrize(
    "text", ["landmarks", "lookahead", "perfect", "improve/ehc", "undo", "inverse", "morph"]
)
def test_our_oracles_keep_their_contract(text: str) -> None:
    check_oracle(text, tasks=TASKS)


@pytest.mark.parametrize("text", ["none", "plan-length", "loopiness", "detour:h=star", "surface"])
def test_our_biases_keep_their_contract(text: str) -> None:
    check_bias(text, tasks=TASKS)


@pytest.mark.parametrize("text", ["refined:max_idle_walks=50", "classic:max_idle_walks=50"])
def test_our_fuzzers_keep_their_contract(text: str) -> None:
    check_fuzzer(text, tasks=TASKS)


@pytest.mark.parametrize("text", ["quantitative", "qualitative"])
def test_our_objectives_keep_their_contract(text: str) -> None:
    check_objective(text, tasks=TASKS)


def test_our_policies_keep_their_contract(courier: tuple[Any, Any]) -> None:
    check_policy("heuristic:ff")
    check_policy("zoo:courier", misstep.load(*courier))
