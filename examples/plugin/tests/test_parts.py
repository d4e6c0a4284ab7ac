"""The parts keep to their contracts."""

from example_parts import Capped, Dive, Fickle, GoalCounter, OneStep

from misstep.testing import check_bias, check_fuzzer, check_objective, check_oracle, check_policy


def test_contracts() -> None:
    check_policy(GoalCounter())
    check_oracle(Dive(tries=5, length=10), tasks=40)
    check_bias(Fickle(), tasks=20)
    check_fuzzer(OneStep(patience=20), tasks=20)
    check_objective(Capped(cap=7), tasks=20)
