"""Options that the safety commands share."""

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.options import MAX_COUNT

ModelFile: TypeAlias = Annotated[Path, Parameter(help="A JANI model.")]
MaxExpansions: TypeAlias = Annotated[
    int | None,
    Parameter(
        validator=Number(gt=0, lt=MAX_COUNT),
        help="The most states that one decision may expand; the same as `--decider level:max_expansions=N`.",
    ),
]


def with_option(part: str, option: str, value: object) -> str:
    """The text of a part with one more option; `uniform` runs do not look ahead, so they take no depth."""
    if part == "uniform" and option == "depth":
        return part
    return f"{part}{',' if ':' in part else ':'}{option}={value}"
