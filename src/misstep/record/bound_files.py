"""Policy files of a record: their digests, and whether they are still the ones that were tested."""

from collections.abc import Iterator

from misstep.record.record import Record, policy_digest


def changed_policy(record: Record) -> Iterator[str]:
    """Says so where the file of the tested policy is at hand and is another one by now."""
    tested, policy = record.environment().get("policy_sha256"), record.config().policy
    now = policy_digest(policy).get("policy_sha256")
    if tested is not None and now is not None and now not in str(tested).split():
        yield f"the file of the policy {policy} has changed since the test"
