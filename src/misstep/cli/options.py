"""Options that several commands share, with their help."""

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter
from cyclopts.validators import Number

MAX_COUNT = 2**40
MAX_SECONDS = 10**7
MOST_JOBS = 1024

Json: TypeAlias = Annotated[
    bool,
    Parameter(
        name="--json", negative="", show_default=False, help="Print one JSON object on standard output."
    ),
]
Quiet: TypeAlias = Annotated[
    bool, Parameter(negative="", show_default=False, help="Print only the result: no progress, no warnings.")
]
UnitCost: TypeAlias = Annotated[
    bool,
    Parameter(
        negative="",
        show_default=False,
        help="Ignore action costs: every action costs 1.",
    ),
]
Seconds: TypeAlias = Annotated[
    float | None,
    Parameter(
        validator=Number(gt=0, lt=MAX_SECONDS), help="Time limit for everything together; none by default."
    ),
]
MemoryMb: TypeAlias = Annotated[
    int | None,
    Parameter(
        validator=Number(gt=0, lt=MAX_COUNT),
        help="Memory limit of misstep in MB; none by default.",
    ),
]
Seed: TypeAlias = Annotated[
    int | None,
    Parameter(
        validator=Number(gte=0, lt=MAX_COUNT),
        help="Look at successors in a random order that follows from this seed.",
    ),
]
DomainFile: TypeAlias = Annotated[Path, Parameter(help="A PDDL domain, or a SAS file without a problem.")]
ProblemFile: TypeAlias = Annotated[
    Path | None, Parameter(help="A PDDL problem; leave it out for a SAS file.")
]
PolicyText: TypeAlias = Annotated[
    str, Parameter(help="NAME:VALUE such as asnet:FILE or heuristic:ff; `misstep parts policy` lists all.")
]
Trust: TypeAlias = Annotated[
    bool,
    Parameter(
        negative="",
        show_default=False,
        help="Run the code that the record names, although somebody else made it; look at it first.",
    ),
]
