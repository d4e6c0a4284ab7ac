"""Trainings that survive being killed: the whole state of a training beside the network that it makes."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict, replace
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
    seeds: int = 1,
    resume: bool = False,
    progress: Callable[[int, float], None] | None = None,
) -> Exam:
    """Trains from one seed after another and writes the best policy; how that did when it was examined.

    There are checkpoints on the way, from which `resume` goes on to the same network. A training without a
    checkpoint starts anew, and gives the same network too.
    """
    file, done = checkpoint_file(out), _done_file(out)
    exams = _read_done(done) if resume else []
    best = max(exams, key=lambda exam: exam.rank, default=None)
    try:
        for seed in range(settings.seed + len(exams), settings.seed + seeds):
            training = QTraining(task, replace(settings, seed=seed))
            if resume and file.is_file():
                load_checkpoint(file, training, task)
            training.run(progress=progress, checkpoint=lambda at: save_checkpoint(file, at, task))
            assert training.exam is not None, "the last step is followed by an examination"
            if best is None or training.exam.rank > best.rank:
                best = training.exam
                save(out, *training.result)
            exams.append(training.exam)
            file.unlink(missing_ok=True)  # first: it belongs to no seed that is done
            done.write_text(json.dumps([asdict(exam) for exam in exams]) + "\n", encoding="utf-8")
        done.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{out}: cannot write: {error.strerror}; `--resume` goes on with the last checkpoint"
        ) from None
    assert best is not None, "there is at least one seed"
    return best


def _done_file(out: Path) -> Path:
    """Where the examinations of the seeds that are done are kept until all are."""
    return out.with_suffix(".seeds.json")


def _read_done(file: Path) -> list[Exam]:
    try:
        return [Exam(**exam) for exam in json.loads(file.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except (OSError, TypeError, ValueError) as error:
        raise InputError(f"{file}: it cannot be read: {error}; train without --resume") from None


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
