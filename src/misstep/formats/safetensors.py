"""Reads and writes safetensors files: named arrays and text metadata, nothing that could be executed."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from misstep.errors import InputError
from misstep.support.whole_files import write_file

_MAX_HEADER = 100_000_000  # As in the format's reference implementation.


def is_safetensors(head: bytes) -> bool:
    """Whether a file that begins so may be one: a length of 8 bytes, then JSON."""
    return len(head) >= 9 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= _MAX_HEADER


def write_safetensors(
    path: str | Path, arrays: Mapping[str, NDArray[np.float32]], *, metadata: Mapping[str, str] | None = None
) -> None:
    """Writes float32 arrays by name, complete or not at all; `metadata` is text by name."""
    header: dict[str, object] = {"__metadata__": dict(metadata or {})}
    blobs = []
    offset = 0
    for name, array in arrays.items():
        blob = np.ascontiguousarray(array, dtype="<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    write_file(Path(path), len(text).to_bytes(8, "little") + text + b"".join(blobs))


def read_safetensors(path: str | Path) -> tuple[dict[str, NDArray[np.float32]], dict[str, str]]:
    """All arrays and the metadata. InputError where the file is damaged or holds other than float32."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or size > min(_MAX_HEADER, len(content) - 8):
        raise InputError(f"{path}: is no complete safetensors file")
    try:
        header = json.loads(content[8 : 8 + size])
    except (ValueError, RecursionError):
        raise InputError(f"{path}: the header is not JSON; is this a safetensors file?") from None
    if not isinstance(header, dict):
        raise InputError(f"{path}: the header is not a JSON object; is this a safetensors file?")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise InputError(f"{path}: the metadata is not a JSON object of texts")
    data = memoryview(content)[8 + size :]
    arrays = {name: _array(f"{path}: array `{name}`", entry, data) for name, entry in header.items()}
    return arrays, metadata


def _array(where: str, entry: object, data: memoryview) -> NDArray[np.float32]:
    match entry:
        case {"dtype": "F32", "shape": [*shape], "data_offsets": [int(begin), int(end)]} if all(
            type(length) is int and length >= 0 for length in shape
        ):
            if not 0 <= begin <= end <= len(data) or end - begin != 4 * math.prod(shape):
                raise InputError(f"{where} lies outside the file or has another size than {shape}")
            try:
                return np.frombuffer(data[begin:end], "<f4").reshape(shape).astype(np.float32)
            except ValueError as error:
                raise InputError(f"{where}: {shape} is no possible shape: {error}") from None
    raise InputError(f"{where} is not described as a float32 array; write it as one")
