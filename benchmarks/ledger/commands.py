"""The commands that the ledger counts, and the files that they read."""

from __future__ import annotations

import hashlib
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ledger.counting import Broken, run

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Command:
    """The words after `misstep`. What it writes goes to `out`, which is empty whenever the command begins."""

    name: str
    words: str
    code: int = 0
    """The exit code that it has to end with: 1 where it finds bugs."""

    @property
    def line(self) -> list[str]:
        return [sys.executable, "-m", "misstep", *self.words.split()]


def _pddl(domain: str, size: int) -> str:
    return f"domains/{domain}.pddl tasks/{domain}-{size}.pddl"


_PANEL = (
    "landmarks+abstraction:max_seconds=1e6+dead-ends:max_seconds=1e6+greedy:max_seconds=1e6"
    "+improve/ehc:max_seconds=1e6+undo:failing=true,max_seconds=1e6"
    "+planner:astar:lmcut,effort=1e6,max_seconds=1e6+lookahead:max_seconds=1e6"
)
"""The panel of `misstep test`, but no clock ends a turn: counting takes some twenty times as long."""
_BOUNDS = "morph:max_seconds=1e6+bounds:max_seconds=1e6"
_IMPROVE = "improve/ehc:max_seconds=1e6"
_LINE = "line.jani --policy zoo:one_way_line_large"


def _test(task: str, policy: str, pool: int, oracle: str) -> str:
    words = f"test {task} --policy {policy} --pool {pool} --oracle {oracle}"
    return f"{words} --call-seconds 1e6 --no-live --out out/record --quiet"


def _plan(task: str, search: str, expansions: int) -> str:
    return f"plan {task} --search {search} --max-expansions {expansions} --quiet"


_ASNET = "--cohorts 1 --epochs 2 --batches 20 --hidden 8 --layers 2 --threads 1 --out out/models --quiet"
_MLP = "--hidden 8 --steps 2000 --exam-every 1000 --exam-runs 10 --out out/line.jani2nnet --quiet"

COMMANDS = (
    Command("version", "--version"),
    Command("help", "test --help"),
    Command("plan-blind", _plan(_pddl("transport", 5), "astar:blind", 300_000)),
    Command("plan-lmcut", _plan(_pddl("logistics", 7), "astar:lmcut", 8_000)),
    Command("plan-ff", _plan(_pddl("visitall", 10), "lazy:ff", 80_000)),
    Command(
        "fuzz",
        f"fuzz {_pddl('transport', 5)} --policy zoo:transport --bias detour --pool 100 --out out/pool.jsonl --quiet",
    ),
    Command("dominance", f"dominance {_pddl('transport', 5)} --quiet"),
    Command("test-panel", _test(_pddl("gripper", 9), "zoo:gripper", 10, _PANEL), 1),
    Command("test-failing", _test(_pddl("spanner", 8), "heuristic:ff", 1, _PANEL), 1),
    Command("test-bounds", _test(_pddl("transport", 5), "zoo:transport", 15, _BOUNDS), 1),
    Command("test-python", _test(_pddl("blocks", 9), "python:policy.py:choose", 2, _IMPROVE), 1),
    Command("test-model", f"test {_LINE} --runs 200 --no-live --out out/record --quiet", 1),
    Command("decide", f"safety decide {_LINE} --radius inf --quiet"),
    Command("verify", "verify record --quiet"),
    Command("show", "show record"),
    Command("report", "report record --out out/report.html"),
    Command("replay", "replay record", 1),
    Command("diff", "diff record other", 1),
    Command("train-asnet", f"train asnet domains/ferry.pddl tasks/ferry-2.pddl {_ASNET}"),
    Command("train-mlp", f"train mlp line.jani {_MLP}"),
    Command(
        "select",
        f"select {_pddl('ferry', 2)} --policies models --kind asnet --pool 20 --out out/selection --quiet",
    ),
    Command("campaign", "campaign nightly.toml --jobs 1 --out out/campaign --quiet", 1),
)
_CAMPAIGN = """\
domain = "domains/visitall.pddl"
problems = ["tasks/visitall-10.pddl"]
policies = ["zoo:visitall", "heuristic:ff"]
oracle = ["improve/ehc"]
max_steps = 50
pool = 2
"""
_POLICY = '''\
"""The first applicable action, whatever comes of it."""


def choose(state):
    return state.task.applicable(state)[0]
'''
_RECORD = f"test {_pddl('spanner', 8)} --quiet --oracle"
_PREPARED = (
    "safety generate one_way_line_large --out line.jani",
    f"{_RECORD} improve/ehc+greedy --policy zoo:spanner --pool 20 --out record",
    f"{_RECORD} greedy --policy heuristic:ff --pool-file record/pool.jsonl --out other",
)
"""What the commands read, and misstep itself makes."""


def prepare(folder: Path) -> None:
    """Everything that the commands read, into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    bundled = ROOT / "src" / "misstep" / "bundled"
    shutil.copytree(Path(__file__).parent / "tasks", folder / "tasks")
    shutil.copytree(bundled / "domains", folder / "domains")
    (folder / "models").mkdir()
    for name in ("first", "second"):
        shutil.copy(bundled / "zoo" / "ferry.asnet.safetensors", folder / "models" / f"{name}.asnet")
    (folder / "nightly.toml").write_text(_CAMPAIGN, encoding="utf-8")
    (folder / "policy.py").write_text(_POLICY, encoding="utf-8")
    for words in _PREPARED:
        ended = run([sys.executable, "-m", "misstep", *words.split()], folder)
        if ended.returncode not in (0, 1):
            raise Broken(f"misstep {words}\nended with {ended.returncode}:\n{ended.stderr.strip()}")


def digest(command: Command) -> str:
    """Tells whether a count was of the same words, with the same files that we keep."""
    found = hashlib.sha256(command.words.encode())
    for word in command.words.split():
        if word.startswith("tasks/"):
            found.update((Path(__file__).parent / word).read_bytes())
        found.update(_MADE.get(word, "").encode())
    return found.hexdigest()[:8]


_MADE = {
    "nightly.toml": _CAMPAIGN,
    "python:policy.py:choose": _POLICY,
    "line.jani": _PREPARED[0],
    "record": "".join(_PREPARED[1:]),
}
"""How the files that are not kept are made."""
