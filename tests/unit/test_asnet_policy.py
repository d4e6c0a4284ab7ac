"""ASNet files: what is written is read again, and what is damaged is refused with its place."""

import base64
import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep import InputError, load
from misstep.formats.asnet_model import AsnetModel
from misstep.formats.asnet_policy import read_asnet, write_asnet
from misstep.formats.safetensors import read_safetensors, write_safetensors
from tests.conftest import COURIER
from tests.unit.asnet_reference import random_model


@pytest.fixture(scope="module")
def model() -> AsnetModel:
    return random_model(load(*COURIER).pddl)


def write_sqlite(
    path: Path, model: Any, *, change: Callable[..., Any] = lambda rows: rows, info: Any = None
) -> Any:
    """Writes the published layout."""
    rows = []
    for layer, modules in enumerate(model.action_modules):
        for index, (name, module) in enumerate(zip(model.actions, modules, strict=True)):
            rows.append([layer, 0, name, index, module.weights.tobytes()])
            rows.append([layer, 1, name, index, module.bias.tobytes()])
    for layer, modules in enumerate(model.predicate_modules):
        rows.append([layer, 2, "=", 0, None if layer == 0 else bytes(4 * model.hidden**2)])
        rows.append([layer, 3, "=", 0, bytes(4 * model.hidden)])
        for index, (name, module) in enumerate(zip(model.predicates, modules, strict=True)):
            rows.append([layer, 2, name, index + 1, module.weights.tobytes() or None])
            rows.append([layer, 3, name, index + 1, module.bias.tobytes()])
    sizes = {"cfg_hidden_dimension": model.hidden, "cfg_num_layers": model.num_layers}
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE asnets_info (parameter TEXT, int_value INT, flt_value REAL, str_value TEXT)"
        )
        connection.execute(
            "CREATE TABLE asnets_weights (id INT, layer INT, sig INT, name TEXT, idx INT, weights BLOB)"
        )
        connection.execute("INSERT INTO asnets_info VALUES ('domain_name', -1, -1.0, 'courier')")
        connection.executemany(
            "INSERT INTO asnets_info VALUES (?, ?, -1.0, NULL)", (sizes if info is None else info).items()
        )
        connection.executemany(
            "INSERT INTO asnets_weights VALUES (?, ?, ?, ?, ?, ?)",
            [(at, *row) for at, row in enumerate(change(rows))],
        )
    connection.close()
    return path


def write_toml(path: Path, model: Any, *, damage: Callable[..., Any] = lambda text: text) -> Any:
    """Writes the newer layout, as far as it is known."""
    lines = [
        "[asnets]",
        f"hidden_dimension = {model.hidden}",
        f"num_layers = {model.num_layers}",
        "[asnets.model]",
    ]

    def entry(table: Any, key: Any, layer: Any, index: Any, module: Any) -> None:
        lines.extend([f"[[asnets.model.{table}]]", f"layer = {layer}", f"{key} = {index}"])
        for name, array in zip(("weights", "bias"), module, strict=True):
            lines.append(f"{name}_size = {array.size}")
            lines.append(f'{name} = "{base64.b64encode(array.tobytes()).decode()}"')

    for layer, modules in enumerate(model.action_modules):
        for index, module in enumerate(modules):
            entry("action_module", "action_id", layer, index, module)
    for layer, modules in enumerate(model.predicate_modules):
        for index, module in enumerate(modules):
            entry("proposition_module", "pred_id", layer, index + 1, module)
    path.write_text(damage("\n".join(lines)))
    return path


def assert_same(one: Any, other: Any) -> None:
    assert (one.hidden, one.num_layers) == (other.hidden, other.num_layers)
    for mine, yours in (
        (one.action_modules, other.action_modules),
        (one.predicate_modules, other.predicate_modules),
    ):
        for modules, others in zip(mine, yours, strict=True):
            for module, same in zip(modules, others, strict=True):
                assert np.array_equal(module.weights, same.weights)
                assert np.array_equal(module.bias, same.bias)


