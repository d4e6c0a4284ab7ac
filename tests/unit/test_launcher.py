"""Programs that misstep starts: floods are cut, children end, and a killed misstep leaves nothing."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from misstep import Budget, StopFlag
from misstep.errors import ScratchError
from misstep.support.process import Scratch, command_words, temporary_folder
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
    assert ran([PYTHON, "-c", script], budget=Budget(seconds=300)).exit_code == 0
    assert not processes_with(word)


def test_a_directory_survives_a_limit_and_goes_after_use() -> None:
    stop = StopFlag()
    with Scratch() as scratch:

        def stop_once_it_runs() -> None:
            while not (scratch.folder / "made").exists():
                time.sleep(0.05)
            stop.set()

        threading.Thread(target=stop_once_it_runs, daemon=True).start()
        asleep = [PYTHON, "-c", "open('made', 'w'); import time; time.sleep(600)"]
        finished = scratch.run(asleep, budget=Budget(seconds=300, stop=stop))
        assert finished.limit == "stopped" and (scratch.folder / "made").exists()
    assert not scratch.folder.exists()


def test_no_place_for_a_directory_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(ScratchError, match=r"none: temporary files .* TMPDIR"), Scratch():
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
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("*/file")) or (moment == "during" and len(processes_with(word)) < 2):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5 if moment == "after" else 0)
    process.kill()
    process.wait()
    while list(tmp_path.iterdir()) or processes_with(word):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_all_goes_where_somebody_kills_the_launcher() -> None:
    word = f"launched-{os.getpid()}-{time.monotonic_ns()}"
    with Scratch() as scratch:
        (launcher,) = processes_with(str(scratch.folder))

        def kill_once_it_runs() -> None:
            while not processes_with(word):
                time.sleep(0.05)
            os.kill(launcher, signal.SIGKILL)

        threading.Thread(target=kill_once_it_runs, daemon=True).start()
        finished = scratch.run([PYTHON, "-c", "import time; time.sleep(600)", word])
        assert finished.exit_code == -signal.SIGKILL
    assert not scratch.folder.exists()
    deadline = time.monotonic() + 60
    while processes_with(word):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_looking_for_a_place_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tempfile.gettempdir` writes a file to see whether it can; a kill in that moment left it there."""
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = tmp_path.stat().st_mtime_ns
    assert temporary_folder() == tmp_path
    assert tmp_path.stat().st_mtime_ns == before
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    monkeypatch.setenv("TEMP", str(tmp_path))
    assert temporary_folder() == tmp_path


def test_files_of_this_directory_are_found_from_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("planner.py", "mine", "sh", "3"):
        (tmp_path / name).write_text("")
    here = str(tmp_path)
    words = command_words("./planner.py planner.py mine 3 {n} absent.py", what="teacher", n=7)
    assert words == [f"{here}/planner.py", f"{here}/planner.py", "mine", "3", "7", "absent.py"]
    assert command_words("mine", what="teacher") == [f"{here}/mine"]
    assert command_words("sh", what="teacher") == ["sh"]  # that of the system, as in every shell
