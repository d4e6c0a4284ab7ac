"""`misstep safety generate` and `misstep train mlp`: benchmarks of our own, and policies for any model."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import MAX_COUNT, Json, Quiet
from misstep.cli.output import emit_json, note
from misstep.cli.safety_options import (
    ModelFile,
    Reading,
    parse_constants,
)
from misstep.errors import InputError

Count = Number(gt=0, lt=MAX_COUNT)


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

    document = make(name, **parse_constants(parameter))
    try:
        out.write_text(json_module.dumps(document) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: cannot write there: {error.strerror}") from None
    return ExitCode.NOTHING_FOUND


def train(
    model: ModelFile,
    /,
    *,
    out: Annotated[Path, Parameter(help="The .jani2nnet file to write; the network goes beside it.")],
    hidden: Annotated[tuple[int, ...], Parameter(help="Sizes of the hidden layers.")] = (32, 32),
    steps: Annotated[
        int, Parameter(validator=Count, help="Steps of the policy in its environment.")
    ] = 40_000,
    seed: Annotated[int, Parameter(help="Everything random comes from it.")] = 0,
    reading: Reading = Reading(),  # noqa: B008
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Train a small network with Q-learning on a JANI model.

    Example: misstep train mlp line.jani --out line.jani2nnet --hidden 16 16
    """
    from misstep.training.qlearning import QSettings, save
    from misstep.training.qlearning import train as learn

    if out.suffix != ".jani2nnet":
        raise InputError(f"{out}: the policy's file ends in .jani2nnet")
    task = reading.load(model)
    share = 0.0

    def progress(step: int, goals: float) -> None:
        nonlocal share
        share = goals
        if step % 5000 == 0:
            note(f"{step} steps, {goals:.0%} of recent episodes reach the goal", quiet=quiet or json)

    layers, inputs, outputs = learn(task, QSettings(hidden=hidden, steps=steps, seed=seed), progress=progress)
    save(out, layers, inputs, outputs)
    if json:
        emit_json({"policy": f"nnet:{out}", "goal_share": share, "steps": steps})
    return ExitCode.NOTHING_FOUND
