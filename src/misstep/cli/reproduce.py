"""`misstep reproduce`: the papers' tables and figures, ours beside the printed ones."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import MAX_SECONDS, MOST_JOBS, Json, Quiet
from misstep.cli.output import emit_json, say, say_plain
from misstep.reports.status import StatusLine


def reproduce(
    name: Annotated[
        Literal["biases", "oracles", "framework", "training", "safety"],
        Parameter(help="Which paper's experiment."),
    ],
    /,
    *,
    seconds: Annotated[
        float,
        Parameter(
            validator=Number(gt=0, lt=MAX_SECONDS),
            help="About how long it may take on two cores: more time, more tasks and more states of each.",
        ),
    ] = 1800.0,
    out: Annotated[
        Path, Parameter(help="Where tables, figures and run directories go; what is there goes on.")
    ],
    data: Annotated[
        Path | None,
        Parameter(
            help="The folder with the papers' policies and tasks; by default that in MISSTEP_DATA, or "
            "../shared/data. Where neither is there, bundled policies are tested on generated tasks."
        ),
    ] = None,
    jobs: Annotated[
        int,
        Parameter(
            validator=Number(gte=1, lte=MOST_JOBS), help="So many tests at once; the plan is the same."
        ),
    ] = 2,
    seed: Annotated[int, Parameter(validator=Number(gte=0), help="Of all tests.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Repeat a paper's experiment at the scale that the time allows; write its table beside the printed one.

    biases: Eisenhut et al. 2024. oracles: Eisenhut et al. 2023. framework: Steinmetz et al. 2022. training:
    Eisenhut et al. 2025. safety: Jain et al. The same command goes on where it was stopped.

    Example: misstep reproduce biases --seconds 1800 --out biases
    """
    from misstep.experiments.reproduce.data import find_data
    from misstep.experiments.reproduce.order import Order
    from misstep.experiments.reproduce.papers import reproduce as run

    with StatusLine("planning", quiet=quiet or json) as status:
        order = Order(
            name=name,
            seconds=seconds,
            out=out,
            data=find_data(data),
            seed=seed,
            jobs=jobs,
            tell=status.show,
        )
        outcome = run(order)
    if json:
        emit_json(outcome.as_json())
        return ExitCode.NOTHING_FOUND
    say_plain(*(out / "table.md").read_text(encoding="utf-8").splitlines())
    say(f"tables, figures and run directories are in {out}")
    return ExitCode.NOTHING_FOUND
