"""The contract of biases."""

import random

from misstep._core import PolicyGraph, Run
from misstep.bias import Bias, NativeBias, bind_bias, score_run
from misstep.fuzz import Fuzz
from misstep.fuzzers.published import Refined
from misstep.plugins import make_part
from misstep.pool import PoolEntry
from misstep.testing.contract import Contract, contract_of
from misstep.testing.samples import Sample, SamplePolicy, samples

_ANSWERS = "a bias gives every partial run a number"
_ALWAYS = "a bias gives the same run the same number, whatever it was asked before"
_POOLS = "a bias steers the refined fuzzer to the same pool for the same seed"


def check_bias(part: Bias | NativeBias | str, *, tasks: int = 100, seed: int = 0) -> None:
    """Raises ContractBroken where a bias breaks a rule on one of so many random tasks."""
    bias: Bias | NativeBias = make_part("bias", part) if isinstance(part, str) else part
    with contract_of("bias", bias, "name") as contract:
        found = [_Scored(contract, bias, sample) for sample in samples(tasks, seed)]
        for scored in found:  # all were asked once by now
            scored.check_again()
            scored.check_pool()


class _Scored:
    """A bias on one task, and what it said first about some runs."""

    def __init__(self, contract: Contract, bias: Bias | NativeBias, sample: Sample) -> None:
        self.contract, self.bias, self.sample = contract, bias, sample
        with contract.keeping(_ANSWERS, on=sample):
            self.bound = bind_bias(bias, sample.task)
            runs = self._graph().run(sample.task.batch(sample.states), max_steps=6)
            self.runs = [run for run in runs if run.steps > 0 and run.outcome in ("solved", "cut-off")]
            self.first = [self._score(run) for run in self.runs]

    def check_again(self) -> None:
        """In another order, and for a fresh binding."""
        with self.contract.keeping(_ALWAYS, on=self.sample):
            again = [self._score(run) for run in reversed(self.runs)][::-1]
            self.bound = bind_bias(self.bias, self.sample.task)
            fresh = [self._score(run) for run in self.runs]
            for run, values in zip(self.runs, zip(self.first, again, fresh, strict=True), strict=True):
                if len(set(values)) > 1:
                    self.contract.broken(_ALWAYS, f"the run from {run.states[0]} got {values}")

    def check_pool(self) -> None:
        """The fuzzer asks it as any test does."""
        with self.contract.keeping(_POOLS, on=self.sample):
            one, other = self._pool(chance=1), self._pool(chance=2)
            self.contract.need(one == other, _POOLS, "two pools with one seed differ")

    def _pool(self, *, chance: int) -> list[PoolEntry]:
        """`chance` seeds Python's global random numbers, which nobody should use."""
        fuzzer = Refined(max_walk=3, state_budget=4, expansion_budget=10, max_idle_walks=30)
        before = random.getstate()
        random.seed(chance)
        try:
            return list(Fuzz(self._graph(), fuzzer, self.bias, seed=self.sample.seed, size=6))
        finally:
            random.setstate(before)

    def _graph(self) -> PolicyGraph:
        return PolicyGraph(self.sample.task, SamplePolicy(self.sample.task, self.sample.seed), recheck=False)

    def _score(self, run: Run) -> float:
        return score_run(self.bound, run)
