"""The contract of fuzzers."""

import random
from collections.abc import Sequence
from functools import partial

from misstep._core import Budget, PolicyGraph, StopFlag
from misstep.biases.published import PlanLength
from misstep.fuzz import Fuzz
from misstep.fuzzer import Fuzzer
from misstep.plugins import make_part
from misstep.pool import PoolEntry
from misstep.testing.contract import MAX_SECONDS, Contract, contract_of
from misstep.testing.samples import Sample, SamplePolicy, samples

_SIZE = 8
# Small tasks have fewer states than this, so that a pool of this size is never full.
_TOO_MANY = 10**6
_WALKS = "the first entry is the initial state, and every walk leads from its parent to its state"
_SAME = "the same seed gives the same pool; randomness comes from `fuzz.rng` or `fuzz.seed` alone"
_RESUMED = "a pool that is continued is the pool of one undisturbed session"
_ENDS = "a fuzzer ends when nothing new is found any more"
_STOPS = "a fuzzer ends soon when its budget is over or its stop flag is set"


def check_fuzzer(
    part: Fuzzer | str, *, tasks: int = 50, seed: int = 0, max_seconds: float = MAX_SECONDS
) -> None:
    """Raises ContractBroken where a fuzzer breaks a rule on one of so many random tasks.

    `max_seconds` is how long it may take to give up or to notice that it must stop.
    """
    fuzzer: Fuzzer = make_part("fuzzer", part) if isinstance(part, str) else part
    with contract_of("fuzzer", fuzzer, "name", "walk") as contract:
        for number, sample in enumerate(samples(tasks, seed)):
            with contract.keeping(_WALKS, on=sample):
                # Small tasks may be exhausted here already, so this might never end, too.
                pool = contract.ends(_ENDS, partial(_pool, fuzzer, sample), max_seconds=max_seconds)
                _check_pool(contract, sample, pool)
            with contract.keeping(_SAME, on=sample):
                _check_same(contract, fuzzer, sample, pool)
            with contract.keeping(_RESUMED, on=sample):
                for cut in {1, len(pool) // 2, len(pool)} - {0}:
                    again = _pool(fuzzer, sample, known=pool[:cut])
                    contract.need(again == pool, _RESUMED, f"after {cut} entries it goes on in another way")
            if number < 3:
                _check_ends(contract, fuzzer, sample, max_seconds)


def _fuzz(
    fuzzer: Fuzzer,
    sample: Sample,
    *,
    size: int = _SIZE,
    known: Sequence[PoolEntry] = (),
    stop: StopFlag | None = None,
) -> Fuzz:
    graph = PolicyGraph(sample.task, SamplePolicy(sample.task, sample.seed), recheck=False)
    return Fuzz(
        graph, fuzzer, PlanLength(), seed=sample.seed, size=size, known=known, budget=Budget(stop=stop)
    )


def _pool(fuzzer: Fuzzer, sample: Sample, *, known: Sequence[PoolEntry] = ()) -> list[PoolEntry]:
    return list(_fuzz(fuzzer, sample, known=known))


def _check_pool(contract: Contract, sample: Sample, pool: list[PoolEntry]) -> None:
    """Once more by the reference: what calls itself native is not replayed by the session."""
    contract.need(bool(pool), _WALKS, "the pool is empty")
    contract.need(pool[0].state == sample.task.initial_state, _WALKS, f"the pool begins with {pool[0].state}")
    states = [entry.state for entry in pool]
    contract.need(len(set(states)) == len(states), "a pool has no state twice", "one is there twice")
    for number, entry in enumerate(pool[1:], start=1):
        contract.need(
            entry.parent is not None and entry.parent < number, _WALKS, f"entry {number} has no parent"
        )
        values = tuple(pool[entry.parent or 0].state.values)
        for action in entry.walk:
            values = sample.reference.actions[action.index].apply(values)
        contract.need(values == tuple(entry.state.values), _WALKS, f"the walk of entry {number} does not")


def _check_same(contract: Contract, fuzzer: Fuzzer, sample: Sample, pool: list[PoolEntry]) -> None:
    before = random.getstate()
    try:
        random.seed(sample.seed + 1)  # nobody should use it
        again = _pool(fuzzer, sample)
    finally:
        random.setstate(before)
    contract.need(again == pool, _SAME, "a second session with the same seed made another pool")


def _check_ends(contract: Contract, fuzzer: Fuzzer, sample: Sample, max_seconds: float) -> None:
    with contract.keeping(_ENDS, on=sample):
        everything = _fuzz(fuzzer, sample, size=_TOO_MANY)
        contract.ends(_ENDS, lambda: list(everything), max_seconds=max_seconds)
    with contract.keeping(_STOPS, on=sample):
        stop = StopFlag()
        stop.set()
        stopped = _fuzz(fuzzer, sample, size=_TOO_MANY, stop=stop)
        contract.ends(_STOPS, lambda: list(stopped), max_seconds=max_seconds)
