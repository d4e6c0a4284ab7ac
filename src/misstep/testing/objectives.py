"""The contract of testing objectives."""

import math
import random

from misstep.config import Config
from misstep.judge import Objective, objective_values
from misstep.plugins import make_part
from misstep.record.verify import verify_record
from misstep.session import Session
from misstep.testing.contract import contract_of
from misstep.testing.samples import SamplePolicy, samples

_COSTS = (0, 1, 2, 3, 5, 10, 50, 100, 999, 1000, 1001, 10**4, 10**6, 2**31)
_RANDOM_COSTS = 300
_VALUES = "an objective is monotone in the cost, never negative, and gives every cost and infinity a number"
_VERIFIED = "verdicts by this objective pass the trusted checker"


def check_objective(part: Objective | str, *, tasks: int = 50, seed: int = 0) -> None:
    """Raises ContractBroken where an objective breaks a rule.

    Its values are looked at for many costs, and tests on random tasks use it: what they prove must pass the
    trusted checker.
    """
    objective: Objective = make_part("objective", part) if isinstance(part, str) else part
    rng = random.Random(seed)
    costs = [*_COSTS, *(rng.randrange(2 ** rng.randrange(1, 32)) for _ in range(_RANDOM_COSTS))]
    with contract_of("objective", objective, "name", "value") as contract:
        with contract.keeping(_VALUES):
            values = dict(objective_values(objective, sorted({*costs, math.inf})))
            rule = "an objective gives the same cost the same value again"
            for cost in rng.sample(sorted(values), len(values)):
                again = objective.value(cost)
                contract.need(again == values[cost], rule, f"{cost:g} got {values[cost]:g}, then {again}")
        for sample in samples(tasks, seed):
            with contract.keeping(_VERIFIED, on=sample):
                config = Config(
                    policy="object:sample",
                    fuzzer="refined:max_idle_walks=50",
                    oracle=("landmarks+perfect",),
                    pool=4,
                    recheck=False,
                )
                policy = SamplePolicy(sample.task, sample.seed)
                session = Session(config, task=sample.task, policy=policy, parts={"objective": objective})
                for _ in session.events():
                    pass
                for refused in verify_record(session.record).invalid:
                    contract.broken(_VERIFIED, f"certificate {refused['certificate']}: {refused['reason']}")
