"""Programs that misstep starts: floods are cut, children end, and a killed misstep leaves nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from misstep import Budget
from misstep.support.process import Scratch
from tests.integration.cli import processes_with, ran

PYTHON = sys.executable


def test_the_end_of_a_flood_is_kept() -> None:
    flood = "import sys\nfor n in range(40000): sys.stdout.write(f'{n:0100d}\\n')"
    finished = ran([PYTHON, "-c", flood])
    assert finished.exit_code == 0
    assert finished.output.endswith(f"{39999:0100d}\n")
    assert len(finished.output) <= 1 << 20


def test_how_it_ended_is_told() -> None:
    assert ran([PYTHON, "-c", "raise SystemExit(7)"]).exit_code == 7
    killed = ran([PYTHON, "-c", "import os; os.kill(os.getpid(), 11)"])
    assert killed.exit_code == -signal.SIGSEGV
    with pytest.raises(FileNotFoundError):
        ran(["no-such-program"])


def test_children_that_leave_the_group_end_with_the_program() -> None:
    word = f"launched-{os.getpid()}-{time.monotonic_ns()}"
    script = (
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{word}'], start_new_session=True)"
    )
    begin = time.monotonic()
    assert ran([PYTHON, "-c", script], budget=Budget(seconds=60)).exit_code == 0
    assert time.monotonic() - begin < 30
    assert not processes_with(word)


def test_a_directory_survives_a_limit_and_goes_after_use() -> None:
    with Scratch() as scratch:
        asleep = [PYTHON, "-c", "open('made', 'w'); import time; time.sleep(600)"]
        finished = scratch.run(asleep, budget=Budget(seconds=0.5))
        assert finished.limit == "seconds" and (scratch.folder / "made").exists()
    assert not scratch.folder.exists()


def test_no_place_for_a_directory_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="none"), Scratch():
        pass


@pytest.mark.parametrize("moment", ["before", "during", "after"])
def test_a_directory_goes_with_a_killed_misstep(tmp_path: Path, moment: str) -> None:
    word = f"orphan-{os.getpid()}-{time.monotonic_ns()}"
    nap = "600" if moment == "during" else "0"
    run = (
        ""
        if moment == "before"
        else f"\n    it.run([{PYTHON!r}, '-c', 'import time; time.sleep({nap})', {word!r}])"
    )
    program = (
        "import time\nfrom misstep.support.process import Scratch\nwith Scratch() as it:\n"
        f"    (it.folder / 'file').touch(){run}\n    time.sleep(600)"
    )
    process = subprocess.Popen([PYTHON, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)})
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("*/file")) or (moment == "during" and len(processes_with(word)) < 2):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5 if moment == "after" else 0)
    process.kill()
    process.wait()
    while list(tmp_path.iterdir()) or processes_with(word):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_directory_goes_where_somebody_kills_the_launcher() -> None:
    with Scratch() as scratch:
        (launcher,) = processes_with(str(scratch.folder))
        os.kill(launcher, signal.SIGKILL)
    assert not scratch.folder.exists()
