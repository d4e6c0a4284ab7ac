"""What the commands that train policies have in common."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import MAX_COUNT, MemoryMb, Seconds
from misstep.cli.output import continued, emit_json, note, warn
from misstep.explain.words import counted

if TYPE_CHECKING:
    from misstep.task import Task
    from misstep.training.asnet import Progress, TrainingResult
    from misstep.training.run_config import RunConfig

Count = Number(gt=0, lt=MAX_COUNT)
Domain: TypeAlias = Annotated[Path, Parameter(help="The PDDL domain.")]
Problems: TypeAlias = Annotated[
    list[Path], Parameter(help="PDDL problems to train on, or directories of them.")
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TrainingFrame:
    """What surrounds a training of whatever network."""

    out: Annotated[Path, Parameter(help="Directory for models and log; what is there goes on.")]
    validation: Annotated[
        list[Path] | None,
        Parameter(negative="", consume_multiple=True, help="Problems that choose the final model."),
    ] = None
    seconds: Seconds = None
    memory_mb: MemoryMb = None
    seed: Annotated[int, Parameter(validator=Number(gte=0, lt=2**32), help="Same seed, same weights.")] = 0
    cache: Annotated[
        Path | None, Parameter(help="File with teachers' answers, to be shared between trainings.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """Options of all networks; what is not given is for the kind of network to decide."""

    layers: int | None = None
    hidden: int | None = None
    epochs: Annotated[int | None, Parameter(validator=Count, help="At most so many.")] = None
    batches: Annotated[int | None, Parameter(validator=Count, help="Minibatches an epoch.")] = None
    rate: Annotated[float | None, Parameter(validator=Number(gt=0), help="Learning rate at first.")] = None
    teachers: tuple[str, ...] | None = None
    teacher_expansions: Annotated[
        int | None,
        Parameter(name="--expansions", validator=Count, help="What one call of a teacher may expand."),
    ] = None
    max_states: Annotated[
        int | None,
        Parameter(validator=Number(gte=0), help="Tasks with at most so many states are labelled exactly."),
    ] = None
    threads: Annotated[
        int | None, Parameter(validator=Number(gte=1, lte=64), help="They never change the result.")
    ] = None

    @property
    def given(self) -> dict[str, Any]:
        """What was said."""
        return {name: value for name, value in vars(self).items() if value is not None}


class Once:
    """Warns of a thing once, however often it happens."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._heard: set[str] = set()

    def __call__(self, text: str) -> None:
        """Warns, if this was not said before."""
        if text not in self._heard:
            self._heard.add(text)
            warn(text, quiet=self._quiet)


def check_writable(out: Path) -> None:
    """Checked before anything is loaded."""
    from misstep.errors import InputError

    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".probe"
        probe.write_text("", encoding="utf-8")
        probe.unlink()
    except OSError as error:
        raise InputError(f"{out}: cannot be written to: {error.strerror}; choose another --out") from None


def load_tasks(domain: Path, problems: list[Path]) -> "list[Task]":
    """Problems of a domain, or all in directories, with unit cost."""
    from misstep.pddl import read_domain
    from misstep.suite import problem_files
    from misstep.task import load

    read = read_domain(domain)
    return [load(read, file, unit_cost=True) for file in problem_files(domain, problems)]


def train_and_tell(
    learn: "Callable[..., TrainingResult]",
    config: "RunConfig",
    domain: Path,
    problems: list[Path],
    frame: TrainingFrame,
    *,
    kind: str,
    json: bool,
    quiet: bool,
) -> int:
    """Loads the tasks, trains, and tells what it gave, as JSON or for people; the exit code."""
    check_writable(frame.out)
    limits = Limits(seconds=frame.seconds, memory_mb=frame.memory_mb)
    with limits.watch():
        training, choosing = load_tasks(domain, problems), load_tasks(domain, frame.validation or [])
    with continued(frame.out):
        result = learn(
            training,
            choosing,
            config,
            out=frame.out,
            cache=frame.cache,
            max_seconds=limits.seconds_left,
            watch=limits.watch,
            progress=lambda told: _show(told, quiet=quiet or json),
            report=Once(quiet=quiet),
        )
    if json:
        emit_json(result.as_json())
        return ExitCode.NOTHING_FOUND
    note(f"{counted(result.epochs, 'epoch')} in {result.seconds:.0f} s", quiet=quiet)
    say_limit(result.limit, quiet=quiet)
    judging = counted(len(choosing or training), "validation task" if choosing else "training task")
    note(f"solves {result.solved} of {judging}", quiet=quiet)
    print(f"{kind}:{result.final}")
    return ExitCode.NOTHING_FOUND


def say_limit(limit: str | None, *, quiet: bool) -> None:
    """What ended a training early, if anything did."""
    if limit is not None:
        note(f"the limit on {limit} was hit; the same command with more goes on", quiet=quiet)


def _show(told: "Progress", *, quiet: bool) -> None:
    """An epoch as a line."""
    note(
        f"{told.run} epoch {told.epoch}: loss {told.loss:.4f}, trained {told.success_rate:.0%}, solves "
        f"{told.solved}/{told.of}, {told.samples} states, {told.seconds:.0f} s, {told.left:.0f} s left",
        quiet=quiet,
    )
    sys.stderr.flush()
