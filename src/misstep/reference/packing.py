"""Many lines or many states as a short text: in records, proofs would take most of the room."""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from misstep.reference.bits import BitTask
from misstep.reference.checked import Refused, need, refusing
from misstep.reference.fdr import State
from misstep.reference.reading import items, text

MAX_UNPACKED = 1 << 26
"""Characters that the lines of a file may become at least, ..."""
MAX_RATIO = 100
"""... and times its own size: proofs shrink to a tenth, what shrinks to much less was made to fill the memory."""


def packed_lines(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Lines of evidence as one: their JSON is compressed."""
    data = json.dumps(lines, separators=(",", ":")).encode()
    return {"packed": base64.b85encode(zlib.compress(data, 9)).decode()}


def unpacked_lines(packed: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """All lines in such lines; one that cannot be read is left out, so that nothing can refer to it."""
    allowed = MAX_UNPACKED
    for line in packed:
        with suppress(Refused), refusing("a line of the evidence"):
            written = text(line.get("packed"), "a packed line")
            allowed += MAX_RATIO * len(written)
            data = zlib.decompressobj().decompress(base64.b85decode(written), allowed)
            allowed -= len(data)
            need(allowed > 0, "the evidence is larger than any test makes it")
            lines = items(json.loads(data), "the lines")
            yield from (each for each in lines if isinstance(each, dict))


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
