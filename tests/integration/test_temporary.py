"""A place of temporary files that takes none is the user's to mend: it is named, and so is TMPDIR."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import COURIER
from tests.integration.cli import misstep, python
from tests.unit.test_whole_files import mounted, needs_root

# What tests keep of the translator's answers would hide what it meets in a place without room.
pytestmark = pytest.mark.translator
TASK = tuple(map(str, COURIER))
TEST = ("test", *TASK, "--policy", "heuristic:ff", "--pool", "2", "--oracle", "landmarks")

COMMANDS = {
    "demo": ("demo", "--out", "demo"),
    "test": (*TEST, "--out", "record"),
    "several": ("test", COURIER[0], COURIER[1], "again.pddl", "--policy", "heuristic:ff", "--jobs", "2"),
    "verify": ("verify", "there"),
    "plan": ("plan", *TASK),
    "train": ("train", "asnet", *TASK, "--out", "trained"),
    "scale": ("scale", "--generator", "ferry", "--policy", "zoo:ferry"),
    "campaign": ("campaign", "c.toml"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("here")
    assert misstep(*TEST, "--out", "there", cwd=folder).code in (0, 1)
    (folder / "again.pddl").write_text(COURIER[1].read_text())
    (folder / "c.toml").write_text(
        f'domain = "{COURIER[0]}"\nproblems = ["{COURIER[1]}"]\npolicies = ["heuristic:ff"]\npool = 2\n'
    )
    return folder


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system with room for one page."""
    place = tmp_path_factory.mktemp("full")
    with mounted("-t", "tmpfs", "-o", "size=4k", "none", at=place):
        yield place


@needs_root
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_place_is_named(folder: Path, full: Path, name: str) -> None:
    ended = misstep(*COMMANDS[name], cwd=folder, env={"TMPDIR": str(full)})
    assert ended.code == 4, ended.err
    said = ended.out + ended.err
    assert f"{full}: temporary files cannot be written there: No space left on device" in said
    assert "set TMPDIR to another directory" in said and "bug in misstep" not in said
    assert not list(full.iterdir())


@needs_root
def test_a_program_that_fills_the_place_is_not_blamed(folder: Path, tmp_path: Path) -> None:
    """The texts fit, but not what the translator makes of them."""
    with mounted("-t", "tmpfs", "-o", "size=8k", "none", at=tmp_path):
        ended = misstep("plan", *TASK, cwd=folder, env={"TMPDIR": str(tmp_path)})
    assert ended.code == 4 and f"{tmp_path}: temporary files cannot be written there" in ended.err


@needs_root
def test_no_place_at_all(folder: Path, tmp_path: Path) -> None:
    """Where nothing else may be written, temporary files go to the present directory."""
    code = (
        "import os, sys\nfrom misstep.cli.app import run\nos.access = lambda *words: False\n"
        f"sys.exit(run(['plan', {TASK[0]!r}, {TASK[1]!r}]))"
    )
    with mounted("-t", "tmpfs", "-o", "size=64k,ro", "none", at=tmp_path):
        ended = python(code, cwd=tmp_path)
    assert ended.code == 4, ended.err
    assert f"error: {tmp_path}: temporary files cannot be written there: Read-only file system" in ended.err


@pytest.mark.parametrize("kind", ["missing", "a file"])
def test_a_place_that_is_no_directory_is_passed_over(folder: Path, tmp_path: Path, kind: str) -> None:
    """As every program does that follows TMPDIR."""
    place = tmp_path / "place"
    if kind == "a file":
        place.write_text("")
    assert misstep("plan", *TASK, cwd=folder, env={"TMPDIR": str(place)}).code == 0
