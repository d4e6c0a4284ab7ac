"""What training any network may be told: the options that all kinds share, and their bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from misstep.errors import InputError

Labels: TypeAlias = Literal["plan", "successors"]
Bounds: TypeAlias = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """Options of training; a kind of network adds its own, and the defaults that stand nowhere here."""

    layers: int
    hidden: int
    runs: int
    """So many runs with seeds of their own go side by side, and validation chooses."""
    trial_epochs: int = 6
    """After so many epochs the worse half of the runs ends; after twice as many half of the rest, ..."""
    epochs: int
    batches: int
    """Minibatches an epoch."""
    batch: int
    """States of a minibatch."""
    rate: float
    final_rate: float
    """The learning rate falls to it along a cosine."""
    task_power: float = 0.5
    """A task is drawn in proportion to its number of labelled states to this power."""
    max_states: int
    """Tasks with at most so many states are enumerated and labelled exactly; 0: none."""
    max_samples: int
    """So many states of an enumerated task are used, drawn evenly."""
    teachers: tuple[str, ...]
    """Asked for tasks that are too large to enumerate."""
    teacher_expansions: int
    """What one call of a teacher may expand."""
    labels: Labels
    """`plan`: the actions along a teacher's plan. `successors`: every action by a call for its successor."""
    max_new_states: int
    """So many visited states an epoch are labelled by teachers."""
    back_off: bool = True
    """Tasks whose teachers reached their limit are asked about in ever fewer epochs."""
    max_steps: int = 1000
    """A run of the policy ends after so many actions."""
    solved_epochs: int | None = None
    """Training ends after so many epochs in a row in which every training task was solved."""
    patience: int
    """A run ends after so many epochs without a better validation result."""
    perfect_epochs: int
    """Training ends after so many epochs in a row of one run in which every validation task was solved."""
    average: int
    """Models are the mean of the parameters of the last so many epochs; 1: the last alone."""
    seed: int = 0
    threads: int = 2

    bounds: ClassVar[Bounds] = {
        "layers": (1, 100),
        "runs": (1, 100),
        "trial_epochs": (1, 10**6),
        "epochs": (1, 10**6),
        "batches": (1, 10**6),
        "batch": (1, 65536),
        "rate": (0, 10),
        "final_rate": (0, 10),
        "task_power": (0, 2),
        "max_states": (0, 2**31),
        "max_samples": (1, 10**7),
        "teacher_expansions": (1, 2**40),
        "max_steps": (1, 10**7),
        "patience": (1, 10**6),
        "perfect_epochs": (1, 10**6),
        "average": (1, 1000),
        "threads": (1, 64),
    }
    """By option the least and the greatest value; a kind of network adds those of its own."""

    def __post_init__(self) -> None:
        """InputError where a value is out of its bounds."""
        for name, (low, high) in self.bounds.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise InputError(f"training option `{name}` is {value}, not in {low}..{high}")
