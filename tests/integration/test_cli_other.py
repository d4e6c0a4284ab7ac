"""`doctor`, `parts`, `--version` and internal errors from outside."""

import json
import resource
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from misstep import __version__
from tests.conftest import COURIER
from tests.integration.cli import command, misstep


def test_version_is_light() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.argv = ['misstep', '--version']; from misstep.cli import main; main()",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout == f"{version('misstep')}\n" == f"{__version__}\n"
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 0.3


def test_version_loads_neither_core_nor_numpy() -> None:
    code = (
        "import sys; sys.argv = ['misstep', '--version']; from misstep.cli import main; main();"
        "print([name for name in ('numpy', 'cyclopts', 'rich', 'misstep._core') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"


def test_doctor() -> None:
    ended = misstep("doctor", "--json")
    assert ended.code == 0
    status = {check["name"]: check["status"] for check in ended.json["checks"]}
    assert {status[name] for name in ("python", "native core", "translator", "machine")} == {"ok"}
    assert status["extra peers"] in ("ok", "missing")
    assert "translator: fast-downward.translate" in misstep("doctor").out


@pytest.mark.translator
def test_doctor_sees_a_broken_translator(tmp_path: Path) -> None:
    (tmp_path / "fast_downward").mkdir()
    (tmp_path / "fast_downward" / "__init__.py").touch()
    (tmp_path / "fast_downward" / "translate.py").write_text("raise SystemExit(1)")
    ended = misstep("doctor", env={"PYTHONPATH": str(tmp_path)})
    assert ended.code == 3
    assert "failed   translator" in ended.out


def test_parts() -> None:
    found = misstep("parts", "--json").json
    assert {part["name"] for part in found["search"]} >= {"astar", "gbfs", "ehc"}
    assert {part["name"] for part in found["heuristic"]} == {"blind", "hmax", "hadd", "ff", "lmcut"}
    assert all(part["help"] for parts in found.values() for part in parts)
    (heuristic,) = next(part["options"] for part in found["search"] if part["name"] == "astar")
    assert (heuristic["name"], heuristic["default"]) == ("heuristic", "lmcut")
    assert "astar" in misstep("parts", "search").out
    wrong = misstep("parts", "serach")
    assert wrong.code == 4
    assert "did you mean `search`?" in wrong.err


def test_help_of_every_command() -> None:
    overview = misstep("--help")
    assert overview.code == 0
    for name in ("demo", "plan", "doctor", "parts"):
        assert name in overview.out
        ended = misstep(name, "--help")
        assert ended.code == 0
        assert "Example: misstep" in ended.out


def test_unknown_command() -> None:
    ended = misstep("plann")
    assert ended.code == 4
    assert '"plan"' in ended.err


def test_internal_errors_say_how_to_report(courier: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import misstep.task\n"
        "def broken(*_, **__): raise ZeroDivisionError('planted')\n"
        "misstep.task.load = broken\n"
    )
    ended = misstep("plan", *courier, env={"PYTHONPATH": str(tmp_path)})
    assert ended.code == 3
    assert "ZeroDivisionError: planted" in ended.err
    assert "MISSTEP_TRACEBACK=1" in ended.err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_standard_streams_may_be_closed(closed: str, tmp_path: Path) -> None:
    """A file that is opened instead would get what is printed: the log of a test, for example."""
    options = ("--policy", "heuristic:ff", "--pool", "2", "--out", tmp_path / "record", "--json")
    words = shlex.join([*command(), "test", *map(str, (*COURIER, *options))])
    done = subprocess.run(["sh", "-c", f"{words} {closed}"], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and done.stderr == ""
    if ">&-" not in closed.split():
        assert json.loads(done.stdout)["tested"] == 2
    assert misstep("verify", tmp_path / "record").code == 0


@pytest.mark.parametrize("option", [[], ["--json"]])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output_is_said(option: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*command(), "parts", *option], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 4
    assert done.stderr.startswith("error: standard output: the result cannot be written: No space left")
