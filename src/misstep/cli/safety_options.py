"""Options that the safety commands share, and how their values are read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.errors import InputError

if TYPE_CHECKING:
    from misstep._core import SafetyPolicy
    from misstep.safety.model import SafetyTask

ModelFile: TypeAlias = Annotated[Path, Parameter(help="A JANI model.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a model's files do not say by themselves; every safety command takes these options."""

    properties: Annotated[
        Path | None, Parameter(help="A file with more properties; PlaJA's policy tests are understood.")
    ] = None
    property_name: Annotated[
        str | None,
        Parameter(
            name="--property",
            help="Which property, by name or number; by default the first that tests a policy.",
        ),
    ] = None
    unsafe: Annotated[
        str | None, Parameter(help="What to avoid: the name of a property (F p, G p) or a JSON expression.")
    ] = None
    goal: Annotated[
        str | None, Parameter(help="Where runs end well: the name of a property (F p) or a JSON expression.")
    ] = None
    constant: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="NAME=VALUE for a constant of the model; repeatable."),
    ] = ()
    ignore_rates: Annotated[
        bool, Parameter(negative="", help="Read ma and ctmc models as plain non-determinism.")
    ] = False
    integers: Annotated[
        str, Parameter(help="What to do about integers out of bounds: error, clip, or drop the outcome.")
    ] = "error"
    reals: Annotated[
        str,
        Parameter(help="The same for reals, allowed there by default: error, clip, drop, allow."),
    ] = "allow"
    keep_impossible: Annotated[
        bool, Parameter(negative="", help="Outcomes of probability 0 may happen, too.")
    ] = False
    box_points: Annotated[
        int,
        Parameter(validator=Number(gte=0, lte=1000), help="So many points stand for a box of reals."),
    ] = 0
    outcome_mode: Annotated[
        str,
        Parameter(
            help="How outcomes of runs are drawn: label (all outcome states alike) or edge (an enabled edge, "
            "then by probability). What can happen, and so every verdict, is the same."
        ),
    ] = "label"

    def load(self, model: Path) -> "SafetyTask":
        """Read the model."""
        from misstep.safety.model import SafetyTask, Semantics

        semantics = Semantics(
            ignore_rates=self.ignore_rates,
            integers=self.integers,
            reals=self.reals,
            keep_impossible=self.keep_impossible,
            box_points=self.box_points,
            outcome_mode=self.outcome_mode,
        )
        return SafetyTask.load(
            model,
            properties=self.properties,
            name=self.property_name,
            unsafe=self.unsafe,
            goal=self.goal,
            constants=parse_constants(self.constant),
            semantics=semantics,
        )


Policy: TypeAlias = Annotated[
    str | None, Parameter(help="nnet:FILE.jani2nnet, python:MODULE:NAME or zoo:NAME.")
]
Filter: TypeAlias = Annotated[
    bool | None,
    Parameter(
        name="--filter",
        negative="--no-filter",
        help="Consider only applicable actions; else as the file says.",
    ),
]
Radius: TypeAlias = Annotated[
    str, Parameter(help="How often a run may deviate from the policy: a number, or inf.")
]
Horizon: TypeAlias = Annotated[
    int | None, Parameter(help="Count states after this many steps as safe; real-valued models need it.")
]


def parse_radius(text: str) -> int | None:
    """A number, or None for inf."""
    if text in ("inf", "infinity"):
        return None
    if not text.isdecimal() or int(text) > 1_000_000:
        raise InputError(f"radius {text!r}: expected a number up to 1000000, or inf")
    return int(text)


def parse_constants(texts: tuple[str, ...]) -> dict[str, Any]:
    """Values are JSON: 3, 0.5, true."""
    constants: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            constants[name] = json.loads(value)
        except json.JSONDecodeError:
            raise InputError(
                f"--constant {text!r}: expected NAME=VALUE, the value a number or true or false"
            ) from None
        if not equals:
            raise InputError(f"--constant {text!r}: expected NAME=VALUE")
    return constants


def find_policy(spec: str | None, task: "SafetyTask", *, filter: bool | None) -> "SafetyPolicy | None":
    """The policy that was asked for, or the one the property names if its file is there."""
    from misstep.safety.policy import load_policy, network_policy

    if spec is not None:
        return load_policy(spec, task, filter=filter)
    network = task.files.network
    return network_policy(network, task, filter=filter) if network is not None and network.is_file() else None
