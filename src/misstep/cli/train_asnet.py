"""`misstep train asnet`: an ASNet from scratch on tasks of one domain."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.options import MAX_COUNT, Json, Quiet
from misstep.cli.training import Count, Domain, NetworkOptions, Problems, TrainingFrame, train_and_tell

if TYPE_CHECKING:
    from misstep.training.asnet import TrainingResult

Share = Number(gte=0, lt=1)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AsnetOptions(NetworkOptions):
    """What the recipe decides where nothing is said."""

    layers: Annotated[
        int | None,
        Parameter(validator=Count, help="Predicate layers; by default 2, and 3 in half of the runs."),
    ] = None
    hidden: Annotated[int | None, Parameter(validator=Count, help="Channels of a hidden vector.")] = None
    cohorts: Annotated[
        int | None,
        Parameter(validator=Count, help="How often new seeds may begin while validation tasks are unsolved."),
    ] = None
    landmarks: Annotated[
        bool | None,
        Parameter(negative="", help="Actions also read whether they stand in LM-cut's landmarks."),
    ] = None
    dropout: Annotated[float | None, Parameter(validator=Share, help="Share of values that fall out.")] = None
    weight_decay: Annotated[
        float | None, Parameter(validator=Share, help="By which parameters shrink at every update.")
    ] = None
    teachers: Annotated[
        tuple[str, ...] | None,
        Parameter(name="--teacher", negative="", help="Such as astar or greedy; repeatable."),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TreeOptions:
    """Choosing the models to train on by testing them on the validation tasks, epoch by epoch."""

    select: Annotated[
        Literal["line", "line-pi-test", "tree", "tree-pi-test"] | None,
        Parameter(
            help="Test every model and choose which to train on: none (line), the best without or with "
            "branching (line-pi-test, tree-pi-test), any at random (tree)."
        ),
    ] = None
    inits: Annotated[int, Parameter(validator=Count, help="With --select: random initialisations.")] = 4
    start: Annotated[int, Parameter(validator=Count, help="With --select: epochs of each before.")] = 5
    main: Annotated[
        int, Parameter(validator=Number(gte=0, lt=MAX_COUNT), help="With --select: epochs by choice.")
    ] = 20
    branches: Annotated[
        int, Parameter(validator=Count, help="With --select: how often one model is trained on.")
    ] = 4
    pool: Annotated[int, Parameter(validator=Count, help="With --select: pool states of a task.")] = 50


def train_asnet(
    domain: Domain,
    problems: Problems,
    /,
    *,
    frame: TrainingFrame,
    recipe: Annotated[
        Literal["best", "published"],
        Parameter(help="`best`: what measurement says; `published`: the loop of the published policies."),
    ] = "best",
    options: AsnetOptions = AsnetOptions(),  # noqa: B008
    tree: TreeOptions = TreeOptions(),  # noqa: B008
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Train an action schema network on small tasks of a domain.

    Example: misstep train asnet domain.pddl train/ --validation larger/ --out ferry --seconds 600
    """
    from misstep.training.asnet_config import make_config

    return train_and_tell(
        _learner(tree, frame.seed),
        make_config(recipe, seed=frame.seed, **options.given),
        domain,
        problems,
        frame,
        kind="asnet",
        json=json,
        quiet=quiet,
    )


def _learner(options: TreeOptions, seed: int) -> "Callable[..., TrainingResult]":
    """Training straight on, or with the choices of Algorithm 2."""
    from misstep.training.asnet import train_asnet as learn

    if options.select is None:
        return learn
    from misstep.training.examiner import ExamConfig
    from misstep.training.tree import TreeConfig, train_tree

    tree = TreeConfig(
        mode=options.select,
        inits=options.inits,
        start=options.start,
        main=options.main,
        branches=options.branches,
    )
    return partial(train_tree, tree=tree, exam=ExamConfig(pool=options.pool, seed=seed))
