"""The closing lines of a test: what is said about policies that may be random."""

from misstep.events import Finished
from misstep.reports.summary import random_lines


def said(compared: int, missed: float, *, tested: int = 5) -> list[str]:
    recheck = {"compared": compared, "share": 0.05, "missed": missed}
    return random_lines(Finished(tested=tested, extra={"recheck": recheck}))


def test_that_a_random_policy_may_go_unnoticed_is_said_where_it_is_likely() -> None:
    [line] = said(12, 0.54)
    assert "12 answers asked for twice" in line
    assert "probability 54%" in line
    assert said(1000, 1e-9) == []


def test_without_a_second_answer_no_probability_is_named() -> None:
    [line] = said(0, 1.0)
    assert line == "random?   no answer was asked for twice: were the policy random, it would go unnoticed"
    assert said(0, 1.0, tested=0) == []
