"""`misstep train gnn`: a relational network from scratch on tasks of one domain."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from misstep.cli.limits import Limits
from misstep.cli.options import Json, Quiet
from misstep.cli.training import Count, Domain, NetworkOptions, Problems, TrainingFrame, train_and_tell


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class GnnOptions(NetworkOptions):
    """What has a default where nothing is said."""

    loss: Annotated[
        Literal["supervised", "unsupervised", "selfsupervised-suboptimal", "margin"] | None,
        Parameter(help="With value: the first three; with q: margin."),
    ] = None
    layers: Annotated[int | None, Parameter(validator=Count, help="Rounds of messages.")] = None
    hidden: Annotated[int | None, Parameter(validator=Count, help="Numbers an object; by eights.")] = None
    runs: Annotated[int | None, Parameter(validator=Count, help="Seeds side by side.")] = None
    batch: Annotated[int | None, Parameter(validator=Count, help="States of a minibatch.")] = None
    teachers: Annotated[
        tuple[str, ...] | None,
        Parameter(name="--teacher", negative="", help="With q: such as astar or greedy; repeatable."),
    ] = None
    max_samples: Annotated[
        int | None, Parameter(validator=Count, help="So many states of a task with few states are learned.")
    ] = None


def train_gnn(
    domain: Domain,
    problems: Problems,
    /,
    *,
    frame: TrainingFrame,
    kind: Annotated[
        Literal["value", "q"],
        Parameter(
            help="`q`: a score of each action, in one evaluation of the state; `value`: a value of each successor."
        ),
    ] = "q",
    options: GnnOptions = GnnOptions(),  # noqa: B008
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Train a relational network (GNN) on small tasks of a domain. Needs PyTorch: the extra `torch`.

    The models run without PyTorch, as gnn:FILE.

    Example: misstep train gnn domain.pddl train/ --validation larger/ --out ferry --seconds 300
    """
    from misstep.training.gnn import train_gnn as learn
    from misstep.training.gnn_config import GnnConfig
    from misstep.training.gnn_torch import torch_module

    config = GnnConfig(kind=kind, seed=frame.seed, **options.given)
    with Limits(seconds=frame.seconds, memory_mb=None).watch():  # PyTorch is there before the work begins
        torch_module()
    return train_and_tell(learn, config, domain, problems, frame, kind="gnn", json=json, quiet=quiet)
