"""Budget: what may be spent (seconds, expansions, memory, effort) and the flag that stops it all."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias

from misstep._core import Budget as Budget
from misstep._core import StopFlag as StopFlag

Watch: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Makes a context that may raise LimitReached at any moment of what is done in it, such as a limit on the process.

Work is done inside of it, again and again; what is saved and told is done outside, in one piece."""


def process_budget(
    *,
    seconds: float | None = None,
    memory_mb: float | None = None,
    expansions: int | None = None,
) -> Budget:
    """What a whole command or test may spend.

    Memory is what the process takes beyond what it has now, whoever uses it, and what one call may store.
    """
    return Budget(seconds=seconds, memory_mb=memory_mb, growth_mb=memory_mb, expansions=expansions)
