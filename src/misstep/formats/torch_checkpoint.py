"""PyTorch checkpoints (`torch.save`, zip format) as numpy arrays and plain data, without PyTorch.

Only tensors, dicts, lists, tuples, texts and numbers are read; a file that names anything else is refused.
"""

import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from misstep.errors import InputError
from misstep.formats.numpy_scalars import NUMPY_SCALARS
from misstep.formats.restricted_pickle import Global, is_name, read_pickle

MAX_PICKLE_BYTES = 64 << 20
MAX_TENSOR_BYTES = 1 << 30
"""Of all tensors of a file together."""

Array: TypeAlias = NDArray[Any]

_DTYPES = {
    "torch.FloatStorage": "<f4",
    "torch.DoubleStorage": "<f8",
    "torch.HalfStorage": "<f2",
    "torch.LongStorage": "<i8",
    "torch.IntStorage": "<i4",
    "torch.ShortStorage": "<i2",
    "torch.CharStorage": "i1",
    "torch.ByteStorage": "u1",
    "torch.BoolStorage": "?",
}


@dataclass(frozen=True, slots=True)
class _Storage:
    key: str
    dtype: np.dtype[Any]
    size: int


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor whose numbers are still in the file; its shape has been checked against them."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


class TorchCheckpoint:
    """An open checkpoint. `content` is what was saved, with a `Tensor` for each tensor."""

    def __init__(self, path: str | Path) -> None:
        self.source = str(path)
        self._read_bytes = 0
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise InputError(f"{path}: no such file; a PyTorch checkpoint was expected here") from None
        except OSError as error:
            raise InputError(f"{path}: cannot read the checkpoint: {error.strerror or error}") from None
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            raise InputError(
                f"{path}: this is no PyTorch checkpoint in zip format, or it is damaged; "
                "files from PyTorch before 1.6 must be saved again with a newer one"
            ) from None
        try:
            self._folder = self._find_folder()
            order = self._member("byteorder", limit=16, default=b"little")
            if order != b"little":
                raise InputError(f"{path}: byte order `{order.decode('latin-1')}`; only `little` is read")
            pickled = self._member("data.pkl", limit=MAX_PICKLE_BYTES)
            self.content = read_pickle(
                pickled, source=self.source, globals=_GLOBALS, persistent=self._storage
            )
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> "TorchCheckpoint":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def section(self, key: str) -> dict[Any, Any]:
        """The dict under a key of the checkpoint."""
        content = self.content
        found = content.get(key) if isinstance(content, dict) else None
        if not isinstance(found, dict):
            raise InputError(f"{self.source}: has no dict `{key}`; is it a checkpoint of another kind?")
        return found

    def array(self, tensor: Tensor) -> Array:
        """The numbers of a tensor, in a fresh array."""
        storage = tensor.storage
        bytes_needed = storage.size * storage.dtype.itemsize
        self._read_bytes += bytes_needed
        if self._read_bytes > MAX_TENSOR_BYTES:
            raise InputError(f"{self.source}: more than {MAX_TENSOR_BYTES >> 20} MB of tensors")
        raw = self._member(f"data/{storage.key}", limit=bytes_needed)
        flat = np.frombuffer(raw, storage.dtype)
        strides = tuple(step * storage.dtype.itemsize for step in tensor.stride)
        # The shape was checked in _tensor, so the view stays inside of the storage.
        view = np.lib.stride_tricks.as_strided(flat[tensor.offset :], tensor.shape, strides, writeable=False)
        return np.array(view, order="C")

    def _find_folder(self) -> str:
        found = [name for name in self._zip.namelist() if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(found) != 1:
            raise InputError(f"{self.source}: a zip file, but no PyTorch checkpoint (no single data.pkl)")
        return found[0].removesuffix("data.pkl")

    def _info(self, name: str) -> zipfile.ZipInfo | None:
        try:
            return self._zip.getinfo(self._folder + name)
        except KeyError:
            return None

    def _member(self, name: str, *, limit: int, default: bytes | None = None) -> bytes:
        info = self._info(name)
        if info is None:
            if default is None:
                raise InputError(f"{self.source}: `{name}` is missing in the zip file")
            return default
        # PyTorch stores without compression; so a member is never larger than the file itself.
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise InputError(f"{self.source}: `{name}` is compressed; PyTorch does not do that")
        if info.file_size > limit:
            raise InputError(f"{self.source}: `{name}` has {info.file_size} bytes, more than {limit}")
        try:
            data = self._zip.read(info)
        except (
            zipfile.BadZipFile,
            EOFError,
            OSError,
            RuntimeError,
            ValueError,
            NotImplementedError,
        ) as error:
            raise InputError(f"{self.source}: `{name}` is damaged: {error}") from None
        if len(data) != info.file_size:
            raise InputError(f"{self.source}: `{name}` is cut off")
        return data

    def _storage(self, reference: Any) -> _Storage:
        """What the pickle's `("storage", type, key, device, size)` points to."""
        if not isinstance(reference, tuple) or len(reference) != 5 or reference[0] != "storage":
            raise InputError("a reference that is no tensor storage")
        _, kind, key, device, size = reference
        dtype = _DTYPES.get(is_name(kind, _DTYPES) or "")
        if dtype is None:
            raise InputError("a tensor storage of unknown type")
        if not isinstance(key, str) or not isinstance(device, str) or not _is_size(size):
            raise InputError("a malformed tensor storage")
        storage = _Storage(key, np.dtype(dtype), size)
        info = self._info(f"data/{key}")
        if info is None:
            raise InputError(f"tensor storage `{key}`, which is missing in the zip file")
        if info.file_size != size * storage.dtype.itemsize:
            raise InputError(
                f"tensor storage `{key}` of {size} numbers, for which the file has {info.file_size} bytes"
            )
        return storage


def read_checkpoint(path: str | Path) -> TorchCheckpoint:
    """Opens a checkpoint and reads all of it except the tensors' numbers; use it in a `with`."""
    return TorchCheckpoint(path)


def tensors(section: Mapping[Any, Any]) -> dict[str, Tensor]:
    """The tensors of a state dict by name."""
    return {name: value for name, value in section.items() if isinstance(value, Tensor)}


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 40


def _are_sizes(values: object) -> bool:
    return isinstance(values, tuple) and len(values) <= 8 and all(map(_is_size, values))


def _tensor(*arguments: Any) -> Tensor:
    """Stands for `torch._utils._rebuild_tensor_v2`."""
    if not 6 <= len(arguments) <= 7 or not isinstance(arguments[0], _Storage):
        raise InputError("a malformed tensor")
    storage, offset, shape, stride = arguments[:4]
    if not _is_size(offset) or not _are_sizes(shape) or not _are_sizes(stride) or len(shape) != len(stride):
        raise InputError("a malformed tensor")
    if 0 in shape:
        last = offset
    else:
        last = offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True)) + 1
    # The second test keeps a small file from describing a huge tensor that repeats a few numbers.
    if last > storage.size or math.prod(shape) > storage.size:
        raise InputError(f"a tensor of shape {shape} that does not fit its storage of {storage.size} numbers")
    return Tensor(storage, offset, shape, stride)


def _ordered_dict(*arguments: Any) -> dict[Any, Any]:
    """Stands for `collections.OrderedDict`."""
    if arguments:
        raise InputError("unexpected arguments")
    return {}


def _no_call(name: str, *_: Any) -> Any:
    raise InputError(f"`{name}` is a type and must not be called")


_GLOBALS: dict[str, Global] = {
    "collections.OrderedDict": _ordered_dict,
    "torch._utils._rebuild_tensor_v2": _tensor,
    **{name: partial(_no_call, name) for name in _DTYPES},
    **NUMPY_SCALARS,
}
