"""Small random FDR tasks, rich in the cases that break planners, as values and as SAS text."""

from __future__ import annotations

import random
from dataclasses import replace

from misstep.reference.fdr import Action, Facts, State, Task, holds

# How costs are drawn for one task: None stands for a task without a metric, where every action costs 1.
_COSTS: tuple[tuple[int, ...] | None, ...] = (
    None,
    (0, 1, 1),
    (0, 1, 1, 2, 5),
    (1, 2, 3),
    (0, 1, 2, 10, 1000),
    (1, 2, 3, 30_000, 1_000_000),
    (0,),
)


def random_task(rng: random.Random) -> Task:
    """A task with 2 to 6 variables of 2 to 4 values (rarely 1) and up to 28 actions.

    Goals are mostly taken from a random walk, so that plans exist; otherwise drawn freely, so that many tasks
    are unsolvable, some of them even without delete effects. Actions without preconditions, without effects,
    that change nothing, that repeat another one and that overwrite variables blindly occur. Some tasks have
    many more variables that never change, so that a packed state takes several machine words.
    """
    sizes = [
        1 if rng.random() < 0.02 else rng.randint(2, 4) for _ in range(rng.choice((2, 3, 4, 5, 5, 6, 6)))
    ]
    costs = rng.choice(_COSTS)
    initial = _random_state(sizes, rng)
    task = Task(tuple(_names(i, size, rng) for i, size in enumerate(sizes)), initial, {}, ())
    for number in range(rng.randint(0, 4) if rng.random() < 0.1 else rng.randint(5, 28)):
        kind = rng.random() if task.actions else 1.0
        if kind < 0.07:
            action = _repeated(rng.choice(task.actions), f"(again {number})", costs, rng)
        elif kind < 0.35:
            action = _inverse(rng.choice(task.actions), f"(back {number})", sizes, costs, rng)
        else:
            action = _random_action(f"(act {number})", task, sizes, costs, rng)
        task = replace(task, actions=(*task.actions, action))
    task = replace(task, goal=_random_goal(task, sizes, rng))
    return _spread_out(task, rng) if rng.random() > 0.85 else task


def _spread_out(task: Task, rng: random.Random) -> Task:
    """The same task among constant variables, some of them with many values."""
    width = len(task.facts) + rng.randint(10, 70)
    place = rng.sample(range(width), len(task.facts))
    facts: list[tuple[str | None, ...]] = [
        tuple(f"(constant y{i} {value})" for value in range(rng.choice((1, 2, 2, 3, 5, 17, 300))))
        for i in range(width)
    ]
    initial = [rng.randrange(len(values)) for values in facts]
    for old, new in enumerate(place):
        facts[new], initial[new] = task.facts[old], task.initial[old]

    def moved(old: Facts) -> Facts:
        return {place[variable]: value for variable, value in old.items()}

    actions = [replace(a, precondition=moved(a.precondition), effect=moved(a.effect)) for a in task.actions]
    return Task(tuple(facts), tuple(initial), moved(task.goal), tuple(actions))


def random_walk(task: Task, steps: int, rng: random.Random) -> State:
    """The state after some random applicable actions; shorter where there are none."""
    state = task.initial
    for _ in range(steps):
        choice = task.successors(state)
        if not choice:
            break
        state = rng.choice(choice)[1]
    return state


def random_sas(seed: int) -> str:
    """The SAS text of the random task with this number."""
    return to_sas(random_task(random.Random(seed)))


def to_sas(task: Task) -> str:
    """SAS text, version 3, that reads back as the same task."""
    metric = any(action.cost != 1 for action in task.actions)
    lines = ["begin_version", "3", "end_version", "begin_metric", str(int(metric)), "end_metric"]
    lines.append(str(len(task.facts)))
    for i, names in enumerate(task.facts):
        lines += ["begin_variable", f"var{i}", "-1", str(len(names)), *map(_sas_name, names), "end_variable"]
    lines += ["0", "begin_state", *map(str, task.initial), "end_state"]
    lines += [
        "begin_goal",
        str(len(task.goal)),
        *(f"{v} {value}" for v, value in task.goal.items()),
        "end_goal",
    ]
    lines.append(str(len(task.actions)))
    for action in task.actions:
        prevail = {v: value for v, value in action.precondition.items() if v not in action.effect}
        lines += ["begin_operator", action.name[1:-1], str(len(prevail))]
        lines += [f"{v} {value}" for v, value in prevail.items()]
        lines.append(str(len(action.effect)))
        lines += [f"0 {v} {action.precondition.get(v, -1)} {new}" for v, new in action.effect.items()]
        lines += [str(action.cost), "end_operator"]
    return "\n".join([*lines, "0"]) + "\n"


