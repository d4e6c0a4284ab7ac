"""Kills commands at random moments and resumes them: nothing reported is lost, the result is the same.

`python -m tests.integration.kills 300 [SEED]` kills so often; the tests do it a few times.
"""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from misstep.events import timeless
from tests.integration.cli import command

TASKS = Path(__file__).parents[1] / "tasks"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Job:
    """A command that writes to `out`; `result` is what must be the same after any number of kills."""

    name: str
    arguments: tuple[str, ...]
    result: Callable[[Path], object]
    is_test: bool = True
    """Whether its record alone says how to go on: `misstep test --resume --out RECORD`."""
    reported: Callable[[str, Path], None] = lambda output, out: None
    """Checks that what the command printed before it was killed is in `out`."""


def record(out: Path) -> object:
    """The events without times, the certificates, the pool."""
    lines = [timeless(json.loads(line)) for line in (out / "events.jsonl").read_text().splitlines()]
    bugs = {path.name: _placeless(path.read_text()) for path in sorted((out / "bugs").glob("*.json"))}
    rest = [(out / name) for name in ("cleared.jsonl", "pool.jsonl", "evidence.jsonl")]
    return lines, bugs, [_placeless(path.read_text()) if path.exists() else None for path in rest]


def _placeless(text: str) -> str:
    """Certificates name the directory, and so does their digest."""
    return re.sub(r'"(replay|sha256)": "[^"]*"', "", text)


def reported_bugs(output: str, out: Path) -> None:
    """Every bug that was shown has its certificate and its event."""
    shown = set(re.findall(r"^bug (\d+):", output, re.MULTILINE))
    if not shown:
        return
    events = [
        json.loads(line) for line in (out / "events.jsonl").read_text().splitlines() if line.endswith("}")
    ]
    known = {str(event["id"]) for event in events if event.get("verdict") == "bug"}
    assert shown <= known, f"shown, but not in the log: {sorted(shown - known)}"
    for number in shown:
        json.loads((out / "bugs" / f"{number}.json").read_text())


def jobs(folder: Path) -> list[Job]:
    """`test`, also with helpers, unit costs and a policy in a process of its own, `fuzz`, `safety test`, `train`."""
    domain, problem = str(TASKS / "ferry" / "domain.pddl"), str(TASKS / "ferry" / "p03.pddl")
    model = folder / "line.jani"
    subprocess.run([*command(), "safety", "generate", "two_way_line", "--out", str(model)], check=True)
    task, hadd, ff = (domain, problem), ("--policy", "heuristic:hadd"), ("--policy", "heuristic:ff")
    line = ("--policy", "zoo:two_way_line", "--runs", "60")
    outside = ("--policy", f"python:{Path(__file__).parents[1] / 'hostile.py'}:good")
    return [
        Job("test", ("test", *task, *hadd, "--pool", "40"), record, reported=reported_bugs),
        Job(
            "unit cost",
            ("test", *task, "--policy", "zoo:ferry", "--pool", "20"),
            record,
            reported=reported_bugs,
        ),
        Job("helpers", ("test", *task, *hadd, "--pool", "40", "--jobs", "3"), record, reported=reported_bugs),
        Job("isolated", ("test", *task, *outside, "--pool", "20"), record, reported=reported_bugs),
        Job(
            "fuzz",
            ("fuzz", *task, *ff, "--bias", "surface", "--pool", "400"),
            lambda out: out.read_text(),
            is_test=False,
        ),
        Job("safety test", ("safety", "test", str(model), *line), record, reported=reported_bugs),
        Job(
            "train", ("train", "mlp", str(model), "--steps", "3000", "--hidden", "8"), network, is_test=False
        ),
    ]


def network(out: Path) -> object:
    """The weights beside the file that describes them."""
    return out.with_suffix(".nnet").read_text()


@dataclass
class Tried:
    """What happened to one job."""

    kills: int = 0
    resumed: int = 0
    seconds: float = field(default=0.0)


