"""Writes small ONNX models by hand, so that tests need no package for making them."""

from collections.abc import Sequence

import numpy as np

FLOAT, INT64, STRING = 1, 7, 8


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(
        _bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size)) for size in shape
    )
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dims)))


def _tensor(name: str, array: np.ndarray, *, place: str | None = None) -> bytes:
    """With its numbers, or with the name of the file that has them."""
    head = b"".join(_number(1, size) for size in array.shape) + _number(2, FLOAT) + _bytes(8, name)
    if place is None:
        return head + _bytes(9, array.astype("<f4").tobytes())
    return head + _bytes(13, _bytes(1, "location") + _bytes(2, place)) + _number(14, 1)


def _node(kind: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    words = b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(4, kind)
    return words + b"".join(_bytes(5, attribute) for attribute in attributes)


def linear_model(
    weight: np.ndarray,
    bias: np.ndarray,
    *,
    batch: int | str = "n",
    width: int | str | None = None,
    input_type: int = FLOAT,
    outputs: Sequence[str] = ("scores",),
    declared: int | str | None = None,
    second_input: bool = False,
    weight_in: str | None = None,
) -> bytes:
    """`x @ weight + bias`; every output has the same value. Sizes can be declared otherwise than they are.

    `weight_in` names a file beside the model that has the weight's numbers, little-endian.
    """
    width = weight.shape[0] if width is None else width
    declared = weight.shape[1] if declared is None else declared
    to_float = _bytes(1, "to") + _number(3, FLOAT) + _number(20, 2)  # Attribute `to`, an integer.
    nodes = [_node("Cast", ["x"], "float", to_float), _node("MatMul", ["float", "w"], "product")]
    nodes += [_node("Add", ["product", "b"], output) for output in outputs]
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, "linear")
    graph += _bytes(5, _tensor("w", weight, place=weight_in)) + _bytes(5, _tensor("b", bias))
    graph += _bytes(11, _value("x", input_type, [batch, width]))
    if second_input:
        graph += _bytes(11, _value("other", FLOAT, [1]))
    graph += b"".join(_bytes(12, _value(output, FLOAT, [batch, declared])) for output in outputs)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 17))
