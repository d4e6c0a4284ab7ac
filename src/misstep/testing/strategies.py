"""Hypothesis strategies for random tasks; needs hypothesis, which misstep itself does not."""

from __future__ import annotations

from hypothesis import strategies as st

from misstep.reference.fdr import Task
from misstep.testing.random_tasks import random_task


def tasks() -> st.SearchStrategy[Task]:
    """Tasks as `random_task` makes them, shrunk towards few variables, few actions and small values."""
    return st.randoms(use_true_random=False).map(random_task)
