"""`misstep safety test`: `misstep test` on a JANI model, with the options of models alone."""

from typing import Annotated, Any

from cyclopts import Parameter

from misstep.cli.config_options import CheckOptions, Checks, SafetyOptions, make_check, make_config
from misstep.cli.options import Json, Quiet
from misstep.cli.safety_options import MaxExpansions, ModelFile, with_option
from misstep.cli.test import ConfigFile, Out, Resume
from misstep.cli.testing import run_suite


def test(
    model: ModelFile,
    /,
    *,
    options: Annotated[Any, Parameter(name="*")] = None,
    checks: Checks = CheckOptions(),  # noqa: B008
    depth: Annotated[
        str | None,
        Parameter(help="Look-ahead of the fuzzer, a number or inf; the same as `--fuzzer greedy:depth=2`."),
    ] = None,
    max_expansions: MaxExpansions = None,
    config: ConfigFile = None,
    out: Out = None,
    resume: Resume = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Look for unsafe runs of a policy, and for the states and decisions that are to blame.

    A bug is a state from which the policy can reach an unsafe state although a safe policy exists. A fault is a
    decision after which no safe policy exists any more.

    Example: misstep safety test model.jani --properties p.jani --policy nnet:net.jani2nnet --runs 1000
    """
    check = make_check(checks, file=config)
    made = make_config(options or SafetyOptions(), file=config, model=model)
    if depth is not None:
        made = made.replace(fuzzer=with_option(made.fuzzer or "greedy", "depth", depth))
    if max_expansions is not None:
        made = made.replace(decider=with_option(made.decider, "max_expansions", max_expansions))
    return run_suite(made, [], check=check, out=out, resume=resume, json=json, quiet=quiet)


test.__annotations__["options"] = Annotated[SafetyOptions | None, Parameter(name="*")]
