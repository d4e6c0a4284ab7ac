"""Single numpy numbers in pickles, as trainers leave them in checkpoints (`np.float64(0.93)`): plain numbers."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from misstep.errors import InputError
from misstep.formats.restricted_pickle import Global, Stateful

_KINDS = re.compile(r"b1|[iu][1248]|f[248]")


@dataclass(frozen=True)
class _Dtype(Stateful):
    """The type of one number."""

    kind: str

    def set_state(self, state: Any) -> None:
        """Refuses all but the plain types in little byte order; numpy writes (version, order, None, ...)."""
        if (
            not isinstance(state, tuple)
            or len(state) < 3
            or state[1] not in ("<", "|")
            or state[2] is not None
        ):
            raise InputError(f"a numpy type with the state {state!r:.60}")


def _dtype(*arguments: Any) -> _Dtype:
    """Stands for `numpy.dtype`."""
    if not arguments or not isinstance(arguments[0], str) or not _KINDS.fullmatch(arguments[0]):
        raise InputError("a numpy type that is none of a number")
    return _Dtype(arguments[0])


def _encode(*arguments: Any) -> bytes:
    """Stands for `_codecs.encode`, by which pickles of protocol 2 write bytes."""
    if len(arguments) != 2 or not isinstance(arguments[0], str) or arguments[1] != "latin1":
        raise InputError("a malformed row of bytes")
    return arguments[0].encode("latin1")


def _scalar(*arguments: Any) -> float | int | bool:
    """Stands for `numpy.core.multiarray.scalar`."""
    if len(arguments) != 2 or not isinstance(arguments[0], _Dtype) or not isinstance(arguments[1], bytes):
        raise InputError("a malformed numpy number")
    dtype = np.dtype("?" if arguments[0].kind == "b1" else "<" + arguments[0].kind)
    if len(arguments[1]) != dtype.itemsize:
        raise InputError(f"a numpy number of {len(arguments[1])} bytes, {dtype.itemsize} expected")
    number: float | int | bool = np.frombuffer(arguments[1], dtype)[0].item()
    return number


NUMPY_SCALARS: dict[str, Global] = {
    "numpy.dtype": _dtype,
    "_codecs.encode": _encode,
    "numpy.core.multiarray.scalar": _scalar,
    "numpy._core.multiarray.scalar": _scalar,
}
"""For `read_pickle`: the names that numbers of numpy 1 and 2 need."""
