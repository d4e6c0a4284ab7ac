"""`misstep safety generate` and `misstep train mlp`: benchmarks of our own, and policies for any model."""

import json as json_module
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.config_options import ModelOptions, make_config
from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import MAX_COUNT, Json, MemoryMb, Quiet, Seconds
from misstep.cli.output import continued, emit_json, note, say
from misstep.cli.safety_options import ModelFile
from misstep.cli.training import say_limit
from misstep.errors import InputError
from misstep.explain.rates import share_words
from misstep.reports.status import StatusLine
from misstep.support.whole_files import write_file

Count = Number(gt=0, lt=MAX_COUNT)
MAX_WIDTH = 100_000


def generate(
    name: Annotated[str, Parameter(help="A benchmark: one_way_line, two_way_line, transport, ...")],
    /,
    *,
    out: Annotated[Path, Parameter(help="The JANI file to write.")],
    parameter: Annotated[
        tuple[str, ...],
        Parameter(name="--parameter", negative="", help="NAME=VALUE, such as length=15; may be repeated."),
    ] = (),
    quiet: Quiet = False,
) -> int:
    """Write the JANI model of a benchmark.

    Example: misstep safety generate two_way_line --parameter length=15 --out line.jani
    """
    from misstep.bundled.models import generate as make
    from misstep.safety.model import parse_constants

    with StatusLine(f"making {name}", quiet=quiet):
        document = make(name, **parse_constants(parameter, option="--parameter"))
    try:
        write_file(out, json_module.dumps(document) + "\n")
    except OSError as error:
        raise InputError(f"{out}: cannot write there: {error.strerror}") from None
    say(f"{out}: the JANI model of {name}")
    return ExitCode.NOTHING_FOUND


@dataclass(frozen=True, kw_only=True)
class Training:
    """How Q-learning goes; the defaults are those of `misstep.training.qlearning`."""

    episode: Annotated[int, Parameter(validator=Count, help="Steps after which an episode is cut off.")] = 200
    goal_reward: Annotated[float, Parameter(help="Paid at the goal.")] = 5.0
    unsafe_reward: Annotated[float, Parameter(help="Paid in an unsafe state; usually below 0.")] = -1.0
    step_reward: Annotated[float, Parameter(help="Paid for every other step; usually below 0.")] = -0.02
    batch: Annotated[int, Parameter(validator=Count, help="Transitions learned from at once.")] = 64
    learning_rate: Annotated[float, Parameter(validator=Number(gt=0, lt=1), help="Of Adam.")] = 1e-3
    discount: Annotated[float, Parameter(validator=Number(gt=0, lte=1), help="Of later rewards.")] = 0.98
    copy_every: Annotated[
        int, Parameter(validator=Count, help="Steps between copies to the target network.")
    ] = 500
    exam_every: Annotated[int, Parameter(validator=Count, help="Steps between examinations.")] = 2000
    exam_runs: Annotated[int, Parameter(validator=Count, help="Runs of one examination.")] = 100


def train(
    model: ModelFile,
    /,
    *,
    out: Annotated[Path, Parameter(help="The .jani2nnet file to write; the network goes beside it.")],
    hidden: Annotated[
        tuple[int, ...],
        Parameter(
            validator=Number(gt=0, lte=MAX_WIDTH), consume_multiple=True, help="Sizes of the hidden layers."
        ),
    ] = (32, 32),
    steps: Annotated[
        int, Parameter(validator=Count, help="Steps of the policy in its environment.")
    ] = 40_000,
    seeds: Annotated[
        int, Parameter(validator=Count, help="So many trainings, from --seed on; the best policy is kept.")
    ] = 1,
    training: Annotated[Training, Parameter(name="*")] = Training(),  # noqa: B008
    resume: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Insist on going on with a training that was stopped; without, what is of another one is dropped.",
        ),
    ] = False,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    options: Annotated[Any, Parameter(name="*")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Train a small network with Q-learning on a JANI model.

    From time to time the policy is examined: the one that reached the goal most often, and of those the one
    with the fewest unsafe runs, is written. The same command goes on with a training that was stopped.

    Example: misstep train mlp line.jani --out line.jani2nnet --hidden 16 16
    """
    from misstep.safety.model import load_model
    from misstep.training.qcheckpoint import prepare, train_to
    from misstep.training.qlearning import QSettings
    from misstep.training.simulator import Rewards

    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    config = make_config(options or ModelOptions(), model=model)
    prepare(out)
    rewards = Rewards(goal=training.goal_reward, unsafe=training.unsafe_reward, step=training.step_reward)
    settings = QSettings(
        hidden=hidden,
        steps=steps,
        episode=training.episode,
        batch=training.batch,
        learning_rate=training.learning_rate,
        discount=training.discount,
        copy_every=training.copy_every,
        checkpoint_every=training.exam_every,
        exam_runs=training.exam_runs,
        rewards=rewards,
        seed=config.seed,
    )

    def progress(step: int, goals: float) -> None:
        if step % 5000 == 0:
            note(f"{step} steps, {goals:.0%} of recent episodes reach the goal", quiet=quiet or json)

    with limits.watch():
        task = load_model(config)
    with continued(out.parent):
        found = train_to(
            out,
            task,
            settings,
            seeds=seeds,
            resume=resume,
            watch=limits.watch,
            progress=progress,
            tell=partial(note, quiet=quiet),
        )
    exam = found.exam
    if json:
        told = {"steps": steps, "seeds": seeds, "limit": found.limit}
        emit_json({"policy": f"nnet:{out}", **exam.as_json(), **told})
        return ExitCode.NOTHING_FOUND
    say_limit(found.limit, quiet=quiet)
    say(
        f"nnet:{out}: {share_words(exam.goals, exam.runs)} of {exam.runs} runs reach the goal, "
        f"{share_words(exam.unsafe, exam.runs)} become unsafe"
    )
    return ExitCode.NOTHING_FOUND


train.__annotations__["options"] = Annotated[ModelOptions | None, Parameter(name="*")]
