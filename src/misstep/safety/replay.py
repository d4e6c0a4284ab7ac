"""Records of safety tests opened again: the policy is asked once more along the runs that were found."""

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from misstep._core import JaniGame
from misstep.bound import NEVER, Bound
from misstep.budget import Budget
from misstep.config import Config
from misstep.errors import InputError, PolicyError
from misstep.events import Ran
from misstep.explain.words import counted
from misstep.record.record import Record, replay_command
from misstep.record.replay import row_of
from misstep.record.shrunk import ShrunkBug
from misstep.reference.digest import digest
from misstep.safety.exam import how_it_stops, no_decision
from misstep.safety.isolated import open_policy
from misstep.safety.lab import SAFE, ModelRun
from misstep.safety.model import SafetyTask
from misstep.safety.recorded import RecordedEvidence, Step, recorded_model

# States of the policy's own graph that are looked at before a replay gives up.
_MAX_STATES = 100_000


@dataclass(frozen=True, slots=True)
class ReplayedModel:
    """What the policy does now from the state of a bug; `steps` is the run that was found, now or before.

    `status` is `bug` (the run that was found is still one of the policy's), `changed` (it decides otherwise,
    but can still reach an unsafe state), `fixed` (it cannot), `failed` (it gave no answer) or `unknown` (too
    many states to look at).
    """

    id: str
    status: str
    run: ModelRun
    cost: Bound
    steps: tuple[Step, ...]
    best: Bound = SAFE
    reason: str | None = None

    @property
    def said(self) -> str:
        """What the policy does, in words."""
        if self.status in ("bug", "changed"):
            return f"the policy can reach an unsafe state in {counted(self.run.steps, 'step')}; a safe course exists"
        return {
            "fixed": "from there the policy reaches no unsafe state any more",
            "failed": "the policy fails to answer",
        }.get(self.status, "the policy reaches too many states to look at all of them")

    def as_json(self) -> dict[str, Any]:
        """A row of `misstep replay --json`."""
        return row_of(self)


