"""The contract of policies."""

import random
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from misstep._core import Action, State
from misstep.errors import InputError, PolicyError
from misstep.plugins import make_policy_part
from misstep.policy import Policy, PolicyPart, bind_policy
from misstep.reference.fdr import parse
from misstep.task import Task
from misstep.testing.contract import Contract, contract_of
from misstep.testing.exhaustive import depths
from misstep.testing.samples import Sample, samples

_TASKS = 30
_STATES = 40


def check_policy(
    part_or_callable: Policy | PolicyPart | str, task: Task | None = None, *, seed: int = 0
) -> None:
    """Raises ContractBroken where a policy breaks a rule, on this task or on random ones.

    A policy may choose badly: finding that out is what tests are for. But it has to answer, always the same
    for the same state, whatever it was asked before or together with it.
    """
    part = make_policy_part(part_or_callable) if isinstance(part_or_callable, str) else part_or_callable
    is_part = hasattr(part, "bind")
    opened = contract_of("policy", part) if is_part else nullcontext(Contract("policy", part))
    with opened as contract:
        answered = [
            (sample, policy, _check_answers(contract, sample, policy))
            for sample in ([_sample_of(task)] if task is not None else samples(_TASKS, seed))
            if (policy := _bind(contract, part, sample)) is not None
        ]
        contract.need(
            bool(answered),
            "a policy can be bound to some task",
            "it refuses every random task; give `check_policy` a task that it was made for",
        )
        for sample, policy, before in answered:
            _check_apart(contract, sample, policy, before)


def _check_apart(contract: Contract, sample: Sample, policy: Policy, before: list[Any]) -> None:
    rule = "a policy bound to one task does not disturb the same policy on another one"
    with contract.keeping(rule, on=sample):
        now = _ask(contract, sample, policy, sample.states)
        contract.need(now == before, rule, lambda: _difference(sample, before, now))


def _sample_of(task: Task) -> Sample:
    """A given task may be too large to look at all of it; its first states will do."""
    reference = parse(task.sas)
    found = {reference.initial: 0}
    for depth in range(1, 50):
        found = depths(reference, reference.initial, max_depth=depth)
        if len(found) >= _STATES:
            break
    sample = Sample(0, reference, dict(list(found.items())[:_STATES]))
    sample.__dict__["task"] = task  # the caller's own, with its PDDL side
    return sample


def _bind(contract: Contract, part: Any, sample: Sample) -> Policy | None:
    with contract.keeping(
        "a policy that does not fit to a task refuses with InputError or PolicyError", on=sample
    ):
        try:
            policy = bind_policy(part, sample.task)
        except (InputError, PolicyError) as error:
            if type(error).__name__ == "PartError":
                raise
            return None
        contract.need(callable(policy), "`bind` returns a callable", f"it returned {policy!r:.80}")
        return policy


def _check_answers(contract: Contract, sample: Sample, policy: Policy) -> list[Action | None]:
    states = sample.states
    with contract.keeping("a policy answers for every state of the task", on=sample):
        answers = _ask(contract, sample, policy, states)
        rule = "a policy is deterministic"
        again = _ask(contract, sample, policy, states)
        contract.need(again == answers, rule, lambda: _difference(sample, answers, again))
        rule = "the answer for a state does not depend on the states that are asked with it or before it"
        alone = [_ask(contract, sample, policy, [state])[0] for state in states]
        contract.need(alone == answers, rule, lambda: _difference(sample, answers, alone))
        order = list(range(len(states)))
        random.Random(sample.seed).shuffle(order)
        shuffled = _ask(contract, sample, policy, [states[i] for i in order])
        back = [shuffled[order.index(i)] for i in range(len(states))]
        contract.need(back == answers, rule, lambda: _difference(sample, answers, back))
        return answers


def _ask(contract: Contract, sample: Sample, policy: Policy, states: Sequence[State]) -> list[Any]:
    batch = sample.task.batch(list(states))
    given = policy(batch)
    answers = list(given)
    contract.need(
        len(answers) == len(states),
        "a policy gives one answer for each state",
        f"it was asked for {len(states)} states and gave {len(answers)} answers",
    )
    return [_answer(contract, sample, answer) for answer in answers]


def _answer(contract: Contract, sample: Sample, answer: object) -> object:
    """An action by itself or by its name; None where the policy has nothing to do."""
    rule = "an answer is an action of the task, the name of one, or None"
    if isinstance(answer, str):
        names = {action.name for action in sample.task.actions}
        contract.need(answer in names, rule, f"it answered {answer!r:.80}")
        return answer
    contract.need(answer is None or isinstance(answer, Action), rule, f"it answered {answer!r:.80}")
    if isinstance(answer, Action):
        actions = sample.task.actions
        is_ours = answer.index < len(actions) and actions[answer.index] == answer
        contract.need(is_ours, rule, f"it answered {answer.name}, an action of another task")
    return answer


def _difference(sample: Sample, before: list[Any], now: list[Any]) -> str:
    at = next(i for i, pair in enumerate(zip(before, now, strict=True)) if pair[0] != pair[1])
    return f"in the state {sample.states[at]} it first chose {before[at]}, later {now[at]}"
