"""The disk fails at every operation of a small test; `python -m tests.integration.faults 1000` makes more."""

import pytest

from tests.integration.faults import FAULTS, campaign

pytestmark = pytest.mark.timeout(600)  # it has many runs


def test_nothing_is_lost_and_everything_resumes() -> None:
    found = campaign(220, seed=1)
    assert sum(found.values()) == 220
    assert set(found) == set(FAULTS) and all(found.values())
