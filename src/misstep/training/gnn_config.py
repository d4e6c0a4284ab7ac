"""What training a relational network may be told: one frozen dataclass."""

from dataclasses import dataclass
from typing import ClassVar

from misstep.errors import InputError
from misstep.formats.gnn_model import MAX_HIDDEN, GnnKind
from misstep.training.run_config import Bounds, Labels, RunConfig

LOSSES: dict[GnnKind, tuple[str, ...]] = {
    "value": ("supervised", "unsupervised", "selfsupervised-suboptimal"),
    "q": ("margin",),
}
"""By kind of network, the default first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GnnConfig(RunConfig):
    """All options of training a relational network. With `value` teachers are not asked."""

    kind: GnnKind = "q"
    """`value`: of states; the policy looks at successors. `q`: of the actions of a state, in one evaluation."""
    loss: str | None = None
    """One of LOSSES; None: the default of the kind."""
    hidden: int = 32
    layers: int = 8
    runs: int = 1
    epochs: int = 100
    batches: int = 100
    batch: int = 32
    """States of a minibatch; with `value`, beside all their successors."""
    rate: float = 2e-3
    final_rate: float = 2e-4
    clip: float = 0.5
    """The gradient is shortened to this length."""
    margin: float = 1.0
    """With `q`: by so much an action that is not good shall be worse than the best good one."""
    value_weight: float = 0.1
    """With `q`: of the distance to the exact value, beside the margin."""
    max_states: int = 200_000
    max_samples: int = 1000
    teachers: tuple[str, ...] = ("astar", "greedy")
    teacher_expansions: int = 10_000
    labels: Labels = "plan"
    max_new_states: int = 5
    patience: int = 30
    perfect_epochs: int = 6
    average: int = 1

    bounds: ClassVar[Bounds] = {
        **RunConfig.bounds,
        "hidden": (8, MAX_HIDDEN),
        "clip": (1e-6, 1e6),
        "margin": (0, 1e6),
        "value_weight": (0, 1e6),
    }

    def __post_init__(self) -> None:
        """InputError where options are out of their bounds or do not fit each other."""
        RunConfig.__post_init__(self)  # `super()` does not find a class with slots
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
