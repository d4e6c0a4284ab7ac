"""Lets the disk fail at every single operation of a test: nothing reported is lost, and `--resume` heals.

`python -m tests.integration.faults 1000` injects so many faults; the tests do a few hundred. As SQLite does
it: the test runs once to count what it asks of the disk, and then again and again with a fault at each place.
"""

import contextlib
import errno
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from misstep import load
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import timeless
from misstep.record import store
from misstep.record.record import Record
from misstep.record.store import Disk
from misstep.record.verify import verify_record
from misstep.session import Session
from misstep.suite import Suite
from misstep.support.plain import to_plain
from tests.integration.kills import TASKS, record


class PowerFailure(BaseException):
    """The machine is off: nothing of the program runs any more."""


@dataclass
class FaultyDisk(Disk):
    """A disk that fails at one operation, by number, and remembers what a power failure would leave."""

    fails_at: int | None = None
    fault: Callable[[], BaseException] | None = None
    """None: the disk takes only a part of what is written."""
    operations: int = 0
    _paths: dict[int, Path] = field(default_factory=dict)
    _sizes: dict[Path, int] = field(default_factory=dict)
    """Of logs: how much of them is on the disk."""
    _new: set[Path] = field(default_factory=set)
    """Files whose place in their directory is not on the disk."""
    _hollow: set[Path] = field(default_factory=set)
    """Files whose content is not on the disk."""

    def _count(self, *, can_be_half: bool = False) -> bool:
        """Whether this operation is cut short; raises the fault."""
        self.operations += 1
        if self.operations != self.fails_at:
            return False
        if self.fault is None and can_be_half:
            return True
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) if self.fault is None else self.fault()

    def open_log(self, path: Path, *, exclusive: bool) -> int:
        self._count()
        if not path.exists():
            self._new.add(path)
        descriptor = super().open_log(path, exclusive=exclusive)
        self._paths[descriptor] = path
        self._sizes.setdefault(path, 0)
        return descriptor

    def put(self, descriptor: int, data: bytes) -> int:
        if self._count(can_be_half=True):
            super().put(descriptor, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().put(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._count()
        if descriptor in self._paths:
            self._sizes[self._paths[descriptor]] = os.fstat(descriptor).st_size

    def sync_path(self, path: Path) -> None:
        self._count()
        self._new = {one for one in self._new if one.parent != path}
        self._hollow.discard(path)

    def write(self, path: Path, data: bytes, *, wait: bool = True) -> None:
        super().write(path, data, wait=wait)
        if not wait:
            self._hollow.add(path)

    def move(self, draft: Path, path: Path) -> None:
        self._count()
        if not path.exists():
            self._new.add(path)
        super().move(draft, path)

    def close(self, descriptor: int) -> None:
        self._paths.pop(descriptor, None)
        super().close(descriptor)

    def lose_power(self, rng: random.Random) -> None:
        """What was not synced is there or not, wholly or in part."""
        for descriptor in list(self._paths):
            os.close(descriptor)
        for path, size in self._sizes.items():
            if path.exists():
                os.truncate(path, rng.randint(size, max(size, path.stat().st_size)))
        for path in self._hollow:
            if path.exists():
                os.truncate(path, rng.randint(0, path.stat().st_size))
        for path in self._new:
            if rng.random() < 0.5:
                path.unlink(missing_ok=True)


def os_error(number: int) -> Callable[[], BaseException]:
    return lambda: OSError(number, os.strerror(number))


FAULTS: dict[str, Callable[[], BaseException] | None] = {
    "no space": os_error(errno.ENOSPC),
    "input/output error": os_error(errno.EIO),
    "half a write": None,
    "out of memory": MemoryError,
    "power failure": PowerFailure,
}


@dataclass
class Trial:
    """One small test in a directory, its disk, and what it has reported."""

    config: Config
    disk: FaultyDisk
    reported: list[dict[str, Any]] = field(default_factory=list)

    def run(self, out: Path) -> None:
        made = Record.create(out, disk=self.disk)
        try:
            for event in Session(self.config, record=made).events():
                if getattr(event, "event", None) != "pool":
                    self.reported.append(timeless(json.loads(json.dumps(to_plain(event)))))
        except PowerFailure:
            raise
        except BaseException:
            with contextlib.suppress(InputError, MemoryError):
                made.close()
            raise
        made.close()


def resumed(config: Config, out: Path, what: str) -> object:
    """What is in the record after it was resumed, and verified."""
    (session,) = Suite([config], out, resume=True).sessions()
    for _ in session.events():
        pass
    session.record.close()
    checked = verify_record(Record.open(out))
    assert not checked.invalid, f"{what}: {checked.invalid}"
    return record(out)


def logged(out: Path) -> list[dict[str, Any]]:
    lines = (out / "events.jsonl").read_bytes().split(b"\n")[:-1]
    return [timeless(json.loads(line)) for line in lines]


def inject(config: Config, out: Path, name: str, number: int, expected: object, rng: random.Random) -> str:
    """One fault; returns the message that the user sees, empty where the fault came after the end."""
    trial = Trial(config, FaultyDisk(fails_at=number, fault=FAULTS[name]))
    message = ""
    try:
        trial.run(out)
    except PowerFailure:
        trial.disk.lose_power(rng)
    except MemoryError:
        message = "out of memory"
    except InputError as error:
        message = str(error)
    if name != "power failure":
        there = logged(out) if (out / "events.jsonl").exists() else []
        assert trial.reported == there[: len(trial.reported)], f"{name} at {number}: something is lost"
    assert resumed(config, out, f"{name} at {number}") == expected, f"{name} at {number}: another result"
    assert not list(out.rglob(".*.part")) or name == "power failure", f"{name} at {number}: half a file"
    shutil.rmtree(out)
    return message


def campaign(
    most: int, *, seed: int = 0, tell: Callable[[dict[str, int]], None] = lambda _: None
) -> dict[str, int]:
    """Faults of all kinds at all operations, or at `most` of these places; how many there were of each kind."""
    rng, found = random.Random(seed), dict.fromkeys(FAULTS, 0)
    # The disk is asked for every event, so that the places do not depend on the clock.
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, patch.object(store, "_SYNC_SECONDS", 0):
        sas = Path(folder) / "ferry.sas"
        sas.write_text(load(TASKS / "ferry" / "domain.pddl", TASKS / "ferry" / "p02.pddl").sas)
        config = Config(domain=sas, policy="heuristic:hadd", pool=6)
        whole = Trial(config, FaultyDisk())
        whole.run(Path(folder) / "whole")
        expected = record(Path(folder) / "whole")
        places = [(name, number) for name in FAULTS for number in range(1, whole.disk.operations + 1)]
        while len(places) < most:  # power failures leave another mess each time
            places += [("power failure", number) for number in range(1, whole.disk.operations + 1)]
        for name, number in rng.sample(places, most) if most < len(places) else places:
            message = inject(config, Path(folder) / "out", name, number, expected, rng)
            assert name == "power failure" or message, f"{name} at {number}: nobody was told"
            found[name] += 1
            tell(found)
    return found


def _print(found: dict[str, int]) -> None:
    """Now and then, and it is said at the end as well."""
    total = sum(found.values())
    if total % 50 == 0:
        done = ", ".join(f"{title} {count}" for title, count in found.items())
        print(
            f"{total} faults, nothing lost, all resumed to the result of the undisturbed test: {done}",
            flush=True,
        )


if __name__ == "__main__":
    campaign(int(sys.argv[1]) if len(sys.argv) > 1 else 500, tell=_print)
