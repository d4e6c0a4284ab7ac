"""The contract of oracles, against brute force."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

from misstep._core import Budget, PolicyGraph, State, StopFlag, search
from misstep.claim import Claim, DeadEnd, Landmarks, plan_claim
from misstep.config import Config
from misstep.errors import MisstepError
from misstep.lab import Lab
from misstep.oracle import Case, OraclePart, bind_oracle, make_oracles, open_case
from misstep.pool import PoolEntry
from misstep.proof import Surrounded
from misstep.record.verify import verify_record
from misstep.reference.bits import BitTask
from misstep.reference.checked import Refused
from misstep.reference.functions import Functions
from misstep.reference.lower import lower_bound
from misstep.session import Session
from misstep.testing.contract import MAX_SECONDS, Contract, contract_of
from misstep.testing.samples import Sample, SamplePolicy, samples

# More claims than this about one state mean that the oracle never ends.
_MOST_CLAIMS = 10_000
# A part that is asked twice about everything would make the check take twice as long.
_REPEATED = 5

_Told: TypeAlias = tuple[str, float, float, str, str]


def check_oracle(
    part: OraclePart | str, *, tasks: int = 200, seed: int = 0, max_seconds: float = MAX_SECONDS
) -> None:
    """Raises ContractBroken where an oracle breaks a rule on one of so many random tasks.

    Every claim is compared with the exact cost, which brute force finds; verdicts that rest on its claims go
    through the trusted checker. `max_seconds` is how long it may take to notice that it must stop.
    """
    if isinstance(part, str):
        (part,) = make_oracles([part])
    with contract_of("oracle", part, "name", "bind") as contract:
        before: tuple[Sample, list[_Told]] | None = None
        for number, sample in enumerate(samples(tasks, seed)):
            with contract.keeping("an oracle answers without raising", on=sample):
                told = _ask_all(contract, part, sample)
                if number < _REPEATED or number % _REPEATED == 0:
                    _check_again(contract, part, sample, told)
                    _check_session(contract, part, sample)
                elif before is not None and number % _REPEATED == 1:
                    _check_apart(contract, part, before, (sample, told))
                if number < _REPEATED:
                    _check_stop(contract, part, sample, max_seconds)
            before = (sample, told)


@dataclass(slots=True, kw_only=True)
class _WatchedLab(Lab):
    """A lab that compares everything that comes in by its door with the truth."""

    contract: Contract
    sample: Sample
    told: list[_Told] = field(default_factory=list)

    def check(self, claim: Claim[State]) -> None:
        """Checks the evidence as always, and the bounds against brute force."""
        try:
            Lab.check(self, claim)
            if isinstance(claim.evidence, Landmarks | DeadEnd | Surrounded):
                self._look_at(claim)
        except (MisstepError, Refused) as error:
            self.contract.broken("the evidence of every claim holds", str(error))
        best, bound = self.sample.best_cost(claim.state), claim.bound
        if best is not None:
            self.contract.need(
                bound.lo <= best,
                "a lower bound is never above the cost of a cheapest plan",
                f"`{claim.oracle}` claims at least {bound.lo:g} for {claim.state}; a plan costs {best:g}",
            )
            self.contract.need(
                best <= bound.hi,
                "an upper bound is never below the cost of a cheapest plan",
                f"`{claim.oracle}` claims at most {bound.hi:g} for {claim.state}; every plan costs at least "
                f"{best:g}",
            )
        evidence = repr(claim.evidence.as_json(bound))
        self.told.append((str(claim.state), bound.lo, bound.hi, evidence, claim.oracle))

    def _look_at(self, claim: Claim[State]) -> None:
        """Has the trusted checker look at a lower bound, whether a verdict comes to rest on it or not."""
        task, evidence = self.sample.reference, claim.evidence
        lines = evidence.lines().values() if isinstance(evidence, Surrounded) else ()
        functions = Functions(BitTask(task), lines)
        proven = lower_bound(task, tuple(claim.state.values), evidence.as_json(claim.bound), functions)
        if proven.value < claim.bound.lo:
            raise Refused(f"it proves {proven.value:g}, not {claim.bound.lo:g}")


def _lab(contract: Contract, sample: Sample, *, stop: StopFlag | None = None) -> _WatchedLab:
    graph = PolicyGraph(sample.task, SamplePolicy(sample.task, sample.seed), recheck=False)
    budget = Budget(stop=stop)
    lab = _WatchedLab(
        task=sample.task,
        graph=graph,
        budget=budget,
        turn=budget,
        max_steps=random.Random(sample.seed).choice((3, 1000)),
        seed=sample.seed,
        contract=contract,
        sample=sample,
    )
    lab.add_to_pool(PoolEntry(id=number, state=state) for number, state in enumerate(sample.states))
    return lab


def _cases(lab: _WatchedLab) -> Iterator[Case]:
    for number, state in enumerate(lab.sample.states):
        (run,) = lab.graph.run(lab.task.batch([state]), max_steps=lab.max_steps)
        yield open_case(lab, PoolEntry(id=number, state=state), run)


def _asking(contract: Contract, part: OraclePart, lab: _WatchedLab) -> Iterator[None]:
    """Asks about one case after the other; somebody else's plan comes in between, for those who learn."""
    oracle: Any = bind_oracle(part, lab)
    if hasattr(oracle, "learn"):
        lab.learners.append(oracle)
    for case in _cases(lab):
        claims = list(islice(_entered(contract, part, lab, oracle, case), _MOST_CLAIMS + 1))
        contract.need(
            len(claims) <= _MOST_CLAIMS,
            "an oracle ends when it has nothing more to say",
            f"it made more than {_MOST_CLAIMS} claims about {case.state}",
        )
        if case.id == 1 and (plan := search(lab.task, "astar:blind", state=case.state)).outcome == "solved":
            lab.enter(plan_claim(case.state, plan.plan, "somebody else"))
        yield


