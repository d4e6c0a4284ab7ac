"""Shields as policies: `shield:POLICY`, and files that hold what a shield does, for tests and for use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep._core import SafetyPolicy, python_policy
from misstep.config import Config
from misstep.errors import InputError
from misstep.formats.jani import parse, read_text
from misstep.plugins import make_part, option
from misstep.record.origin import names_code
from misstep.record.record import origin
from misstep.safety.lab import DeciderPart, ModelLab
from misstep.safety.model import SafetyTask, StateDict
from misstep.safety.policy import load_policy, policy_part
from misstep.safety.shield import Shield
from misstep.support.whole_files import write_file

FORMAT = 1
KIND = "safety-shield"


def make_shield(
    task: SafetyTask, policy: str, *, decider: str = "level", filter: bool | None = None
) -> Shield:
    """A shield around a policy that is named as for `--policy`."""
    part: DeciderPart = make_part("decider", decider)
    game = task.game(load_policy(policy, task, filter=filter))
    lab = ModelLab(
        task=task,
        game=game,
        decider=part.bind(game),
        name=part.name,
        max_expansions=part.max_expansions,
    )
    return Shield(lab)


def shield_function(shield: Shield) -> Callable[[StateDict, tuple[str, ...]], str | None]:
    """The shielded policy as a plain function of (state, applicable labels), for programs of any kind."""
    task, game = shield.lab.task, shield.lab.game

    def choose(state: StateDict, labels: tuple[str, ...], /) -> str | None:
        label = shield.choose(game.add(task.to_values(state)))
        return None if label is None else task.labels[label]

    return choose


def write_shield(path: Path, shield: Shield, *, policy: str, decider: str) -> None:
    """Writes what the shield has overruled so far; elsewhere the file's reader asks policy and decider."""
    lab = shield.lab
    rows = [
        [*lab.task.state(lab.game, s).values(), lab.task.labels[label]]
        for s, label in sorted(shield.overruled.items())
    ]
    document = {
        "format": FORMAT,
        "kind": KIND,
        "policy": policy,
        "decider": decider,
        "origin": origin(_asked(policy, decider)),
        "model_sha256": _digest(lab.task),
        "fields": lab.task.shown_fields,
        "overruled": rows,
    }
    try:
        write_file(path, json.dumps(document) + "\n")
    except OSError as error:
        raise InputError(f"{path}: cannot write there: {error.strerror}; choose another --out") from None


def read_shield(path: Path, task: SafetyTask, *, filter: bool | None = None) -> Shield:
    """A shield from its file; InputError where it was made for another model."""
    document = _read(path)
    if document.get("model_sha256") != _digest(task):
        raise InputError(f"{path}: the shield was made for another model or other conditions; make it again")
    policy, decider = _named_policy(path, document), document["decider"]
    shield = make_shield(task, policy, decider=decider, filter=filter)
    game, fields = shield.lab.game, document["fields"]
    for i, row in enumerate(document["overruled"]):
        try:
            *values, label = row
            s = game.add(task.to_values(dict(zip(fields, values, strict=True))))
            shield.overrule(s, task.labels.index(label))
        except (TypeError, ValueError, InputError) as error:
            raise InputError(f"{path}: $.overruled[{i}]: {error}; make the shield again") from None
    return shield


@dataclass(frozen=True)
class Shielded:
    """A policy behind a shield, which overrules it where it could become unsafe."""

    policy: str = option(
        "", "the policy, as for --policy; or a file of `misstep safety shield`, ending in .json"
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The shield's file and those of the policy behind it."""
        if self._file is None:
            return policy_part(self.policy).files
        return (self._file, *policy_part(_named_policy(self._file, _read(self._file))).files)

    def bind(self, task: SafetyTask, /, *, filter: bool | None = None) -> SafetyPolicy:
        """The shielded policy on a task."""
        if not self.policy:
            raise InputError("policy `shield` needs a policy or a file; write `shield:nnet:FILE`")
        shield = self._planned(task, filter) if self._file is None else read_shield(self._file, task)
        game = shield.lab.game

        def choose(values: Sequence[Any], applicable: Sequence[int]) -> int | None:
            return shield.choose(game.add(list(values)))

        return python_policy(task.model, choose)

    def _planned(self, task: SafetyTask, filter: bool | None) -> Shield:
        """What `misstep safety shield` would write: it does not go round for ever either."""
        shield = make_shield(task, self.policy, filter=filter)
        shield.plan(task.start_states(shield.lab.game))
        return shield

    @property
    def _file(self) -> Path | None:
        return Path(self.policy) if self.policy.endswith(".json") and ":" not in self.policy else None


def shield_of(config: Config, task: SafetyTask) -> Shield:
    """The shield around the policy that a configuration names, made within its limits."""
    shield = make_shield(task, config.policy, decider=config.decider, filter=config.filter)
    shield.lab.budget = config.budget()
    return shield


def _read(path: Path) -> dict[str, Any]:
    document = parse(read_text(path), str(path))
    if not isinstance(document, dict) or document.get("kind") != KIND or document.get("format") != FORMAT:
        raise InputError(f"{path}: this is no shield of format {FORMAT}; `misstep safety shield` makes one")
    for name, kind in (("policy", str), ("decider", str), ("fields", list), ("overruled", list)):
        if not isinstance(document.get(name), kind):
            what = "a text" if kind is str else "a list"
            raise InputError(f"{path}: $.{name}: expected {what}; make the shield again")
    return document


def _named_policy(path: Path, document: dict[str, Any]) -> str:
    policy: str = document["policy"]
    if policy.startswith("shield:"):
        raise InputError(f"{path}: $.policy: expected the policy behind the shield")
    if names_code(policy) and document.get("origin") != origin(_asked(policy, document["decider"])):
        raise InputError(
            f"{path}: the shield was not made by you on this machine, and its policy `{policy:.100}` is code "
            "that would run now; look at it first, then make the shield again with `misstep safety shield`"
        )
    return policy


def _asked(policy: str, decider: str) -> str:
    return f"shield {decider} {policy}"


def _digest(task: SafetyTask) -> str:
    conditions = json.dumps([task.files.unsafe, task.files.goal, task.constants, task.semantics.stated()])
    return hashlib.sha256((task.files.model + conditions).encode()).hexdigest()
