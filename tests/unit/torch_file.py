"""Writes checkpoints as PyTorch does, without PyTorch, instruction by instruction."""

import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

REBUILD = "torch._utils _rebuild_tensor_v2"


def write_checkpoint(path: Path, content: object, *, folder: str = "archive") -> Path:
    arrays: list[np.ndarray] = []
    pickled = b"\x80\x02" + encode(content, arrays) + b"."
    return write_zip(
        path, pickled, {str(at): array.tobytes() for at, array in enumerate(arrays)}, folder=folder
    )


def write_zip(
    path: Path,
    pickled: bytes,
    storages: Mapping[str, bytes],
    *,
    folder: str = "archive",
    compression: int = 0,
) -> Path:
    with zipfile.ZipFile(path, "w", compression) as out:
        out.writestr(f"{folder}/data.pkl", pickled)
        out.writestr(f"{folder}/byteorder", "little")
        for key, data in storages.items():
            out.writestr(f"{folder}/data/{key}", data)
    return path


def encode(value: object, arrays: list[np.ndarray]) -> bytes:
    """Pickle instructions, protocol 2, for plain data and float32 arrays."""
    match value:
        case None:
            return b"N"
        case bool():
            return b"\x88" if value else b"\x89"
        case int():
            return b"J" + struct.pack("<i", value)
        case float():
            return b"G" + struct.pack(">d", value)
        case str():
            return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
        case tuple():
            return b"(" + b"".join(encode(part, arrays) for part in value) + b"t"
        case list():
            return b"](" + b"".join(encode(part, arrays) for part in value) + b"e"
        case dict():
            items = b"".join(encode(key, arrays) + encode(part, arrays) for key, part in value.items())
            return b"}(" + items + b"u"
        case np.ndarray():
            arrays.append(np.ascontiguousarray(value, np.float32))
            strides = tuple(step // 4 for step in arrays[-1].strides)
            return tensor(str(len(arrays) - 1), value.size, 0, value.shape, strides)
    raise TypeError(type(value))


def tensor(
    key: str,
    size: int,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    *,
    storage: str = "torch FloatStorage",
) -> bytes:
    reference = b"(" + encode("storage", []) + name(storage)
    reference += encode(key, []) + encode("cpu", []) + encode(size, []) + b"tQ"
    hooks = name("collections OrderedDict") + b")R"
    rest = b"".join(encode(part, []) for part in (offset, shape, strides, False))
    return name(REBUILD) + b"(" + reference + rest + hooks + b"tR"


def name(words: str) -> bytes:
    return b"c" + words.replace(" ", "\n").encode() + b"\n"
