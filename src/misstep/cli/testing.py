"""What `misstep test` does with its options: one campaign a problem, shown while it goes on."""

import hashlib
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from misstep import __version__
from misstep._core import PolicyGraph
from misstep.answers.guard import bind_guarded, failures_of, warnings_of
from misstep.cli.loading import load_task
from misstep.cli.output import note, warn
from misstep.cli.status import StatusLine, clock
from misstep.errors import InputError
from misstep.events import BugFound, Finished
from misstep.fuzz import Fuzz
from misstep.oracle import make_oracles
from misstep.pddl import read_domain
from misstep.pddl.model import Domain
from misstep.plugins import make_part
from misstep.policy import PolicyPart, make_policy_part, wants_unit_cost
from misstep.pool import PoolEntry, read_pool
from misstep.record.store import TASK, RunDirectory, free_directory
from misstep.session import Campaign, Settings
from misstep.task import Task

# Bugs that are shown one by one; the families at the end say what the others are like.
_SHOWN = 10


@dataclass(frozen=True)
class Request:
    """The options of `misstep test`."""

    domain: Path
    problems: tuple[Path, ...]
    policy: str
    oracles: tuple[str, ...]
    objective: str = "quantitative"
    pool: int = 100
    pool_file: Path | None = None
    fuzzer: str = "refined"
    bias: str = "none"
    interleave: bool = False
    gap: bool = False
    max_steps: int = 10_000
    seconds: float | None = None
    memory_mb: int | None = None
    seed: int = 0
    out: Path | None = None
    unit_cost: bool = False
    recheck: bool = True
    quiet: bool = False

    @property
    def is_many(self) -> bool:
        """Whether the result is a list of tasks."""
        return len(self.problems) > 1 or any(problem.is_dir() for problem in self.problems)

    def all_problems(self) -> list[Path | None]:
        """Directories stand for the problems in them; a SAS file alone needs none."""
        found: list[Path] = []
        for problem in self.problems:
            if not problem.is_dir():
                found.append(problem)
                continue
            inside = sorted(path for path in problem.glob("*.pddl") if path.name != self.domain.name)
            if not inside:
                raise InputError(f"{problem}: there is no problem (*.pddl) in this directory")
            found += inside
        return list(found) if found else [None]


def test_all(request: Request) -> tuple[list[dict[str, Any]], bool]:
    """Tests all problems; the JSON results, and whether Ctrl-C ended it."""
    problems = request.all_problems()
    if request.pool_file is not None and len(problems) > 1:
        raise InputError("--pool-file holds states of one task; give one problem")
    part = make_policy_part(request.policy)
    domain = read_domain(request.domain) if problems[0] is not None else None
    end = math.inf if request.seconds is None else time.perf_counter() + request.seconds
    results: list[dict[str, Any]] = []
    for number, problem in enumerate(problems):
        left = (end - time.perf_counter()) / (len(problems) - number)
        if left <= 0:
            break
        out = _directory(request, problem, many=len(problems) > 1)
        session = _Session(request, part, domain, problem, out, None if left == math.inf else left)
        try:
            results.append(session.run())
        except KeyboardInterrupt:
            results.append(session.result())
            return results, True
    return results, False


def _directory(request: Request, problem: Path | None, *, many: bool) -> Path:
    stem = (problem or request.domain).stem
    if request.out is None:
        return free_directory(Path("runs") / stem)
    return request.out / stem if many else request.out


