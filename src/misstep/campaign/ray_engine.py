"""The engine for many machines: every job is a Ray task; files travel by content, records come back."""

import os
import signal
import threading
import time
from typing import Any

from misstep.campaign.engine import Assignment, Ended
from misstep.campaign.files import Digests
from misstep.campaign.node import Sent, run_here
from misstep.campaign.shipping import pack_config, unpack_record
from misstep.errors import InputError
from misstep.support.extras import require_extra

# Machines come and go; between two counts of their cores.
_COUNT_SECONDS = 5.0


class RayEngine:
    """Ray's workers, on this machine or on a cluster; `jobs` bounds how many are used at a time."""

    def __init__(self, jobs: int | None, *, address: str | None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anybody
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        self._ray = require_extra("ray", extra="ray", purpose="--engine ray")
        self._jobs = jobs
        self._digests = Digests()
        self._contents: dict[str, Any] = {}
        """References to files that Ray has already, by digest."""
        self._under: dict[Any, Assignment] = {}
        self._counted = float("-inf")
        self._cores = 1
        options = {"num_cpus": jobs} if address is None else {"address": address}
        try:
            self._ray.init(**options, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # Ray raises whatever came up
            where = "on this machine" if address is None else f"at {address}"
            raise InputError(
                f"Ray cannot be used {where}: {error}; check --address, or `ray status`"
            ) from None
        if threading.current_thread() is threading.main_thread():
            # Ray takes over what a termination request means; here it means what it meant before.
            signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        # A lost worker is told to the coordinator, which counts the tries.
        self._task = self._ray.remote(num_cpus=1, max_retries=0)(_on_node)

    @property
    def slots(self) -> int:
        """The cores that the cluster has just now."""
        if time.monotonic() - self._counted >= _COUNT_SECONDS:
            self._counted = time.monotonic()
            self._cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        return self._cores if self._jobs is None else min(self._jobs, self._cores)

    def begin(self, assignment: Assignment) -> None:
        """Sends a job; contents that Ray does not have yet go along."""
        shipment, sources = pack_config(assignment.config, self._digests)
        for sha256, path in sources.items():
            if sha256 not in self._contents:
                self._contents[sha256] = self._ray.put(path.read_bytes())
        contents = {sha256: self._contents[sha256] for sha256 in sources}
        sent = Sent(assignment.id, shipment, assignment.limits)
        self._under[self._task.remote(sent, contents)] = assignment

    def wait(self, seconds: float) -> list[Ended]:
        """Hears from all machines; records are in their places when their jobs are told as ended."""
        under = list(self._under)
        ready, _ = self._ray.wait(under, num_returns=1, timeout=seconds)
        if ready:  # all that are ready are written down together
            ready, _ = self._ray.wait(under, num_returns=len(under), timeout=0)
        return [self._take(reference) for reference in ready]

    def close(self) -> None:
        """Lets Ray go, and with it what runs on this machine; tasks on others are cancelled."""
        for reference in self._under:
            self._ray.cancel(reference, force=True)
        self._under.clear()
        self._ray.shutdown()

    def _take(self, reference: Any) -> Ended:
        assignment = self._under.pop(reference)
        try:
            ended, record = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            reason = f"Ray lost the job ({type(error).__name__}: {str(error).strip().splitlines()[-1]:.200})"
            return Ended(assignment.id, reason=reason, is_accident=True)
        if record is not None:
            unpack_record(record, assignment.record, assignment.config)
        found: Ended = ended
        return found


def _on_node(sent: Sent, contents: dict[str, Any]) -> tuple[Ended, bytes | None]:
    import ray

    def content(sha256: str) -> bytes:
        data: bytes = ray.get(contents[sha256])
        return data

    return run_here(sent, content)