def out_of(job: Job, folder: Path, number: int) -> Path:
    suffix = {"fuzz": ".jsonl", "train": ".jani2nnet"}.get(job.name, "")
    return folder / f"{job.name.replace(' ', '-')}-{number}{suffix}"


def undisturbed(job: Job, folder: Path) -> tuple[object, float]:
    """The result of a run that nobody disturbs, and how long it takes."""
    out = out_of(job, folder, 0)
    begin = time.perf_counter()
    done = subprocess.run([*command(), *job.arguments, "--out", str(out)], capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    return job.result(out), time.perf_counter() - begin


def disturb(job: Job, folder: Path, number: int, rng: random.Random, seconds: float, *, most: int) -> int:
    """Kills and resumes until the job is through; the number of kills. At most `most` kills.

    A test is resumed by its whole command or by its record alone, as soon as that says what was asked.
    """
    out, kills, started = out_of(job, folder, number), 0, False
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    while True:
        words = [*job.arguments, *(["--resume"] if started else [])]
        if job.is_test and (out / "config.toml").is_file() and rng.random() < 0.5:
            words = ["test", "--resume"]
        process = subprocess.Popen(
            [*command(), *words, "--out", str(out)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "TMPDIR": str(scratch)},
        )  # fmt: skip
        started = True
        try:
            if kills >= most:
                output, errors = process.communicate(timeout=600)
            else:
                output, errors = process.communicate(timeout=rng.uniform(0.05, 1.0) * seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(rng.choice(SIGNALS))
            kills += 1
            output, errors = process.communicate(timeout=120)
            job.reported(output, out)
            nothing_left(scratch)
            continue
        assert process.returncode in (0, 1), errors
        nothing_left(scratch)
        return kills


def repeat(job: Job, out: Path) -> None:
    """Repeats a test that is over, by its record alone."""
    if job.is_test:
        done = subprocess.run(
            [*command(), "test", "--resume", "--out", str(out)], capture_output=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr.decode()


def nothing_left(scratch: Path) -> None:
    """No process that the killed one started, and nothing in the place of temporary files, a moment later."""
    deadline = time.monotonic() + 120
    while True:
        running = started_with(scratch)
        if not running and not list(scratch.iterdir()):
            return
        assert time.monotonic() < deadline, f"left behind: {running} {list(scratch.iterdir())}"
        time.sleep(0.05)


def started_with(scratch: Path) -> dict[int, str]:
    """The command lines of all processes whose place of temporary files is this one: they inherited it."""
    found, word = dict[int, str](), f"TMPDIR={scratch}".encode()
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and word in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_text(errors="replace")
    return found


def campaign(
    kills: int, *, seed: int = 0, tell: Callable[[dict[str, Tried]], None] = lambda _: None
) -> dict[str, Tried]:
    """Spreads so many kills over all jobs, a few of each in turn; `tell` hears how far it is."""
    rng, found = random.Random(seed), dict[str, Tried]()
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folder, expected = Path(name), {}
        known = jobs(folder)
        for job in known:
            tried = found.setdefault(job.name, Tried())
            expected[job.name], tried.seconds = undisturbed(job, folder)
        while waiting := [job for job in known if found[job.name].kills < kills / len(known)]:
            for job in waiting:
                tried = found[job.name]
                tried.resumed += 1
                left = max(1, min(5, round(kills / len(known) - tried.kills)))
                tried.kills += disturb(job, folder, tried.resumed, rng, tried.seconds, most=left)
                repeat(job, out_of(job, folder, tried.resumed))
                result = job.result(out_of(job, folder, tried.resumed))
                assert result == expected[job.name], f"{job.name} differs"
            tell(found)
    return found


def _print(found: dict[str, Tried]) -> None:
    done = ", ".join(f"{title} {tried.kills} kills in {tried.resumed} runs" for title, tried in found.items())
    total = sum(tried.kills for tried in found.values())
    print(f"{total} kills, all ended as the undisturbed run: {done}", flush=True)


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:]]
    campaign(asked[0] if asked else 300, seed=asked[1] if len(asked) > 1 else 0, tell=_print)
