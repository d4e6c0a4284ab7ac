"""Run directories opened again: the same task, the same policy, the bugs that were found."""

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep._core import PolicyGraph, Run, State
from misstep.answers.guard import bind_guarded
from misstep.bound import Bound
from misstep.claim import plan_claim
from misstep.errors import InputError
from misstep.judge import Objective, judge
from misstep.lab import Lab
from misstep.plugins import make_part
from misstep.policy import make_policy_part
from misstep.record.store import BUGS, CONFIG, ENVIRONMENT, bug_files, read_object
from misstep.task import Task, load, load_sas


@dataclass(slots=True)
class Rerun:
    """A run directory, its task and its policy (or another one)."""

    path: Path
    config: dict[str, Any]
    task: Task
    lab: Lab
    objective: Objective

    @classmethod
    def open(cls, path: Path, *, policy: str | None = None) -> "Rerun":
        """Loads the task and the policy again. InputError where they are gone or not the same any more."""
        config = read_config(path)
        task = _load(path, config)
        known = read_object(path / ENVIRONMENT).get("task_sha256")
        if known != hashlib.sha256(task.sas.encode()).hexdigest():
            raise InputError(f"{path}: the task is not the one that was tested: its files have changed")
        bound = bind_guarded(make_policy_part(policy or config["policy"]), task)
        graph = PolicyGraph(task, bound, seed=config.get("seed", 0))
        lab = Lab(task, graph, max_steps=config.get("max_steps", 10_000), seed=config.get("seed", 0))
        return cls(path, config, task, lab, make_part("objective", config.get("objective", "quantitative")))

    def bugs(self, name: str | None = None) -> dict[str, dict[str, Any]]:
        """The certificates of bugs by id, or only one of them."""
        if name is not None:
            if not (self.path / BUGS / f"{name}.json").is_file():
                raise InputError(f"{self.path}: there is no bug {name}; `ls {self.path / BUGS}` shows all")
            return {name: read_object(self.path / BUGS / f"{name}.json")}
        return {file.stem: read_object(file) for file in bug_files(self.path)}

    def replay(self, certificates: dict[str, dict[str, Any]]) -> "list[Replayed]":
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
            raise InputError(f"{self.path / BUGS / name}.json: its state cannot be read: {error}") from None

    def _compared(self, name: str, certificate: dict[str, Any], state: State, run: Run) -> "Replayed":
        try:
            witness = [self.task.action(action) for action in certificate["witness"]]
        except (KeyError, TypeError, InputError) as error:
            raise InputError(f"{self.path / BUGS / name}.json: its plan cannot be read: {error}") from None
        self.lab.add(plan_claim(state, witness, "certificate"))
        cost = self.lab.policy_cost(run)
        verdict = judge(cost, self.lab.best(state), objective=self.objective)
        same = [action.name for action in run.actions] == certificate["run"]["actions"]
        status = ("bug" if same else "changed") if verdict.is_bug else "fixed"
        return Replayed(name, status, run, cost, self.lab.best(state))


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the policy does now: `bug` (as before), `changed` (otherwise, and still worse) or `fixed`."""

    id: str
    status: str
    run: Run
    cost: Bound
    best: Bound


def read_config(path: Path) -> dict[str, Any]:
    """What a run was asked to do."""
    try:
        return tomllib.loads((path / CONFIG).read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"{path}: no run directory (there is no {CONFIG} in it)") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path / CONFIG}: cannot be read: {error}") from None


def _load(path: Path, config: dict[str, Any]) -> Task:
    try:
        domain, problem = Path(config["domain"]), config.get("problem")
        unit_cost = bool(config.get("unit_cost", False))
    except (KeyError, TypeError):
        raise InputError(f"{path / CONFIG}: it does not name a domain") from None
    if problem is None:
        return load_sas(domain, unit_cost=unit_cost)
    return load(domain, Path(problem), unit_cost=unit_cost)
