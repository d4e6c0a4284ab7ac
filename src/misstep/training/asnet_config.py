"""What training an ASNet may be told: one frozen dataclass, and the recipes that fill it."""

from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

from misstep.errors import InputError
from misstep.formats.asnet_model import MAX_HIDDEN, MAX_LAYERS

Recipe: TypeAlias = Literal["best", "published"]
Loss: TypeAlias = Literal["teacher", "any-good"]
Labels: TypeAlias = Literal["plan", "successors"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to turn labels into a loss; several are trained side by side and validation chooses."""

    loss: Loss = "any-good"
    """`teacher`: one right action, sum of binary cross entropies (as published). `any-good`: minus the
    logarithm of the summed probability of all good actions."""
    max_regret: int = 0
    """Actions that cost at most so much more than the best one are good; for `any-good`."""

    def __str__(self) -> str:
        return self.loss if self.loss == "teacher" else f"good{self.max_regret}"


@dataclass(frozen=True, slots=True)
class AsnetConfig:
    """All options of training an ASNet; the defaults are the recipe `best`."""

    layers: int = 2
    hidden: int = 16
    landmarks: bool = False
    """Whether actions also read if they stand in LM-cut's landmarks of the state. (The loop of Toyer et al.
    also offers counts of earlier applications. A policy that reads these is no function of the state, so that
    nothing could be tested about it here; there is no such option.)"""
    variants: tuple[Variant, ...] = (Variant(), Variant(max_regret=1))
    runs: int = 2
    """How many runs of each variant, with seeds of their own, go side by side."""
    trial_epochs: int = 6
    """After so many epochs the worse half of the runs ends; after twice as many half of the rest, ..."""
    epochs: int = 120
    batches: int = 500
    """Minibatches an epoch."""
    batch: int = 64
    rate: float = 1e-3
    final_rate: float = 1e-4
    """The learning rate falls to it along a cosine."""
    dropout: float = 0.1
    weight_decay: float = 2e-4
    """Parameters are multiplied by one minus this at every update."""
    init: Literal["normal", "xavier"] = "xavier"
    task_power: float = 0.5
    """A task is drawn in proportion to its number of labelled states to this power."""
    max_states: int = 500_000
    """Tasks with at most so many states are enumerated and labelled exactly; 0: none."""
    max_samples: int = 20_000
    """So many states of an enumerated task are used, drawn evenly."""
    teachers: tuple[str, ...] = ("astar",)
    """Asked for tasks that are too large to enumerate."""
    teacher_expansions: int = 500
    """What one call of a teacher may expand."""
    labels: Labels = "successors"
    """`plan`: the actions along a teacher's plan. `successors`: every action by a call for its successor."""
    max_new_states: int = 20
    """So many visited states an epoch are labelled by teachers."""
    back_off: bool = True
    """Tasks whose teachers reached their limit are asked about in ever fewer epochs."""
    max_steps: int = 1000
    """A run of the policy ends after so many actions."""
    solved_epochs: int | None = None
    """Training ends after so many epochs in a row in which every training task was solved."""
    patience: int = 40
    """A run ends after so many epochs without a better validation result."""
    perfect_epochs: int = 10
    """Training ends after so many epochs in a row of one run in which every validation task was solved."""
    average: int = 8
    """Models are the mean of the parameters of the last so many epochs; 1: the last alone."""
    seed: int = 0
    threads: int = 2

    def __post_init__(self) -> None:
        bounds: dict[str, tuple[float, float]] = {
            "layers": (1, MAX_LAYERS),
            "hidden": (1, MAX_HIDDEN),
            "runs": (1, 100),
            "trial_epochs": (1, 10**6),
            "epochs": (1, 10**6),
            "batches": (1, 10**6),
            "batch": (1, 65536),
            "rate": (0, 10),
            "final_rate": (0, 10),
            "dropout": (0, 0.95),
            "weight_decay": (0, 0.5),
            "task_power": (0, 2),
            "max_states": (0, 2**31),
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
        if not self.variants:
            raise InputError("training needs at least one variant of the loss")
        if not self.teachers and self.max_states == 0:
            raise InputError("training needs a teacher, or state spaces to enumerate (`max_states`)")


def make_config(recipe: Recipe, **options: object) -> AsnetConfig:
    """The recipe with some options changed; `published` is the loop of the published policies."""
    config = AsnetConfig()
    if recipe == "published":
        config = AsnetConfig(
            variants=(Variant("teacher"),),
            runs=1,
            epochs=300,
            batches=700,
            final_rate=1e-3,
            init="normal",
            task_power=1.0,
            max_states=0,
            teacher_expansions=20_000,
            labels="plan",
            max_new_states=10**9,
            back_off=False,
            solved_epochs=20,
            patience=300,
            perfect_epochs=300,
            average=1,
        )
    known = {field.name for field in fields(AsnetConfig)}
    for name in options:
        if name not in known:
            raise InputError(f"training has no option `{name}`; options: {', '.join(sorted(known))}")
    return replace(config, **options)  # type: ignore[arg-type]
