"""Dominance functions as files: a line of JSON, then the factors' values. Nothing in them is trusted."""

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep._core import Dominance, Task
from misstep.errors import InputError
from misstep.support.whole_files import write_file

_FORMAT = "misstep dominance 1"
_MAX_HEADER = 1_000_000


def save(dominance: Dominance, path: str | Path) -> None:
    """Writes a dominance function. The file names its task by a digest and holds no variable numbers."""
    matrices = [dominance.factor_values(i) for i in range(len(dominance.describe()))]
    header = {
        "format": _FORMAT,
        "task": _digest(dominance.task),
        "factors": dominance.factors,
        "max_transitions": dominance.max_transitions,
        "merges": dominance.num_merges,
        "order": dominance.order,
        "limit": dominance.limit,
        "sizes": [len(matrix) for matrix in matrices],
    }
    body = zlib.compress(b"".join(matrix.astype("<i4").tobytes() for matrix in matrices), 6)
    try:
        write_file(Path(path), json.dumps(header).encode() + b"\n" + body)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}; choose another file") from None


def load(task: Task, path: str | Path) -> Dominance:
    """Reads what `save` wrote for the same task; InputError for anything else.

    The factors are made again, which is fast, and the values are checked to be a fixed point: a file that was
    changed cannot make the function unsound.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    head, _, body = content.partition(b"\n")
    header = _header(path, head)
    if header["task"] != _digest(task):
        raise InputError(f"{path}: was computed for another task; compute it again")
    sizes = [int(size) for size in header["sizes"]]
    dominance = Dominance(
        task,
        factors=str(header["factors"]),
        max_transitions=int(header["max_transitions"]),
        max_merges=int(header["merges"]),
        order=str(header["order"]),
        fixed_point=False,
    )
    found = [int(factor["states"]) for factor in dominance.describe()]
    if all(size == 0 for size in sizes) and any(found):
        return dominance  # Computed without memory for anything: what is here already is more.
    if sizes != found:
        raise InputError(f"{path}: has factors of {sizes} states, the task has {found}; compute it again")
    try:
        dominance.replace_values(_matrices(path, body, sizes))
    except InputError as error:
        raise InputError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
    return dominance


def _header(path: str | Path, head: bytes) -> dict[str, Any]:
    try:
        header = json.loads(head[:_MAX_HEADER])
    except (ValueError, RecursionError):
        header = None
    match header:
        case {
            "format": str(kind),
            "task": str(),
            "factors": "merged" | "atomic",
            "max_transitions": int(most),
            "merges": int(merges),
            "order": "newest" | "smallest",
            "sizes": [*sizes],
        } if 0 <= most < 2**40 and 0 <= merges < 2**40 and all(type(size) is int for size in sizes):
            if kind == _FORMAT:
                return dict(header)
            raise InputError(f"{path}: has the format `{kind[:80]}`, this version reads `{_FORMAT}`")
    raise InputError(f"{path}: is no dominance function; `misstep dominance --save` writes one")


def _matrices(path: str | Path, body: bytes, sizes: list[int]) -> list[NDArray[np.int32]]:
    expected = 4 * sum(size * size for size in sizes)
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(body, expected + 1)
    except zlib.error:
        data = b""
    if len(data) != expected:
        raise InputError(f"{path}: is damaged or cut off; compute it again")
    matrices, offset = [], 0
    for size in sizes:
        flat = np.frombuffer(data, "<i4", size * size, offset)
        matrices.append(np.ascontiguousarray(flat.reshape(size, size), dtype=np.int32))
        offset += 4 * size * size
    return matrices


def _digest(task: Task) -> str:
    """Of everything that D depends on."""
    content = [
        [[task.fact_name(var, value) for value in range(n)] for var, n in enumerate(task.domain_sizes)],
        task.initial_state.values,
        task.goal,
        [[a.name, a.precondition, a.effect, a.cost] for a in task.actions],
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
