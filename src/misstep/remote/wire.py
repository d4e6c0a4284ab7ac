"""The messages of the policy protocol as bytes.

Four tiny proto2 messages: writing and reading them here takes less than the protobuf package and generated
code, whose versions would have to fit each other on every machine. Numbers are written unpacked, as proto2
does by default, and read packed or not; unknown fields are skipped.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence

SERVICE = "phrm.policy.Policy"
GET_TASK = "GetFDRTaskFD"
GET_OPERATOR = "GetFDRStateOperator"
GET_PROBABILITIES = "GetFDRStateOperatorsProb"

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10


class WireError(ValueError):
    """Bytes that are not a message of the protocol."""


def encode_task(sas_text: str) -> bytes:
    """The answer of GetFDRTaskFD."""
    return _bytes_field(1, sas_text.encode())


def decode_task(data: bytes) -> str:
    """The text in an answer of GetFDRTaskFD."""
    texts = [value for field, value in _fields(data) if field == 1]
    if not texts or not isinstance(texts[-1], bytes):
        raise WireError("there is no task in the answer")
    try:
        return texts[-1].decode()
    except UnicodeDecodeError:
        raise WireError("the task is not UTF-8 text") from None


def encode_state(values: Iterable[int]) -> bytes:
    """A request with a state: one value for each variable."""
    return _bytes_field(1, b"".join(_int_field(1, value) for value in values))


def decode_state(data: bytes) -> list[int]:
    """The values in a request."""
    values: list[int] = []
    found = False
    for field, state in _fields(data):
        if field != 1:
            continue
        if not isinstance(state, bytes):
            raise WireError("the state is not a message")
        found = True
        for inner, value in _fields(state):
            if inner == 1 and isinstance(value, bytes):
                values.extend(_packed(value))
            elif inner == 1:
                values.append(_int32(value))
    if not found:
        raise WireError("there is no state in the request")
    return values


def encode_operator(operator: int | None) -> bytes:
    """The answer of GetFDRStateOperator."""
    return _int_field(1, -1 if operator is None else operator)


def decode_operator(data: bytes) -> int | None:
    """The operator in an answer of GetFDRStateOperator, None for -1."""
    return _operator(data)


def encode_probabilities(operators: Sequence[tuple[int, float]]) -> bytes:
    """The answer of GetFDRStateOperatorsProb."""
    return b"".join(
        _bytes_field(1, _int_field(1, operator) + _key(2, _FIXED32) + struct.pack("<f", probability))
        for operator, probability in operators
    )


def decode_probabilities(data: bytes) -> list[tuple[int, float]]:
    """The operators in an answer of GetFDRStateOperatorsProb with their probabilities; -1 is left out."""
    result = []
    for field, entry in _fields(data):
        if field != 1:
            continue
        if not isinstance(entry, bytes):
            raise WireError("an operator is not a message")
        probability = 0.0
        for inner, value in _fields(entry):
            if inner == 2:
                if not isinstance(value, bytes) or len(value) != 4:
                    raise WireError("a probability is not a float")
                (probability,) = struct.unpack("<f", value)
        operator = _operator(entry)
        if operator is not None:
            result.append((operator, probability))
    return result


def _operator(data: bytes) -> int | None:
    numbers = [value for field, value in _fields(data) if field == 1]
    if not numbers or isinstance(numbers[-1], bytes):
        raise WireError("there is no operator in the answer")
    operator = _int32(numbers[-1])
    return None if operator == -1 else operator


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _int_field(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _varint(value & (1 << 64) - 1)  # Negative numbers take ten bytes.


def _bytes_field(field: int, value: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _int32(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise WireError("bytes where a number was expected")
    low = value & 0xFFFFFFFF
    return low - (1 << 32) if low >= 1 << 31 else low


def _packed(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _read_varint(data, at)
        yield _int32(value)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers with their values: varints as numbers, everything else as bytes."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        field, kind = key >> 3, key & 7
        if field == 0:
            raise WireError("field 0")
        if kind == _VARINT:
            value, at = _read_varint(data, at)
            yield field, value
            continue
        if kind == _BYTES:
            length, at = _read_varint(data, at)
        elif kind in (_FIXED32, _FIXED64):
            length = 4 if kind == _FIXED32 else 8
        else:
            raise WireError(f"wire type {kind}")
        if length > len(data) - at:
            raise WireError("the message is cut off")
        yield field, data[at : at + length]
        at += length


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(_MAX_VARINT_BYTES):
        if at + count >= len(data):
            raise WireError("the message is cut off")
        byte = data[at + count]
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value, at + count + 1
    raise WireError("a number is too long")
