"""Trainings that survive being killed: the whole state of a training beside the network that it makes."""

import hashlib
import io
import json
import os
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep.budget import Watch
from misstep.errors import InputError, LimitReached
from misstep.formats.linear_layers import Layers
from misstep.safety.exam import Exam
from misstep.safety.model import SafetyTask
from misstep.support.whole_files import whole_file, write_file
from misstep.training.qlearning import QSettings, QTraining, save
from misstep.training.repair import RepairSettings

_ABOUT = "about"
_ANEW = "train without --resume"
_DAMAGES = (
    *(
        OSError,
        EOFError,
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        RuntimeError,
        SyntaxError,
    ),
    *(TypeError, ValueError, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
"""What reading a damaged archive raises: the headers of arrays are read with Python's own tokenizer."""


def not_used(error: InputError) -> str:
    """What to say where a state cannot be gone on with and is dropped; advice on `--resume` does not belong there."""
    return f"{str(error).partition('; ')[0]}; it is not used, and the work starts anew"


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


@dataclass(frozen=True, slots=True)
class QTrained:
    """What training gave: how the policy that was written did when it was examined, and what ended it early."""

    exam: Exam
    limit: str | None = None
    """`seconds` or `memory`; the checkpoint is still there."""


@dataclass(slots=True)
class _Seed:
    """The training from one seed, as far as it came: what was examined last, and the limit that ended it."""

    exam: Exam | None = None
    network: tuple[Layers, list[str], list[str]] | None = None
    limit: str | None = None


def train_to(
    out: Path,
    task: SafetyTask,
    settings: QSettings,
    *,
    seeds: int = 1,
    resume: bool = False,
    watch: Watch = nullcontext,
    progress: Callable[[int, float], None] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> QTrained:
    """Trains from one seed after another and writes the best policy.

    There are checkpoints on the way, from which the same training goes on to the same network. A training without
    one starts anew, and gives the same network too; with `resume` it is an InputError where what is there belongs
    to another training. `watch` is around all work: where it raises
    LimitReached, the best policy that was examined until then is written; where there is none it is raised again.
    """
    file, done = checkpoint_file(out), _done_file(out)
    limit = None
    try:
        exams = _read_done(done, identity(settings, task), must=resume)
        best = max(exams, key=lambda exam: exam.rank, default=None)
        for seed in range(settings.seed + len(exams), settings.seed + seeds):
            found = _train(file, task, replace(settings, seed=seed), resume, watch, progress, tell)
            if found.exam is not None and found.network is not None:
                if best is None or found.exam.rank > best.rank:
                    best = found.exam
                    save(out, *found.network)
                exams.append(found.exam)
            limit = found.limit
            if limit is not None:
                break
            file.unlink(missing_ok=True)  # first: it belongs to no seed that is done
            told = {**identity(settings, task), "exams": [asdict(exam) for exam in exams]}
            write_file(done, json.dumps(told) + "\n")
        else:
            done.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{out}: cannot write: {error.strerror}; `--resume` goes on with the last checkpoint"
        ) from None
    if best is None:
        raise LimitReached(
            f"no policy was examined within the limit on {limit}; allow more", limit or "seconds"
        )
    return QTrained(best, limit)


def _train(
    file: Path,
    task: SafetyTask,
    settings: QSettings,
    resume: bool,
    watch: Watch,
    progress: Callable[[int, float], None] | None,
    tell: Callable[[str], None],
) -> _Seed:
    """Goes on from the checkpoint, where there is one, from examination to examination."""
    found = _Seed()
    try:
        with watch():
            training = QTraining(task, settings)
            try:
                if file.is_file():
                    load_checkpoint(file, training, task)
            except InputError as error:
                if resume:
                    raise
                tell(not_used(error))
                training = QTraining(task, settings)
        found.exam, found.network = training.exam, training.result
        while not training.is_over:
            with watch():
                training.advance(progress=progress)
            save_checkpoint(file, training, task)
            found.exam, found.network = training.exam, training.result
    except LimitReached as reached:
        found.limit = reached.limit
    return found


def _done_file(out: Path) -> Path:
    """Where the examinations of the seeds that are done are kept until all are."""
    return out.with_suffix(".seeds.json")


def _read_done(file: Path, wanted: Mapping[str, Any], *, must: bool) -> list[Exam]:
    """Those of the same training; none where there are none, InputError where they `must` be of this one."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        if must and isinstance(told, list):  # Versions before did not write whose they are.
            told = {**wanted, "exams": told}
        if any(told[name] != value for name, value in wanted.items()):
            raise ValueError("it belongs to another training")
        return [Exam(**exam) for exam in told["exams"]]
    except FileNotFoundError:
        return []
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        if not must:
            return []
        raise InputError(f"{file}: it cannot be used: {error}; {_ANEW}") from None


def checkpoint_file(out: Path) -> Path:
    """Where the state of a training is kept until it is over."""
    return out.with_suffix(".training.npz")


def save_checkpoint(file: Path, training: QTraining, task: SafetyTask) -> None:
    """Writes the state of a training, complete or not at all."""
    about = {
        **identity(training.settings, task),
        "step": training.step,
        "time": training.network.time,
        "count": training.memory.count,
        "ends": training.ends,
        "exam": None if training.exam is None else asdict(training.exam),
        "random": training.rng.bit_generator.state,
        "simulator": training.simulator.snapshot(),
    }
    write_state(file, about, _arrays(training))


def load_checkpoint(file: Path, training: QTraining, task: SafetyTask) -> None:
    """Brings a new training to where the checkpoint was made; InputError where it belongs to another one."""
    about, arrays = read_state(file, identity(training.settings, task))
    try:
        for mine, theirs in zip(_arrays(training), arrays, strict=True):
            mine[...] = theirs
        training.step, training.network.time = about["step"], about["time"]
        training.memory.count, training.ends = about["count"], about["ends"]
        training.exam = None if about["exam"] is None else Exam(**about["exam"])
        training.rng.bit_generator.state = about["random"]
        training.simulator.restore(about["simulator"])
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{file}: the checkpoint is damaged: {error}; {_ANEW}") from None


def write_state(file: Path, about: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> None:
    """Writes plain data and arrays, complete or not at all."""
    named = {f"{number:03d}": array for number, array in enumerate(arrays)}
    with whole_file(file) as descriptor, os.fdopen(os.dup(descriptor), "wb") as stream:
        np.savez(stream, **{_ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8)}, **named)  # type: ignore[arg-type]


def read_state(file: Path, wanted: Mapping[str, Any]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """What `write_state` wrote; InputError where it belongs to a training that was told something else."""
    try:
        with zipfile.ZipFile(file) as container:
            # What we write is not compressed: a small file cannot hold much.
            if sum(member.file_size for member in container.infolist()) > file.stat().st_size:
                raise ValueError("its parts are larger than the file")
            stored = {name: _array(container.read(name)) for name in sorted(container.namelist())}
        about = json.loads(stored.pop(f"{_ABOUT}.npy").tobytes())
        arrays = list(stored.values())
        others = [name for name, value in wanted.items() if about.get(name) != value]
    except _DAMAGES as error:
        raise InputError(f"{file}: this is no checkpoint: {error}; {_ANEW}") from None
    if others:
        raise InputError(f"{file}: the training had another {others[0]}; use the same, or {_ANEW}")
    return about, arrays


def _array(data: bytes) -> NDArray[Any]:
    """An array of a `.npy` file. NumPy's own reading makes room for whatever shape the header tells."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array of another version")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.hasobject or is_fortran:
        raise ValueError(f"an array of {dtype}")
    # A copy, since what is read is trained on.
    return np.frombuffer(stream.read(), dtype).reshape(shape).copy()


def _arrays(training: QTraining) -> list[NDArray[Any]]:
    return [
        *training.network.arrays,
        *training.target.weights,
        *training.target.biases,
        *training.best.weights,
        *training.best.biases,
        *training.memory.arrays,
    ]


def identity(settings: QSettings | RepairSettings, task: SafetyTask) -> dict[str, Any]:
    """What makes two trainings the same."""
    conditions = json.dumps([task.files.unsafe, task.files.goal, task.files.start, task.constants])
    told = json.loads(json.dumps(asdict(settings)))
    return {
        **told,
        "model": hashlib.sha256((task.files.model + conditions).encode()).hexdigest(),
        "semantics": asdict(task.semantics),
    }
