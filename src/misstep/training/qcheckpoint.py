"""Trainings that survive being killed: the whole state of a training beside the network that it makes."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep.errors import InputError
from misstep.safety.exam import Exam
from misstep.safety.model import SafetyTask
from misstep.training.qlearning import QSettings, QTraining, save

_ABOUT = "about"


def prepare(out: Path) -> None:
    """Makes sure that a policy can be written there, before hours are spent on it."""
    if out.suffix != ".jani2nnet":
        raise InputError(f"{out}: the policy's file ends in .jani2nnet")
    probe = out.with_name(f".{out.name}.part")
    try:
        if out.is_dir():
            raise IsADirectoryError(0, "it is a directory")
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise InputError(f"{out}: cannot write there: {error.strerror}; choose another --out") from None


def train_to(
    out: Path,
    task: SafetyTask,
    settings: QSettings,
    *,
    resume: bool = False,
    progress: Callable[[int, float], None] | None = None,
) -> QTraining:
    """Trains and writes the policy; checkpoints on the way, from which `resume` goes on to the same network.

    A training without a checkpoint starts anew, and gives the same network too.
    """
    training, file = QTraining(task, settings), checkpoint_file(out)
    if resume and file.is_file():
        load_checkpoint(file, training, task)
    try:
        training.run(progress=progress, checkpoint=lambda at: save_checkpoint(file, at, task))
        save(out, *training.result)
        file.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{out}: cannot write: {error.strerror}; `--resume` goes on with the last checkpoint"
        ) from None
    return training


def checkpoint_file(out: Path) -> Path:
    """Where the state of a training is kept until it is over."""
    return out.with_suffix(".training.npz")


def save_checkpoint(file: Path, training: QTraining, task: SafetyTask) -> None:
    """Writes the state of a training, complete or not at all."""
    about = {
        **_identity(training.settings, task),
        "step": training.step,
        "time": training.network.time,
        "count": training.memory.count,
        "ends": training.ends,
        "exam": None if training.exam is None else asdict(training.exam),
        "random": training.rng.bit_generator.state,
        "simulator": training.simulator.snapshot(),
    }
    arrays = {f"{number:03d}": array for number, array in enumerate(_arrays(training))}
    draft = file.with_name(f".{file.name}.part")
    with draft.open("wb") as stream:
        np.savez(stream, **{_ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]
    draft.replace(file)


def load_checkpoint(file: Path, training: QTraining, task: SafetyTask) -> None:
    """Brings a new training to where the checkpoint was made; InputError where it belongs to another one."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            about = json.loads(stored[_ABOUT].tobytes())
            arrays = [stored[name] for name in sorted(stored.files) if name != _ABOUT]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{file}: this is no checkpoint: {error}; train without --resume") from None
    for name, value in _identity(training.settings, task).items():
        if about.get(name) != value:
            raise InputError(
                f"{file}: the training had another {name}; use the same, or train without --resume"
            )
    try:
        for mine, theirs in zip(_arrays(training), arrays, strict=True):
            mine[...] = theirs
        training.step, training.network.time = about["step"], about["time"]
        training.memory.count, training.ends = about["count"], about["ends"]
        training.exam = None if about["exam"] is None else Exam(**about["exam"])
        training.rng.bit_generator.state = about["random"]
        training.simulator.restore(about["simulator"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: the checkpoint is damaged: {error}; train without --resume") from None


def _arrays(training: QTraining) -> list[NDArray[Any]]:
    return [
        *training.network.arrays,
        *training.target.weights,
        *training.target.biases,
        *training.best.weights,
        *training.best.biases,
        *training.memory.arrays,
    ]


def _identity(settings: QSettings, task: SafetyTask) -> dict[str, Any]:
    """What makes two trainings the same."""
    conditions = json.dumps([task.files.unsafe, task.files.goal, task.files.start, task.constants])
    told = json.loads(json.dumps(asdict(settings)))
    return {
        **told,
        "model": hashlib.sha256((task.files.model + conditions).encode()).hexdigest(),
        "semantics": asdict(task.semantics),
    }
