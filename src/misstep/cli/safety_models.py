"""`misstep safety generate` and `misstep train mlp`: benchmarks of our own, and policies for any model."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.config_options import ModelOptions, make_config
from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import MAX_COUNT, Json, Quiet
from misstep.cli.output import emit_json, note, say
from misstep.cli.safety_options import ModelFile
from misstep.errors import InputError

Count = Number(gt=0, lt=MAX_COUNT)
MAX_WIDTH = 100_000


def generate(
    name: Annotated[str, Parameter(help="A benchmark: one_way_line, two_way_line, transport, ...")],
    /,
    *,
    out: Annotated[Path, Parameter(help="The JANI file to write.")],
    parameter: Annotated[
        tuple[str, ...],
        Parameter(name="--parameter", negative="", help="NAME=VALUE, such as length=15; repeatable."),
    ] = (),
) -> int:
    """Write the JANI model of a benchmark.

    Example: misstep safety generate two_way_line --parameter length=15 --out line.jani
    """
    from misstep.bundled.models import generate as make
    from misstep.safety.model import parse_constants

    document = make(name, **parse_constants(parameter, option="--parameter"))
    try:
        out.write_text(json_module.dumps(document) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: cannot write there: {error.strerror}") from None
    say(f"{out}: the JANI model of {name}")
    return ExitCode.NOTHING_FOUND


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
    resume: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Go on with a training that was stopped, to the same network.",
        ),
    ] = False,
    options: Annotated[Any, Parameter(name="*")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Train a small network with Q-learning on a JANI model.

    Example: misstep train mlp line.jani --out line.jani2nnet --hidden 16 16
    """
    from misstep.safety.model import load_model
    from misstep.training.qcheckpoint import prepare, train_to
    from misstep.training.qlearning import QSettings

    config = make_config(options or ModelOptions(), model=model)
    prepare(out)
    settings = QSettings(hidden=hidden, steps=steps, seed=config.seed)

    def progress(step: int, goals: float) -> None:
        if step % 5000 == 0:
            note(f"{step} steps, {goals:.0%} of recent episodes reach the goal", quiet=quiet or json)

    trained = train_to(out, load_model(config), settings, resume=resume, progress=progress)
    if json:
        emit_json({"policy": f"nnet:{out}", "goal_share": trained.goal_share, "steps": steps})
    else:
        say(f"nnet:{out}: {trained.goal_share:.0%} of the last episodes reached the goal")
    return ExitCode.NOTHING_FOUND


train.__annotations__["options"] = Annotated[ModelOptions | None, Parameter(name="*")]
