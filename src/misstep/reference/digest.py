"""What every certificate has in common: its kind, its format and its fingerprint."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from misstep.reference.checked import need


def digest(certificate: Mapping[str, Any]) -> str:
    """SHA-256 of the certificate without its field `sha256`, written as JSON with sorted keys.

    The digest proves nothing about a policy. It tells a certificate that was damaged on its way (a file that
    was edited, cut off or mixed up) from one that is wrong. Whoever forges a certificate can compute a new
    digest, and then has to pass all other checks.
    """
    rest = {key: value for key, value in certificate.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def check_digest(certificate: Mapping[str, Any]) -> None:
    """Refuse a certificate that is not the one its digest was computed of."""
    need(certificate["sha256"] == digest(certificate), "the digest is not that of the certificate")


def check_kind(certificate: dict[str, Any], kind: str, version: int) -> None:
    """Refuse other formats and kinds by their names, since their fields may mean something else."""
    found = certificate.get("format")
    need(type(found) is int and found == version, f"format {version} is known here, not {str(found)[:60]}")
    found = certificate.get("kind")
    need(found == kind, f"this checker is for certificates of the kind {kind}, not {str(found)[:60]}")
