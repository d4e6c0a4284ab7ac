"""Budget: what may be spent (seconds, expansions, memory, effort) and the flag that stops it all."""

from misstep._core import Budget as Budget
from misstep._core import StopFlag as StopFlag
