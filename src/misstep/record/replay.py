"""Records opened again: the same task, the same policy or another one, the bugs that were found."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from misstep._core import Run, State
from misstep.answers.guard import reason_of_run
from misstep.bench import set_up
from misstep.bound import Bound, cost_text
from misstep.budget import Budget
from misstep.claim import plan_claim
from misstep.config import Config
from misstep.errors import InputError
from misstep.explain.words import does
from misstep.judge import Judgement, Objective, judge
from misstep.lab import Lab
from misstep.loading import recorded_task
from misstep.oracle import Case
from misstep.policy import Policy
from misstep.pool import PoolEntry
from misstep.record.origin import require_trust, require_trusted_oracles
from misstep.record.record import Record
from misstep.task import Task, actions_named

if TYPE_CHECKING:
    from misstep.safety.replay import ModelReplay, ReplayedModel


@dataclass(slots=True)
class Replay:
    """A record, its task and its policy (or another one)."""

    record: Record
    config: Config
    task: Task
    policy: Policy
    lab: Lab
    objective: Objective

    @classmethod
    def open(cls, record: Record, *, policy: str | None = None) -> "Replay":
        """Loads the task and the policy again. InputError where the policy is gone, or was an object."""
        config, task = record.config(), recorded_task(record)
        named = policy or config.policy
        if named.startswith("object:"):
            raise InputError(
                f"{record.where}: the policy was a Python object ({named}); name the one to ask with --policy"
            )
        bench = set_up(config.replace(policy=named), Budget(), task=task)
        lab = Lab(task=task, graph=bench.graph, max_steps=config.longest_run, seed=config.seed)
        return cls(record, config, task, bench.policy, lab, bench.objective)

    def bugs(self, name: str | None = None) -> dict[str, dict[str, Any]]:
        """The certificates of bugs by id, or only one of them."""
        return self.record.bugs() if name is None else {name: self.record.bug_named(name)}

    def ask(self, certificates: dict[str, dict[str, Any]]) -> "list[Replayed]":
        """Asks the policy again from the state of each bug."""
        states = [self.state(certificate, name) for name, certificate in certificates.items()]
        runs = self.lab.run(states)
        return [
            self._compared(name, certificate, state, run)
            for (name, certificate), state, run in zip(certificates.items(), states, runs, strict=True)
        ]

    def state(self, certificate: dict[str, Any], name: str) -> State:
        """The state of a certificate."""
        try:
            return self.task.state(certificate["state"])
        except (KeyError, TypeError, InputError) as error:
            raise InputError(f"{self.record.where}: bug {name}: its state cannot be read: {error}") from None

    def _compared(self, name: str, certificate: dict[str, Any], state: State, run: Run) -> "Replayed":
        try:
            witness = actions_named(self.lab.task, state, certificate["witness"])
        except (KeyError, TypeError, InputError) as error:
            raise InputError(f"{self.record.where}: bug {name}: its plan cannot be read: {error}") from None
        self.lab.enter(plan_claim(state, witness, str(certificate.get("witness_oracle"))))
        cost = self.lab.policy_cost(run)
        judgement = judge(cost, self.lab.best(state), objective=self.objective)
        same = [action.name for action in run.actions] == certificate["run"]["actions"]
        return Replayed(
            name,
            _status(judgement, run, same=same),
            run,
            cost,
            self.lab.best(state),
            reason_of_run(self.policy, run),
        )


def row_of(found: "Replayed | ReplayedModel") -> dict[str, Any]:
    """What the policy does now, the same for tasks and models."""
    return {
        "id": found.id,
        "status": found.status,
        "outcome": found.run.outcome,
        "cost": found.cost.as_json(),
        "best": found.best.as_json(),
        "reason": found.reason,
    }


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the policy does now.

    `status` is `bug` (still a bug, the same run), `changed` (still a bug, another run), `fixed` (it does as
    well as the known plan) or `failed` (it gave no answer, so nothing can be said).
    """

    id: str
    status: str
    run: Run
    cost: Bound
    best: Bound
    reason: str | None = None

    @property
    def said(self) -> str:
        """What the policy does, in words."""
        best = cost_text(self.best.hi)
        if self.run.outcome != "solved":
            return f"the policy {does(self.run.outcome)}; a plan of cost {best} exists"
        is_enough = self.cost.hi <= self.best.hi
        return f"the policy pays {self.cost}" + ("" if is_enough else f" where {best} is enough")

    def as_json(self) -> dict[str, Any]:
        """A row of `misstep replay --json`."""
        return row_of(self)

    def case(self, lab: Lab, certificate: dict[str, Any]) -> Case:
        """The state and the run as a case, with its pool entry where the record knows it."""
        state = self.run.states[0]
        known = lab.entry((certificate.get("pool") or {}).get("id"))
        entry = known if known is not None and known.state == state else PoolEntry(0, state)
        return Case(entry.id, state, self.run, self.cost, entry)


STATUS = {
    "bug": "still a bug, the same run",
    "changed": "still a bug, another run",
    "fixed": "fixed",
    "failed": "the policy failed to answer",
    "unknown": "unknown: the run was cut off",
}
"""What each status means, in words."""


def _status(judgement: Judgement, run: Run, *, same: bool) -> str:
    if judgement.is_bug:
        return "bug" if same else "changed"
    if run.outcome == "failed":
        return "failed"
    return "unknown" if run.outcome == "cut-off" else "fixed"


def open_replay(
    path: Path, *, policy: str | None = None, trust: bool = False, searches: bool = False
) -> "Replay | ModelReplay":
    """The record in a directory, opened again.

    InputError where that would run code which somebody else's record names, unless `trust` allows it; with
    `searches` its oracles are going to be asked as well.
    """
    record = Record.open(path)
    if not trust and not record.is_own():
        if policy is None:
            require_trust(record.where, record.config())
        if searches:
            require_trusted_oracles(record.where, record.config())
    if record.config().is_safety:
        from misstep.safety.replay import ModelReplay  # the JANI side is loaded when it is needed

        return ModelReplay.open(record, policy=policy)
    return Replay.open(record, policy=policy)
