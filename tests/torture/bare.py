"""Verdicts without a record: the lab, the panel of oracles and the judge alone, in rounds, on all states of a world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from misstep._core import PolicyGraph, State
from misstep.events import Judged
from misstep.explain.fault import localise
from misstep.judge import Verdict
from misstep.lab import Lab
from misstep.oracle import Case, Panel, bind_oracles, make_oracles, open_case
from misstep.plugins import make_part
from misstep.policy import Policy
from misstep.pool import PoolEntry
from misstep.task import Task


def verdicts(
    task: Task,
    policy: Policy,
    pool: Sequence[PoolEntry],
    oracle: str,
    *,
    objective: str = "quantitative",
    max_steps: int = 10_000,
    gap: bool = False,
    faults: bool = True,
) -> Iterator[Judged]:
    """The last verdict on each pool state, as a session reaches it."""
    lab = Lab(task=task, graph=PolicyGraph(task, policy, recheck=False), max_steps=max_steps)
    lab.add_to_pool(pool)
    bound = bind_oracles(make_oracles([oracle]), lab)
    panel: Panel[State, Case] = Panel(lab, bound, objective=make_part("objective", objective), gap=gap)
    runs = lab.run([entry.state for entry in pool])
    cases = [open_case(lab, entry, run) for entry, run in zip(pool, runs, strict=True)]
    left, number = cases, 0
    while left:
        judged = [(case, panel.test(case)[0]) for case in left]
        left = [
            case
            for case, said in judged
            if said.verdict is Verdict.UNKNOWN or (gap and said.gap.lo < said.gap.hi)
        ]
        number += 1
        if not panel.begin_round(number, left=len(left)):
            break
    for case in cases:
        is_bug = panel.judge(case).verdict is Verdict.BUG
        fault = localise(lab, case) if faults and is_bug else None
        said = panel.judge(case)
        yield Judged(
            id=case.id,
            verdict=said.verdict,
            outcome=case.run.outcome,
            cost=case.cost,
            best=lab.best(case.state),
            gap=said.gap,
            oracle=None,
            steps=case.run.steps,
            fault=None if fault is None else fault.note,
        )
