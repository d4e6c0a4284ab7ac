"""`misstep test`: fuzz, run, claim, judge; every bug with a certificate in a record."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from misstep.cli.config_options import CheckOptions, Checks, TestOptions, make_check, make_config
from misstep.cli.options import Json, Quiet
from misstep.cli.testing import run_suite
from misstep.errors import InputError
from misstep.record.record import CONFIG

ConfigFile = Annotated[
    Path | None,
    Parameter(
        name="--config",
        help="A TOML file with options; by default misstep.toml, or [tool.misstep] in pyproject.toml.",
    ),
]
Out = Annotated[Path | None, Parameter(help="The directory of the record; by default runs/PROBLEM-NUMBER.")]
Resume = Annotated[
    bool,
    Parameter(negative="", show_default=False, help="Continue the test in the record --out."),
]


def test(
    task: Annotated[Path | None, Parameter(help="A PDDL domain, a SAS file or a JANI model.")] = None,
    /,
    *problems: Annotated[Path, Parameter(help="PDDL problems, or directories of problems.")],
    options: Annotated[TestOptions, Parameter(name="*")] = TestOptions(),  # noqa: B008
    checks: Checks = CheckOptions(),  # noqa: B008
    config: ConfigFile = None,
    out: Out = None,
    resume: Resume = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Test a policy: make test states, run it, and prove where it could have done better.

    Each bug comes with a certificate, which `misstep verify` checks.

    Example: misstep test domain.pddl problem.pddl --policy asnet:trained.policy --pool 200 --out record
    """
    named: dict[str, Any] = {}
    if task is not None:
        named = {"model" if task.suffix == ".jani" else "domain": task}
    if named.get("model") and problems:
        raise InputError(f"{problems[0]}: a JANI model has no further problems; leave it out")
    check = make_check(checks, file=config)  # of this directory, also where the record says what to test
    if resume and out is not None and task is None and config is None:
        config = out / CONFIG
    alone = problems[0] if len(problems) == 1 and not problems[0].is_dir() else None
    made = make_config(options, file=config, problem=alone, **named)
    left = [] if alone else list(problems)
    return run_suite(made, left, check=check, out=out, resume=resume, json=json, quiet=quiet)
