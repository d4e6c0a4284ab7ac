"""Reads ASNet policies: the published SQLite files, their TOML successor, misstep's own safetensors files.

Nothing in a file is executed, and every size is checked before it is believed.
"""

import base64
import binascii
import json
import sqlite3
import tomllib
from pathlib import Path
from urllib.parse import quote

import numpy as np

from misstep.errors import InputError
from misstep.formats.asnet_model import AsnetModel, Floats, Module, ModuleKey, make_model
from misstep.formats.safetensors import is_safetensors, read_safetensors, write_safetensors
from misstep.formats.sqlite import MAX_VALUE, SQLITE_ERRORS, distrust, stored_rows

_FORMAT = "misstep-asnet-1"
_MAX_FILE = 1_000_000_000
_SQLITE_MAGIC = b"SQLite format 3\0"
_EMPTY = np.zeros(0, dtype=np.float32)


def read_asnet(path: str | Path) -> AsnetModel:
    """The model in a file; its format is recognised by its content."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            head = file.read(16)
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if size > _MAX_FILE:
        raise InputError(f"{path}: {size} bytes are too many for an ASNet policy")
    if head == _SQLITE_MAGIC:
        return _read_sqlite(path)
    if is_safetensors(head):
        return _read_own(path)
    return _read_toml(path)


def write_asnet(path: str | Path, model: AsnetModel) -> None:
    """Writes the model as safetensors: one array a module, names and sizes as JSON in the metadata."""
    arrays: dict[str, Floats] = {}
    for kind, layers in (("action", model.action_modules), ("predicate", model.predicate_modules)):
        for layer, modules in enumerate(layers):
            for index, module in enumerate(modules):
                arrays[f"{kind}.{layer}.{index}.weights"] = module.weights
                arrays[f"{kind}.{layer}.{index}.bias"] = module.bias
    about = {
        "hidden": model.hidden,
        "num_layers": model.num_layers,
        "actions": model.actions,
        "predicates": model.predicates,
        "domain_name": model.domain_name,
        "domain_hash": model.domain_hash,
    }
    write_safetensors(path, arrays, metadata={"format": _FORMAT, "asnet": json.dumps(about)})


def _read_own(path: Path) -> AsnetModel:
    arrays, metadata = read_safetensors(path)
    if metadata.get("format") != _FORMAT:
        raise InputError(f"{path}: is a safetensors file, but no ASNet of misstep (format `{_FORMAT}`)")
    try:
        about = json.loads(metadata["asnet"])
        actions, predicates = list(map(str, about["actions"])), list(map(str, about["predicates"]))
        hidden, num_layers = int(about["hidden"]), int(about["num_layers"])
    except (KeyError, ValueError, TypeError, OverflowError, RecursionError):
        raise InputError(
            f"{path}: the metadata does not describe an ASNet; write it with write_asnet"
        ) from None
    modules: dict[str, dict[ModuleKey, Module]] = {"action": {}, "predicate": {}}
    for name in arrays:
        kind, layer, index, part = (name.split(".") + [""] * 4)[:4]
        if part == "weights" and kind in modules and layer.isdecimal() and index.isdecimal():
            bias = arrays.get(f"{kind}.{layer}.{index}.bias", _EMPTY)
            modules[kind][int(layer), int(index)] = Module(arrays[name], bias)
    return make_model(
        str(path),
        hidden=hidden,
        num_layers=num_layers,
        actions=actions,
        predicates=predicates,
        action_arrays=modules["action"],
        predicate_arrays=modules["predicate"],
        domain_name=_text(about.get("domain_name")),
        domain_hash=_text(about.get("domain_hash")),
    )


def _read_sqlite(path: Path) -> AsnetModel:
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)
        try:
            distrust(connection, max_value=min(MAX_VALUE, path.stat().st_size))
            return _from_tables(path, connection)
        finally:
            connection.close()
    except SQLITE_ERRORS as error:
        raise InputError(f"{path}: is a damaged SQLite file or no ASNet policy: {error}") from None


def _from_tables(path: Path, connection: sqlite3.Connection) -> AsnetModel:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in ("asnets_info", "asnets_weights"):
        if table not in tables:
            raise InputError(f"{path}: has no table `{table}`, so it is no ASNet policy")
    rows = connection.execute("SELECT parameter, int_value, str_value FROM asnets_info")
    info = {str(parameter): (number, text) for parameter, number, text in stored_rows(rows, path)}
    hidden, num_layers = (_info_int(path, info, f"cfg_{name}") for name in ("hidden_dimension", "num_layers"))
    names: dict[str, dict[int, str]] = {"action": {}, "predicate": {}}
    found: dict[tuple[str, bool], dict[ModuleKey, Floats]] = {
        (kind, bias): {} for kind in names for bias in (False, True)
    }
    query = "SELECT layer, sig, name, idx, weights FROM asnets_weights ORDER BY id"
    for layer, sig, name, index, blob in stored_rows(connection.execute(query), path):
        numbers = all(type(number) is int and number >= 0 for number in (layer, sig, index))
        if not (numbers and sig <= 3 and isinstance(name, str)):
            raise InputError(f"{path}: a row of `asnets_weights` is malformed: {(layer, sig, name, index)}")
        kind = ("action", "predicate")[sig // 2]
        if kind == "predicate":
            index -= 1  # Their `=` is number 0 and never has slots.
            if index < 0:
                continue
        if names[kind].setdefault(index, name.lower()) != name.lower():
            raise InputError(f"{path}: {kind} {index} is called `{names[kind][index]}` and `{name}`")
        arrays = found[kind, sig % 2 == 1]
        if (layer, index) in arrays:
            raise InputError(
                f"{path}: {kind} `{name}`, layer {layer} stands there twice; is the file damaged?"
            )
        arrays[layer, index] = _floats(f"{path}: {kind} `{name}`, layer {layer}", blob)
    return make_model(
        str(path),
        hidden=hidden,
        num_layers=num_layers,
        actions=_in_order(path, "action", names["action"]),
        predicates=_in_order(path, "predicate", names["predicate"]),
        action_arrays=_modules(found["action", False], found["action", True]),
        predicate_arrays=_modules(found["predicate", False], found["predicate", True]),
        domain_name=_text(info.get("domain_name", (None, None))[1]),
        domain_hash=_text(info.get("domain_hash", (None, None))[1]),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _info_int(path: Path, info: dict[str, tuple[object, object]], parameter: str) -> int:
    value = info.get(parameter, (None, None))[0]
    if type(value) is not int:
        raise InputError(f"{path}: `asnets_info` says no `{parameter}`; is the file complete?")
    return value


def _floats(where: str, blob: object) -> Floats:
    if blob is None:
        return _EMPTY
    if not isinstance(blob, bytes) or len(blob) % 4 != 0:
        raise InputError(f"{where}: the weights are no whole number of float32; is the file complete?")
    return np.frombuffer(blob, "<f4").astype(np.float32)


def _in_order(path: Path, kind: str, names: dict[int, str]) -> list[str]:
    if sorted(names) != list(range(len(names))):
        raise InputError(f"{path}: has {len(names)} {kind} names, but not with numbers 0 to {len(names) - 1}")
    return [name for _, name in sorted(names.items())]


def _modules(weights: dict[ModuleKey, Floats], biases: dict[ModuleKey, Floats]) -> dict[ModuleKey, Module]:
    return {key: Module(weights.get(key, _EMPTY), bias) for key, bias in biases.items()}


def _read_toml(path: Path) -> AsnetModel:
    try:
        root = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError):  # also dates that do not exist, lists without end
        raise InputError(f"{path}: is no ASNet policy: neither SQLite, nor TOML, nor safetensors") from None
    about = root.get("asnets")
    model = about.get("model") if isinstance(about, dict) else None
    if not isinstance(about, dict) or not isinstance(model, dict):
        raise InputError(f"{path}: is TOML, but has no table `asnets.model`, so it is no ASNet policy")
    sizes = {}
    for name in ("hidden_dimension", "num_layers"):
        value = about.get(name, about.get(f"cfg_{name}", model.get(name)))
        if type(value) is not int:
            raise InputError(f"{path}: `asnets` says no `{name}`; is the file complete?")
        sizes[name] = value
    kinds: dict[str, tuple[dict[int, str], dict[ModuleKey, Module]]] = {}
    for kind, table, key in (
        ("action", "action_module", "action_id"),
        ("predicate", "proposition_module", "pred_id"),
    ):
        names: dict[int, str] = {}
        modules: dict[ModuleKey, Module] = {}
        entries = model.get(table, about.get(table))
        for entry in entries if isinstance(entries, list) else []:
            layer, index = (entry.get(name) if isinstance(entry, dict) else None for name in ("layer", key))
            if type(layer) is not int or type(index) is not int or layer < 0 or index < 0:
                raise InputError(
                    f"{path}: an entry of `{table}` has no `layer` or `{key}`; is the file damaged?"
                )
            index -= kind == "predicate"
            if index < 0:
                continue
            where = f"{path}: {kind} {index}, layer {layer}"
            names[index] = str(entry.get("name", f"#{index}")).lower()
            modules[layer, index] = Module(_base64(where, entry, "weights"), _base64(where, entry, "bias"))
        kinds[kind] = names, modules
    return make_model(
        str(path),
        hidden=sizes["hidden_dimension"],
        num_layers=sizes["num_layers"],
        actions=_in_order(path, "action", kinds["action"][0]),
        predicates=_in_order(path, "predicate", kinds["predicate"][0]),
        action_arrays=kinds["action"][1],
        predicate_arrays=kinds["predicate"][1],
        domain_name=_text(about.get("domain_name")),
    )


def _base64(where: str, entry: dict[str, object], name: str) -> Floats:
    text = entry.get(name, "")
    try:
        blob = base64.b64decode("".join(str(text).split()), validate=True)
    except (binascii.Error, ValueError):
        raise InputError(f"{where}: `{name}` is not base64; is the file damaged?") from None
    numbers = _floats(where, blob)
    size = entry.get(f"{name}_size", numbers.size)
    if size not in (numbers.size, len(blob)):
        raise InputError(f"{where}: `{name}` has {numbers.size} numbers, not {size}; is the file complete?")
    return numbers
