"""Every command that writes a file leaves what stands in its place what it was: links, pipes, devices, permissions."""

import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from misstep.cli.app import run
from tests.conftest import COURIER
from tests.unit.test_whole_files import device, needs_root

TASK = tuple(map(str, COURIER))
TEST = ("test", *TASK, "--policy", "heuristic:ff", "--pool", "3", "--quiet")


@dataclass(frozen=True)
class Here:
    """What commands need that look at something."""

    record: str
    model: str
    campaign: str


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Here:
    folder = tmp_path_factory.mktemp("here")
    assert run([*TEST, "--out", str(folder / "record")]) == 1
    model = str(folder / "line.jani")
    assert run(["safety", "generate", "two_way_line", "--out", model]) == 0
    (folder / "c.toml").write_text(
        f'domain = "{COURIER[0]}"\nproblems = ["{COURIER[1]}"]\npolicies = ["heuristic:ff"]\npool = 3\n'
    )
    assert run(["campaign", str(folder / "c.toml"), "--quiet"]) == 1
    return Here(str(folder / "record"), model, str(folder / "c.toml"))


COMMANDS: dict[str, Callable[[Here], tuple[str, ...]]] = {
    "junit": lambda here: (*TEST, "--junit"),
    "corpus": lambda here: (*TEST, "--corpus"),
    "plan": lambda here: ("plan", *TASK, "--out"),
    "run": lambda here: ("run", *TASK, "--policy", "zoo:courier", "--out"),
    "report": lambda here: ("report", here.record, "--out"),
    "dominance": lambda here: ("dominance", *TASK, "--save"),
    "generate": lambda here: ("safety", "generate", "two_way_line", "--out"),
    "shield": lambda here: ("safety", "shield", here.model, "--policy", "zoo:two_way_line", "--out"),
    "csv": lambda here: ("campaign", "export", here.campaign, "--csv"),
    "plot": lambda here: ("campaign", "plot", here.campaign, "--file"),
}


@pytest.fixture(params=COMMANDS)
def words(
    request: pytest.FixtureRequest, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """A command up to the name of the file that it writes; shields have names that end in .json."""
    monkeypatch.chdir(tmp_path)
    return COMMANDS[request.param](here)


def test_a_file_keeps_its_permissions_and_a_link_its_target(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    path, links = tmp_path / "far" / "file.json", [tmp_path / "link.json", tmp_path / "second.json"]
    links[0].symlink_to("far/file.json")
    links[1].symlink_to("link.json")
    path.touch(0o600)
    assert run([*words, str(links[1])]) in (0, 1)
    written = path.read_bytes()
    assert written and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert all(link.is_symlink() for link in links)
    path.unlink()  # now the links lead to nothing
    assert run([*words, str(links[1])]) in (0, 1)
    assert path.stat().st_size and all(link.is_symlink() for link in links)


def test_a_pipe_gets_all_of_it(words: tuple[str, ...], tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe.json", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert run([*words, str(pipe)]) in (0, 1)
    reader.join(20)
    assert len(read) == 1 and read[0] and pipe.is_fifo()


@needs_root
def test_a_full_device_is_an_error_in_words(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full, null = device(tmp_path / "full.json", 7), device(tmp_path / "null.json", 3)
    assert run([*words, str(full)]) == 4
    errors = capsys.readouterr().err
    assert f"error: {full}: " in errors and "No space left on device" in errors
    assert run([*words, str(null)]) in (0, 1)
    assert full.is_char_device() and null.is_char_device()