def test_own_format_keeps_everything(model: Any, tmp_path: Path) -> None:
    write_asnet(tmp_path / "own.safetensors", model)
    again = read_asnet(tmp_path / "own.safetensors")
    assert_same(again, model)
    assert (again.actions, again.predicates) == (model.actions, model.predicates)


def test_published_format(model: Any, tmp_path: Path) -> None:
    again = read_asnet(write_sqlite(tmp_path / "x.policy", model))
    assert_same(again, model)
    assert (again.actions, again.predicates) == (model.actions, model.predicates)
    assert again.domain_name == "courier"


def test_published_format_with_landmarks(model: Any, tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "x.policy", model, change=lambda rows: more_inputs(rows, 3))
    again = read_asnet(path)
    assert again.landmarks
    assert not model.landmarks
    assert again.action_slots == model.action_slots


def test_newer_published_format(model: Any, tmp_path: Path) -> None:
    assert_same(read_asnet(write_toml(tmp_path / "x.policy", model)), model)


def cut_blob(rows: Any) -> Any:
    rows[4][4] = rows[4][4][:-4]
    return rows


def odd_blob(rows: Any) -> Any:
    rows[4][4] = rows[4][4][:-1]
    return rows


def not_finite(rows: Any) -> Any:
    rows[1][4] = np.full(16, np.inf, dtype="<f4").tobytes()
    return rows


def text_for_blob(rows: Any) -> Any:
    rows[4][4] = "no blob"
    return rows


def more_inputs(rows: Any, number: int, *, only_first: bool = False) -> Any:
    """First action modules with so many inputs more, as landmarks (3) and history (1) add them."""
    return [
        [*row[:4], row[4] + bytes(number * 64)]
        if row[0] == row[1] == 0 and (row[3] == 0 or not only_first)
        else row
        for row in rows
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (cut_blob, "action `unload`, layer 0: 143 weights are no multiple of 16"),
        (odd_blob, "action `unload`, layer 0: the weights are no whole number of float32"),
        (text_for_blob, "no whole number of float32"),
        (not_finite, "not finite"),
        (
            lambda rows: [row for row in rows if row[2] != "drive"],
            "2 action names, but not with numbers 0 to 1",
        ),
        (lambda rows: [row for row in rows if row[0] < 2], "action `drive`, layer 2 is missing"),
        (lambda rows: rows + rows[:1], "stands there twice"),
        (lambda rows: [[0, 7, "x", 0, b""]], "malformed"),
        (lambda rows: [[None, 0, "x", 0, b""]], "malformed"),
        (lambda rows: [[row[0], row[1], "same", *row[3:]] for row in rows], "stands there twice"),
        (lambda rows: more_inputs(rows, 1), "history inputs.*functions of the state"),
        (lambda rows: more_inputs(rows, 4), "history inputs"),
        (lambda rows: more_inputs(rows, 2), "action `drive`, layer 1 has"),
        (lambda rows: more_inputs(rows, 3, only_first=True), "some actions read landmarks and others do not"),
    ],
)
def test_damaged_tables(model: Any, tmp_path: Path, change: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_asnet(write_sqlite(tmp_path / "x.policy", model, change=change))


@pytest.mark.parametrize(("size", "said"), [(60_000_000, "too big"), (4096, "hold more than the file")])
def test_blobs_that_are_made_up_are_never_made(model: Any, tmp_path: Path, size: int, said: str) -> None:
    """A generated column costs nothing on disk: 41 kB of rows held gigabytes."""
    path = write_sqlite(tmp_path / "x.policy", model)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ALTER TABLE asnets_weights RENAME TO old")
        connection.execute(
            "CREATE TABLE asnets_weights (id INTEGER PRIMARY KEY, layer, sig, name, idx, "
            f"weights GENERATED ALWAYS AS (zeroblob({size})) VIRTUAL)"
        )
        copied = "INSERT INTO asnets_weights (layer, sig, name, idx) SELECT layer, sig, name, idx FROM old"
        connection.execute(copied)
        connection.execute("DROP TABLE old")
        connection.execute("VACUUM")
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match=said):
        read_asnet(path)


