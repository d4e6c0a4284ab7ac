"""The two published fuzzers; their walks are native."""

from collections.abc import Iterator
from dataclasses import dataclass

from misstep._core import NativeFuzzer
from misstep.bias import BoundBias
from misstep.errors import InputError
from misstep.fuzzer import FuzzContext
from misstep.plugins import option
from misstep.pool import PoolEntry

# Native work is done in slices, between which what was found is reported and saved.
_SLICE_SECONDS = 0.1
_SLICE_STATES = 10_000
# Of a successor in a search without a heuristic, in the units of `max_star_effort`: actions that LM-cut looks at.
_BLIND_EFFORT = 50


@dataclass(frozen=True)
class Refined:
    """Algorithm 1 of Eisenhut et al. (2024): successors weighted by a bias over partial policy runs."""

    name = "refined"
    is_native = True
    max_walk: int = option(5, "L: the longest walk")
    state_budget: int = option(50, "B_state: policy steps of one partial run")
    expansion_budget: int = option(200, "B_expansion: policy steps for all successors of one state")
    novelty: int = option(0, "D: keep only states with a new fact (1) or pair of facts (2); 0 keeps all")
    max_star_expansions: int = option(100_000, "expansions of one exact search of a bias with h=star")
    max_star_effort: float | None = option(
        None, "the same, as expansions times what one takes on this task: fewer expansions on large tasks"
    )
    max_idle_walks: int = option(20_000, "walks in a row without a new state that end the fuzzing")

    def walk(self, fuzz: FuzzContext, /) -> Iterator[PoolEntry]:
        """Entries as they are found; goes on where the known ones end."""
        native = _native(
            self,
            fuzz,
            state_budget=self.state_budget,
            expansion_budget=self.expansion_budget,
            max_star_expansions=self._star_expansions(fuzz),
        )
        return _walk(native, fuzz)

    def _star_expansions(self, fuzz: FuzzContext) -> int:
        if self.max_star_effort is None:
            return self.max_star_expansions
        task = fuzz.task
        # LM-cut looks at all actions for each of its landmarks, of which there are about as many as goals.
        is_lmcut = getattr(fuzz.bias, "name", None) == "surface"
        evaluation = len(task.actions) * (len(task.goal) + 1) if is_lmcut else _BLIND_EFFORT
        one = evaluation * (len(task.applicable(task.initial_state)) + 1)
        return min(self.max_star_expansions, max(1, int(self.max_star_effort / one)))


@dataclass(frozen=True)
class Classic:
    """Algorithm 1 of Steinmetz et al. (2022): weights by whole runs, failing states to the pool, novelty."""

    name = "classic"
    is_native = True
    usual_pool, usual_bias = 200, "plan-length"
    max_walk: int = option(5, "L: the longest walk")
    max_steps: int = option(1000, "policy steps of one run")
    novelty: int = option(2, "D: keep only states with a new fact (1) or pair of facts (2); 0 keeps all")
    max_idle_walks: int = option(20_000, "walks in a row without a new state that end the fuzzing")

    def walk(self, fuzz: FuzzContext, /) -> Iterator[PoolEntry]:
        """Entries as they are found; goes on where the known ones end."""
        return _walk(_native(self, fuzz, max_steps=self.max_steps), fuzz)


def _native(
    part: Refined | Classic,
    fuzz: FuzzContext,
    *,
    state_budget: int = 50,
    expansion_budget: int = 200,
    max_steps: int = 1000,
    max_star_expansions: int = 0,
) -> NativeFuzzer:
    bias = fuzz.bias
    return NativeFuzzer(
        fuzz.graph,
        kind=part.name,
        bias=bias if isinstance(bias, BoundBias) else bias.name,
        distance="ff" if isinstance(bias, BoundBias) else bias.h,
        max_walk=part.max_walk,
        state_budget=state_budget,
        expansion_budget=expansion_budget,
        max_steps=max_steps,
        novelty=part.novelty,
        max_star_expansions=max_star_expansions,
        max_idle_walks=part.max_idle_walks,
        seed=fuzz.seed,
    )


def _walk(native: NativeFuzzer, fuzz: FuzzContext) -> Iterator[PoolEntry]:
    reported = _restore(native, fuzz)
    fuzz.known_outcomes = lambda: native.known_outcomes
    yield from fuzz.known[:reported]
    slice_seconds = _SLICE_SECONDS
    while True:
        fuzz.bound_hit, fuzz.walks = native.bound_hit, native.walks
        # The initial state is an entry like the others.
        while reported < min(len(native), fuzz.size):
            yield _entry(native, reported)
            reported += 1
        fuzz.show()
        if reported >= fuzz.size or fuzz.stopped is not None:
            return
        if (over := fuzz.budget.over) is not None:
            fuzz.stopped = over
            return
        goal, walks = min(fuzz.size, len(native) + _SLICE_STATES), native.walks
        reason = native.extend(goal, budget=fuzz.budget.part(seconds=slice_seconds))
        # A walk that does not end within a slice is taken back, so the next slice must be longer.
        slice_seconds = _SLICE_SECONDS if native.walks > walks else 2 * slice_seconds
        if reason not in ("full", "seconds"):
            fuzz.stopped = reason


def _restore(native: NativeFuzzer, fuzz: FuzzContext) -> int:
    """Adds the known entries but those of the last walk, which may be incomplete: it is walked again."""
    if not fuzz.known:
        return 0
    last = fuzz.known[-1].rng
    complete = [entry for entry in fuzz.known if entry.rng != last]
    for entry in complete[1:]:
        if entry.parent is None or entry.rng is None:
            raise InputError(f"pool entry {entry.id} has no origin, so the pool cannot be continued")
        if not native.restore(entry.parent, list(entry.walk), entry.rng):
            raise InputError(f"pool entry {entry.id} is not what its walk leads to: wrong task or damaged")
    return max(len(complete), 1)


def _entry(native: NativeFuzzer, index: int) -> PoolEntry:
    state, parent, walk, rng = native.entry(index)
    return PoolEntry(id=index, state=state, parent=parent, walk=tuple(walk), rng=rng)
