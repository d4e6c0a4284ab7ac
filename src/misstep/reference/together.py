"""Certificates of one classical test together: they must not contradict each other, nor the pool."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from misstep.reference.checked import need, refusing
from misstep.reference.fdr import State, Task, state_of
from misstep.reference.log import Entry
from misstep.reference.plan import step
from misstep.reference.reading import interval, record, texts, whole


def contradictions(task: Task, entries: Sequence[Entry], pool: Sequence[Mapping[str, Any]]) -> list[str]:
    """What accepted certificates, and the pool, say that cannot be true at the same time."""
    found: list[str] = []
    try:
        with refusing("the certificates together"):
            found += _contradictions(task, entries)
            found += _pool(task, entries, pool)
    except ValueError as refused:
        found.append(str(refused))
    return found


def _contradictions(task: Task, entries: Sequence[Entry]) -> Iterator[str]:
    """A state has one best cost, and the policy decides once in it.

    Every plan, and every run that reaches the goal, bounds the best cost of all states on its way from above.
    So the lower bound of each certificate is compared with all of them.
    """
    upper: dict[State, tuple[float, str]] = {}
    decisions: dict[State, tuple[str | None, str]] = {}
    verdicts: dict[State, tuple[str, str]] = {}
    for entry in entries:
        start = state_of(task, texts(entry.fields["state"], "the state"))
        run, witness = entry.fields["run"], entry.fields["witness"]
        states = _states(task, start, run["actions"])
        told = list(zip(states, run["actions"], strict=False))
        if run["outcome"] in ("stuck", "illegal"):
            told.append((states[-1], run.get("answer")))
        for state, name in told:
            known, whose = decisions.setdefault(state, (name, entry.name))
            if known != name:
                yield f"{entry.name}: the policy decides otherwise in {whose}"
        if run["outcome"] == "solved":
            _lower_to(upper, task, start, run["actions"], entry.name)
        if witness is not None:
            _lower_to(upper, task, start, witness, entry.name)
        verdict, whose = verdicts.setdefault(start, (entry.checked.verdict, entry.name))
        if verdict != entry.checked.verdict:
            yield f"{entry.name}: {whose} says that the same state is {verdict}"
    for entry in entries:
        start = state_of(task, texts(entry.fields["state"], "the state"))
        low, _ = interval(entry.fields["best"], "the best cost")
        best, whose = upper.get(start, (math.inf, ""))
        if low > best:
            yield f"{entry.name}: its lower bound {low:g} is above the plan of cost {best:g} in {whose}"


def _lower_to(
    upper: dict[State, tuple[float, str]], task: Task, start: State, plan: Sequence[str], whose: str
) -> None:
    """Notes what the rest of a plan costs from every state on its way."""
    rest = 0
    states = _states(task, start, plan)
    for state, name in [(states[-1], None), *zip(reversed(states[:-1]), reversed(plan), strict=True)]:
        rest += 0 if name is None else step(task, state, name)[1]
        if rest < upper.get(state, (math.inf, ""))[0]:
            upper[state] = rest, whose


def _states(task: Task, start: State, names: Sequence[str]) -> list[State]:
    """The states on the way of these actions, both ends included."""
    states = [start]
    for name in names:
        states.append(step(task, states[-1], name)[0])
    return states


def _pool(task: Task, entries: Sequence[Entry], pool: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A certificate about a pool state says the same of it as the pool, and walks lead where they should."""
    lines = {whole(line.get("id"), "the id of a pool entry"): line for line in pool}
    for entry in entries:
        state = state_of(task, texts(entry.fields["state"], "the state"))
        walk = entry.fields.get("walk_from_initial_state")
        if walk is not None and _end(task, task.initial, walk) != state:
            yield f"{entry.name}: the walk from the initial state does not lead to the state"
        if entry.fields.get("pool") is None:
            continue
        parts = record(entry.fields["pool"], "the pool entry", ("id", "parent", "walk"))
        line = lines.get(whole(parts["id"], "the id of the pool entry"))
        if line is None or str(parts["id"]) != entry.id:
            yield f"{entry.name}: the pool has no such entry"
            continue
        same = state_of(task, texts(line.get("facts"), "the facts of a pool entry")) == state
        if not same or parts["parent"] != line.get("parent") or parts["walk"] != line.get("walk"):
            yield f"{entry.name}: the pool has another state, parent or walk there"
        elif parts["parent"] is not None:
            origin = lines.get(whole(parts["parent"], "the parent"))
            need(origin is not None, f"{entry.name}: the pool has no parent {parts['parent']}")
            before = state_of(task, texts((origin or {}).get("facts"), "the facts of a parent"))
            if _end(task, before, parts["walk"]) != state:
                yield f"{entry.name}: the walk from the parent does not lead to the state"


def _end(task: Task, state: State, walk: object) -> State:
    return _states(task, state, texts(walk, "a walk"))[-1]
