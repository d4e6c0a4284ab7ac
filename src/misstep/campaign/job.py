"""A job of a campaign: one test, with the names by which people group it and an identity of its own."""

import contextlib
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from misstep.config import Config
from misstep.errors import InputError
from misstep.formats.nnet import read_interface
from misstep.record.record import policy_file

FILE_FIELDS = ("domain", "problem", "model", "pool_file", "properties")
"""The fields of a configuration that name files."""


@dataclass(frozen=True, slots=True)
class CampaignJob:
    """One test of a campaign."""

    id: str
    """A digest of all that determines the result: contents of files, options, seed, and the names."""
    task: str
    policy: str
    configuration: str
    seed: int
    turn: int
    """The place of the seed among the seeds: jobs of the first turn come first."""
    size: int
    """The bytes of what is tested; larger tasks take longer, as a rule."""
    config: Config


@dataclass(slots=True)
class Digests:
    """Digests of files, each read again only where it was written to."""

    _known: dict[Path, tuple[int, int, str]] = field(default_factory=dict)

    def of(self, path: Path) -> str:
        """The SHA-256 of a file's content."""
        try:
            about = path.stat()
            known = self._known.get(path)
            if known is None or known[:2] != (about.st_mtime_ns, about.st_size):
                sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
                known = self._known[path] = about.st_mtime_ns, about.st_size, sha256
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read: {error.strerror}; the campaign needs this file"
            ) from None
        return known[2]


def files_of(config: Config) -> dict[str, Path]:
    """The files that a test reads, by the field that names them; the policy's file is `policy`."""
    found = {name: path for name in FILE_FIELDS if (path := getattr(config, name)) is not None}
    policy = policy_file(config.policy)
    if policy is not None:
        found["policy"] = policy
        if policy.suffix == ".jani2nnet":  # it describes a network in another file
            with contextlib.suppress(InputError):  # the test itself says what is wrong with it
                found["network"] = read_interface(policy).file
    return found


def job_id(config: Config, *, task: str, policy: str, digests: Digests) -> str:
    """The identity of a job: the same for the same contents and names, wherever the files lie."""
    options = config.as_table()
    for name in (*FILE_FIELDS, "policy"):
        options.pop(name, None)
    files = {name: digests.of(path) for name, path in files_of(config).items()}
    about = {"task": task, "policy": policy, "files": files, "options": options}
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]
