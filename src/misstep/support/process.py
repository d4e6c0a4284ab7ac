"""Runs other people's programs: bounded, without leftovers, with their output kept for the error message."""

import contextlib
import errno
import os
import secrets
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from misstep._core import Budget
from misstep.errors import InputError, ScratchError

# Between two looks at a budget.
_LOOK_SECONDS = 0.05
# How long what is left of a program may keep its output open after it ended.
_LAST_WORDS_SECONDS = 1.0
_LAUNCHER_SECONDS = 10.0
"""For the launcher to end a program and remove its files."""
_KEPT_BYTES = 1 << 20
"""Of the output, its end: a program that floods it does not fill our memory."""
_MOST_BYTES = 1 << 26
"""Of a file that a program leaves, its beginning: no plan is longer."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `exit_code` is negative for a signal."""

    exit_code: int
    output: str
    limit: str | None
    """Why we killed it: `seconds` or `stopped`."""

    @property
    def failure(self) -> str:
        """In words: the code, and what the program said last."""
        said = self.output.strip().splitlines()
        return f"ended with code {self.exit_code}" + (f" and said `{said[-1].strip():.200s}`" if said else "")


def command_words(command: str, *, what: str, **values: object) -> list[str]:
    """The words of a command line, with `{NAME}` replaced by values. Other braces are the program's own.

    Files of the present directory get their whole names, because the program runs in another one. InputError, which
    begins with `what`, where quotes are never closed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"{what} `{command}`: is no command line: {error}") from None
    words = [_whole_name(word, is_program=at == 0) for at, word in enumerate(words)]
    for name, value in values.items():
        words = [word.replace(f"{{{name}}}", str(value)) for word in words]
    return words


def _whole_name(word: str, *, is_program: bool) -> str:
    """That of a file here. A bare word is rather a number, say, or a program that is installed."""
    is_bare = not {"/", "."} & set(word)
    is_file = (not is_bare or (is_program and shutil.which(word) is None)) and Path(word).is_file()
    return str(Path(word).absolute()) if is_file else word


def read_left(path: Path) -> str:
    """The text of a file that a program left, or the beginning of it where that is no file of reason."""
    with path.open("rb") as file:
        return file.read(_MOST_BYTES).decode(errors="replace")


def temporary_folder() -> Path:
    """Where temporary files go, as `tempfile.gettempdir` has it, but without a look by writing a file there.

    Whoever is killed in that moment leaves the file behind.
    """
    if tempfile.tempdir is not None:
        return Path(os.fsdecode(tempfile.tempdir)).absolute()
    named = [Path(value) for name in ("TMPDIR", "TEMP", "TMP") if (value := os.environ.get(name))]
    for folder in (*named, Path("/tmp"), Path("/var/tmp")):
        if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
            return folder.absolute()
    return Path.cwd()


def unusable(folder: Path, error: OSError) -> ScratchError:
    """What to say where the place of temporary files does not take them."""
    return ScratchError(
        f"{folder}: temporary files cannot be written there: {error.strerror}; make room there, or set TMPDIR to "
        "another directory"
    )


class Scratch:
    """A directory for one program, which belongs to the launcher: however this process ends, both are gone then.

    `write` the program's files, `run` it, read what it left in `folder`, all inside a `with` block. ScratchError
    where no directory can be made, or where it is full.
    """

    def __init__(self) -> None:
        self.folder = temporary_folder() / f"misstep-{secrets.token_hex(8)}"

    def __enter__(self) -> Self:
        launcher = str(Path(__file__).with_name("launcher.py"))
        self._status, report = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", launcher, str(report), str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(report,),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._status)
            raise
        finally:
            os.close(report)
        try:
            told = os.read(self._status, 16)
            if told != b"ready":
                problem = int(told or b"5")
                raise unusable(self.folder.parent, OSError(problem, os.strerror(problem)))
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def write(self, name: str, text: str) -> Path:
        """Writes a file for the program."""
        path = self.folder / name
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise unusable(self.folder.parent, error) from None
        return path

    def run(self, command: Sequence[str], *, budget: Budget | None = None) -> Finished:
        """Runs a command in the directory, once; on time-out, stop or interrupt all of its processes die.

        Standard output and error come back as one text, the end of it where it is long. Memory is limited for
        each process alone. OSError where there is no such program.
        """
        budget = budget or Budget()
        if budget.over in ("seconds", "stopped"):
            return Finished(-signal.SIGKILL, "", budget.over)
        if shutil.which(command[0]) is None:
            raise FileNotFoundError(2, "no such program")
        memory = 0 if budget.memory_mb is None else int(budget.memory_mb * 1e6)
        words = "\0".join([str(memory), *command]).encode(errors="surrogateescape")
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(len(words).to_bytes(8, "big") + words)
        self._process.stdin.flush()
        reader = _Reader(self._process.stdout.fileno(), self._status)
        limit = reader.read_until_end(budget)
        if limit is not None:
            self._process.stdin.write(b"end")
            self._process.stdin.flush()
            select.select(
                [self._status], [], [], _LAUNCHER_SECONDS
            )  # what is read now does not change any more
        code = -signal.SIGKILL if reader.exit_code is None else reader.exit_code
        if code != 0 and limit is None and self._is_full():
            raise unusable(self.folder.parent, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        return Finished(code, reader.text, limit)

    def _is_full(self) -> bool:
        """Whether nothing more can be written: then that is why a program failed. Some file systems count nothing."""
        about = os.statvfs(self.folder)
        return (about.f_blocks > 0 and about.f_bavail == 0) or (about.f_files > 0 and about.f_favail == 0)

    def _close(self) -> None:
        """The launcher ends what it started and removes the directory when nobody holds its input any more."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        try:
            process.wait(_LAUNCHER_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(self._status)
        shutil.rmtree(self.folder, ignore_errors=True)  # where somebody killed the launcher


@dataclass(slots=True)
class _Reader:
    """Reads what a command writes, of which it keeps the end, until the launcher says how it ended."""

    output: int
    status: int
    exit_code: int | None = None
    _kept: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        """What was kept."""
        return self._kept[-_KEPT_BYTES:].decode(errors="replace")

    def read_until_end(self, budget: Budget) -> str | None:
        """Reads until the command ended; else why we do not wait any longer."""
        waiting, ended = {self.output, self.status}, 0.0
        while waiting and budget.over not in ("seconds", "stopped"):
            left = budget.seconds_left
            wait = _LOOK_SECONDS if left is None else min(_LOOK_SECONDS, left)
            ready, _, _ = select.select(list(waiting), [], [], wait)
            if self.status in ready:
                waiting.discard(self.status)
                self.exit_code = int(os.read(self.status, 16) or -signal.SIGKILL)
                ended = time.monotonic()
            if self.output in ready and not self._take():
                waiting.discard(self.output)
            if self.exit_code is not None and time.monotonic() - ended > _LAST_WORDS_SECONDS:
                return None
        return budget.over if waiting else None

    def _take(self) -> bool:
        """Reads what is there; False at the end."""
        data = os.read(self.output, 1 << 16)
        self._kept += data
        if len(self._kept) > 2 * _KEPT_BYTES:
            del self._kept[:-_KEPT_BYTES]
        return bool(data)
