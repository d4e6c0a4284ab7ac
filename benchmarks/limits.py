"""Limits that hold: every command with `--seconds` and `--memory-mb` on work that would take far more.

`python -m benchmarks.limits [WORD] [--seconds S] [--memory-mb M]` prints one row a command whose name has the word:
how long it ran, what the processors did for it after its time was up (which is what remains meaningful on a busy
machine), the most memory that it and its children held at once beyond what it takes to start, the exit code, and
which limit its JSON names. The exit code is 1 where a limit does not hold: more than a tenth beyond it both by the
clock and by the processors, more memory than allowed, no JSON, or an error.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import misstep
from misstep import load
from misstep.bundled.models import generate
from misstep.generators.ours import bundled_domain
from misstep.generators.problems_typed import satellite, transport
from misstep.planners.fast_downward import find_driver
from misstep.support.census import descendants

HOSTILE = Path(__file__).parents[1] / "tests" / "hostile.py"
ORACLES = (
    *(
        "abstraction",
        "bounds",
        "dead-ends",
        "greedy",
        "improve",
        "improve/ehc",
        "inverse",
        "landmarks",
        "lookahead",
    ),
    *("morph", "perfect", "planner", "undo"),
)
DECIDERS = ("lao", "level", "lrtdp", "policy-iteration", "tarjan", "value-iteration")
_TELLING = ("limits_hit", "limit", "stopped", "outcome", "verdict")
"""Where the JSON of a command names the limit."""
_LOOK_SECONDS = 0.02
_GIVEN_UP_SECONDS = 120.0
_SLACK_SECONDS = 0.3
"""Of the processors: what writing a result and ending costs, whatever the limit."""


@dataclass(frozen=True)
class Row:
    """A command that would go on for long. `limit` is `seconds` or `memory`; `beside` is how many processes may
    take as much memory as misstep itself: its planner, its policy."""

    name: str
    arguments: tuple[str, ...]
    limit: str = "seconds"
    beside: int = 0
    uses_torch: bool = False
    """Whether PyTorch, which takes memory of its own, is a part of what it takes to start."""


@dataclass(frozen=True)
class Measured:
    """What became of a command."""

    code: int
    seconds: float
    late: float
    """Seconds of the processors after the time was up."""
    peak_mb: float
    result: dict[str, Any] | None

    @property
    def limit(self) -> str:
        """Which limit the JSON names."""
        found = self.result or {}
        named = next((found[key] for key in _TELLING if found.get(key)), None)
        return ", ".join(named) if isinstance(named, list) else str(named)


class Bench:
    """Runs commands in a folder with large tasks, and watches them."""

    def __init__(self, folder: Path, *, seconds: float, memory_mb: float) -> None:
        self.folder, self.seconds, self.memory_mb = folder, seconds, memory_mb
        self.number = 0
        self.base_mb = self.torch_mb = 0.0
        _make_files(folder)
        small = ("test", "small.sas", "--policy", "heuristic:ff", "--pool", "3")
        self.base_mb = self.measure(Row("start", small, "none")).peak_mb
        if find_spec("torch") is not None:
            refused = ("train", "gnn", "domain.pddl", "little.pddl", "--max-states", "1")
            self.torch_mb = self.measure(Row("start", refused, "none")).peak_mb

    def measure(self, row: Row) -> Measured:
        """Runs the command in a session of its own."""
        self.number += 1
        limits = {
            "seconds": ["--seconds", f"{self.seconds:g}"],
            "memory": ["--memory-mb", f"{self.memory_mb:g}"],
        }
        ending = _ENDINGS.get(" ".join(row.arguments[:2]), "")
        out = ["--out", f"out-{self.number}{ending}"] if row.arguments[0] in _WRITING else []
        command = [
            sys.executable,
            "-m",
            "misstep.cli",
            *row.arguments,
            *limits.get(row.limit, []),
            *out,
            "--json",
        ]
        output = self.folder / "output.json"
        before, begin, peak, early = _children_seconds(), time.perf_counter(), 0.0, 0.0
        with output.open("wb") as stream, (self.folder / "errors.txt").open("wb") as errors:
            process = subprocess.Popen(command, cwd=self.folder, stdout=stream, stderr=errors)
            while process.poll() is None:
                spent = time.perf_counter() - begin
                family = [process.pid, *descendants(process.pid)]
                peak = max(peak, sum(map(_private_mb, family)))
                if spent <= self.seconds:
                    early = sum(map(_processor_seconds, family))
                if spent > _GIVEN_UP_SECONDS:
                    process.kill()
                time.sleep(_LOOK_SECONDS)
        seconds, late = time.perf_counter() - begin, _children_seconds() - before - early
        result = None
        with contextlib.suppress(ValueError):
            result = json.loads(output.read_text(errors="replace"))
        start = self.base_mb + self.torch_mb * row.uses_torch
        return Measured(process.returncode, seconds, max(0.0, late), peak - start, result)

    def holds(self, row: Row, found: Measured) -> bool:
        """Whether the limit was kept and told."""
        if found.result is None or found.code not in (0, 1, 5):
            return False
        if row.limit == "memory":
            return found.peak_mb <= self.memory_mb * (1.1 + row.beside)
        return found.seconds <= 1.1 * self.seconds or found.late <= 0.1 * self.seconds + _SLACK_SECONDS


_WRITING = ("test", "fuzz", "safety", "train", "select", "retrain", "scale")
_ENDINGS = {"train mlp": ".jani2nnet", "safety retrain": ".jani2nnet", "safety shield": ".json"}
"""Of commands that write one file."""


def _make_files(folder: Path) -> None:
    """A task that is small, one that is large, one whose translation takes minutes, models, programs, a record."""
    domain, problem = folder / "domain.pddl", folder / "problem.pddl"
    domain.write_text(bundled_domain("transport"))
    problem.write_text(transport(14, 4, 14, 0))
    (folder / "large.sas").write_text(load(domain, problem).sas)
    (folder / "little.pddl").write_text(transport(3, 1, 2, 0))
    (folder / "middle.pddl").write_text(transport(6, 2, 5, 0))
    (folder / "small.sas").write_text(load(domain, folder / "little.pddl").sas)
    (folder / "huge-domain.pddl").write_text(bundled_domain("satellite"))
    (folder / "huge.pddl").write_text(satellite(40, 20, 40, 800, 400, 0))
    (folder / "line.jani").write_text(json.dumps(generate("two_way_line", length=400)))
    (folder / "way.jani").write_text(json.dumps(generate("two_way_line")))
    (folder / "models").mkdir()
    zoo = files("misstep") / "bundled" / "zoo" / "transport.asnet.safetensors"
    (folder / "models" / "first.asnet").write_bytes(zoo.read_bytes())
    record = folder / "record"
    misstep.test((domain, folder / "little.pddl"), "heuristic:ff", pool=8, out=record)
    shutil.copytree(record, folder / "many")
    for mood in ("sleeps", "leaks"):  # good while the record is made
        policy = folder / f"{mood}.py"
        policy.write_text(f"{HOSTILE.read_text()}\nanswer = good\n")
        misstep.test((domain, folder / "little.pddl"), f"python:{policy}:answer", pool=8, out=folder / mood)
        policy.write_text(f"{HOSTILE.read_text()}\nanswer = {_LATER[mood]}\n")
    first = min((record / "bugs").iterdir()).read_text()
    for number in range(20_000):
        (folder / "many" / "bugs" / f"{100 + number}.json").write_text(first)
    for name, text in _PROGRAMS.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


_LATER = {"sleeps": "always_sleeps", "leaks": "leaks"}
_PROGRAMS = {
    "sleeps.sh": "#!/bin/sh\nsleep 600\n",
    "floods.sh": "#!/bin/sh\nyes planners talk and talk and talk\n",
    "hoards.sh": "#!/bin/sh\nexec python3 -c 'all = [bytearray(10**7) for _ in range(600)]; input()'\n",
}


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _private_mb(process: int) -> float:
    with contextlib.suppress(OSError, IndexError, ValueError):
        _, resident, shared, *_ = Path(f"/proc/{process}/statm").read_text().split()
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0


def _processor_seconds(process: int) -> float:
    with contextlib.suppress(OSError, IndexError, ValueError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def rows() -> list[Row]:
    """All commands, each with the limits that it knows."""
    large, ff = ("large.sas",), ("--policy", "heuristic:ff")
    pddl = ("domain.pddl", "problem.pddl")
    model = ("line.jani", "--policy", "zoo:two_way_line")
    found = [
        Row("plan astar:lmcut", ("plan", *large)),
        Row("plan, a planner that sleeps", ("plan", *large, "--search", "external:x,program=sleeps.sh")),
        Row("plan, huge PDDL", ("plan", "huge-domain.pddl", "huge.pddl")),
        Row("dominance", ("dominance", *large, "--max-transitions", "1000000")),
        Row("fuzz, h* as bias", ("fuzz", *large, *ff, "--bias", "surface:h=star", "--pool", "5000")),
        Row("run, a policy that sleeps", ("run", "small.sas", "--policy", f"python:{HOSTILE}:always_sleeps")),
        Row(
            "test, a policy that sleeps", ("test", "small.sas", "--policy", f"python:{HOSTILE}:always_sleeps")
        ),
        Row(
            "test, the same inside",
            ("test", "small.sas", "--no-isolate", "--policy", f"python:{HOSTILE}:always_sleeps"),
        ),
        *(Row(f"test --oracle {one}", ("test", *large, *ff, "--oracle", one)) for one in ORACLES),
        *_external_rows(large, ff),
        *(Row(f"safety test, {one}", ("safety", "test", *model, "--decider", one)) for one in DECIDERS),
        *(
            Row(f"safety decide, {one}", ("safety", "decide", "line.jani", "--decider", one))
            for one in DECIDERS
        ),
        Row("safety shield", ("safety", "shield", *model)),
        Row("verify, 20,000 certificates", ("verify", "many")),
        Row(
            "replay, a policy that sleeps",
            ("replay", "record", "--policy", f"python:{HOSTILE}:always_sleeps"),
        ),
        Row("shrink, a policy that sleeps", ("shrink", "sleeps", "0", "--trust")),
        *_training_rows(pddl, "seconds"),
        Row(
            "scale, a generator that sleeps",
            ("scale", "--generator", "command:./sleeps.sh", "--domain", "domain.pddl", *ff),
        ),
    ]
    return [*found, *_memory_rows(large, ff, model)]


def _training_rows(pddl: tuple[str, ...], limit: str) -> list[Row]:
    """The commands that make policies better, each on work of minutes; for memory with time as a second limit."""
    also = () if limit == "seconds" else ("--seconds", "20")
    middle, way = ("domain.pddl", "middle.pddl"), ("way.jani", "--policy", "zoo:two_way_line")
    little = ("domain.pddl", "little.pddl", "--batches", "1000000")
    many = ("--max-states", "100000000")
    found = {
        "train asnet": ("train", "asnet", *little),
        "train asnet, many states": ("train", "asnet", *middle, *many),
        "train asnet --select": (
            "train",
            "asnet",
            *little,
            "--select",
            "line",
            "--validation",
            "middle.pddl",
        ),
        "train mlp": ("train", "mlp", "line.jani", "--steps", "100000000"),
        "train mlp, a large network": ("train", "mlp", "line.jani", "--hidden", "20000", "20000"),
        "select": ("select", *pddl, "--policies", "models", "--pool", "1000"),
        "retrain": ("retrain", *middle, "--policy", "zoo:transport"),
        "retrain, a large task": ("retrain", *pddl, "--policy", "zoo:transport"),
        "scale": ("scale", "--generator", "transport", "--policy", "zoo:transport", "--start", "20"),
        "safety retrain": ("safety", "retrain", *way, "--rounds", "1000", "--exam-runs", "1000000"),
        "safety retrain, long rounds": ("safety", "retrain", *way, "--epochs", "1000000"),
    }
    if find_spec("torch") is not None:
        found["train gnn"] = ("train", "gnn", *middle, *many)
        found["train gnn --kind q"] = ("train", "gnn", *little, "--kind", "q")
    return [Row(name, (*words, *also), limit, uses_torch="gnn" in words) for name, words in found.items()]


def _external_rows(large: tuple[str, ...], ff: tuple[str, ...]) -> list[Row]:
    """LAMA goes on to improve its plans until it is stopped; only where Fast Downward is installed."""
    if find_driver() is None:
        return []
    return [
        Row("plan external:lama", ("plan", *large, "--search", "external:lama")),
        Row(
            "test --oracle planner:external:lama", ("test", *large, *ff, "--oracle", "planner:external:lama")
        ),
    ]


def _memory_rows(large: tuple[str, ...], ff: tuple[str, ...], model: tuple[str, ...]) -> list[Row]:
    flood, hoard = (f"external:x,program={name}.sh" for name in ("floods", "hoards"))
    return [
        Row("plan astar:blind", ("plan", *large, "--search", "astar:blind"), "memory"),
        Row("plan astar:lmcut", ("plan", *large, "--seconds", "20"), "memory"),
        Row("plan, a planner that floods", ("plan", *large, "--search", flood, "--seconds", "5"), "memory", 1),
        Row("plan, a planner that hoards", ("plan", *large, "--search", hoard, "--seconds", "5"), "memory", 1),
        Row("dominance", ("dominance", *large, "--max-transitions", "1000000", "--seconds", "20"), "memory"),
        Row("fuzz", ("fuzz", *large, *ff, "--pool", "1000000", "--seconds", "20"), "memory"),
        *(
            Row(f"test --oracle {one}", ("test", *large, *ff, "--oracle", one, "--seconds", "20"), "memory")
            for one in ORACLES
        ),
        Row(
            "test, a policy that leaks",
            ("test", "small.sas", "--policy", f"python:{HOSTILE}:leaks", "--seconds", "20"), "memory", 1,
        ),
        Row("replay, a policy that leaks", ("replay", "record", "--policy", f"python:{HOSTILE}:leaks"), "memory", 1),
        Row("shrink, a policy that leaks", ("shrink", "leaks", "0", "--trust"), "memory", 1),
        *_training_rows(("domain.pddl", "problem.pddl"), "memory"),
        *(
            Row(f"safety test, {one}", ("safety", "test", *model, "--decider", one, "--seconds", "20"), "memory")
            for one in DECIDERS
        ),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("word", nargs="?", default="", help="rows whose command or limit has it")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--memory-mb", type=float, default=100.0)
    options = parser.parse_args()
    broken = 0
    with tempfile.TemporaryDirectory(prefix="limits-") as name:
        bench = Bench(Path(name), seconds=options.seconds, memory_mb=options.memory_mb)
        print(
            "| command | limit | seconds | late | MB | exit | told | holds |\n|---|---|---|---|---|---|---|---|"
        )
        for row in rows():
            if options.word not in f"{row.name} {row.limit}":
                continue
            found = bench.measure(row)
            holds = bench.holds(row, found)
            broken += not holds
            allowed = f"{options.seconds:g} s" if row.limit == "seconds" else f"{options.memory_mb:g} MB"
            print(
                f"| {row.name} | {allowed} | {found.seconds:.1f} | {found.late:.2f} | {found.peak_mb:.0f} | "
                f"{found.code} | {found.limit} | {'yes' if holds else 'NO'} |",
                flush=True,
            )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
