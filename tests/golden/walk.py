"""The walk of one test through the modules: in which order they are entered, how often control changes.

`python -m tests.golden.walk` prints it and keeps it in walk_task.txt and walk_model.txt. Reading PDDL is left
out: it is a world of its own. A newcomer should recognise the line of a test in it: task, fuzz, cases, run,
claims, judge, findings, record, report.
"""

import contextlib
import io
import sys
import tempfile
from pathlib import Path
from types import FrameType

import misstep
from misstep.cli.app import run as command

ROOT = Path(misstep.__file__).parent
GRIPPER = Path(__file__).parents[1] / "tasks" / "gripper"
_APART = ("pddl", "formats/sexp", "formats/jani", "support/suggest")


class Walk:
    """Counts calls that enter another module than the call before."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.changes = 0
        self._last = ""

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """The profiler's hook."""
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        path = Path(frame.f_code.co_filename)
        if not path.is_relative_to(ROOT):
            return
        module = path.relative_to(ROOT).with_suffix("").as_posix()
        if module.startswith(_APART):
            return
        if module not in self.order:
            self.order.append(module)
        self.changes += module != self._last
        self._last = module

    def text(self) -> str:
        """As it is kept."""
        return "\n".join([*self.order, ""])


def walk(*arguments: str | Path) -> Walk:
    """Runs a command twice, the first time for the imports, and follows it."""
    found = Walk()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        for number in range(2):
            found = Walk()
            words = [*map(str, arguments), "--out", f"{folder}/{number}"]
            sys.setprofile(found if number else None)
            try:
                code = command(words)
            finally:
                sys.setprofile(None)
            assert code in (0, 1)
    return found


def task_walk() -> Walk:
    """A test on a gripper task with a pool of 4."""
    files = (GRIPPER / "domain.pddl", GRIPPER / "p02.pddl")
    return walk("test", *files, "--policy", "heuristic:ff", "--pool", "4")


def model_walk() -> Walk:
    """A test on a JANI model with 2 runs."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "line.jani"
        assert command(["safety", "generate", "two_way_line", "--out", str(model)]) == 0
        return walk("test", model, "--policy", "zoo:two_way_line", "--runs", "2", "--seed", "2")


if __name__ == "__main__":
    here = Path(__file__).parent
    for name, found in {"walk_task.txt": task_walk(), "walk_model.txt": model_walk()}.items():
        (here / name).write_text(found.text())
        print(name, f"{found.changes} passes between modules")
