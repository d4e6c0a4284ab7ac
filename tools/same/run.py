"""Runs a scenario with one build, in a folder that has the same path for both."""

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.same.mask import masked_file, masked_text

_LIMIT = 600


@dataclass
class Kept:
    """What the commands of a scenario left: streams and files, without times."""

    streams: dict[str, str] = field(default_factory=dict)
    files: dict[str, str | bytes] = field(default_factory=dict)

    def differences(self, other: "Kept") -> Iterator[tuple[str, object, object]]:
        """Place, this one's content, the other's."""
        for mine, others in ((self.streams, other.streams), (self.files, other.files)):
            pairs: tuple[dict[str, object], dict[str, object]] = (dict(mine), dict(others))
            for place in sorted(pairs[0].keys() | pairs[1].keys()):
                if pairs[0].get(place) != pairs[1].get(place):
                    yield place, pairs[0].get(place), pairs[1].get(place)


class Place:
    """Where the scenarios of one worker run. The build stands behind a link, so that even its own paths are equal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.here, self._build = folder / "here", folder / "build"
        folder.mkdir(parents=True, exist_ok=True)

    def use(self, python: Path) -> None:
        """The interpreter whose misstep runs from now on."""
        self._build.unlink(missing_ok=True)
        self._build.symlink_to(python.parent.parent)

    def command(self, line: str) -> list[str]:
        """The words of a command of misstep."""
        return [str(self._build / "bin" / "python"), "-m", "misstep", *shlex.split(line)]

    def environment(self) -> dict[str, str]:
        """That of this process, without what would change what is printed."""
        scratch = self.folder / "tmp"
        scratch.mkdir(exist_ok=True)
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("MISSTEP", "PYTHON"))
        }
        return kept | {"COLUMNS": "100", "HOME": str(self.folder), "TMPDIR": str(scratch), "LANG": "C.UTF-8"}

    def run(self, line: str) -> str:
        """Exit code and streams of a command, without times."""
        try:
            done = subprocess.run(
                self.command(line), cwd=self.here, env=self.environment(), timeout=_LIMIT, check=False,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "no end"
        return f"exit {done.returncode}\n{masked_text(done.stdout)}\n--- errors\n{masked_text(done.stderr)}"

    def kept(self, streams: dict[str, str]) -> Kept:
        """The streams with all files that are there now."""
        files = sorted(
            path for path in self.here.rglob("*") if path.is_file() and "__pycache__" not in path.parts
        )
        return Kept(streams, {str(path.relative_to(self.here)): masked_file(path) for path in files})

    def all(self, lines: Sequence[str], inputs: Path) -> Kept:
        """What the commands leave, one after the other in a new folder."""
        self.begin(inputs)
        return self.kept({f"{number} {line}": self.run(line) for number, line in enumerate(lines)})

    def begin(self, inputs: Path) -> None:
        """A new folder with the content of another."""
        shutil.rmtree(self.here, ignore_errors=True)
        shutil.copytree(inputs, self.here)

    def snapshots(self, line: str, grows: str, into: Path, most: int) -> list[Path]:
        """Copies of the folder, as they are at moments of a command that writes to `grows`, exactly as a kill
        at that moment would leave them: the processes stand still while the copy is made.

        The first moments are taken, later ones at growing distances, at most so many.
        """
        process = subprocess.Popen(
            self.command(line), cwd=self.here, env=self.environment(), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        taken: list[Path] = []
        before, changes, next_change = b"", 0, 1
        while process.poll() is None:
            now = _looks(self.here, grows)
            if now == before:
                time.sleep(0.001)
                continue
            before, changes = now, changes + 1
            if changes < next_change or len(taken) >= most:
                continue
            next_change = changes + 1 + changes // 3
            _signal_all(process.pid, signal.SIGSTOP)
            taken.append(into / str(len(taken)))
            shutil.copytree(self.here, taken[-1])
            _signal_all(process.pid, signal.SIGCONT)
        return taken


def _looks(folder: Path, grows: str) -> bytes:
    """Names and sizes of the files that grow."""
    found = sorted(path for path in folder.glob(f"{grows}*"))
    inner = [file for path in found if path.is_dir() for file in sorted(path.rglob("*"))]
    words = []
    for path in (*found, *inner):
        try:
            words.append(f"{path} {path.stat().st_size}")
        except OSError:  # renamed meanwhile
            continue
    return "\n".join(words).encode()


def _signal_all(session: int, number: int) -> None:
    """To every process of the session, and of those that they started in sessions of their own."""
    for process in _family(session):
        try:
            os.kill(process, number)
        except ProcessLookupError:
            continue


def _family(root: int) -> list[int]:
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(fields[1])
    family, grown = {root}, True
    while grown:
        new = {child for child, parent in parents.items() if parent in family} - family
        family |= new
        grown = bool(new)
    return sorted(family)
