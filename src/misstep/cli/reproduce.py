"""`misstep reproduce`: the papers' tables and figures, ours beside the printed ones."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import MAX_SECONDS, MOST_JOBS, Json, Quiet
from misstep.cli.output import continued, emit_json, say, say_plain
from misstep.reports.status import StatusLine


def reproduce(
    name: Annotated[
        Literal["biases", "oracles", "framework", "training", "safety"],
        Parameter(help="The paper whose experiment is repeated."),
    ],
    /,
    *,
    seconds: Annotated[
        float,
        Parameter(
            validator=Number(gt=0, lt=MAX_SECONDS),
            help="How long it may take with two jobs (twice as long with one); more time means more tasks and more "
            "states of each. When the time is up, the tables show what was done, and the same command continues.",
        ),
    ] = 1800.0,
    out: Annotated[
        Path,
        Parameter(
            help="The directory for tables, figures and run directories; an unfinished one is continued."
        ),
    ],
    data: Annotated[
        Path | None,
        Parameter(
            help="The folder with the papers' policies and tasks; by default the one in MISSTEP_DATA, or "
            "../shared/data. If neither exists, bundled policies are tested on generated tasks."
        ),
    ] = None,
    jobs: Annotated[
        int,
        Parameter(
            validator=Number(gte=1, lte=MOST_JOBS),
            help="How many tests run at the same time; the plan is the same.",
        ),
    ] = 2,
    seed: Annotated[int, Parameter(validator=Number(gte=0), help="The seed of all tests.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Repeat a paper's experiment at the scale that the time allows; show its table beside the published one.

    biases: Eisenhut et al. 2024. oracles: Eisenhut et al. 2023. framework: Steinmetz et al. 2022. training:
    Eisenhut et al. 2025. safety: Jain et al. The same command continues after a stop.

    Example: misstep reproduce biases --seconds 1800 --out biases
    """
    from misstep.experiments.reproduce.data import find_data
    from misstep.experiments.reproduce.order import Order
    from misstep.experiments.reproduce.papers import reproduce as run

    with continued(out), StatusLine("planning", quiet=quiet or json) as status:
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
    if not outcome.is_whole:
        say("The time was up (--seconds); the same command continues.")
    return ExitCode.NOTHING_FOUND
