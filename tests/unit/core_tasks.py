"""Hand-made tasks for the tests of the native core."""

from __future__ import annotations

from misstep import _core as core
from misstep.reference import fdr
from misstep.testing.random_tasks import to_sas

# A lorry between two towns, a parcel, and a lamp that is an atom or its negation.
DELIVERY = fdr.Task(
    facts=(
        ("(at lorry a)", "(at lorry b)"),
        ("(at parcel a)", "(at parcel b)", "(in parcel lorry)"),
        ("(lit)", "(not (lit))"),
        ("(broken lorry)", None),
    ),
    initial=(0, 0, 1, 1),
    goal={1: 1},
    actions=(
        fdr.Action("(drive lorry a b)", {0: 0, 3: 1}, {0: 1}, 3),
        fdr.Action("(drive lorry b a)", {0: 1, 3: 1}, {0: 0}, 2),
        fdr.Action("(load parcel a)", {0: 0, 1: 0}, {1: 2}, 1),
        fdr.Action("(unload parcel b)", {0: 1, 1: 2}, {1: 1}, 0),
        fdr.Action("(light)", {2: 1}, {2: 0}, 5),
    ),
)


def delivery() -> core.Task:
    return core.Task(to_sas(DELIVERY))


def fan(width: int, switches: int) -> core.Task:
    """From the first state so many steps lead to as many states; only there switches can be turned on, all of them."""
    there = [fdr.Action(f"(go {i})", {0: 0}, {0: i}, 1) for i in range(1, width + 1)]
    on = [fdr.Action(f"(switch {i})", {0: i, i: 0}, {i: 1}, 1) for i in range(1, switches + 1)]
    back = [fdr.Action(f"(back {i})", {0: i}, {0: 0}, 1) for i in range(1, width + 1)]
    facts = (
        tuple(f"(at {i})" for i in range(width + 1)),
        *((f"(off {i})", f"(on {i})") for i in range(switches)),
    )
    goal = dict.fromkeys(range(1, switches + 1), 1)
    task = fdr.Task(facts=facts, initial=(0,) * (switches + 1), goal=goal, actions=(*there, *on, *back))
    return core.Task(to_sas(task))


def counter(bits: int) -> core.Task:
    """2^bits states, all of which a blind search visits."""
    return core.Task(
        to_sas(
            fdr.Task(
                facts=tuple((f"(off {i})", f"(on {i})") for i in range(bits)),
                initial=(0,) * bits,
                goal=dict.fromkeys(range(bits), 1),
                actions=tuple(fdr.Action(f"(switch {i})", {i: 0}, {i: 1}, 1) for i in range(bits)),
            )
        )
    )
