"""Records of safety tests read again: the evidence for people, and the model as it was tested."""

from dataclasses import dataclass, field
from typing import Any

from misstep.errors import InputError
from misstep.formats.jani import JaniTask
from misstep.record.record import EVIDENCE, MODEL, Record
from misstep.safety.model import SafetyTask, StateDict, semantics_of

Key = tuple[Any, ...]
"""The values of a state in the order of the evidence's names, and its step."""


@dataclass(frozen=True, slots=True)
class Step:
    """A state on an unsafe run, what the policy does there, and what is proven of the state."""

    state: StateDict
    action: str | None
    """None at the end of the run."""
    is_safe: bool
    is_lost: bool
    """Unsafe, or proven that unsafe states cannot be avoided; neither where a limit was hit."""
    alternative: str | None
    """What the strategy does there; None where the state is not known to be safe, or ends the game."""


@dataclass(slots=True)
class RecordedEvidence:
    """The evidence of a record by states. It is believed, not checked: `misstep verify` checks it."""

    header: dict[str, Any]
    states: list[Key] = field(default_factory=list)
    following: dict[Key, Key] = field(default_factory=dict)
    decisions: dict[Key, str | None] = field(default_factory=dict)
    strategy: dict[Key, str | None] = field(default_factory=dict)
    refuted: set[Key] = field(default_factory=set)

    @classmethod
    def read(cls, record: Record) -> "RecordedEvidence":
        """From a record; InputError where the evidence is missing or damaged."""
        try:
            header, *blocks = record.store.lines(EVIDENCE)
            found = cls(header)
            for block in blocks:
                found._add(block)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise InputError(
                f"{record.where}/{EVIDENCE}: the evidence is missing or damaged; `misstep verify` says more"
            ) from None
        return found

    def key(self, certificate: dict[str, Any]) -> Key:
        """The state of a certificate."""
        try:
            values = certificate["state"]
            key = (*(values[name] for name in self.header["fields"]), certificate["step"])
            hash(key)  # A list is no value.
            return key
        except (KeyError, TypeError):
            raise InputError(f"bug {certificate.get('id')}: its state cannot be read") from None

    def keys(self, certificate: dict[str, Any]) -> list[Key]:
        """The states of the unsafe run from the state of a certificate on, its unsafe end included."""
        keys = [self.key(certificate)]
        while (following := self.following.get(keys[-1])) is not None and len(keys) <= len(self.following):
            keys.append(following)
        return keys

    def run(self, certificate: dict[str, Any]) -> list[Step]:
        """The same with what the policy does and what is proven there."""
        return [
            self.step(key, self.decisions.get(key) if key in self.following else None)
            for key in self.keys(certificate)
        ]

    def step(self, key: Key, action: str | None) -> Step:
        """What is known of a state in which the policy does so; without an action it is an unsafe end."""
        return Step(
            self.facts(key),
            action,
            key in self.strategy,
            action is None or (key in self.refuted and key not in self.strategy),
            self.strategy.get(key),
        )

    def facts(self, key: Key) -> StateDict:
        """A state by names."""
        return dict(zip(self.header["fields"], key[:-1], strict=True))

    def _add(self, block: dict[str, Any]) -> None:
        counted = self.header["horizon"] is not None
        self.states += [tuple(row) if counted else (*row, 0) for row in block["states"]]
        for index, action in block["decisions"]:
            self.decisions[self.states[index]] = action
        for index, following in block["runs"]:
            self.following[self.states[index]] = self.states[following]
        for index, _, action in block["strategy"]:
            self.strategy[self.states[index]] = action
        self.refuted |= {self.states[index] for index, _, _ in block["refutation"]}


def recorded_model(record: Record, evidence: RecordedEvidence) -> SafetyTask:
    """The model of a record with the conditions that were tested, whatever became of the files."""
    text = record.store.read(MODEL)
    if text is None:
        raise InputError(f"{record.where}: the record has no {MODEL}")
    header, config = evidence.header, record.config()
    files = JaniTask(text, f"{record.where}/{MODEL}", header["unsafe"], header["goal"], None, None)
    return SafetyTask(files, constants=header["constants"], semantics=semantics_of(config))
