"""Policy files of a record: their digests, and whether they are still the ones that were tested."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from misstep.record.record import Record


def policy_file(policy: str) -> Path | None:
    """The file that a policy text names, such as `asnet:FILE` or `python:FILE:function,option=value`."""
    _, _, rest = policy.partition(":")
    ends = [len(rest), *(at for at, letter in enumerate(rest) if letter in ":,")]
    for end in sorted(ends, reverse=True):
        try:
            if end and (path := Path(rest[:end])).is_file():
                return path
        except (OSError, ValueError):  # longer than names can be, or with a NUL
            continue
    return None


def policy_digest(policy: str) -> dict[str, str]:
    """`policy_sha256` of the file that a policy text names; nothing where it names none."""
    file = policy_file(policy)
    return {} if file is None else {"policy_sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def changed_policy(record: Record) -> Iterator[str]:
    """Says so where the file of the tested policy is at hand and is another one by now."""
    tested, policy = record.environment().get("policy_sha256"), record.config().policy
    now = policy_digest(policy).get("policy_sha256")
    if tested is not None and now is not None and now not in str(tested).split():
        yield f"the file of the policy {policy} has changed since the test"
