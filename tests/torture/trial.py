"""Trials: misstep tests table policies on a world, and every word of it is compared with the truth."""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import misstep
from misstep import _core
from misstep.config import DEFAULT_ORACLE
from misstep.events import Event, Judged
from misstep.pool import PoolEntry
from misstep.record.pool_file import read_entries
from misstep.record.verify import verify_all, verify_record
from tests.torture.bare import verdicts
from tests.torture.flat import FlatWorld, random_flat_world
from tests.torture.forgery import Forger
from tests.torture.truth import Table, TooLarge, Truth
from tests.torture.world import State, World
from tests.torture.worlds import random_world

ORACLES = (
    "landmarks",
    "lookahead",
    "lookahead:depth=3",
    "planner:astar:lmcut",
    "planner:astar:blind,max_expansions=20",
    "planner:gbfs",
    "perfect",
    "improve",
    "improve:max_expansions=3",
    "improve/ehc",
    "undo",
    "inverse",
    "undo+inverse+landmarks",
    "morph",
    "bounds",
    "bounds:factors=atomic,lookahead=0+landmarks",
    "bounds:100+improve/ehc",
    "abstraction",
    "abstraction:max_states=5+landmarks",
    "dead-ends",
    "greedy",
    "greedy+dead-ends+landmarks",
    "abstraction+planner:astar:lmcut,max_expansions=4",
    "landmarks+planner:astar:lmcut,effort=5e6+improve/ehc+lookahead",
    DEFAULT_ORACLE,
)
"""Every oracle alone, some short of breath, and some together."""


# The share of verified records that are written to disk for that.
_ON_DISK = 0.1


@dataclass
class Score:
    """What was compared, and what was wrong."""

    tasks: int = 0
    tests: int = 0
    bare: int = 0
    """Tests without a session."""
    verdicts: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    certificates: int = 0
    """That were verified."""
    tampered: int = 0
    forged: int = 0
    accepted: int = 0
    """Of the forged ones; see `Forger`."""
    kinds: Counter[str] = field(default_factory=Counter)
    """What the lower bounds of the verified certificates rest on."""
    refused: Counter[str] = field(default_factory=Counter)
    """Worlds that misstep does not load, by reason."""
    false: list[str] = field(default_factory=list)

    @property
    def judged(self) -> int:
        """All verdicts."""
        return sum(self.verdicts.values())


