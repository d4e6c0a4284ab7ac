"""The messages of the policy protocol, against protobuf itself and against garbage."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from misstep.errors import InputError
from misstep.remote import wire
from misstep.remote.address import parse_address

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    descriptor_pb2 = None
needs_protobuf = pytest.mark.skipif(descriptor_pb2 is None, reason="needs pip install protobuf")

VALUES = [0, 1, 7, 127, 128, 300, 2**31 - 1, -1, -(2**31)]


@pytest.fixture(scope="module")
def messages() -> Callable[..., Any]:
    """The protocol's message classes as protobuf makes them."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="policy.proto", package="phrm", syntax="proto2")

    def message(name: Any, *fields: Any) -> None:
        made = file.message_type.add(name=name)
        for number, (label, kind, title, type_name) in enumerate(fields, start=1):
            made.field.add(name=title, number=number, label=label, type=kind, type_name=type_name)

    one, many = field.LABEL_OPTIONAL, field.LABEL_REPEATED
    message("Task", (one, field.TYPE_STRING, "task", None))
    message("State", (many, field.TYPE_INT32, "val", None))
    message("Packed", (many, field.TYPE_INT32, "val", None))
    file.message_type[-1].field[0].options.packed = True
    message("Request", (one, field.TYPE_MESSAGE, "state", ".phrm.State"))
    message("PackedRequest", (one, field.TYPE_MESSAGE, "state", ".phrm.Packed"))
    message("Operator", (one, field.TYPE_INT32, "operator", None))
    message("Prob", (one, field.TYPE_INT32, "operator", None), (one, field.TYPE_FLOAT, "prob", None))
    message("Probs", (many, field.TYPE_MESSAGE, "operator", ".phrm.Prob"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"phrm.{name}"))


@needs_protobuf
def test_we_write_what_protobuf_writes(messages: Any) -> None:
    assert wire.encode_task("begin ä") == messages("Task")(task="begin ä").SerializeToString()
    state = messages("Request")(state={"val": VALUES})
    assert wire.encode_state(VALUES) == state.SerializeToString()
    for value in VALUES:
        assert wire.encode_operator(value) == messages("Operator")(operator=value).SerializeToString()
    assert wire.encode_operator(None) == messages("Operator")(operator=-1).SerializeToString()
    probabilities = [(3, 0.25), (0, 0.75)]
    entries = [{"operator": operator, "prob": prob} for operator, prob in probabilities]
    theirs = messages("Probs")(operator=entries).SerializeToString()
    assert wire.encode_probabilities(probabilities) == theirs


@needs_protobuf
def test_we_read_what_protobuf_writes(messages: Any) -> None:
    assert wire.decode_task(messages("Task")(task="begin ä").SerializeToString()) == "begin ä"
    for name in ("Request", "PackedRequest"):
        assert wire.decode_state(messages(name)(state={"val": VALUES}).SerializeToString()) == VALUES
    for value in VALUES:
        read = wire.decode_operator(messages("Operator")(operator=value).SerializeToString())
        assert read == (None if value == -1 else value)
    entries = [{"operator": 3, "prob": 0.25}, {"operator": -1, "prob": 0.5}, {"operator": 9}]
    data = messages("Probs")(operator=entries).SerializeToString()
    assert wire.decode_probabilities(data) == [(3, 0.25), (9, 0.0)]


def test_round_trips() -> None:
    assert wire.decode_task(wire.encode_task("a" * 100_000)) == "a" * 100_000
    assert wire.decode_state(wire.encode_state(VALUES)) == VALUES
    assert wire.decode_state(wire.encode_state([])) == []
    assert wire.decode_operator(wire.encode_operator(5)) == 5
    assert wire.decode_operator(wire.encode_operator(None)) is None
    assert wire.decode_probabilities(wire.encode_probabilities([])) == []
    ((operator, probability),) = wire.decode_probabilities(wire.encode_probabilities([(1, math.nan)]))
    assert operator == 1
    assert math.isnan(probability)