@pytest.mark.parametrize(
    ("info", "said"),
    [
        ({}, "says no `cfg_hidden_dimension`"),
        ({"cfg_hidden_dimension": 16}, "says no `cfg_num_layers`"),
        ({"cfg_hidden_dimension": 0, "cfg_num_layers": 2}, "hidden dimension 0"),
        ({"cfg_hidden_dimension": 16, "cfg_num_layers": 1000}, "1000 layers"),
        ({"cfg_hidden_dimension": 8, "cfg_num_layers": 2}, "bias has 16 numbers, not 8"),
    ],
)
def test_wrong_sizes(model: Any, tmp_path: Path, info: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_asnet(write_sqlite(tmp_path / "x.policy", model, info=info))


def test_other_files(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.policy"
    with pytest.raises(InputError, match="cannot be read"):
        read_asnet(path)
    for content in (b"", b"no policy at all", b"\xff\xfe\x00binary", b"SQLite format 3\0" + b"x" * 2000):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"x\.policy: "):
            read_asnet(path)
    write_safetensors(path, {}, metadata={"format": "misstep-asnet-1", "asnet": '{"actions": 3}'})
    with pytest.raises(InputError, match="does not describe an ASNet"):
        read_asnet(path)
    write_safetensors(path, {})
    with pytest.raises(InputError, match="no ASNet of misstep"):
        read_asnet(path)
    path.write_text("[other]\nx = 1\n")
    with pytest.raises(InputError, match=r"no table `asnets\.model`"):
        read_asnet(path)
    path.unlink()
    sqlite3.connect(path).execute("CREATE TABLE x (y INT)").connection.close()
    with pytest.raises(InputError, match="has no table `asnets_info`"):
        read_asnet(path)


def test_a_truncated_file_is_refused_wherever_it_ends(model: Any, tmp_path: Path) -> None:
    for whole in (
        write_sqlite(tmp_path / "whole.policy", model),
        write_toml(tmp_path / "whole.toml", model),
    ):
        content = whole.read_bytes()
        for share in (0.05, 0.3, 0.6, 0.9):
            cut = tmp_path / "cut.policy"
            cut.write_bytes(content[: int(share * len(content))])
            with pytest.raises(InputError):
                read_asnet(cut)


def test_toml_sizes_are_checked(model: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`bias` has 16 numbers, not 17"):
        read_asnet(
            write_toml(tmp_path / "x", model, damage=lambda text: text.replace("= 16\nbias", "= 17\nbias"))
        )
    with pytest.raises(InputError, match="not base64"):
        read_asnet(
            write_toml(tmp_path / "x", model, damage=lambda text: text.replace('bias = "', 'bias = "!'))
        )


def test_safetensors_are_the_real_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_safetensors(path, {"a": np.arange(6, dtype=np.float32).reshape(2, 3)}, metadata={"k": "v"})
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    assert (8 + size) % 8 == 0
    assert content[8 + size :] == np.arange(6, dtype="<f4").tobytes()
    arrays, metadata = read_safetensors(path)
    assert arrays["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert metadata == {"k": "v"}


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b"{",
        b'{"__metadata__": 3}',
        b'{"a": 3}',
        b'{"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}',
        b'{"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}',
        b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}',
        b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [true], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [0, 1000000000000000000000], "data_offsets": [0, 0]}}',
        b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}',
    ],
)
def test_damaged_safetensors(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(InputError):
        read_safetensors(path)
    path.write_bytes((1 << 60).to_bytes(8, "little") + header)
    with pytest.raises(InputError):
        read_safetensors(path)