class Trial:
    """One world, loaded once."""

    def __init__(self, world: World | FlatWorld, truth: Truth, score: Score, label: str) -> None:
        self.world, self.truth, self.score, self.label = world, truth, score, label
        self.task = world.load()
        if (
            not self.task.actions
        ):  # the translator says that nothing can be done; there is no state to compare
            self.states: dict[tuple[str, ...], State] = {}
            return
        sizes = self.task.domain_sizes
        names = [self.task.fact_name(v, value) for v, size in enumerate(sizes) for value in range(size)]
        known = {tuple(name.strip("()").split()) for name in names if name and not name.startswith("(not ")}
        self.states = {}
        for state in truth.moves:
            self.states[tuple(sorted(f"({' '.join(atom)})" for atom in state & known))] = state
        if len(self.states) < len(truth.moves):
            self.fail("two states of the world look the same in the task")
        # The translator drops what never changes anything; to take such an action is to stay for ever.
        self.known = {action.name for action in self.task.actions}
        for state, moves in truth.moves.items():
            if any(after != state and name not in self.known for name, (after, _) in moves.items()):
                self.fail("the task lacks an action that changes a state")
                break
        best = {
            tuple(self.task.state(list(facts)).values): truth.best[state]
            for facts, state in self.states.items()
        }
        self.forger = Forger(self.task, best)

    def whole_space(self) -> Iterator[dict[str, object]]:
        """A line of a pool file for every state, each with a state before it and the way from there."""
        facts = {state: list(facts) for facts, state in self.states.items()}
        numbers = {self.truth.world.initial: 0}
        yield {"id": 0, "facts": facts[self.truth.world.initial]}
        for state in (queue := [self.truth.world.initial]):
            for name, (after, _) in self.truth.moves[state].items():
                if after not in numbers:
                    numbers[after] = len(numbers)
                    queue.append(after)
                    about = {"id": numbers[after], "facts": facts[after]}
                    yield {**about, "parent": numbers[state], "walk": [name]}

    def fail(self, what: str) -> None:
        """Notes that something is false, with all that is needed to see it again."""
        self.score.false.append(f"{self.label}: {what}")

    def test(self, oracle: str, table: Table, seed: int, *, verify: bool, **options: object) -> None:
        """Tests a table policy and compares all that is said on the way."""
        label, score = f"oracle {oracle}, seed {seed}, {options}", self.score
        judged: list[Judged] = []

        def table_policy(batch: _core.StateBatch) -> list[str | None]:
            return [table.choice[self.states[tuple(state.facts)]] for state in batch]

        def listen(event: Event) -> None:
            if isinstance(event, Judged):
                judged.append(event)

        try:
            report = misstep.test(
                self.task, table_policy, oracle=oracle, seed=seed, on_event=listen, **options
            )
        except Exception as error:  # whatever it is, it must not happen
            self.fail(f"{label}: {type(error).__name__}: {error}")
            return
        score.tests += 1
        score.verdicts.update(str(event.verdict) for event in report.tally.judged.values())
        pool = {line["id"]: tuple(line["facts"]) for line in report.record.store.lines("pool.jsonl")}
        qualitative = options.get("objective") == "qualitative"
        for event in judged:
            for wrong in self._wrong(event, table, self.states[pool[event.id]], qualitative=qualitative):
                self.fail(f"{label}: state {event.id}: {wrong}")
        if verify:
            self._verify(report, label, Random(seed))

    def judge(self, oracle: str, table: Table, *, faults: bool, **options: Any) -> None:
        """The same without a session, on all states of the world: many more verdicts in the same time."""
        label, score, choice = f"oracle {oracle}, bare, {options}", self.score, table.choice
        actions = {action.name: action for action in self.task.actions}
        if self.task.split_names:  # a name would not be enough
            return

        def table_policy(batch: _core.StateBatch) -> list[_core.Action | None]:
            # Oracles ask about states that cannot be reached, too: there it has no answer.
            known = (self.states.get(tuple(state.facts)) for state in batch)
            return [None if state is None else actions.get(choice[state] or "") for state in known]

        qualitative = options.get("objective") == "qualitative"
        for event in verdicts(self.task, table_policy, self.pool, oracle, faults=faults, **options):
            score.verdicts[str(event.verdict)] += 1
            state = self.states[tuple(self.pool[event.id].state.facts)]
            for wrong in self._wrong(event, table, state, qualitative=qualitative, faults=faults):
                self.fail(f"{label}: state {event.id}: {wrong}")
        score.bare += 1

    @cached_property
    def pool(self) -> list[PoolEntry]:
        """Every state of the world."""
        return read_entries(list(self.whole_space()), self.task, where=self.label)

    def _wrong(
        self, event: Judged, table: Table, state: State, *, qualitative: bool, faults: bool = True
    ) -> Iterator[str]:
        paid, best = table.cost(state), self.truth.best[state]
        if not event.cost.lo <= paid <= event.cost.hi:
            yield f"the policy pays {paid}, not {event.cost}"
        if not event.best.lo <= best <= event.best.hi:
            yield f"the best is {best}, not {event.best}"
        worse = paid == math.inf > best if qualitative else paid > best
        if event.verdict == "bug" and not worse:
            yield f"no bug: the policy pays {paid}, the best is {best}"
        if event.verdict == "cleared" and worse:
            yield f"not clear: the policy pays {paid}, the best is {best}"
        if worse and not qualitative and not event.gap.lo <= paid - best <= event.gap.hi:
            yield f"the gap is {paid - best}, not {event.gap}"
        if event.fault is not None:
            self.score.faults += 1
            yield from self._wrong_fault(event, table, state)
        elif faults and event.verdict == "bug" and event.outcome in ("stuck", "illegal"):
            yield f"the run is {event.outcome}, but no decision is at fault"

    def _wrong_fault(self, event: Judged, table: Table, state: State) -> Iterator[str]:
        """A decision is at fault where the best course is out of reach afterwards; a window holds such a one."""
        fault, visited = event.fault, table.run(state)
        if fault is None:
            return
        until = fault.step + 1 if fault.until is None else fault.until
        if not fault.step < until <= len(visited):
            yield f"the run has no steps {fault.step} to {until}"
            return
        if not any(self._is_fault(table, here) for here in visited[fault.step : until]):
            yield f"steps {fault.step} to {until} are on a best course"
        here = visited[fault.step]
        if fault.is_single and (fault.action or "").strip("()") not in (table.choice[here] or "").strip("()"):
            yield f"the policy does {table.choice[here]} in step {fault.step}, not {fault.action}"
        if fault.better is not None and fault.better not in self.truth.moves[here]:
            yield f"{fault.better} is not applicable in step {fault.step}"

    def _is_fault(self, table: Table, here: State) -> bool:
        name = table.choice[here]
        after, cost = self.truth.moves[here].get(name or "", (None, 0))
        rest = math.inf if after is None else cost + self.truth.best[after]
        return rest > self.truth.best[here]

    def _verify(self, report: misstep.Report, label: str, rng: Random) -> None:
        """All certificates hold, most often as they are in memory, and forged ones do not lie."""
        if rng.random() < _ON_DISK:
            with tempfile.TemporaryDirectory(prefix="misstep-") as folder:
                found = verify_all(report.save(Path(folder) / "record"))
        else:
            found = verify_record(report.record)
        score, forger = self.score, self.forger
        score.certificates += found.valid
        decided = sum(event.verdict != "unknown" for event in report.tally.judged.values())
        if not found.is_sound or found.valid < decided:
            wrong = [*found.invalid[:2], *found.problems[:2]]
            self.fail(f"{label}: {found.valid} of {decided} certificates valid: {wrong}")
        before = forger.tampered, forger.forged, forger.accepted
        for false in forger.false(report.record, rng):
            self.fail(f"{label}: {false}")
        score.tampered += forger.tampered - before[0]
        score.forged += forger.forged - before[1]
        score.accepted += forger.accepted - before[2]
        score.kinds += forger.kinds(report.record)


