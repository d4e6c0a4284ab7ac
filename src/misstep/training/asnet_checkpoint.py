"""Where a training session stands, on disk: a kill at any moment loses at most the epoch under way."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from misstep.errors import InputError
from misstep.formats.asnet_model import Floats
from misstep.formats.safetensors import read_safetensors, write_safetensors
from misstep.support.plain import read_fields, reading
from misstep.training.asnet_data import AnyData, PoolEntry
from misstep.training.asnet_run import Score, TrainerState, TrainingRun

STATE = "state.safetensors"
_FORMAT = "misstep-asnet-training-1"


class Checkpoint:
    """`state.safetensors` (runs, random numbers) and `pool.jsonl` (labelled states) in a directory.

    The state is replaced as a whole and says how many lines of the pool belong to it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._state = folder / STATE
        self._pool = folder / "pool.jsonl"
        self._written = 0

    @property
    def exists(self) -> bool:
        """Whether there is something to go on from."""
        return self._state.is_file()

    def save(self, runs: Sequence[TrainingRun], data: AnyData, *, config: str, seconds: float) -> None:
        """Writes everything; InputError where the disk is full."""
        arrays = {}
        about = []
        for number, run in enumerate(runs):
            about.append(asdict(_RunState.of(run)))
            if not _has_arrays(run):
                continue
            for name in ("parameters", "means", "squares"):
                arrays[f"{number}.{name}"] = getattr(run.state, name)
            for age, parameters in enumerate(run.recent):
                arrays[f"{number}.recent.{age}"] = parameters
        whole = {"config": config, "runs": about, "pool": len(data.entries), "seconds": seconds}
        try:
            with self._pool.open("a", encoding="utf-8") as file:
                for entry in data.entries[self._written :]:
                    file.write(json.dumps([entry.task, entry.facts, entry.regrets]) + "\n")
                file.flush()
                os.fsync(file.fileno())
            self._written = len(data.entries)
            write_safetensors(self._state, arrays, metadata={"format": _FORMAT, "state": json.dumps(whole)})
        except OSError as error:
            raise InputError(
                f"{self.folder}: the state of training cannot be written: {error.strerror}; make room and "
                "give the same command again to go on"
            ) from None

    def load(self, runs: Sequence[TrainingRun], data: AnyData, *, config: str) -> float:
        """Brings runs and pool to where they were; the seconds spent so far."""
        arrays, metadata = read_safetensors(self._state)
        with reading(self._state):
            whole = json.loads(metadata["state"])
            if whole["config"] != config:
                raise InputError(
                    f"{self.folder}: holds a training with other tasks or options; choose another --out"
                )
            for number, (run, about) in enumerate(zip(runs, whole["runs"], strict=True)):
                _restore(run, read_fields(_RunState, about), number, arrays)
            with reading(self._pool):
                self._load_pool(data, whole["pool"])
            return float(whole["seconds"])

    def _load_pool(self, data: AnyData, count: int) -> None:
        lines = self._pool.read_text(encoding="utf-8").splitlines(keepends=True) if count else []
        if len(lines) < count:
            raise InputError(f"{self._pool}: has {len(lines)} lines, not {count}; choose another --out")
        for line in lines[:count]:
            task, facts, regrets = json.loads(line)
            data.restore(PoolEntry(task, tuple(facts), tuple((name, regret) for name, regret in regrets)))
        if self._pool.is_file():  # Lines that no state knows of are from an epoch that was not finished.
            os.truncate(self._pool, sum(len(line.encode()) for line in lines[:count]))
        self._written = count


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunState:
    """What is known of a run beside its arrays."""

    name: str
    steps: int
    random_state: str
    """Larger than the whole numbers of JSON in other languages."""
    epoch: int
    best: Score | None
    best_epoch: int
    best_success_rate: float
    solved_epochs: int
    perfect_epochs: int
    alive: bool
    recent: int

    @classmethod
    def of(cls, run: TrainingRun) -> "_RunState":
        return cls(
            steps=run.state.steps,
            random_state=str(run.state.random_state),
            recent=len(run.recent),
            name=run.name,
            **{name: getattr(run, name) for name in _SIMPLE},
        )


def _has_arrays(run: "TrainingRun | _RunState") -> bool:
    """Whether a run is under way: one that ended needs its arrays no more, a coming one is made anew."""
    return run.alive and run.epoch > 0


_SIMPLE = ("epoch", "best", "best_epoch", "best_success_rate", "solved_epochs", "perfect_epochs", "alive")


def _restore(run: TrainingRun, about: _RunState, number: int, arrays: Mapping[str, Floats]) -> None:
    for name in _SIMPLE:
        setattr(run, name, getattr(about, name))
    if not _has_arrays(about):
        return
    parameters, means, squares = (arrays[f"{number}.{name}"] for name in ("parameters", "means", "squares"))
    recent = [arrays[f"{number}.recent.{age}"] for age in range(about.recent)]
    if any(array.shape != run.state.parameters.shape for array in (parameters, means, squares, *recent)):
        raise ValueError(f"the weights of `{run.name}` have another size")
    run.state = TrainerState(parameters, means, squares, about.steps, int(about.random_state))
    run.recent = recent
