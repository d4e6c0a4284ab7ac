"""What training a relational network may be told: one frozen dataclass."""

from dataclasses import dataclass

from misstep.errors import InputError
from misstep.formats.gnn_model import MAX_HIDDEN, GnnKind
from misstep.training.asnet_config import Labels

LOSSES: dict[GnnKind, tuple[str, ...]] = {
    "value": ("supervised", "unsupervised", "selfsupervised-suboptimal"),
    "q": ("margin",),
}
"""By kind of network, the default first."""


@dataclass(frozen=True, slots=True)
class GnnConfig:
    """All options of training a relational network."""

    kind: GnnKind = "value"
    """`value`: of states; the policy looks at successors. `q`: of the actions of a state, in one evaluation."""
    loss: str | None = None
    """One of LOSSES; None: the default of the kind."""
    hidden: int = 32
    layers: int = 8
    runs: int = 1
    """So many runs with seeds of their own go side by side, and validation chooses."""
    trial_epochs: int = 6
    """After so many epochs the worse half of the runs ends; after twice as many half of the rest, ..."""
    epochs: int = 100
    batches: int = 100
    """Minibatches an epoch."""
    batch: int = 32
    """States of a minibatch; with `value`, beside all their successors."""
    rate: float = 2e-3
    final_rate: float = 2e-4
    """The learning rate falls to it along a cosine."""
    clip: float = 0.5
    """The gradient is shortened to this length."""
    margin: float = 1.0
    """With `q`: by so much an action that is not good shall be worse than the best good one."""
    value_weight: float = 0.1
    """With `q`: of the distance to the exact value, beside the margin."""
    task_power: float = 0.5
    """A task is drawn in proportion to its number of labelled states to this power."""
    max_states: int = 200_000
    """Tasks with at most so many states are enumerated and labelled exactly; 0: none."""
    max_samples: int = 1000
    """So many states of an enumerated task are used, drawn evenly."""
    teachers: tuple[str, ...] = ("astar", "greedy")
    """With `q`: asked for plans where a task is too large to enumerate."""
    teacher_expansions: int = 10_000
    """What one call of a teacher may expand."""
    labels: Labels = "plan"
    """`plan`: the actions along a teacher's plan. `successors`: every action by a call for its successor."""
    max_new_states: int = 5
    """With `q`: so many visited states an epoch are labelled by teachers."""
    back_off: bool = True
    """Tasks whose teachers reached their limit are asked about in ever fewer epochs."""
    max_steps: int = 1000
    """A run of the policy ends after so many actions."""
    solved_epochs: int | None = None
    """Training ends after so many epochs in a row in which every training task was solved."""
    patience: int = 30
    """A run ends after so many epochs without a better validation result."""
    perfect_epochs: int = 6
    """Training ends after so many epochs in a row of one run in which every validation task was solved."""
    average: int = 1
    """Models are the mean of the parameters of the last so many epochs; 1: the last alone."""
    seed: int = 0
    threads: int = 2

    def __post_init__(self) -> None:
        bounds: dict[str, tuple[float, float]] = {
            "hidden": (8, MAX_HIDDEN),
            "layers": (1, 100),
            "runs": (1, 100),
            "trial_epochs": (1, 10**6),
            "epochs": (1, 10**6),
            "batches": (1, 10**6),
            "batch": (1, 65536),
            "rate": (0, 10),
            "final_rate": (0, 10),
            "clip": (1e-6, 1e6),
            "margin": (0, 1e6),
            "value_weight": (0, 1e6),
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
        for name, (low, high) in bounds.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise InputError(f"training option `{name}` is {value}, not in {low}..{high}")
        if self.hidden % 8:
            raise InputError(f"training option `hidden` is {self.hidden}, not a multiple of 8")
        if self.kind not in LOSSES:
            raise InputError(f"training option `kind` is {self.kind}; there are {', '.join(LOSSES)}")
        if self.loss not in (None, *LOSSES[self.kind]):
            raise InputError(
                f"the loss `{self.loss}` does not fit the kind `{self.kind}`, which has "
                f"{', '.join(LOSSES[self.kind])}"
            )

    @property
    def chosen_loss(self) -> str:
        """The loss, by name."""
        return self.loss or LOSSES[self.kind][0]
