"""Checkpoints are read as data: tensors come out right, and nothing else in a file is accepted or run."""

import os
import pickle
import random
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep.errors import InputError
from misstep.formats.torch_checkpoint import Tensor, read_checkpoint
from tests.unit.torch_file import encode, name, tensor, write_checkpoint, write_zip

START = b"\x80\x02"


def read(path: Path) -> Any:
    with read_checkpoint(path) as checkpoint:
        return checkpoint.content


def refusal(path: Path) -> Any:
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.ckpt"


def pickled(path: Path, body: Any, storages: Any = None) -> Any:
    return write_zip(path, START + body, storages or {})


def test_plain_data_and_tensors(path: Path) -> None:
    weights = np.arange(12, dtype=np.float32).reshape(3, 4)
    content = {"a": [1, 2.5, None, True, "é"], "b": ("x", (2, -3)), "state_dict": {"w": weights}}
    with read_checkpoint(write_checkpoint(path, content)) as checkpoint:
        assert checkpoint.content["a"] == content["a"]
        assert checkpoint.content["b"] == content["b"]
        found = checkpoint.section("state_dict")["w"]
        assert isinstance(found, Tensor)
        np.testing.assert_array_equal(checkpoint.array(found), weights)
        with pytest.raises(InputError, match="has no dict `callbacks`"):
            checkpoint.section("callbacks")


def test_views_of_a_storage(path: Path) -> None:
    numbers = np.arange(12, dtype=np.float32)
    body = tensor("k", 12, 1, (3, 2), (2, 5)) + b"."
    with read_checkpoint(pickled(path, body, {"k": numbers.tobytes()})) as checkpoint:
        expected = [[1, 6], [3, 8], [5, 10]]
        np.testing.assert_array_equal(checkpoint.array(checkpoint.content), expected)


def test_pickles_own_output_is_read(path: Path) -> None:
    value = {
        "a": [1, 300, 70000, 2**40, -5, 1.5],
        "b": ("x",) * 3,
        "c": {"d": [[], {}, ()]},
        "e": (1, (2, 3)),
    }
    assert read(write_zip(path, pickle.dumps(value, protocol=2), {})) == value


