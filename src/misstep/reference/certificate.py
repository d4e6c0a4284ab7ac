"""Certificates of classical tests, checked from first principles. ValueError says why one proves nothing."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from misstep.reference.fdr import State, Task, need, step, validate


def check(certificate: Mapping[str, Any], task: Task) -> bool:
    """Check a bug or a clearance. True: the verdict is proven; False: it rests on a search's word."""
    need(certificate["sha256"] == digest(certificate), "the digest is not that of the certificate")
    state, is_bug = state_of(task, certificate["state"]), certificate["verdict"] == "bug"
    trace, run = follow(task, state, certificate["run"])
    upper = math.inf if certificate["witness"] is None else validate(task, state, certificate["witness"])
    cost, best = interval(certificate["cost"]), interval(certificate["best"])
    lower = lower_bound(task, state, certificate["lower"])
    backed = cost[0] <= run[0] and run[1] <= cost[1] and best[0] <= lower and upper <= best[1]
    need(backed, "a bound is tighter than its evidence")
    need(certificate["objective"] in ("quantitative", "qualitative"), "this objective is not known here")
    if certificate["objective"] == "qualitative":  # only whether the goal is reached counts
        cost, best = [0 if c < math.inf else c for c in cost], [0 if c < math.inf else c for c in best]
    gap = [cost[0] - best[1], cost[1] - best[0]]
    worse = cost[0] > best[1] and interval(certificate["gap"]) == gap
    proven = worse if is_bug else certificate["verdict"] == "cleared" and cost[1] <= best[0]
    need(proven, "the bounds do not prove the verdict, or the gap is not theirs")
    if fault := certificate.get("fault"):  # the decision leaves every best course, or is no legal action
        here, after, spent = trace[fault["step"]], trace[fault["step"]], math.inf
        decisions = [*certificate["run"]["actions"], certificate["run"].get("answer")]
        need(fault["action"] == decisions[fault["step"]], "the decision is not the policy's")
        if fault["step"] < len(trace) - 1 or certificate["run"]["outcome"] not in ("stuck", "illegal"):
            after, spent = step(task, here, fault["action"])
        worse = spent + lower_bound(task, after, fault["lower"]) > validate(task, here, fault["witness"])
        need(worse, "the decision is not proven to leave every best course")
    resting_on = certificate["run"].get("rest") if is_bug else certificate["lower"]
    return resting_on is None or resting_on["kind"] != "search"


def digest(certificate: Mapping[str, Any]) -> str:
    """SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in certificate.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def interval(bound: Mapping[str, Any]) -> list[float]:
    """Lower and upper end; null is infinity."""
    ends = [math.inf if bound[end] is None else bound[end] for end in ("lo", "hi")]
    are_numbers = all(type(end) in (int, float) for end in ends)
    need(are_numbers and 0 <= ends[0] <= ends[1], f"{bound} is no interval of costs")
    return ends


def state_of(task: Task, atoms: Sequence[str]) -> State:
    """The state in which exactly these atoms hold; values without an atom stand for "no other"."""
    unnamed = [
        [v for v, name in enumerate(names) if (name or "(not ")[:5] == "(not "] for names in task.facts
    ]
    held = [[v for v, name in enumerate(names) if name in atoms] for names in task.facts]
    state = [value for values in map(lambda a, b: a or b, held, unnamed) for value in values]
    complete = len(state) == len(task.facts) and sum(map(len, held)) == len(set(atoms))
    need(complete, "the facts do not describe a state of the task")
    return tuple(state)


def follow(task: Task, state: State, run: Mapping[str, Any]) -> tuple[list[State], tuple[float, float]]:
    """The states of a policy's run and what it proves about the policy's cost."""
    trace, spent, before = [state], 0, set[State]()
    for name in run["actions"]:
        need(not task.is_goal(trace[-1]) and trace[-1] not in before, "the run goes on after its end")
        before.add(trace[-1])
        following, cost = step(task, trace[-1], name)
        trace, spent = [*trace, following], spent + cost
    last, outcome, answer = trace[-1], run["outcome"], run.get("answer")
    if outcome == "solved" and task.is_goal(last):
        return trace, (spent, spent)
    if outcome in ("cut-off", "failed"):  # the policy may still do anything from there
        return trace, (spent + lower_bound(task, last, run.get("rest")), math.inf)
    fails = {
        "loop": last in before,
        "stuck": answer is None,
        "illegal": not any(a.name == answer and a.applicable(last) for a in task.actions),
        "dead-end": outcome == "dead-end" and not reaches_goal(task, last),
    }
    need(not task.is_goal(last) and fails.get(outcome, False), f"the run does not end as it says: {outcome}")
    return trace, (math.inf, math.inf)


def lower_bound(task: Task, state: State, evidence: Mapping[str, Any] | None) -> float:
    """What the evidence proves about the cost of every plan. A search's word is taken as it is."""
    if evidence is None or evidence["kind"] == "search":
        return 0 if evidence is None else interval({"lo": evidence["value"], "hi": None})[0]
    if evidence["kind"] == "dead-end":
        need(not reaches_goal(task, state), "the goal is not out of reach there")
        return math.inf
    charged: Counter[str] = Counter()
    for landmark in evidence["landmarks"]:
        need(landmark["share"] >= 0, "a share of a cost is negative")
        need(not reaches_goal(task, state, set(landmark["actions"])), "a landmark can be avoided")
        charged.update(dict.fromkeys(landmark["actions"], landmark["share"]))
    within = all(charged[action.name] <= action.cost for action in task.actions)
    need(within, "an action is charged more than its cost")
    return float(sum(landmark["share"] for landmark in evidence["landmarks"]))


def reaches_goal(task: Task, state: State, without: Collection[str] = ()) -> bool:
    """Whether the goal can be reached from a state if no fact is ever lost, without some of the actions."""
    needs = [len(action.precondition) for action in task.actions]
    ready = [action for action in task.actions if not action.precondition]
    new, reached = list(enumerate(state)), set(enumerate(state))
    while new or ready:
        for number in task.needing.get(new.pop(), ()) if new else ():
            needs[number] -= 1
            if needs[number] == 0:
                ready.append(task.actions[number])
        if not new and ready and (action := ready.pop()).name not in without:
            for fact in action.effect.items():
                if fact not in reached:
                    reached.add(fact)
                    new.append(fact)
    return task.goal.items() <= reached
