"""From PDDL to plan: every search's plan passes unified-planning's validator, at the cost that we say."""

from __future__ import annotations

import pytest

import misstep
from tests.peers.pddl_text import without_either
from tests.taskset import PddlTask, own_tasks, sampled, shared_tasks

pytest.importorskip("unified_planning", reason="unified-planning is not installed")
from unified_planning.engines.plan_validator import SequentialPlanValidator
from unified_planning.engines.results import ValidationResultStatus
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import get_environment

get_environment().credits_stream = None
get_environment().error_used_name = False


@pytest.mark.parametrize("task", sampled([*own_tasks(), *shared_tasks()]), ids=lambda t: t.name)
def test_plans_are_valid(task: PddlTask) -> None:
    native = misstep.load(task.domain, task.problem)
    results = [misstep.search(native, config) for config in ("astar:lmcut", "gbfs:ff", "ehc:ff")]
    solved = {tuple(str(a) for a in r.plan): r.cost for r in results if r.outcome == "solved"}
    if results[0].outcome == "unsolvable":
        assert not solved
        return
    reader = PDDLReader()
    domain, text = (without_either(path.read_text()) for path in (task.domain, task.problem))
    problem = reader.parse_problem_string(domain, text)
    validator = SequentialPlanValidator()
    validator.skip_checks = True  # costs that are functions of objects are "unknown" to it, but handled
    for plan, cost in solved.items():
        found = validator.validate(problem, reader.parse_plan_string(problem, "\n".join(plan)))
        assert found.status == ValidationResultStatus.VALID
        if found.metric_evaluations:
            assert list(found.metric_evaluations.values()) == [cost]
        else:
            assert cost == len(plan)


def test_the_validator_refuses_a_bad_plan() -> None:
    """So that a validator that accepts everything would be noticed."""
    task = next(t for t in own_tasks() if t.name == "blocks/p03")
    loaded = misstep.load(task.domain, task.problem)
    plan = [str(action) for action in misstep.search(loaded, "astar:lmcut").plan]
    reader = PDDLReader()
    problem = reader.parse_problem(str(task.domain), str(task.problem))
    for bad in (plan[:-1], plan[1:], plan[::-1]):
        found = SequentialPlanValidator().validate(problem, reader.parse_plan_string(problem, "\n".join(bad)))
        assert found.status == ValidationResultStatus.INVALID