def trials(
    seed: int,
    score: Score,
    *,
    oracles: Sequence[str] = ORACLES,
    pool: int = 300,
    states: int = 3000,
    policies: int = 4,
    tests: int | None = None,
    flat: float = 0.3,
    whole: float = 0.0,
    verify: float = 0.05,
    bare: int = 0,
    small: float = 0.2,
    recorded: float = 1.0,
    go_on: Callable[[], bool] = lambda: True,
) -> None:
    """One random world, some table policies, all oracles, or so many tests with oracles drawn from them.

    Before that, `bare` tests of other policies without a session, of all states; a share of `recorded` worlds
    has others. `small` is the share of worlds with less than 50 states that are not passed over.

    `flat` is the share of worlds that need no translator, `whole` that of tests whose pool is the whole space,
    `verify` that of tests whose certificates are looked at; twice as many where the policy is the first one.
    """
    rng = Random(f"torture {seed}")
    world = random_flat_world(rng) if rng.random() < flat else random_world(rng)
    try:
        truth = Truth(world, most=states)
    except TooLarge:
        return
    if len(truth.moves) < 3 or (len(truth.moves) < 50 and rng.random() < 1 - small):
        return
    try:
        trial = Trial(world, truth, score, f"world {seed}")
    except misstep.MisstepError as error:
        score.refused[f"{type(error).__name__}: {str(error)[:160]}"] += 1
        return
    if not trial.task.actions:
        return
    score.tasks += 1
    for _ in range(bare):
        options = random_options(rng)
        table = Table(truth, rng, trial.known)
        trial.judge(rng.choice(oracles), table, faults=rng.random() < 0.3, **options)
    if rng.random() >= recorded:
        return
    most = min(len(truth.moves), pool if len(trial.task.actions) < 300 else 15)
    with tempfile.TemporaryDirectory(prefix="misstep-") as folder:
        everything = Path(folder) / "pool.jsonl"
        if whole:
            everything.write_text("".join(json.dumps(line) + "\n" for line in trial.whole_space()))
        for number in range(policies if tests is None else 1):
            table = Table(truth, rng, trial.known)
            for oracle in oracles if tests is None else rng.sample(oracles, tests):
                if not go_on():
                    return
                options = random_options(rng)
                options |= {"pool_file": everything} if rng.random() < whole else {"pool": most}
                is_verified = rng.random() < verify * (1 + (number == 0))
                trial.test(oracle, table, rng.randrange(10**6), verify=is_verified, **options)


def random_options(rng: Random) -> dict[str, Any]:
    """What is asked of a test now and then."""
    options: dict[str, Any] = {}
    if rng.random() < 0.1:
        options["objective"] = "qualitative"
    if rng.random() < 0.1:
        options["max_steps"] = rng.randint(1, 20)
    if rng.random() < 0.1:
        options["gap"] = True
    return options
