"""Programs that misstep starts: floods are cut, children end, and a killed misstep leaves nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from misstep import Budget
from misstep.support.process import run_bounded
from tests.integration.cli import processes_with

PYTHON = sys.executable


def test_the_end_of_a_flood_is_kept(tmp_path: Path) -> None:
    flood = "import sys\nfor n in range(40000): sys.stdout.write(f'{n:0100d}\\n')"
    finished = run_bounded([PYTHON, "-c", flood], cwd=tmp_path)
    assert finished.exit_code == 0
    assert finished.output.endswith(f"{39999:0100d}\n")
    assert len(finished.output) <= 1 << 20


def test_how_it_ended_is_told(tmp_path: Path) -> None:
    assert run_bounded([PYTHON, "-c", "raise SystemExit(7)"], cwd=tmp_path).exit_code == 7
    killed = run_bounded([PYTHON, "-c", "import os; os.kill(os.getpid(), 11)"], cwd=tmp_path)
    assert killed.exit_code == -signal.SIGSEGV
    with pytest.raises(FileNotFoundError):
        run_bounded(["no-such-program"], cwd=tmp_path)


def test_children_that_leave_the_group_end_with_the_program(tmp_path: Path) -> None:
    word = f"launched-{os.getpid()}-{time.monotonic_ns()}"
    script = (
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{word}'], start_new_session=True)"
    )
    begin = time.monotonic()
    assert run_bounded([PYTHON, "-c", script], cwd=tmp_path, budget=Budget(seconds=60)).exit_code == 0
    assert time.monotonic() - begin < 30
    assert not processes_with(word)


def test_a_directory_survives_a_limit_and_goes_with_a_killed_misstep(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    finished = run_bounded(
        [PYTHON, "-c", "import time; time.sleep(600)"], cwd=kept, budget=Budget(seconds=0.5)
    )
    assert finished.limit == "seconds" and kept.is_dir()
    lost, word = tmp_path / "lost", f"orphan-{os.getpid()}-{time.monotonic_ns()}"
    lost.mkdir()
    program = (
        "from pathlib import Path\nfrom misstep.support.process import run_bounded\n"
        f"run_bounded(['{PYTHON}', '-c', 'import time; time.sleep(600)', '{word}'], cwd=Path({str(lost)!r}))"
    )
    process = subprocess.Popen([PYTHON, "-c", program])
    deadline = time.monotonic() + 60
    while len(processes_with(word)) < 3:  # misstep, the launcher, the program
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    while lost.exists() or processes_with(word):
        assert time.monotonic() < deadline
        time.sleep(0.05)
