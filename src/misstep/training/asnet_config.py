"""What training an ASNet may be told: one frozen dataclass, and the recipes that fill it."""

from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal, TypeAlias

from misstep.errors import InputError
from misstep.formats.asnet_model import MAX_HIDDEN, MAX_LAYERS
from misstep.training.run_config import Bounds, Labels, RunConfig

Recipe: TypeAlias = Literal["best", "published"]
Loss: TypeAlias = Literal["teacher", "any-good", "all-good"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to turn labels into a loss; several are trained side by side and validation chooses."""

    loss: Loss = "any-good"
    """`teacher`: one right action, sum of binary cross entropies (as published). `any-good`: minus the
    logarithm of the summed probability of all good actions. `all-good`: cross entropy with all good actions
    equally likely, so that each of them has to be told from the others."""
    max_regret: int = 0
    """Actions that cost at most so much more than the best one are good; not for `teacher`."""

    def __str__(self) -> str:
        if self.loss == "teacher":
            return self.loss
        return f"{'all' if self.loss == 'all-good' else 'good'}{self.max_regret}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AsnetConfig(RunConfig):
    """All options of training an ASNet; the defaults are the recipe `best`."""

    layers: int = 2
    more_layers: tuple[int, ...] = (0, 1, 1, 0)
    """What is added to `layers`, by run in turn: deeper networks see further, but an epoch takes longer."""
    hidden: int = 16
    landmarks: bool = False
    """Whether actions also read if they stand in LM-cut's landmarks of the state. (The loop of Toyer et al.
    also offers counts of earlier applications. A policy that reads these is no function of the state, so that
    nothing could be tested about it here; there is no such option.)"""
    variants: tuple[Variant, ...] = (Variant(), Variant(max_regret=1), Variant("all-good"))
    """Each has as many runs as `runs` says."""
    runs: int = 2
    cohorts: int = 8
    """Where all runs have ended and some validation task is still unsolved, as many new ones begin, at most
    so often: which seed learns what also holds for larger tasks is a matter of luck."""
    trial_epochs: int = 10
    epochs: int = 200
    batches: int = 200
    batch: int = 64
    rate: float = 1e-3
    final_rate: float = 1e-4
    dropout: float = 0.1
    weight_decay: float = 2e-4
    """Parameters are multiplied by one minus this at every update."""
    init: Literal["normal", "xavier"] = "xavier"
    init_scales: tuple[float, ...] = (1.0, 0.4)
    """The first weights of runs are multiplied by these in turn: smaller ones learn simpler rules."""
    max_states: int = 500_000
    max_samples: int = 20_000
    teachers: tuple[str, ...] = ("astar",)
    teacher_expansions: int = 500
    labels: Labels = "successors"
    max_new_states: int = 20
    patience: int = 40
    perfect_epochs: int = 10
    average: int = 8

    bounds: ClassVar[Bounds] = {
        **RunConfig.bounds,
        "layers": (1, MAX_LAYERS),
        "hidden": (1, MAX_HIDDEN),
        "cohorts": (1, 1000),
        "dropout": (0, 0.95),
        "weight_decay": (0, 0.5),
    }

    def __post_init__(self) -> None:
        """InputError where options are out of their bounds, or leave nothing to learn from."""
        RunConfig.__post_init__(self)  # `super()` does not find a class with slots
        if not self.variants:
            raise InputError("training needs at least one variant of the loss")
        if not self.more_layers or not all(
            0 <= more <= MAX_LAYERS - self.layers for more in self.more_layers
        ):
            raise InputError(
                f"training option `more_layers` is {self.more_layers}; with `layers` {self.layers} each must be in "
                f"0..{MAX_LAYERS - self.layers}"
            )
        if not self.init_scales or not all(0 < scale <= 100 for scale in self.init_scales):
            raise InputError(f"training option `init_scales` is {self.init_scales}, not numbers in 0..100")
        if not self.teachers and self.max_states == 0:
            raise InputError("training needs a teacher, or state spaces to enumerate (`max_states`)")

    def layers_of(self, number: int) -> int:
        """How deep the network of the runs with this number is."""
        return self.layers + self.more_layers[number % len(self.more_layers)]


def make_config(recipe: Recipe, **options: object) -> AsnetConfig:
    """The recipe with some options changed; `published` is the loop of the published policies."""
    config = AsnetConfig()
    if recipe == "published":
        config = AsnetConfig(
            variants=(Variant("teacher"),),
            runs=1,
            cohorts=1,
            more_layers=(0,),
            epochs=300,
            batches=700,
            final_rate=1e-3,
            init="normal",
            init_scales=(1.0,),
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
    if "layers" in options:  # Whoever says how deep networks are wants no others.
        options = {"more_layers": (0,), **options}
    return replace(config, **options)  # type: ignore[arg-type]
