"""python -m tools.same OLD NEW: see the package."""

import argparse
import difflib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.same.inputs import write_inputs
from tools.same.intended import INTENDED
from tools.same.run import Kept, Place
from tools.same.scenarios import SCENARIOS, Scenario
from tools.same.worlds import compare_worlds

LOOKS = ("verify {}", "show {}", "replay {} --trust", "report {} --out page.html")
_SHOWN = 12


def main() -> int:
    """Compares, and prints a line a scenario."""
    parser = argparse.ArgumentParser(prog="python -m tools.same", description=__doc__)
    parser.add_argument("old", type=Path, help="Python interpreter of the build to compare with")
    parser.add_argument("new", type=Path, help="Python interpreter of the other build")
    parser.add_argument("--only", nargs="*", default=[], help="names of scenarios, or their beginnings")
    parser.add_argument("--cuts", type=int, default=4, help="interruptions of each resumable command")
    parser.add_argument("--worlds", type=int, default=0, help="random tasks that both builds test besides")
    parser.add_argument("--jobs", type=int, default=2, help="scenarios side by side")
    parser.add_argument("--keep", type=Path, help="directory for what is run; by default a temporary one")
    options = parser.parse_args()
    chosen = {
        name: each
        for name, each in SCENARIOS.items()
        if not options.only or any(name.startswith(word) for word in options.only)
    }
    if not chosen:
        parser.error(
            f"no scenario begins with {' or '.join(options.only)}; there are: {', '.join(SCENARIOS)}"
        )
    old, new = options.old.absolute(), options.new.absolute()
    scratch = options.keep or Path(tempfile.mkdtemp(prefix="same-"))
    model = _model(new, scratch)
    write_inputs(scratch / "inputs", model)

    def compared(name: str) -> tuple[str, list[str], int]:
        comparison = Comparison(name, chosen[name], old, new, scratch, options.cuts)
        lines = list(comparison.differences())
        return name, lines, comparison.intended

    wrong = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, lines, intended in pool.map(compared, chosen):
            wrong += bool(lines)
            note = f" ({intended} intended)" if intended else ""
            print(f"{'differs' if lines else 'same':8} {name}{note}", flush=True)
            for line in lines:
                print(f"    {line}", flush=True)
    if options.worlds:
        lines = compare_worlds(old, new, options.worlds, scratch, options.jobs)
        wrong += bool(lines)
        print(f"{'differs' if lines else 'same':8} {options.worlds} random tasks", *lines, sep="\n    ")
    print(f"{len(chosen)} scenarios, {wrong} with differences that are not intended")
    if options.keep is None:
        shutil.rmtree(scratch)
    return int(wrong > 0)


def _model(python: Path, scratch: Path) -> str:
    """A JANI model as the newer build writes it."""
    scratch.mkdir(parents=True, exist_ok=True)
    file = scratch / "line.jani"
    subprocess.run([python, "-m", "misstep", "safety", "generate", "two_way_line", "--out", file], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return file.read_text()


class Comparison:
    """One scenario: the same commands, the same looks at what the other build left, the same end after a stop."""

    def __init__(self, name: str, scenario: Scenario, old: Path, new: Path, scratch: Path, cuts: int) -> None:
        self.name, self.scenario, self.cuts = name, scenario, cuts
        self.old, self.new, self.inputs = old, new, scratch / "inputs"
        self.place = Place(scratch / "places" / name)
        self.intended = 0

    def differences(self) -> Iterator[str]:
        """Lines for people; none where the builds do the same."""
        left: dict[Path, Path] = {}
        runs: dict[Path, Kept] = {}
        for python, label in ((self.old, "old"), (self.new, "new")):
            self.place.use(python)
            runs[python] = self.place.all(self.scenario.commands, self.inputs)
            left[python] = self.place.folder / label
            shutil.copytree(self.place.here, left[python])
        yield from self._compare("", runs[self.old], runs[self.new])
        for record in self.scenario.records:
            for python, label in ((self.old, "old"), (self.new, "new")):
                yield from self._looks(left[python], record, label)
        if self.scenario.interrupted is not None and self.cuts:
            yield from self._stopped()

    def _looks(self, folder: Path, record: str, label: str) -> Iterator[str]:
        """Both builds look at a record that one of them made."""
        quoted = f"'{record.strip(chr(39))}'"
        seen = []
        for python in (self.old, self.new):
            self.place.use(python)
            seen.append(self.place.all([look.format(quoted) for look in LOOKS], folder))
        yield from self._compare(f"record of {label}: ", *seen)

    def _stopped(self) -> Iterator[str]:
        """A command that stops at some moment with one build, and is continued by either."""
        line, grows = self.scenario.commands[0], self.scenario.interrupted
        assert grows is not None
        self.place.use(self.old)
        undisturbed = self.place.all([line], self.inputs)
        for begun, label in ((self.old, "old"), (self.new, "new")):
            self.place.use(begun)
            self.place.begin(self.inputs)
            into = self.place.folder / f"cuts-{label}"
            for number, cut in enumerate(self.place.snapshots(line, grows.strip("'"), into, self.cuts)):
                for python, other in ((self.old, "old"), (self.new, "new")):
                    if begun == python == self.old:
                        continue
                    self.place.use(python)
                    ended = self.place.all([f"{line} {self.scenario.resume}"], cut)
                    # What is printed on the way depends on where the command began; what it leaves does not.
                    yield from self._compare(
                        f"begun by {label}, cut {number}, continued by {other}: ",
                        Kept(files=undisturbed.files),
                        Kept(files=ended.files),
                    )

    def _compare(self, when: str, old: Kept, new: Kept) -> Iterator[str]:
        for place, before, after in old.differences(new):
            if any(each.covers(self.name, place) for each in INTENDED):
                self.intended += 1
                continue
            yield f"{when}{place}"
            yield from (f"    {line}" for line in _difference(before, after))


def _difference(before: object, after: object) -> list[str]:
    if before is None or after is None:
        return ["only in the new one" if before is None else "only in the old one"]
    if not (isinstance(before, str) and isinstance(after, str)):
        return ["other bytes"]
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    shown = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    if len(shown) == 2:  # one line, which may be a long one
        start = max(
            0, next((at for at, (a, b) in enumerate(zip(*shown, strict=False)) if at and a != b), 1) - 60
        )
        shown = [line[0] + line[max(1, start) :] for line in shown]
    shown = [line[:200] for line in shown]
    return shown[:_SHOWN] + ([f"... {len(shown) - _SHOWN} more lines"] if len(shown) > _SHOWN else [])


if __name__ == "__main__":
    sys.exit(main())
