"""A few kills at random moments; `python -m tests.integration.kills 300` makes as many as one likes."""

import pytest

from tests.integration.kills import campaign

pytestmark = pytest.mark.timeout(600)  # it has many runs


def test_killed_and_resumed_is_undisturbed() -> None:
    found = campaign(14, seed=1)
    assert set(found) == {"test", "unit cost", "helpers", "isolated", "fuzz", "safety test", "train"}
    assert all(tried.kills >= 2 for tried in found.values())
