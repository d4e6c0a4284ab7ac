"""What a machine of a cluster does with a job that is sent to it: unpack, test, send the record back."""

import contextlib
import functools
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from misstep.campaign.engine import Assignment, Ended
from misstep.campaign.local import LocalEngine
from misstep.campaign.plan import Limits
from misstep.campaign.shipping import Shipment, pack_record
from misstep.errors import InputError
from misstep.support.process import temporary_folder, unusable

_WAIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Sent:
    """A job on its way to another machine."""

    id: str
    shipment: Shipment
    limits: Limits


def run_here(sent: Sent, content: Callable[[str], bytes]) -> tuple[Ended, bytes | None]:
    """Tests on this machine; how it ended, and the record.

    The test runs in a process of its own, as with the local engine, so that limits hold here as well.
    """
    folder = _folder()
    _sweep(folder / "jobs")
    place = folder / "jobs" / f"{os.getpid()}-{sent.id}"
    try:
        config = sent.shipment.unpack(folder / "files", content)
        engine = _engine(os.getpid())
        engine.begin(Assignment(sent.id, config, place, sent.limits))
        ended: list[Ended] = []
        while not ended:
            ended = engine.wait(_WAIT_SECONDS)
        record = pack_record(place) if ended[0].result is not None else None
        return ended[0], record
    finally:
        shutil.rmtree(place, ignore_errors=True)


@functools.cache
def _engine(_process: int) -> LocalEngine:
    """The process that tests is kept for the next job of this one."""
    return LocalEngine(1)


def _folder() -> Path:
    """A place for files on this machine that nobody else may write to."""
    folder = temporary_folder() / f"misstep-campaign-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise unusable(folder.parent, error) from None
    if folder.stat().st_uid != os.getuid():
        raise InputError(f"{folder}: the directory belongs to somebody else; set TMPDIR to another place")
    return folder


def _sweep(folder: Path) -> None:
    """Removes what processes left that were killed."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        owner = path.name.partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            with contextlib.suppress(OSError):
                shutil.rmtree(path)
