"""Somebody who follows a page of the documentation: blocks are files, code, or commands with what they print.

Blocks in Python and for the console run. A block whose first line is a comment with the name of a file is written
to that file. A block `output` shows what the block of Python before it prints. Everything else is only shown. A
comment on the line before a block says why it does not run, or what it takes:

    <!-- test: not run, because it takes an hour -->
    <!-- test: needs torch, with gnn/blocks -->        (files of this folder of the shared data are there)
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.data import NO_DATA, data_folder
from tests.integration.cli import begin, command

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(
    r"(?:^<!-- test: (?P<mark>.*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_FILE = re.compile(r"(?:#|;) ([\w-]+\.\w+)\n")
_RUN = ("python", "console", "output")
_PORT = "50051"
# Reads one block of code a line, runs it, and answers with what it printed or with its error.
_INTERPRETER = """
import contextlib, io, json, sys, traceback
for line in sys.stdin:
    answer = {"out": "", "error": None}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(*json.loads(line), "exec"), globals())
        except BaseException:
            answer["error"] = traceback.format_exc()
    answer["out"] = printed.getvalue()
    print(json.dumps(answer), flush=True)
"""


@dataclass(frozen=True)
class Block:
    """A block with a language, and where it stands."""

    page: str
    line: int
    language: str
    text: str
    mark: str = ""

    @property
    def left_out(self) -> str | None:
        """Why it does not run here; None where it does."""
        if self.mark.startswith("not run, because "):
            return self.mark.removeprefix("not run, because ")
        for condition in filter(None, self.mark.split(", ")):
            kind, _, what = condition.partition(" ")
            assert kind in ("needs", "with"), f"{self.page}:{self.line}: nobody understands `{condition}`"
            if kind == "needs" and find_spec(what) is None:
                return f"{what} is not installed"
            if kind == "with" and data_folder() is None:
                return NO_DATA
        return None

    @property
    def data(self) -> str | None:
        """The folder of the shared data that it takes."""
        found = re.search(r"with (\S+)", self.mark) if self.left_out is None else None
        return None if found is None else found[1]

    @property
    def file(self) -> str | None:
        """The file that it is, where it is one."""
        found = _FILE.match(self.text)
        return None if found is None else found[1]


def blocks(page: str, text: str) -> list[Block]:
    """All blocks of a page that run or are files, in their order."""
    found = [
        Block(
            page,
            text.count("\n", 0, match.start()) + 1,
            match["language"],
            match["text"],
            match["mark"] or "",
        )
        for match in _BLOCK.finditer(text)
    ]
    return [block for block in found if block.language in _RUN or block.file]


class Follower:
    """Somebody who follows a page in a directory of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.done: list[str] = []
        self.printed = ""
        self._python: subprocess.Popen[str] | None = None
        self._servers: list[subprocess.Popen[str]] = []
        self._port = _free_port()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in [*self._servers, *([self._python] if self._python else [])]:
            process.kill()
            process.communicate()

    def follow(self, block: Block) -> None:
        if block.data is not None and (source := data_folder()) is not None:
            shutil.copytree(source / block.data, self.folder, dirs_exist_ok=True)
        where = f"{block.page}:{block.line}"
        if block.file is not None:
            (self.folder / block.file).write_text(block.text)
        elif block.language == "python":
            self._execute(block.text, where)
        elif block.language == "output":
            assert matches(block.text, self.printed), f"{where}\n{self.printed}"
        else:
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                line, _, shown = part.partition("\n")
                self._type(line, shown, where)
        self.done.append(block.language)

    def _execute(self, text: str, where: str) -> None:
        """One block goes on after the other, in one interpreter."""
        if self._python is None:
            self._python = self._start([sys.executable, "-c", _INTERPRETER])
        assert self._python.stdin is not None and self._python.stdout is not None
        self._python.stdin.write(json.dumps([text, where]) + "\n")
        self._python.stdin.flush()
        answer = json.loads(self._python.stdout.readline())
        assert answer["error"] is None, answer["error"]
        self.printed = answer["out"]

    def _type(self, line: str, shown: str, where: str) -> None:
        line, background, _ = line.replace(_PORT, str(self._port)).partition(" &")
        name, *arguments = shlex.split(line, comments=True)
        known = {
            "misstep": command(),
            "python": [sys.executable],
            "pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
            "pip": [sys.executable, "-m", "pip"],
        }
        assert name in known, f"{where}: nobody knows the command {name}"
        if name == "pip":
            offline = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target"]
            arguments += [*offline, str(self.site)]
        if background:
            server = self._start([*known[name], *arguments])
            self._servers.append(server)
            assert server.stdout is not None
            out = server.stdout.readline()
        else:
            out, err, code = self._run(name, known[name], arguments)
            assert code in (0, 1), f"{where}: {line}\n{out}{err}"  # 1: bugs were found
            assert "Traceback" not in err, err
        if name != "pip":
            out = out.replace(str(self._port), _PORT)
            assert matches(shown, out), f"{where}: {line}\n{out}"

    def _run(self, name: str, program: list[str], arguments: list[str]) -> tuple[str, str, int]:
        if name == "misstep":
            ended = begin(*arguments, env=self._environment, cwd=self.folder).end(600)
            return ended.out, ended.err, ended.code
        process = self._start([*program, *arguments])
        return *process.communicate(timeout=600), process.returncode

    @property
    def _environment(self) -> dict[str, str]:
        return {"PYTHONPATH": os.pathsep.join([str(self.site), str(self.folder)]), "COLUMNS": "80"}

    def _start(self, arguments: list[str]) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen(
            arguments,
            cwd=self.folder,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe if arguments[1] != "-c" else None,
            text=True,
            env=os.environ | self._environment,
        )


def matches(shown: str, printed: str) -> bool:
    """Whether the page shows what was printed; `...` in the page stands for anything."""
    pattern = re.escape(shown.strip()).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
        return port
