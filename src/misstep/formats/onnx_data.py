"""Where ONNX models keep weights outside of their own file, read without the packages of ONNX."""

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_TENSOR = "tensor"
# The messages on the way to a tensor, by the number of the field that holds them (onnx.proto).
_INSIDE = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: _TENSOR, 15: "sparse"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: _TENSOR, 6: "graph", 10: _TENSOR, 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: _TENSOR, 2: _TENSOR},
}
_EXTERNAL_DATA, _KEY, _VALUE = 13, 1, 2


def external_files(model: bytes) -> Iterator[str]:
    """The files that the tensors of a model name, each once, relative to the model's folder.

    Nothing where these bytes are no such model: its reader says so.
    """
    try:
        yield from dict.fromkeys(_files(memoryview(model)))
    except ValueError:
        return


def _files(model: memoryview) -> Iterator[str]:
    waiting = [("model", model)]
    while waiting:
        kind, message = waiting.pop()
        if kind == _TENSOR:
            yield from _locations(message)
            continue
        inside = _INSIDE[kind]
        waiting += [(inside[number], value) for number, value in _fields(message) if number in inside]


def _locations(tensor: memoryview) -> Iterator[str]:
    for number, entry in _fields(tensor):
        if number == _EXTERNAL_DATA:
            words = {inner: bytes(value).decode() for inner, value in _fields(entry)}
            if words.get(_KEY) == "location" and words.get(_VALUE):
                yield words[_VALUE]


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The fields that hold bytes, with their numbers; ValueError where this is no message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        size = {_FIXED64: 8, _FIXED32: 4}.get(key & 7, 0)
        if key & 7 == _VARINT:
            _, at = _varint(message, at)
        elif key & 7 == _BYTES:
            size, at = _varint(message, at)
        elif not size:
            raise ValueError("an unknown kind of field")
        if at + size > len(message):
            raise ValueError("a field ends after its message")
        if key & 7 == _BYTES:
            yield key >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number and where it ends."""
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError("a number without an end")
