"""The translator as a program: killed with all its children, with its last words in the error."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from misstep import Budget, StopFlag
from misstep.errors import InputError, LimitReached
from misstep.pddl import read_domain, read_problem
from misstep.pddl.translate import translate
from misstep.task import load
from tests.integration.cli import processes_with, ran

pytestmark = pytest.mark.translator

# Starts a child that does the same for ever; both carry the word on their command lines.
FAMILY = (
    "import subprocess, sys, time\n"
    "print('started', flush=True)\n"
    "if len(sys.argv) < 3: subprocess.Popen([sys.executable, __file__, sys.argv[1], 'child'])\n"
    "time.sleep(600)\n"
)


def gone(word: str, *, within: float = 60.0) -> bool:
    end = time.monotonic() + within
    while processes_with(word):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def family(tmp_path: Path) -> Any:
    script = tmp_path / "family.py"
    script.write_text(FAMILY)
    word = f"family-{os.getpid()}-{time.monotonic_ns()}"
    return [sys.executable, str(script), word], word


def test_the_whole_group_dies_on_time_out(family: Any) -> None:
    command, word = family
    finished = ran(command, budget=Budget(seconds=4))
    assert finished.limit == "seconds"
    assert "started" in finished.output
    assert gone(word)


def test_the_whole_group_dies_when_somebody_sets_the_stop_flag(family: Any) -> None:
    command, word = family
    stop = StopFlag()

    def stop_once_it_runs() -> None:
        while len(processes_with(word)) < 2:
            time.sleep(0.05)
        stop.set()

    watcher = threading.Thread(target=stop_once_it_runs)
    watcher.start()
    finished = ran(command, budget=Budget(seconds=300, stop=stop))
    watcher.join()
    assert finished.limit == "stopped"
    assert gone(word)


def test_a_budget_that_is_over_starts_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    command = [sys.executable, "-c", f"open({str(made)!r}, 'w')"]
    finished = ran(command, budget=Budget(seconds=0))
    assert (finished.limit, finished.output) == ("seconds", "")
    assert not made.exists()


def test_the_whole_group_dies_on_interrupt(family: Any) -> None:
    command, word = family

    def interrupt() -> None:
        while len(processes_with(word)) < 2:  # the program and its child
            time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        ran(command)
    assert gone(word)


def test_a_very_long_time_is_fine() -> None:
    assert ran([sys.executable, "-c", ""], budget=Budget(seconds=1e12)).exit_code == 0


def test_memory_limit() -> None:
    finished = ran([sys.executable, "-c", "b'x' * 10**9"], budget=Budget(memory_mb=300))
    assert finished.exit_code != 0
    assert "MemoryError" in finished.output


def test_time_out_of_the_translator_names_files_and_limit(courier: tuple[Path, Path]) -> None:
    with pytest.raises(LimitReached, match=r"domain\.pddl.*stopped when its time was up") as caught:
        load(*courier, budget=Budget(seconds=0.01))
    assert caught.value.limit == "seconds"


def test_memory_limit_of_the_translator(courier: tuple[Path, Path]) -> None:
    with pytest.raises(LimitReached, match="out of memory") as caught:
        load(*courier, budget=Budget(memory_mb=18))
    assert caught.value.limit == "memory"


def test_no_temporary_files_are_left(
    courier: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    load(*courier)
    with pytest.raises(LimitReached):
        load(*courier, budget=Budget(seconds=0.01))
    assert list(tmp_path.iterdir()) == []


def test_last_words_of_a_failing_translator(
    courier: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "fast_downward"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "translate.py").write_text("print('I am the log'); raise SystemExit(31)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(InputError, match="does not accept this PDDL") as caught:
        load(*courier)
    assert "I am the log" in str(caught.value)


def test_the_translator_does_not_look_for_cycles(
    courier: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is half of its time on large tasks."""
    package = tmp_path / "fast_downward"
    package.mkdir()
    (package / "__init__.py").touch()
    says = (
        "import gc, sys; print('collector:', gc.isenabled(), 'words:', sys.argv[1:3]); raise SystemExit(31)"
    )
    (package / "translate.py").write_text(says)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(InputError) as caught:
        load(*courier)
    assert "collector: False words: ['domain.pddl', 'problem.pddl']" in str(caught.value)


@pytest.mark.parametrize("name", ["gripper", "logistics", "rovers", "tyre"])
def test_the_same_bytes_as_from_the_program_itself(name: str, tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "tasks" / name
    domain, problem = folder / "domain.pddl", min(folder.glob("p*.pddl"))
    words = [domain, problem, "--keep-unimportant-variables", "--sas-file", "plain.sas"]
    command = [sys.executable, "-m", "fast_downward.translate", *words]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    read = read_domain(domain)
    assert translate(read, read_problem(problem, read)) == (tmp_path / "plain.sas").read_text()
