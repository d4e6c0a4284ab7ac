"""Many states as a short text: in proofs they would take most of the room."""

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from misstep.reference.bits import BitTask
from misstep.reference.checked import need
from misstep.reference.fdr import State


def packed_states(states: Sequence[State]) -> dict[str, Any]:
    """States as text: the values of the first variable in all states, then of the second; compressed."""
    width = 1 if all(value < 256 for state in states for value in state) else 4
    columns = (value.to_bytes(width, "little") for column in zip(*states, strict=True) for value in column)
    data = base64.b85encode(zlib.compress(b"".join(columns), 9)).decode()
    return {"count": len(states), "width": width, "values": data}


def unpacked_states(task: BitTask, written: Mapping[str, Any]) -> list[int]:
    """The states of such a text, as sets of facts."""
    count, width = written["count"], written["width"]
    size = count * width * len(task.task.facts)
    need(width in (1, 4) and 0 <= size <= 1 << 30, "the states cannot be read")
    data = zlib.decompressobj().decompress(base64.b85decode(written["values"]), size + 1)
    need(len(data) == size, "there are more or fewer values than the states have")
    states = [0] * count
    for variable, values in enumerate(task.task.facts):
        bits = [1 << task.first[variable] + value for value in range(len(values))]
        column = data[variable * count * width : (variable + 1) * count * width]
        numbers = memoryview(column).cast("B" if width == 1 else "I")
        need(max(numbers, default=0) < len(bits), f"variable {variable} has no such value")
        states = [state | bits[number] for state, number in zip(states, numbers, strict=True)]
    return states
