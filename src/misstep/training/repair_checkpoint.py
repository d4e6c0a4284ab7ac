"""Retrainings on models that survive being killed: the whole state after a round, beside the network to be."""

import hashlib
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from misstep.budget import Watch
from misstep.errors import InputError
from misstep.formats.linear_layers import Layers
from misstep.safety.exam import Exam
from misstep.safety.model import SafetyTask
from misstep.training.qcheckpoint import identity, not_used, read_state, write_state
from misstep.training.qlearning import save
from misstep.training.repair import Repair, Repaired, RepairSettings, Standing

_LESSON_ARRAYS = 4


def retrain_to(
    out: Path,
    task: SafetyTask,
    network: Path,
    settings: RepairSettings,
    *,
    watch: Watch = nullcontext,
    progress: Callable[[int, Exam], None] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Repaired:
    """Retrains the network and writes the best one; LimitReached where `watch` raised it before there was any.

    Goes on where the same retraining was stopped, to the same network; what another one left is dropped, which
    `tell` is told.
    """
    file = repair_file(out)
    with watch():
        repair = Repair(task, network, settings)
        try:
            if file.is_file():
                load_repair(file, repair)
        except InputError as error:
            tell(not_used(error))
            repair = Repair(task, network, settings)
    try:
        found = repair.run(progress=progress, watch=watch, checkpoint=lambda at: save_repair(file, at))
        save(out, found.layers, found.inputs, found.outputs)
        if found.limit is None:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot write: {error.strerror}; the same command goes on") from None
    return found


def repair_file(out: Path) -> Path:
    """Where the state of a retraining is kept until it is over."""
    return out.with_suffix(".retraining.npz")


def save_repair(file: Path, repair: Repair) -> None:
    """Writes the state after a round, complete or not at all."""
    now, rows = repair.standing, repair.lessons.rows
    assert now is not None, "there is a measurement before anything is saved"
    about = {
        **_identity(repair),
        "time": repair.network.time,
        "random": repair.rng.bit_generator.state,
        "states": list(rows),
        "exams": [asdict(exam) for exam in (now.before, now.shielded, now.best, *now.rounds)],
    }
    lessons = repair.lessons.arrays() if rows else ()
    write_state(file, about, [*repair.network.arrays, *_flat(now.layers), *lessons])


def load_repair(file: Path, repair: Repair) -> None:
    """Brings a new retraining to where the state was saved; InputError where it belongs to another one."""
    about, arrays = read_state(file, _identity(repair))
    try:
        before, shielded, best, *rounds = (Exam(**exam) for exam in about["exams"])
        layers = [(weights.copy(), bias.copy()) for weights, bias in repair.layers]
        states = [tuple(values) for values in about["states"]]
        lessons = arrays[len(arrays) - _LESSON_ARRAYS :] if states else []
        mine = [*repair.network.arrays, *_flat(layers)]
        for own, stored in zip(mine, arrays[: len(arrays) - len(lessons)], strict=True):
            own[...] = stored
        rows = zip(*lessons, strict=True) if states else ()
        repair.lessons.rows.update(
            (values, (x, mask, int(label), float(weight)))
            for values, (x, mask, label, weight) in zip(states, rows, strict=True)
        )
        repair.network.time = about["time"]
        repair.rng.bit_generator.state = about["random"]
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{file}: the state of the retraining is damaged: {error}") from None
    repair.standing = Standing(before, shielded, best, layers, rounds)


def _flat(layers: Layers) -> list[NDArray[Any]]:
    return [array for layer in layers for array in layer]


def _identity(repair: Repair) -> dict[str, Any]:
    """What makes two retrainings the same: model, options, and the network at first."""
    weights = b"".join(array.tobytes() for array in _flat(repair.old))
    return {**identity(repair.settings, repair.task), "network": hashlib.sha256(weights).hexdigest()}