class _Session:
    """One problem."""

    def __init__(
        self,
        request: Request,
        part: PolicyPart,
        domain: Domain | None,
        problem: Path | None,
        out: Path,
        seconds: float | None,
    ) -> None:
        self.request, self.part, self.domain, self.problem = request, part, domain, problem
        self.out, self.seconds = out, seconds
        self.name = (problem or request.domain).name
        self.start = time.perf_counter()
        self.translate_seconds = 0.0
        self.found = Finished()
        self.shown = 0

    def run(self) -> dict[str, Any]:
        request = self.request
        unit_cost = request.unit_cost or wants_unit_cost(self.part)
        task = load_task(
            self.domain or request.domain,
            self.problem,
            unit_cost=unit_cost,
            seconds=self.seconds,
            memory_mb=request.memory_mb,
        )
        self.translate_seconds = time.perf_counter() - self.start
        if not request.quiet:
            warn(task.warnings)
        bound = bind_guarded(self.part, task)
        if not request.quiet:
            warn(warnings_of(bound))
        graph = PolicyGraph(task, bound, recheck=request.recheck, seed=request.seed)
        left = None if self.seconds is None else self.seconds - (time.perf_counter() - self.start)
        oracles = make_oracles(request.oracles)
        settings = Settings(
            oracles,
            objective=make_part("objective", request.objective),
            seed=request.seed,
            max_steps=request.max_steps,
            max_seconds=left,
            interleave=request.interleave,
            gap=request.gap,
            max_memory_mb=request.memory_mb,
        )
        with self._store(task, unit_cost=unit_cost) as store, StatusLine(quiet=request.quiet) as status:
            campaign = Campaign(
                task, graph, self._pool(task, graph, left), settings, self.name, request.policy, store
            )
            self.found = campaign.result
            for event in campaign.events():
                if isinstance(event, BugFound):
                    self._show(event)
                status.show(self._status(left))
        if failures := failures_of(bound):
            state, reason = next(iter(failures.items()))
            warn([f"the policy failed on {len(failures)} states, such as {state}: {reason}"])
        self._summarise()
        return self.result()

    def _pool(self, task: Task, graph: PolicyGraph, left: float | None) -> "Fuzz | list[PoolEntry]":
        request = self.request
        if request.pool_file is not None:
            return read_pool(request.pool_file, task)
        share = 1.0 if request.interleave else 0.5  # the other half is for the oracles
        return Fuzz(
            graph,
            make_part("fuzzer", request.fuzzer),
            make_part("bias", request.bias),
            seed=request.seed,
            size=request.pool,
            max_seconds=None if left is None else left * share,
        )

    def _store(self, task: Task, *, unit_cost: bool) -> RunDirectory:
        asked = {key: _plain(value) for key, value in asdict(self.request).items()}
        asked |= {
            "problems": None,
            "domain": str(self.request.domain.resolve()),
            "problem": None if self.problem is None else str(self.problem.resolve()),
            "unit_cost": unit_cost,
            "out": None,
        }
        environment = {
            "misstep": __version__,
            "seed": self.request.seed,
            "task_sha256": hashlib.sha256(task.sas.encode()).hexdigest(),
        }
        return RunDirectory(self.out, config=asked, environment=environment, files={TASK: task.sas})

    def _show(self, bug: BugFound) -> None:
        self.shown += 1
        if self.request.quiet or self.shown > _SHOWN:
            return
        tested = bug.tested
        does = f"costs {tested.cost.lo:g}" if tested.cost.lo < math.inf else f"fails ({tested.outcome})"
        note(
            f"bug {tested.id}: the policy {does}; a plan of cost {tested.best.hi:g} exists ({tested.oracle})"
        )
        if bug.fault is not None:
            said = "no action" if bug.fault.action is None else bug.fault.action.name
            better = f", not {bug.fault.witness[0].name}" if bug.fault.witness else ""
            note(f"  misstep at step {bug.fault.step + 1}: {said}{better}")
        if bug.replay is not None:
            note(f"  {bug.replay}")
        if self.shown == _SHOWN:
            note("  (more bugs are in the run directory)")

    def _status(self, left: float | None) -> str:
        found = self.found
        words = [
            f"{self.name}: pool {found.pool}",
            f"tested {found.tested}",
            f"bugs {found.bugs}",
            f"cleared {found.cleared}",
            f"unknown {found.unknown}",
        ]
        if left is not None:
            words.append(f"{clock(max(0.0, left - (time.perf_counter() - self.start)))} left")
        return " · ".join(words)

    def _summarise(self) -> None:
        found, quiet = self.found, self.request.quiet
        for family in found.families[:_SHOWN]:
            at = f" at {family.schema}" if family.schema else ""
            note(
                f"family: {len(family.members)} x {family.outcome}{at}, region {family.region}, such as bug "
                f"{family.representative}",
                quiet=quiet,
            )
        by_search = f" ({found.cleared_by_search} by search alone)" if found.cleared_by_search else ""
        note(
            f"{self.name}: {found.tested} states, {found.solved} solved by the policy: "
            f"{found.bugs} bugs ({found.qualitative} qualitative, {found.quantitative} quantitative), "
            f"{found.cleared} cleared{by_search}, {found.unknown} unknown; seed {self.request.seed}, "
            f"{time.perf_counter() - self.start:.2f} s",
            quiet=quiet,
        )
        if found.limits_hit:
            note(f"limits hit: {', '.join(found.limits_hit)}", quiet=quiet)
        note(f"run directory: {self.out}", quiet=quiet)

    def result(self) -> dict[str, Any]:
        """As INTERFACE describes it, and a little more."""
        found = self.found
        return {
            "task": self.name,
            "policy": self.request.policy,
            "seed": self.request.seed,
            "pool": found.pool,
            "tested": found.tested,
            "solved": found.solved,
            "bugs": {"qualitative": found.qualitative, "quantitative": found.quantitative},
            "cleared": found.cleared,
            "cleared_by_search": found.cleared_by_search,
            "unknown": found.unknown,
            "families": len(found.families),
            "bug_regions": found.bug_regions,
            "unique_fact_pairs": found.unique_fact_pairs,
            "seconds": {
                "translate": round(self.translate_seconds, 6),
                "fuzz": round(found.fuzz_seconds, 6),
                "policy": round(found.policy_seconds, 6),
                "oracle": round(found.oracle_seconds, 6),
                "total": round(time.perf_counter() - self.start, 6),
            },
            "limits_hit": found.limits_hit,
            "out": str(self.out),
        }


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
