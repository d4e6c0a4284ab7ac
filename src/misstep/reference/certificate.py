"""Certificates of classical tests, checked from first principles. ValueError says why one proves nothing."""

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from misstep.reference.fdr import State, Task, step, validate


def check(certificate: Mapping[str, Any], task: Task) -> bool:
    """Check a bug or a clearance. True: the verdict is proven; False: it rests on a search's word."""
    if certificate["sha256"] != digest(certificate):
        raise ValueError("the digest is not that of the certificate")
    state = state_of(task, certificate["state"])
    trace, run = follow(task, state, certificate["run"])
    upper = math.inf if certificate["witness"] is None else validate(task, state, certificate["witness"])
    lower = lower_bound(task, state, certificate["lower"])
    cost, best = interval(certificate["cost"]), interval(certificate["best"])
    if not (cost[0] <= run[0] and run[1] <= cost[1] and best[0] <= lower and upper <= best[1]):
        raise ValueError("a bound is tighter than its evidence")
    if certificate["objective"] == "qualitative":  # only whether the goal is reached counts
        cost, best = [0 if c < math.inf else c for c in cost], [0 if c < math.inf else c for c in best]
    elif certificate["objective"] != "quantitative":
        raise ValueError("this objective is not known here")
    if certificate["verdict"] == "bug":
        if not cost[0] > best[1]:
            raise ValueError("the policy is not proven to do worse than the witness")
        if interval(certificate["gap"]) != [cost[0] - best[1], cost[1] - best[0]]:
            raise ValueError("the gap is not the difference of the bounds")
    elif certificate["verdict"] != "cleared" or not cost[1] <= best[0]:
        raise ValueError("the policy is not proven to do as well as possible")
    if fault := certificate.get("fault"):
        at, here = fault["step"], trace[fault["step"]]
        names = [*certificate["run"]["actions"], certificate["run"].get("answer")]
        if fault["action"] != names[at]:
            raise ValueError("the fault is not what the policy did")
        best_here = validate(task, here, fault["witness"])
        if at < len(trace) - 1:
            after, spent = step(task, here, fault["action"])
            if not spent + lower_bound(task, after, fault["lower"]) > best_here:
                raise ValueError("the decision is not proven to leave every best course")
        elif certificate["run"]["outcome"] not in ("stuck", "illegal"):
            raise ValueError("there is no decision at the end of this run")
    resting_on = certificate["run"].get("rest") if certificate["verdict"] == "bug" else certificate["lower"]
    return resting_on is None or resting_on["kind"] != "search"


def digest(certificate: Mapping[str, Any]) -> str:
    """SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in certificate.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def interval(bound: Mapping[str, Any]) -> list[float]:
    """Lower and upper end; null is infinity."""
    ends = [math.inf if bound[end] is None else bound[end] for end in ("lo", "hi")]
    if not (all(type(end) in (int, float) for end in ends) and 0 <= ends[0] <= ends[1]):
        raise ValueError(f"{bound} is no interval of costs")
    return ends


def state_of(task: Task, atoms: Sequence[str]) -> State:
    """The state in which exactly these atoms hold."""
    state = []
    for names in task.facts:
        held = [value for value, name in enumerate(names) if name in atoms]
        other = [v for v, name in enumerate(names) if name is None or name.startswith("(not ")]
        if len(held or other) != 1:
            raise ValueError(f"the state does not say which of {names} holds")
        state += held or other
    if not set(atoms) <= {name for names in task.facts for name in names}:
        raise ValueError("the state has an atom that is none of the task's")
    return tuple(state)


def follow(task: Task, state: State, run: Mapping[str, Any]) -> tuple[list[State], tuple[float, float]]:
    """The states of a policy's run and what it proves about the policy's cost."""
    trace, spent, before = [state], 0, set[State]()
    for name in run["actions"]:
        if task.is_goal(trace[-1]) or trace[-1] in before:
            raise ValueError("the run goes on after its end")
        before.add(trace[-1])
        following, cost = step(task, trace[-1], name)
        trace.append(following)
        spent += cost
    last, outcome, answer = trace[-1], run["outcome"], run.get("answer")
    if outcome == "solved" and task.is_goal(last):
        return trace, (spent, spent)
    if outcome == "cut-off":
        return trace, (spent + lower_bound(task, last, run.get("rest")), math.inf)
    fails = {
        "loop": last in before,
        "stuck": answer is None,
        "illegal": not any(a.name == answer and a.applicable(last) for a in task.actions),
        "dead-end": not Relaxed(task).reaches_goal(last),
    }
    if task.is_goal(last) or not fails.get(outcome, False):
        raise ValueError(f"the run does not end as it says: {outcome}")
    return trace, (math.inf, math.inf)


def lower_bound(task: Task, state: State, evidence: Mapping[str, Any] | None) -> float:
    """What the evidence proves about the cost of every plan. A search's word is taken as it is."""
    if evidence is None:
        return 0
    if evidence["kind"] == "search":
        return interval({"lo": evidence["value"], "hi": None})[0]
    relaxed = Relaxed(task)
    if evidence["kind"] == "dead-end":
        if relaxed.reaches_goal(state):
            raise ValueError("the goal is not out of reach there")
        return math.inf
    charged: dict[str, int] = {}
    for landmark in evidence["landmarks"]:
        if landmark["share"] < 0 or relaxed.reaches_goal(state, landmark["actions"]):
            raise ValueError("a landmark can be avoided")
        for name in set(landmark["actions"]):
            charged[name] = charged.get(name, 0) + landmark["share"]
    if any(charged.get(action.name, 0) > action.cost for action in task.actions):
        raise ValueError("an action is charged more than its cost")
    return float(sum(landmark["share"] for landmark in evidence["landmarks"]))


class Relaxed:
    """A task in which no fact is ever lost."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.waiting: dict[tuple[int, int], list[int]] = {}  # actions by the facts that they need
        for number, action in enumerate(task.actions):
            for fact in action.precondition.items():
                self.waiting.setdefault(fact, []).append(number)

    def reaches_goal(self, state: State, without: Collection[str] = ()) -> bool:
        """Whether the goal can be reached from a state without some of the actions."""
        actions, left_out = self.task.actions, set(without)
        needs = [len(action.precondition) for action in actions]
        ready = [action for action in actions if not action.precondition]
        new, reached = list(enumerate(state)), set(enumerate(state))
        while new or ready:
            if new:
                for number in self.waiting.get(new.pop(), ()):
                    needs[number] -= 1
                    if needs[number] == 0:
                        ready.append(actions[number])
            elif (action := ready.pop()).name not in left_out:
                new += action.effect.items() - reached
                reached |= action.effect.items()
        return self.task.goal.items() <= reached
