"""Where a record comes from: one that was made elsewhere must not run code here unless the user says so."""

import hashlib
import os
import uuid
from pathlib import Path

from misstep.config import Config
from misstep.errors import InputError

_HARMLESS = ("object", "asnet", "gnn", "heuristic", "linear", "nnet", "onnx", "table", "trees", "zoo")
"""Policies that are data, or cannot be loaded at all. All others are programs, or talk to one."""


def origin(config: str) -> str:
    """A text that only this user on this machine makes of what was asked; it tells nobody who that is."""
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        machine = f"{uuid.getnode():012x}"
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    return hashlib.sha256(f"misstep record {machine} {user} {config}".encode()).hexdigest()


def require_trust(where: str, config: Config) -> None:
    """InputError where replaying a record of somebody else would run what it names."""
    if config.policy.partition(":")[0] not in _HARMLESS:
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
