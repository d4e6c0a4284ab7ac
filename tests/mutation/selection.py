"""Which tests can tell a mutant: those that reach its lines, by the map that `--map` makes."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutation import hook
from tests.mutation.mutants import ROOT, Mutant

MAPPED = ("tests/unit", "tests/integration/test_pytest_plugin.py", "tests/integration/test_cli_test.py")
"""What the map is made of: everything that is quick enough to be run for every mutant."""
_USUAL = {
    "src/misstep/reference/jani_*.py": ("reference_safety", "reference_game", "jani_semantics"),
    "src/misstep/reference/*.py": (
        "reference_certificate reference_functions reference_game reference_plan reference_reading "
        "reference_run reference_safety reference_log damaged_files forged_records"
    ).split(),
    "src/misstep/judge.py": ("judge", "foreign_parts", "session"),
    "src/misstep/objectives/*.py": ("judge", "session", "contracts"),
    "src/misstep/claim.py": ("lab", "judge", "oracle", "reference_certificate"),
    "src/misstep/oracle.py": ("oracle", "session", "foreign_parts"),
    "src/misstep/explain/fault.py": ("fault", "session"),
    "src/misstep/record/*.py": (
        "store",
        "whole_records",
        "damaged_files",
        "forged_records",
        "shrink",
        "session",
    ),
    "src/misstep/session.py": ("session", "suite", "time_limits"),
    "src/misstep/pytest_plugin.py": ("../integration/test_pytest_plugin",),
    "src/misstep/reports/junit.py": ("junit",),
    "src/misstep/answers/guard.py": ("policies_guard", "isolation"),
    "src/misstep/lab.py": ("lab", "session"),
    "src/misstep/task_subject.py": ("session", "suite"),
    "src/misstep/oracles/lookahead.py": ("lookahead",),
    "src/misstep/statistics.py": ("statistics",),
    "src/misstep/cli/*.py": ("junit", "../integration/test_cli_test"),
}
"""Without a map: the tests of each module."""
_MOST_SECONDS = 90.0
"""The quickest tests of a line, as far as they take no longer together."""


@dataclass
class Reached:
    """Which tests reach which lines, and what each takes."""

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def tests(self, mutant: Mutant) -> list[str]:
        """Quickest first. Where the file is another one by now, all tests of the file."""
        lines = self.lines.get(mutant.file, {})
        is_same = self.digests.get(mutant.file) == digest(ROOT / mutant.file)
        first, last = mutant.lines
        hit = lines if mutant.is_at_import or not is_same else range(first, last + 1)
        names = {test for line in hit for test in lines.get(line, ())}
        chosen, spent = [], 0.0
        for test in sorted(names, key=lambda name: (self.seconds.get(name, 0.0), name)):
            spent += self.seconds.get(test, 0.0)
            if chosen and spent > _MOST_SECONDS:
                break
            chosen.append(test)
        return chosen

    def cost(self, tests: Iterable[str]) -> float:
        return sum(self.seconds.get(test, 1.0) for test in tests)

    def is_stale(self, file: str) -> bool:
        """Whether a file of tests is another one than when the map was made."""
        return self.digests.get(file) != digest(ROOT / file)


def usual_tests(mutant: Mutant) -> list[str]:
    """The files of tests that belong to the module."""
    for pattern, names in _USUAL.items():
        if fnmatch.fnmatch(mutant.file, pattern):
            paths = [
                os.path.normpath(f"tests/unit/test_{name}.py".replace("test_../", "../")) for name in names
            ]
            return [path for path in paths if (ROOT / path).exists()]
    return ["tests/unit"]


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def read_map(file: Path) -> Reached | None:
    """The map, where there is one."""
    if not file.exists():
        return None
    data = json.loads(file.read_text(encoding="utf-8"))
    tests: list[str] = data["tests"]
    lines = {
        name: {int(line): [tests[number] for number in numbers] for line, numbers in of.items()}
        for name, of in data["lines"].items()
    }
    return Reached(dict(zip(tests, data["seconds"], strict=True)), lines, data["digests"])


def write_map(file: Path, parts: Path) -> Reached:
    """Puts what all processes wrote together."""
    seconds: dict[str, float] = {}
    lines: dict[str, dict[int, set[str]]] = {}
    children: list[dict[str, object]] = []
    for part in sorted(parts.glob("*.jsonl")):
        for text in part.read_text(encoding="utf-8").splitlines():
            entry = json.loads(text)
            if entry["seconds"] is not None:
                seconds[entry["test"]] = entry["seconds"]
            children.append(entry)
    for entry in children:
        if entry["test"] in seconds:  # what a failed test started says nothing either
            for name, numbers in entry["files"].items():  # type: ignore[attr-defined]
                own = lines.setdefault(Path(name).relative_to(ROOT).as_posix(), {})
                for number in numbers:
                    own.setdefault(number, set()).add(str(entry["test"]))
    order = {test: number for number, test in enumerate(sorted(seconds))}
    data = {
        "tests": list(order),
        "seconds": [round(seconds[test], 3) for test in order],
        "lines": {
            name: {str(line): sorted(order[test] for test in tests) for line, tests in of.items()}
            for name, of in lines.items()
        },
        "digests": {
            name: digest(ROOT / name) for name in [*lines, *sorted({test.split("::")[0] for test in seconds})]
        },
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data), encoding="utf-8")
    found = read_map(file)
    assert found is not None
    return found


def make_map(file: Path, tests: Sequence[str], overlay: Path, jobs: int) -> Reached:
    """Runs the tests and notes what they reach; it takes a few times as long as the tests alone."""
    parts = file.parent / "reached"
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(overlay), str(ROOT))),
        hook.REACHED: os.pathsep.join((str(parts), str(ROOT / "src"))),
    }
    words = ["-q", "-p", "no:cacheprovider", "-p", "tests.mutation.reach", "-n", str(jobs)]
    subprocess.run([sys.executable, "-m", "pytest", *words, *tests], cwd=ROOT, env=environment, check=False)
    return write_map(file, parts)
