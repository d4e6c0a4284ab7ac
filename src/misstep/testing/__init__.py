"""For authors of parts: contracts that can be run in their own tests, random tasks, and exact answers.

    from misstep.testing import check_oracle

    def test_my_oracle():
        check_oracle(MyOracle(depth=3))

Each `check_KIND` tries a part on small random tasks, against brute force where there is a truth to compare
with, and raises `ContractBroken` with the rule that is broken and the task on which it was seen.
"""

from misstep.testing.biases import check_bias
from misstep.testing.contract import ContractBroken
from misstep.testing.fuzzers import check_fuzzer
from misstep.testing.objectives import check_objective
from misstep.testing.oracles import check_oracle
from misstep.testing.policies import check_policy

__all__ = ["ContractBroken", "check_bias", "check_fuzzer", "check_objective", "check_oracle", "check_policy"]