@dataclass(slots=True)
class ModelReplay:
    """A record of a safety test, its model and its policy (or another one)."""

    record: Record
    config: Config
    task: SafetyTask
    game: JaniGame
    evidence: RecordedEvidence

    @classmethod
    def open(cls, record: Record, *, policy: str | None = None) -> "ModelReplay":
        """Loads the model and the policy again. InputError where the policy is gone, or was an object."""
        config, evidence = record.config(), RecordedEvidence.read(record)
        named = policy or config.policy
        if named.startswith("object:"):
            raise InputError(
                f"{record.where}: the policy was a Python object ({named}); name the one to ask with --policy"
            )
        task = recorded_model(record, evidence)
        config = config.replace(policy=named)
        opened = open_policy(config, task, budget=Budget())
        game = task.game(opened.policy, horizon=config.horizon)
        return cls(record, config, task, game, evidence)

    def bugs(self, name: str | None = None) -> dict[str, dict[str, Any]]:
        """The certificates of bugs by id, or only one of them."""
        return self.record.bugs() if name is None else {name: self.record.bug_named(name)}

    def ask(self, certificates: dict[str, dict[str, Any]]) -> list[ReplayedModel]:
        """Asks the policy again from the state of each bug."""
        return [self._ask(name, certificate) for name, certificate in certificates.items()]

    def _ask(self, name: str, certificate: dict[str, Any]) -> ReplayedModel:
        steps = self.evidence.run(certificate)
        try:
            s = self.game.add(self.task.to_values(certificate["state"]))
            if self._follows(s, steps):
                return ReplayedModel(name, "bug", ModelRun(len(steps) - 1), NEVER, tuple(steps))
            found, undecided = self._search(s)
            if not found and undecided is not None:
                return ReplayedModel(name, "failed", ModelRun(0, "failed"), Bound(), (), reason=undecided)
        except PolicyError as error:
            return ReplayedModel(name, "failed", ModelRun(0, "failed"), Bound(), (), reason=str(error))
        except (InputError, KeyError, TypeError) as error:
            raise InputError(f"{self.record.where}: bug {name}: its state cannot be read: {error}") from None
        if found is None:
            return ReplayedModel(name, "unknown", ModelRun(0, "cut-off"), Bound(), ())
        if not found:
            return ReplayedModel(name, "fixed", ModelRun(0, "safe"), SAFE, ())
        return ReplayedModel(name, "changed", ModelRun(len(found) - 1), NEVER, tuple(map(self._step, found)))

    def _follows(self, s: int, steps: list[Step]) -> bool:
        """Whether the policy still decides as it did on the run; steps count where there is a horizon."""
        for step, following in pairwise(steps):
            label, outcomes = self._move(s)
            if label is None or self.task.labels[label] != step.action:
                return False
            after = [t for t in outcomes if self.task.state(self.game, t) == following.state]
            if not after:
                return False
            s = after[0]
        return self.game.is_unsafe(s)

    def _search(self, start: int) -> tuple[list[int] | None, str | None]:
        """A shortest run of the policy to an unsafe state; empty where there is none, None at the limit.

        Also why the policy gave no usable decision on its way, where that is so: it is not known to be better then.
        """
        parents: dict[int, int | None] = {start: None}
        left, undecided = deque([start]), None
        while left:
            s = left.popleft()
            if self.game.is_unsafe(s):
                return _path(parents, s), None
            if len(parents) > _MAX_STATES:
                return None, undecided
            label, outcomes = self._move(s)
            if label is None and undecided is None and not self.game.is_goal(s):
                end = how_it_stops(self.game, s) or ""
                if Ran(run=0, outcome=end, steps=int(s != start)).is_unanswered:
                    undecided = no_decision(self.task, self.game, s)
            for t in outcomes:
                if t not in parents:
                    parents[t] = s
                    left.append(t)
        return [], undecided

    def _move(self, s: int) -> tuple[int | None, list[int]]:
        """What the policy does in a state, and what can happen; nothing where its run ends."""
        if self.game.is_unsafe(s) or self.game.is_goal(s):
            return None, []
        for label, deviates, outcomes in self.game.moves(s)[:1]:
            return (None, []) if deviates else (label, outcomes)
        return None, []

    def _step(self, s: int) -> Step:
        label, _ = self._move(s)
        key = self.evidence.key({"state": self.task.state(self.game, s), "step": self.game.step(s)})
        return self.evidence.step(key, None if label is None else self.task.labels[label])


def _path(parents: dict[int, int | None], s: int) -> list[int]:
    path, at = [s], parents[s]
    while at is not None:
        path.append(at)
        at = parents[at]
    return path[::-1]


def shrink_model_bug(again: ModelReplay, bug: str) -> ShrunkBug:
    """The latest state on a bug's run that is still a bug, certified beside it: there the fault is made.

    InputError where the bug is fixed. Every state of an unsafe run was judged, so the state has a certificate
    of its own, which is written once more under the name of the bug that it stands for.
    """
    record, certificate = again.record, again.record.bug_named(bug)
    (found,) = again.ask({bug: certificate})
    if found.status != "bug":
        raise InputError(f"bug {bug} cannot be shrunk: its run is none of the policy's any more")
    evidence = again.evidence
    states = evidence.keys(certificate)
    others = {
        states.index(evidence.key(other)): other
        for name, other in record.bugs().items()
        if not name.endswith("-shrunk") and evidence.key(other) in states
    }
    at = max(others, default=0)
    name = f"{bug}-shrunk"
    made = {
        **others.get(at, certificate),
        "id": name,
        "replay": f"{replay_command(record.where)} {name}",
    }
    made["sha256"] = digest(made)
    record.bug(name, made)
    fault = made["fault"]
    instead = "" if fault is None else f": {fault['action']} instead of {fault['alternative']}"
    return ShrunkBug(
        record,
        bug,
        name,
        made,
        f"the last safe state of the run, {counted(at, 'step')} further on{instead}",
        {"run": len(states) - 1, "walk": None},
        {"run": len(states) - 1 - at, "walk": None},
    )
