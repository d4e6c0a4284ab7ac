"""A job of a campaign: one test, with the names by which people group it and an identity of its own."""

import hashlib
import json
from dataclasses import dataclass

from misstep.campaign.files import FILE_FIELDS, POLICY, Digests, digests_of
from misstep.config import Config


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


def job_id(config: Config, *, task: str, policy: str, digests: Digests) -> str:
    """The identity of a job: the same for the same contents and names, wherever the files lie."""
    options = config.as_table()
    for name in (*FILE_FIELDS, POLICY):
        options.pop(name, None)
    about = {"task": task, "policy": policy, "files": digests_of(config, digests), "options": options}
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]
