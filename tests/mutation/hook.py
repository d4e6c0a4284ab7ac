"""Lets a process import one changed module, or note which lines its tests reach. Nothing but the standard library.

A copy of this file, as `sitecustomize.py` in a folder on PYTHONPATH, is run by every interpreter before anything
else, that of child processes included. So the checkout stays as it is, and an editable install does not matter.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

MUTANT = "MISSTEP_MUTANT"
"""The module, its file and the file that is read instead, separated by `os.pathsep`."""
REACHED = "MISSTEP_REACHED"
"""The folder for what is reached, and the prefix of the files that are watched, separated by `os.pathsep`."""
TEST = "MISSTEP_TEST"
"""The test that is running."""


class _Loader(SourceFileLoader):
    """Compiles other text under the name of the file; compiled files are neither read nor written."""

    def __init__(self, module: str, file: str, changed: str) -> None:
        super().__init__(module, file)
        self._changed = changed

    def get_code(self, fullname: str) -> CodeType:
        del fullname  # the one module that is found
        return self.source_to_code(Path(self._changed).read_bytes(), self.path)


class Finder:
    """Finds the one changed module; stands before all other finders, whenever they come."""

    def __init__(self, module: str, file: str, changed: str) -> None:
        self._module, self._file, self._changed = module, file, changed

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._module:
            return None
        loader = _Loader(name, self._file, self._changed)
        is_package = Path(self._file).name == "__init__.py"
        spec = ModuleSpec(name, loader, origin=self._file, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [str(Path(self._file).parent)]
        spec.has_location = True
        return spec


class Watch:
    """Notes which lines of the watched files run."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._is_watched: dict[str, bool] = {}
        self.lines: set[tuple[str, int]] = set()

    def start(self) -> None:
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        watched = self._is_watched.get(file)
        if watched is None:
            watched = self._is_watched[file] = file.startswith(self._prefix)
        if not watched:
            return None
        self.lines.add((file, frame.f_lineno))
        return self._line

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def write_reached(folder: Path, test: str, seconds: float | None, lines: set[tuple[str, int]]) -> None:
    """Adds one line to this process's file: the test, what it took, the lines of every file."""
    files: dict[str, list[int]] = {}
    for file, line in sorted(lines):
        files.setdefault(file, []).append(line)
    with (folder / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as out:
        out.write(json.dumps({"test": test, "seconds": seconds, "files": files}) + "\n")


def _begin() -> None:
    if words := os.environ.get(MUTANT):
        module, file, changed = words.split(os.pathsep)
        sys.meta_path.insert(0, Finder(module, file, changed))
    test = os.environ.get(TEST)
    if test and (words := os.environ.get(REACHED)):  # a process that a test started
        folder, prefix = words.split(os.pathsep)
        watch = Watch(prefix)
        watch.start()
        atexit.register(lambda: write_reached(Path(folder), test, None, watch.lines))


if __name__ == "sitecustomize":
    _begin()
