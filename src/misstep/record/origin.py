"""Where a record comes from: one that was made elsewhere must not run code here unless the user says so."""

from misstep.config import Config
from misstep.errors import InputError

_HARMLESS = ("object", "asnet", "gnn", "heuristic", "linear", "nnet", "onnx", "table", "trees", "zoo")
"""Policies that are data, or cannot be loaded at all. All others are programs, or talk to one."""


def names_code(policy: str) -> bool:
    """Whether loading a policy that is named so runs code, or talks to a program."""
    return policy.partition(":")[0] not in _HARMLESS


def require_trust(where: str, config: Config) -> None:
    """InputError where replaying a record of somebody else would run what it names."""
    if names_code(config.policy):
        raise InputError(
            f"{where}: the record was not made by you on this machine, and its policy `{config.policy:.100}` "
            "is code that would run now; look at it first, then add --trust, or name a policy with --policy"
        )


def require_trusted_oracles(where: str, config: Config) -> None:
    """The same for oracles that start other programs."""
    for oracle in config.oracle:
        if "external" in oracle:
            raise InputError(
                f"{where}: the record was not made by you on this machine, and its oracle `{oracle:.100}` "
                "starts another program; look at it first, then add --trust"
            )