def _entered(
    contract: Contract, part: OraclePart, lab: _WatchedLab, oracle: Any, case: Case
) -> Iterator[Claim[Any]]:
    for claim in oracle.claims(case):
        contract.need(isinstance(claim, Claim), "an oracle yields claims", f"it yielded {claim!r:.80}")
        contract.need(
            claim.oracle == part.name,
            "a claim carries the name of its oracle",
            f"it says that `{claim.oracle}` made it",
        )
        lab.enter(claim)
        yield claim


def _ask_all(contract: Contract, part: OraclePart, sample: Sample) -> list[_Told]:
    lab = _lab(contract, sample)
    for _ in _asking(contract, part, lab):
        pass
    return lab.told


def _check_again(contract: Contract, part: OraclePart, sample: Sample, told: list[_Told]) -> None:
    rule = "an oracle makes the same claims again on a fresh lab; randomness comes from `lab.seed` alone"
    _compare(contract, rule, told, _differently_seeded(lambda: _ask_all(contract, part, sample)))


def _differently_seeded(work: Callable[[], list[_Told]]) -> list[_Told]:
    """Runs the work with another state of Python's global random numbers, which nobody should use."""
    before = random.getstate()
    random.seed(before[1][0] + 1)
    try:
        return work()
    finally:
        random.setstate(before)


def _check_apart(
    contract: Contract,
    part: OraclePart,
    one: tuple[Sample, list[_Told]],
    other: tuple[Sample, list[_Told]],
) -> None:
    """Two labs, asked in turns, hear what each heard alone."""
    labs = [_lab(contract, sample) for sample, _ in (one, other)]
    turns = [_asking(contract, part, lab) for lab in labs]
    while turns:
        turns = [turn for turn in turns if next(turn, StopIteration) is not StopIteration]
    rule = "nothing is shared between two labs: what `bind` returns keeps its notes to itself"
    for lab, (_, told) in zip(labs, (one, other), strict=True):
        with contract.keeping(rule, on=lab.sample):
            _compare(contract, rule, told, lab.told)


def _check_session(contract: Contract, part: OraclePart, sample: Sample) -> None:
    """A whole test, in which another oracle sees to it that there are verdicts."""
    config = Config(policy="object:sample", fuzzer="refined:max_idle_walks=50", pool=4, recheck=False)
    policy = SamplePolicy(sample.task, sample.seed)
    session = Session(
        config, task=sample.task, policy=policy, parts={"oracle": [part, *make_oracles(["perfect"])]}
    )
    for _ in session.events():
        pass
    for refused in verify_record(session.record).invalid:
        contract.broken(
            "verdicts that rest on its claims pass the trusted checker",
            f"certificate {refused['certificate']}: {refused['reason']}",
        )


def _check_stop(contract: Contract, part: OraclePart, sample: Sample, max_seconds: float) -> None:
    """An oracle that is asked after somebody set the stop flag says what it can say at once, or nothing."""
    stop = StopFlag()
    lab = _lab(contract, sample, stop=stop)
    cases = list(_cases(lab))
    stop.set()
    rule = "an oracle ends soon when the lab's budget is over or its stop flag is set"

    def work() -> bool:
        oracle = bind_oracle(part, lab)
        for case in cases:
            for _ in islice(oracle.claims(case), _MOST_CLAIMS):
                pass
        return True

    contract.ends(rule, work, max_seconds=max_seconds)


def _compare(contract: Contract, rule: str, before: list[_Told], now: list[_Told]) -> None:
    if before == now:
        return
    pairs = zip([*before, None], [*now, None], strict=False)
    first, second = next(pair for pair in pairs if pair[0] != pair[1])
    contract.broken(rule, f"first {_shown(first)}, then {_shown(second)}")


def _shown(told: _Told | None) -> str:
    if told is None:
        return "no claim"
    state, lo, hi, evidence, oracle = told
    return f"`{oracle}` claims {lo:g} to {hi:g} for {state} by {evidence:.80}"