def test_the_bytes_themselves() -> None:
    """Unpacked on the wire: a key before each number; -1 takes ten bytes."""
    assert wire.encode_state([1, 300]) == bytes.fromhex("0a050801 08ac02")
    assert wire.decode_state(bytes.fromhex("0a050a0301ac02")) == [1, 300]
    assert wire.encode_operator(None) == bytes.fromhex("08ffffffffffffffffff01")
    unknown = bytes.fromhex("2a03616263 3105060708090a0b0c 3d01020304 0805")
    assert wire.decode_operator(unknown) == 5, "unknown fields are skipped"


@pytest.mark.parametrize(
    ("decode", "data"),
    [
        (wire.decode_task, b""),
        (wire.decode_task, b"\x08\x01"),
        (wire.decode_task, b"\x0a\x02\xff\xfe"),
        (wire.decode_state, b""),
        (wire.decode_state, b"\x08\x01"),
        (wire.decode_state, b"\x0a\x05\x08\x01"),
        (wire.decode_operator, b""),
        (wire.decode_operator, b"\x0a\x00"),
        (wire.decode_operator, b"\x08"),
        (wire.decode_operator, b"\x08" + b"\xff" * 11),
        (wire.decode_operator, b"\x00\x01"),
        (wire.decode_operator, b"\x0b\x0c"),
        (wire.decode_operator, b"\x09\x01"),
        (wire.decode_probabilities, b"\x08\x01"),
        (wire.decode_probabilities, b"\x0a\x04\x08\x01\x10\x01"),
        (wire.decode_probabilities, b"\x0a\x00"),
    ],
)
def test_garbage(decode: Any, data: bytes) -> None:
    with pytest.raises(wire.WireError):
        decode(data)


def test_any_bytes_are_read_or_refused() -> None:
    chance = random.Random(0)
    decoders = (wire.decode_task, wire.decode_state, wire.decode_operator, wire.decode_probabilities)
    whole = wire.encode_state(VALUES) + wire.encode_probabilities([(1, 0.5)]) + wire.encode_operator(4)
    refused = 0
    for _ in range(3000):
        data = bytearray(whole if chance.random() < 0.5 else chance.randbytes(chance.randrange(30)))
        for _ in range(chance.randrange(4)):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        for decode in decoders:
            try:
                decode(bytes(data))
            except wire.WireError:
                refused += 1
    assert refused > 1000


@pytest.mark.parametrize(
    ("text", "shown", "local"),
    [
        ("localhost:50051", "localhost:50051", True),
        ("127.0.0.1:0", "127.0.0.1:0", True),
        ("127.8.8.8:1", "127.8.8.8:1", True),
        ("[::1]:80", "[::1]:80", True),
        ("*:9", "*:9", False),
        ("0.0.0.0:9", "0.0.0.0:9", False),
        ("[::]:9", "[::]:9", False),
        ("example.org:443", "example.org:443", False),
        ("unix:///tmp/a socket", "unix:///tmp/a socket", True),
        ("unix:/tmp/s", "unix:///tmp/s", True),
        ("unix:s", "unix://s", True),
    ],
)
def test_addresses(text: str, shown: str, local: bool) -> None:
    address = parse_address(text)
    assert str(address) == shown
    assert address.is_local is local
    assert parse_address(shown) == address


@pytest.mark.parametrize(
    "text",
    ["", "host", ":80", "host:", "host:port", "host:99999", "host:-1", "http://host:80", "a b:80", "::1:80"],
)
def test_wrong_addresses(text: str) -> None:
    with pytest.raises(InputError, match="address `"):
        parse_address(text)


@pytest.mark.parametrize(
    "text", ["unix:", "unix://", "unix:///" + "x" * 120, "unix:///a\0b", "host:80\n", "dns:///host:80", "*"]
)
def test_other_wrong_addresses(text: str) -> None:
    with pytest.raises(InputError, match="address `"):
        parse_address(text)