def _sas_name(name: str | None) -> str:
    if name is None:
        return "<none of those>"
    kind = "NegatedAtom" if name.startswith("(not ") else "Atom"
    predicate, *arguments = name.removeprefix("(not ").strip("()").split()
    return f"{kind} {predicate}({', '.join(arguments)})"


def _names(variable: int, size: int, rng: random.Random) -> tuple[str | None, ...]:
    """Binary variables are sometimes an atom and its negation; a last value is sometimes none of those."""
    if size == 2 and rng.random() < 0.4:
        return (f"(flag {variable})", f"(not (flag {variable}))")
    names: list[str | None] = [f"(value x{variable} {'abcd'[value]})" for value in range(size)]
    if size > 1 and rng.random() < 0.3:
        names[-1] = None
    return tuple(names)


def _random_state(sizes: list[int], rng: random.Random) -> State:
    return tuple(rng.randrange(size) for size in sizes)


def _partial(sizes: list[int], count: int, rng: random.Random) -> Facts:
    chosen = sorted(rng.sample(range(len(sizes)), min(len(sizes), count)))
    return {variable: rng.randrange(sizes[variable]) for variable in chosen}


def _cost(costs: tuple[int, ...] | None, rng: random.Random) -> int:
    return 1 if costs is None else rng.choice(costs)


def _random_action(
    name: str, task: Task, sizes: list[int], costs: tuple[int, ...] | None, rng: random.Random
) -> Action:
    """Most actions are applicable in some state that the actions before them reach."""
    precondition = _partial(sizes, rng.choice((1, 1, 1, 2, 2, 2, 2, 3, 3, 0)), rng)
    effect = _partial(sizes, rng.choice((1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 0)), rng)
    if rng.random() < 0.85:
        here = random_walk(task, rng.randint(0, 10), rng)
        precondition = {v: here[v] for v in precondition}
        effect = {v: rng.choice([x for x in range(sizes[v]) if x != here[v]] or [0]) for v in effect}
    if rng.random() < 0.05:
        effect = dict(precondition)  # changes nothing
    return Action(name, precondition, effect, _cost(costs, rng))


def _repeated(action: Action, name: str, costs: tuple[int, ...] | None, rng: random.Random) -> Action:
    """The same action under its own or another name, at the same or another cost."""
    kept_name = action.name if rng.random() < 0.3 else name
    return Action(kept_name, action.precondition, action.effect, _cost(costs, rng))


def _inverse(
    action: Action, name: str, sizes: list[int], costs: tuple[int, ...] | None, rng: random.Random
) -> Action:
    """Leads back to where the action is applicable; what it overwrote blindly gets a random value."""
    before = {v: action.precondition.get(v, rng.randrange(sizes[v])) for v in action.effect}
    return Action(name, {**action.precondition, **action.effect}, before, _cost(costs, rng))


def _random_goal(task: Task, sizes: list[int], rng: random.Random) -> Facts:
    """Reachable as a whole, reachable one by one, or neither; what holds at once is rare, but legal."""
    for _ in range(5):
        goal = _partial(sizes, rng.randint(1, len(sizes)) if rng.random() < 0.95 else 0, rng)
        kind = rng.randrange(6)
        if kind < 3:
            end = random_walk(task, rng.randint(1, 30), rng)
            goal = {variable: end[variable] for variable in goal}
        elif kind < 5:
            goal = {variable: random_walk(task, rng.randint(1, 30), rng)[variable] for variable in goal}
        if not holds(goal, task.initial):
            break
    return goal
