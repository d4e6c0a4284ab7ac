"""One question about one state: is it r-safe? With the strategy or the refutation as proof."""

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep import __version__
from misstep._core import JaniGame, SafetyPolicy
from misstep.budget import Budget
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Finished, Started
from misstep.formats.jani import parse
from misstep.plugins import make_part
from misstep.record.record import MODEL, Record, certificate_text
from misstep.safety.certificate import make_certificate
from misstep.safety.evidence import question_digest
from misstep.safety.isolated import open_policy
from misstep.safety.lab import DeciderPart, ModelLab
from misstep.safety.model import SafetyTask, load_model
from misstep.safety.policy import network_policy
from misstep.safety.verify import DECISION


@dataclass(slots=True)
class Decision:
    """The answer, and the lab that can prove it."""

    config: Config
    lab: ModelLab
    state: int
    verdict: str
    limit: str | None
    minimal_radius: int | None
    """The least radius for which the state is safe, where there is a policy and it was found."""
    expanded: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """As `misstep safety decide --json` prints it."""
        radius = self.config.radius
        return {
            "verdict": self.verdict,
            "radius": "inf" if radius is None else radius,
            "minimal_radius": self.minimal_radius,
            "expanded": self.expanded,
            "seconds": round(self.seconds, 6),
            "limit": self.limit,
            "horizon": self.config.horizon,
        }

    def save(self, path: Path) -> None:
        """Writes a record with the certificate of the answer; `misstep verify` checks it."""
        lab, config, record = self.lab, self.config, Record.create(path)
        digest = hashlib.sha256(lab.task.files.model.encode()).hexdigest()
        question = question_digest(lab.book.question)
        environment = {"misstep": __version__, "seed": config.seed, "model_sha256": digest}
        environment["question_sha256"] = question
        record.begin(
            config.absolute().to_toml(), environment=environment, files={MODEL: lab.task.files.model}
        )
        record.event(
            Started(
                task=config.subject,
                policy=config.policy,
                seed=config.seed,
                oracles=(config.decider,),
                kind="model",
            )
        )
        record.evidence(lab.book.header)
        if (claim := lab.claim(lab.state(self.state))) is not None:
            lab.enter(claim)
            if (block := lab.book.block()) is not None:
                record.evidence(block)
            certificate = make_certificate(
                lab.book,
                lab.task,
                lab.game,
                self.state,
                verdict="safe" if self.verdict == "safe" else "cleared",
                oracle=lab.name,
                task=config.subject,
                policy=config.policy,
                seed=config.seed,
            )
            record.store.write(DECISION, certificate_text(certificate))
        record.event(Finished(extra={"decision": self.as_json()}))
        record.close()


def decide(config: Config, state: str = "initial") -> Decision:
    """Decides about `initial`, `start:K` (the K-th start state) or the state with these values in JSON."""
    begin = time.perf_counter()
    budget = config.budget()
    task = load_model(config)
    policy = find_policy(config, task, budget)
    if config.radius is not None and policy is None:
        raise InputError("a finite radius counts deviations from a policy; give one with --policy")
    part: DeciderPart = make_part("decider", config.decider)
    game = task.game(policy, horizon=config.horizon)
    s = find_state(state, task, game, seed=config.seed)
    decider = part.bind(game)
    lab = ModelLab(
        task=task,
        game=game,
        decider=decider,
        name=part.name,
        budget=budget,
        radius=config.radius,
        horizon=config.horizon,
        max_expansions=part.max_expansions,
    )
    verdict = lab.verdict(s)
    expanded, minimal = decider.expanded, None
    if policy is not None and verdict != "unknown" and hasattr(decider, "minimal_radius"):
        minimal = decider.minimal_radius(s, budget=lab.budget.part(expansions=part.max_expansions))
    limit = next(iter(lab.limits_hit), None)
    return Decision(config, lab, s, verdict, limit, minimal, expanded, time.perf_counter() - begin)


def find_policy(config: Config, task: SafetyTask, budget: Budget) -> SafetyPolicy | None:
    """The policy that was asked for, or the one that the property names if its file is there."""
    if config.policy:
        return open_policy(config, task, budget=budget).policy
    network = task.files.network
    if network is None or not network.is_file():
        return None
    return network_policy(network, task, filter=config.filter)


def find_state(text: str, task: SafetyTask, game: JaniGame, *, seed: int) -> int:
    """The state that users mean."""
    if text == "initial":
        return game.initial()[0]
    if text.startswith("start:"):
        index = text.removeprefix("start:")
        if not index.isdecimal():
            raise InputError(f"--state {text!r}: expected start:K with a number K")
        starts = task.start_states(game, count=max(1000, int(index) + 1), seed=seed)
        if int(index) >= len(starts):
            raise InputError(f"--state {text!r}: there are {len(starts)} start states, counted from 0")
        return starts[int(index)]
    values = parse(text, "--state")
    if not isinstance(values, dict):
        raise InputError("--state: expected initial, start:K or a JSON object of values")
    return game.add(task.to_values(values, default=game.values(game.initial()[0])))
