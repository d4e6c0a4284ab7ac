"""`misstep train gnn`: a relational network from scratch on tasks of one domain."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.options import MAX_COUNT, Json, Quiet, Seconds
from misstep.cli.timing import left_of, time_limit
from misstep.cli.training import Once, check_writable, load_tasks, show, tell

if TYPE_CHECKING:
    from misstep.training.gnn_config import GnnConfig

Count = Number(gt=0, lt=MAX_COUNT)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class GnnOptions:
    """What has a default where nothing is said."""

    loss: Annotated[
        Literal["supervised", "unsupervised", "selfsupervised-suboptimal", "margin"] | None,
        Parameter(help="With value: the first three; with q: margin."),
    ] = None
    layers: Annotated[int | None, Parameter(validator=Count, help="Rounds of messages.")] = None
    hidden: Annotated[int | None, Parameter(validator=Count, help="Numbers an object; by eights.")] = None
    runs: Annotated[int | None, Parameter(validator=Count, help="Seeds side by side.")] = None
    epochs: Annotated[int | None, Parameter(validator=Count, help="At most so many.")] = None
    batches: Annotated[int | None, Parameter(validator=Count, help="Minibatches an epoch.")] = None
    batch: Annotated[int | None, Parameter(validator=Count, help="States of a minibatch.")] = None
    rate: Annotated[float | None, Parameter(validator=Number(gt=0), help="Learning rate at first.")] = None
    teachers: Annotated[
        tuple[str, ...] | None,
        Parameter(name="--teacher", negative="", help="With q: such as astar or greedy; repeatable."),
    ] = None
    teacher_expansions: Annotated[
        int | None,
        Parameter(name="--expansions", validator=Count, help="What one call of a teacher may expand."),
    ] = None
    max_states: Annotated[
        int | None,
        Parameter(validator=Number(gte=0), help="Tasks with at most so many states are labelled exactly."),
    ] = None
    max_samples: Annotated[
        int | None, Parameter(validator=Count, help="So many states of such a task are learned.")
    ] = None
    threads: Annotated[
        int | None, Parameter(validator=Number(gte=1, lte=64), help="They never change the result.")
    ] = None

    def config(self, kind: Literal["value", "q"], seed: int) -> "GnnConfig":
        """The defaults with these options."""
        from misstep.training.gnn_config import GnnConfig

        given = {name: value for name, value in vars(self).items() if value is not None}
        return GnnConfig(kind=kind, seed=seed, **given)


def train_gnn(
    domain: Annotated[Path, Parameter(help="The PDDL domain.")],
    problems: Annotated[list[Path], Parameter(help="PDDL problems to train on, or directories of them.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Directory for models and log; what is there goes on.")],
    validation: Annotated[
        list[Path] | None,
        Parameter(negative="", consume_multiple=True, help="Problems that choose the final model."),
    ] = None,
    kind: Annotated[
        Literal["value", "q"],
        Parameter(
            help="`value`: a value of each successor; `q`: a score of each action, in one evaluation of the state."
        ),
    ] = "value",
    seconds: Seconds = None,
    seed: Annotated[int, Parameter(validator=Number(gte=0, lt=2**32), help="Same seed, same weights.")] = 0,
    cache: Annotated[
        Path | None, Parameter(help="File with teachers' answers, to be shared between trainings.")
    ] = None,
    options: GnnOptions = GnnOptions(),  # noqa: B008
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Train a relational network (GNN) on small tasks of a domain. Needs PyTorch: the extra `torch`.

    The models run without PyTorch, as gnn:FILE.

    Example: misstep train gnn domain.pddl train/ --validation larger/ --kind q --out ferry --seconds 300
    """
    from misstep.training.gnn import train_gnn as learn
    from misstep.training.gnn_torch import torch_module

    config = options.config(kind, seed)
    torch_module()
    check_writable(out)
    with time_limit(seconds):
        training, choosing = load_tasks(domain, problems), load_tasks(domain, validation or [])
    result = learn(
        training,
        choosing,
        config,
        out=out,
        cache=cache,
        max_seconds=left_of(seconds),
        progress=lambda told: show(told, quiet=quiet or json),
        report=Once(),
    )
    return tell(result, kind="gnn", validated=bool(validation), json=json, quiet=quiet)