def test_numbers_of_numpy_are_numbers(path: Path) -> None:
    value = {"best": np.float64(-3.5), "step": np.int64(-7), "done": np.bool_(True), "rate": np.float32(0.25)}
    found = read(write_zip(path, pickle.dumps(value, protocol=2), {}))
    assert found == {"best": -3.5, "step": -7, "done": True, "rate": 0.25}
    assert [type(number) for number in found.values()] == [float, int, bool, float]
    old = pickle.dumps(value, protocol=2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert read(write_zip(path, old, {})) == found


@pytest.mark.parametrize("value", [np.zeros(2), np.dtype([("a", "f8")]), np.str_("text"), np.float64(1.0)])
def test_other_values_of_numpy_are_refused(path: Path, value: Any) -> None:
    text = pickle.dumps({"a": value}, protocol=2)
    if isinstance(value, np.float64):  # numpy itself writes little byte order: say that it were big
        text = text.replace(b"X\x01\x00\x00\x00<", b"X\x01\x00\x00\x00>")
    assert "refused" in refusal(write_zip(path, text, {}))


class Evil:
    """Asks, when unpickled, for a call."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


def attacks(marker: str) -> Iterator[Any]:
    touch = f"touch {marker}"
    code = f"open({marker!r}, 'w').close()"
    evil = [
        (Evil(os.system, touch), "posix.system"),
        (Evil(eval, code), "__builtin__.eval"),
        (Evil(exec, code), "__builtin__.exec"),
        (Evil(getattr, {}, "__class__"), "__builtin__.getattr"),
        (Evil(__import__, "os"), "__builtin__.__import__"),
        (Evil(open, marker, "w"), "io.open"),
        ({"state_dict": {}, "callbacks": [{"x": Evil(os.system, touch)}]}, "posix.system"),
        (Evil(list, Evil(os.system, touch)), "__builtin__.list"),
    ]
    for value, named in evil:
        yield pickle.dumps(value, protocol=2), named
    call = encode(touch, []) + b"\x85R."
    yield START + name("os system") + call, "os.system"
    yield START + name("torch._utils os.system") + call, "torch._utils.os.system"
    yield START + name("torch load") + call, "torch.load"
    yield START + name("collections OrderedDict.__init__.__globals__") + b")R.", "OrderedDict.__init__"
    yield START + b"c\n\n.", "the name `"
    # Allowed names in places where they do not belong.
    yield START + name("collections OrderedDict") + call, "unexpected arguments"
    yield START + name("torch FloatStorage") + call, "must not be called"
    yield START + name("torch._utils _rebuild_tensor_v2") + b")R.", "a malformed tensor"
    yield (
        START + name("torch._utils _rebuild_tensor_v2") + name("torch FloatStorage") + b"\x85R.",
        "malformed",
    )
    # Other instructions that lead to calls, attributes or classes.
    yield b"(S'" + touch.encode() + b"'\nios\nsystem\n.", "STRING"
    yield START + b"(" + encode(touch, []) + b"ios\nsystem\n.", "INST"
    yield START + b"(" + name("collections OrderedDict") + b"o.", "OBJ"
    yield START + name("collections OrderedDict") + b")\x81.", "NEWOBJ"
    yield START + encode("os", []) + encode("system", []) + b"\x93.", "STACK_GLOBAL"
    yield START + b"\x82\x01.", "EXT1"
    yield START + b"Pkey\n.", "PERSID"
    yield START + name("collections OrderedDict") + b"}b.", "a change of a value of type _Name"
    yield START + encode("text", []) + b")R.", "a call of a value of type str"
    yield START + b"}q\x00h\x00)R.", "a call of a value of type dict"
    yield START + b"}" + encode("state", []) + b"b.", "attributes given as str"
    yield START + encode("s", []) + b"Q.", "no tensor storage"
    # Memo tricks: a name kept for later, a reference to nothing, a huge index.
    yield START + name("collections OrderedDict") + b"q\x010h\x01" + call, "POP"
    yield START + b"h\x07.", "a reference to nothing"
    yield START + b"j\xff\xff\xff\xff.", "a reference to nothing"
    # Damage.
    yield START, "damaged data"
    yield START + b"}", "damaged data"
    yield START + b".", "a value is missing"
    yield START + b"(.", "a value is missing"
    yield START + b"NN.", "left over"
    yield START + b"t.", "a mark is missing"
    yield START + b"}(Nu.", "damaged data"
    yield START + b"})Ns.", "a dict key of type tuple"
    yield START + b"X\xff\xff\xff\x7fabc", "damaged data"
    yield START + b"\x8a\xff" + b"\x01" * 255 + b".", "an oversized number"
    yield b"\x80\x05N.", "pickle protocol 5"
    yield b"not a pickle", "damaged data"


@pytest.mark.parametrize("at", range(len(list(attacks("")))))
def test_nothing_in_a_file_is_run(path: Path, tmp_path: Path, at: int) -> None:
    marker = tmp_path / "ran"
    data, words = list(attacks(str(marker)))[at]
    message = refusal(write_zip(path, data, {}))
    assert words in message
    assert "nothing in the file is run" in message
    assert not marker.exists()


def test_a_huge_memo_index_costs_nothing(path: Path) -> None:
    assert read(pickled(path, b"}r\xff\xff\xff\xffj\xff\xff\xff\xff\x86.")) == ({}, {})


def test_random_damage_ends_in_an_input_error(path: Path, tmp_path: Path) -> None:
    content = {"state_dict": {"w": np.ones((4, 4), np.float32)}, "list": [1, "a", (2, 3)]}
    good = write_checkpoint(path, content).read_bytes()
    chance = random.Random(1)
    broken = tmp_path / "broken.ckpt"
    for _ in range(300):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        broken.write_bytes(bytes(data[: chance.choice([len(data), chance.randrange(len(data))])]))
        try:
            with read_checkpoint(broken) as checkpoint:
                for value in checkpoint.section("state_dict").values():
                    if isinstance(value, Tensor):
                        checkpoint.array(value)
        except InputError:
            pass


FOUR = np.arange(4, dtype=np.float32).tobytes()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (tensor("k", 4, 0, (5,), (1,)), "does not fit its storage"),
        (tensor("k", 4, 1, (4,), (1,)), "does not fit its storage"),
        (tensor("k", 4, 0, (2, 2), (3, 1)), "does not fit its storage"),
        (tensor("k", 4, 0, (1000000, 1000000), (0, 0)), "does not fit its storage"),
        (tensor("k", 4, -1, (2,), (1,)), "malformed tensor"),
        (tensor("k", 4, 0, (2,), (-1,)), "malformed tensor"),
        (tensor("k", 4, 0, (2, 2), (1,)), "malformed tensor"),
        (tensor("k", 4, 0, (-2,), (1,)), "malformed tensor"),
        (tensor("k", 5, 0, (5,), (1,)), "the file has 16 bytes"),
        (tensor("k", -4, 0, (4,), (1,)), "malformed tensor storage"),
        (tensor("other", 4, 0, (4,), (1,)), "missing in the zip file"),
        (tensor("../data.pkl", 4, 0, (4,), (1,)), "missing in the zip file"),
        (tensor("k", 4, 0, (4,), (1,), storage="collections OrderedDict"), "unknown type"),
        (tensor("k", 4, 0, (4,), (1,), storage="torch BFloat16Storage"), "the name `torch.BFloat16Storage`"),
    ],
)
def test_tensors_must_fit_their_numbers(path: Path, body: Any, words: str) -> None:
    assert words in refusal(pickled(path, body + b".", {"k": FOUR}))


def test_zip_files_that_are_no_checkpoints(path: Path, tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "absent")
    path.write_bytes(b"PK not really")
    assert "no PyTorch checkpoint" in refusal(path)
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("readme", "x")
    assert "no PyTorch checkpoint" in refusal(path)
    refusal_of_bomb = refusal(
        write_zip(path, START + b"\x00" * 10_000_000, {}, compression=zipfile.ZIP_DEFLATED)
    )
    assert "compressed" in refusal_of_bomb
    assert "cannot read" in refusal(tmp_path)


def test_a_cut_or_changed_storage(path: Path) -> None:
    body = tensor("k", 4, 0, (4,), (1,)) + b"."
    pickled(path, body, {"k": FOUR})
    data = path.read_bytes()
    path.write_bytes(data.replace(FOUR, struct.pack("<4f", 9, 9, 9, 9)))
    with read_checkpoint(path) as checkpoint, pytest.raises(InputError, match="`data/k` is damaged"):
        checkpoint.array(checkpoint.content)
    path.write_bytes(data[: len(data) // 2])
    assert "damaged" in refusal(path)


def test_big_byte_order(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("a/data.pkl", START + b"N.")
        out.writestr("a/byteorder", "big")
    assert "byte order `big`" in refusal(path)
