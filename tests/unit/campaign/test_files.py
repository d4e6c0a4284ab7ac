"""Which files a job reads: all of them are in its digest, and travel with it to where none of the driver's files is."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import misstep
from misstep.bundled.models import generate
from misstep.campaign.files import Digests, files_of
from misstep.campaign.job import job_id
from misstep.campaign.shipping import pack_config
from misstep.config import Config
from misstep.formats.nnet import Interface, write_interface, write_nnet
from misstep.formats.onnx_data import external_files
from misstep.formats.safetensors import write_safetensors
from misstep.policies.table import write_table
from misstep.record.record import around_file
from misstep.safety.model import SafetyTask
from misstep.safety.shield_policy import make_shield, write_shield
from misstep.session import Session
from tests.conftest import COURIER
from tests.unit.gnn_models import ferry, random_checkpoint
from tests.unit.onnx_model import linear_model

ZOO = COURIER[0].parents[1] / "zoo"
HELPER = "def least(names):\n    return min(names, default=None)\n"
needs_onnx = pytest.mark.skipif(find_spec("onnxruntime") is None, reason='needs pip install "misstep[onnx]"')


def identity(config: Config) -> str:
    return job_id(config, task="t", policy="p", digests=Digests())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


# ---- identities


def test_jobs_without_files_in_files_are_what_they_were(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the version before files in files counted: what is done in an existing directory stays done."""
    monkeypatch.chdir(home)
    written = {
        "d.pddl": "a domain",
        "p.pddl": "a problem",
        "m.jani": '{"properties": []}',
        "q.jani": '{"properties": [{"name": "x", "expression": {"op": "PA", "reach": true, "start": {"op": "x"}, '
        '"file": "a.jani2nnet"}}]}',
        "a.jani2nnet": '{"file": "nets/a.nnet", "input": [], "output": []}',
        "nets/a.nnet": "weights",
        "mine.py": "import json\nfrom os import path\n",
        "a.policy": "net",
    }
    for name, text in written.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    task: dict[str, Any] = {"domain": home / "d.pddl", "problem": home / "p.pddl"}
    model = home / "m.jani"
    for config, before in (
        (Config(**task, policy="heuristic:ff"), "1ac0bcf5343b7c01dd0731f2014a7092"),
        (Config(**task, policy=f"asnet:{home}/a.policy,x=1", pool=7), "3ca5abaee1b63c4deb2f1bff9737b7c1"),
        (Config(**task, policy=f"python:{home}/mine.py:first"), "a13b2a5218044a0b9b5e36641d0ba7dc"),
        (
            Config(model=model, properties=home / "q.jani", policy=f"nnet:{home}/a.jani2nnet"),
            "5936803ff768cea93c456c60e6682232",
        ),
        (Config(model=model, policy="zoo:two_way_line"), "17eea447bb6a7a8d8b54eae41b88ed27"),
    ):
        assert identity(config) == before, config


@pytest.mark.parametrize("place", ["reach.jani", "start.jani", "../objectives/one.jani"])
def test_a_change_of_an_included_condition_makes_another_job(home: Path, place: str) -> None:
    model, properties = conditions(home)
    changed = properties.parent / place
    for config in (
        Config(model=model, properties=properties, policy="zoo:two_way_line"),
        # The same properties inside a model.
        Config(model=properties, policy="zoo:two_way_line"),
    ):
        before, text = identity(config), changed.read_text()
        changed.write_text(text + " ")
        assert identity(config) != before
        changed.write_text(text)
        assert identity(config) == before
        changed.unlink()
        assert identity(config) != before
        changed.write_text(text)


def test_conditions_of_no_policy_test_include_nothing(home: Path) -> None:
    """The reader does not look there: nor do other files count."""
    model, properties = conditions(home)
    text = properties.read_text()
    properties.write_text(text.replace('"PA"', '"other"'))
    config = Config(model=model, properties=properties, policy="zoo:two_way_line")
    assert not files_of(config, Digests())["properties"].others


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import helper", ["helper.py"]),
        ("def f():\n    from helper import least", ["helper.py"]),
        ("import pack.inner as i", ["pack/__init__.py", "pack/inner.py", "helper.py", "pack/deep.py"]),
        ("from pack import inner", ["pack/__init__.py", "pack/inner.py", "helper.py", "pack/deep.py"]),
        ("from pack import *", ["pack/__init__.py"]),
        ("import json, numpy, nowhere.at.all", []),
        ("this is no Python", []),
    ],
)
def test_modules_beside_code_count(home: Path, code: str, names: list[str]) -> None:
    (home / "pack").mkdir()
    (home / "helper.py").write_text(HELPER)
    (home / "pack" / "__init__.py").write_text("")
    (home / "pack" / "inner.py").write_text("import helper\nfrom . import deep\nfrom .deep import x")
    (home / "pack" / "deep.py").write_text("x = 1")
    (home / "mine.py").write_text(code)
    config = Config(domain=COURIER[0], problem=COURIER[1], policy=f"python:{home}/mine.py:f")
    needed = files_of(config, Digests())["policy"]
    assert sorted(needed.others) == sorted(names)
    before = identity(config)
    for name in names:
        path = home / name
        text = path.read_text()
        path.write_text(f"{text}\n# changed")
        assert identity(config) != before
        path.write_text(text)
    assert identity(config) == before


def test_a_module_of_this_directory_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    config = Config(domain=COURIER[0], problem=COURIER[1], policy="python:mine:f")
    installed = identity(config)
    (home / "mine.py").write_text("import helper")
    (home / "helper.py").write_text(HELPER)
    first = identity(config)
    (home / "helper.py").write_text(HELPER + "# changed")
    assert len({installed, first, identity(config)}) == 3
    shipment, _ = pack_config(config, Digests())
    assert shipment.config.policy == config.policy and "policy" not in shipment.parcels


def test_weights_outside_of_an_onnx_model_are_found(home: Path) -> None:
    weight, bias = np.ones((2, 3), np.float32), np.zeros(3, np.float32)
    model = linear_model(weight, bias, weight_in="data/w.bin")
    assert list(external_files(model)) == ["data/w.bin"]
    assert list(external_files(linear_model(weight, bias))) == []
    for garbage in (b"", b"no model", model[: len(model) // 2], model[3:], b"\xff" * 40):
        list(external_files(garbage))


def test_policy_texts_are_taken_apart(home: Path) -> None:
    (home / "a,b:c.pt").write_text("")
    text = f"torch:{home}/./a,b:c.pt,activation=tanh"
    assert around_file(text) == ("torch:", f"{home}/./a,b:c.pt", ",activation=tanh")
    assert around_file("heuristic:ff") is None


# ---- journeys


@dataclass(frozen=True)
class Trip:
    """A configuration with its files, and what its test must come to elsewhere."""

    config: Config
    least_files: int
    """What has to travel beside domain, problem, or model."""


def conditions(folder: Path) -> tuple[Path, Path]:
    """A model, and beside it a property file that includes others, one of them from further up."""
    model = folder / "line.jani"
    document = generate("two_way_line", length=5, packages=1)
    test = next(each for each in document["properties"] if each["expression"].get("op") == "PA")["expression"]
    (folder / "tests").mkdir()
    (folder / "objectives").mkdir()
    (folder / "tests" / "reach.jani").write_text(json.dumps(test["reach"]))
    (folder / "tests" / "start.jani").write_text(json.dumps(test.get("start", True)))
    (folder / "objectives" / "one.jani").write_text(json.dumps(test.get("objective", {})))
    expression = {
        "op": "PA",
        "reach": {"file": "reach.jani"},
        "start": {"file": "start.jani"},
        "objective": {"file": "../objectives/one.jani"},
        "predicates": {"file": "never/read.jani"},
    }
    listed = {"properties": [{"name": "elsewhere", "expression": expression}]}
    (folder / "tests" / "all.jani").write_text(json.dumps(listed))
    document["properties"] = []
    model.write_text(json.dumps(document))
    return model, folder / "tests" / "all.jani"


def _copied(file: Path, folder: Path) -> Path:
    path = folder / file.name
    path.write_bytes(file.read_bytes())
    return path


def _courier(home: Path, policy: str, least_files: int = 1) -> Trip:
    domain, problem = (_copied(file, home) for file in COURIER)
    return Trip(
        Config(domain=domain, problem=problem, policy=policy, pool=3, oracle=("landmarks",)), least_files
    )


def asnet(home: Path) -> Trip:
    return _courier(home, f"asnet:{_copied(ZOO / 'courier-asnet.asnet.safetensors', home)}")


def linear(home: Path) -> Trip:
    return _courier(home, f"linear:{_copied(ZOO / 'courier.linear.json', home)}")


def table(home: Path) -> Trip:
    task = misstep.load(*COURIER)
    first = task.initial_state
    write_table(home / "t.json", [(first, next(iter(task.applicable(first))))])
    return _courier(home, f"table:{home}/t.json")


def gnn(home: Path) -> Trip:
    domain, problem = ferry(home)
    random_checkpoint(home / "epoch=1-step=2.ckpt")
    policy = f"gnn:{home}/epoch=1-step=2.ckpt,threads=1"
    return Trip(Config(domain=domain, problem=problem, policy=policy, pool=2, oracle=("landmarks",)), 1)


def torch(home: Path) -> Trip:
    task = misstep.load(*COURIER)
    sizes = (len(task.actions), sum(task.domain_sizes))
    write_safetensors(home / "a,b.safetensors", {"0.weight": np.ones(sizes, np.float32)})
    return _courier(home, f"torch:{home}/a,b.safetensors,activation=relu")


def onnx(home: Path) -> Trip:
    task = misstep.load(*COURIER)
    weight = np.ones((sum(task.domain_sizes), len(task.actions)), np.float32)
    bias = np.zeros(len(task.actions), np.float32)
    (home / "a.onnx").write_bytes(linear_model(weight, bias, weight_in="a.onnx.data"))
    (home / "a.onnx.data").write_bytes(weight.astype("<f4").tobytes())
    return _courier(home, f"onnx:{home}/a.onnx", 2)


def python(home: Path) -> Trip:
    (home / "helper.py").write_text(HELPER)
    (home / "mine.py").write_text(
        "import helper\ndef f(state):\n    return helper.least(map(str, state.task.applicable(state)))\n"
    )
    return _courier(home, f"python:{home}/mine.py:f", 2)


def _line(home: Path, policy: str, least_files: int) -> Trip:
    model, properties = home / "line.jani", home / "tests" / "all.jani"
    if not model.exists():
        conditions(home)
    return Trip(Config(model=model, properties=properties, policy=policy, runs=3), 4 + least_files)


def _described(home: Path, file: str) -> tuple[Path, int, int]:
    """An interface in a folder of its own that names a network in another, with its numbers of inputs and labels."""
    model, properties = conditions(home)
    task = SafetyTask.load(model, properties=properties)
    inputs = tuple(name for name in task.model.fields if "@" not in name)
    (home / "about").mkdir()
    path = home / "about" / "net.jani2nnet"
    write_interface(path, Interface(home / file, inputs, tuple(task.labels), True), [])
    text = json.loads(path.read_text())
    path.write_text(json.dumps(text | {"file": f"../{file}"}))
    return path, len(inputs), len(task.labels)


def nnet(home: Path) -> Trip:
    path, inputs, labels = _described(home, "net.nnet")
    write_nnet(home / "net.nnet", [(np.ones((labels, inputs)), np.zeros(labels))])
    return _line(home, f"nnet:{path}", 2)


def shield(home: Path) -> Trip:
    trip = nnet(home)
    return Trip(trip.config.replace(policy=f"shield:{trip.config.policy}"), trip.least_files)


def shield_file(home: Path) -> Trip:
    model, properties = conditions(home)
    task = SafetyTask.load(model, properties=properties)
    write_shield(
        home / "s.json", make_shield(task, "zoo:two_way_line"), policy="zoo:two_way_line", decider="level"
    )
    return _line(home, f"shield:{home}/s.json", 1)


def trees(home: Path) -> Trip:
    path, _, labels = _described(home, "net.json")
    (home / "net.json").write_text(json.dumps({"trees": [[{"leaf_value": 1.0}]] * labels}))
    return _line(home, f"trees:{path}", 2)


def model_torch(home: Path) -> Trip:
    path, inputs, labels = _described(home, "net.safetensors")
    write_safetensors(home / "net.safetensors", {"0.weight": np.ones((labels, inputs), np.float32)})
    return _line(home, f"torch:{path},activation=relu", 2)


def model_onnx(home: Path) -> Trip:
    path, inputs, labels = _described(home, "net.onnx")
    weight, bias = np.ones((inputs, labels), np.float32), np.zeros(labels, np.float32)
    (home / "net.onnx").write_bytes(linear_model(weight, bias, weight_in="w.bin"))
    (home / "w.bin").write_bytes(weight.astype("<f4").tobytes())
    return _line(home, f"onnx:{path}", 3)


def function(home: Path) -> Trip:
    (home / "helper.py").write_text(HELPER)
    (home / "mine.py").write_text("import helper\ndef f(state, labels):\n    return helper.least(labels)\n")
    return _line(home, f"python:{home}/mine.py:f", 2)


KINDS: list[Any] = [asnet, linear, table, gnn, torch, python, nnet, shield, shield_file, trees, model_torch]
KINDS += [function, *(pytest.param(kind, marks=needs_onnx) for kind in (onnx, model_onnx))]


def outcome(config: Config) -> Iterator[object]:
    """What a test said of its states, or how its runs ended; there must be some."""
    session = Session(config)
    for event in session.events():
        if type(event).__name__ in ("Judged", "Ran"):
            yield (
                getattr(event, "verdict", None),
                getattr(event, "outcome", None),
                getattr(event, "cost", None),
            )
    finished = session.tally.finished
    assert finished is not None and not finished.failed and finished.tested + finished.runs
    assert not finished.extra.get("outcomes", {}).get("failed")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_policy_works_where_the_files_of_this_machine_are_not(
    kind: Callable[[Path], Trip], home: Path, tmp_path: Path
) -> None:
    trip = kind(home)
    shipment, sources = pack_config(trip.config, Digests())
    here = list(outcome(trip.config))
    assert len(sources) >= trip.least_files + (1 if trip.config.is_safety else 2)
    before = {sha256: path.read_bytes() for sha256, path in sources.items()}
    identities = identity(trip.config)
    home.rename(tmp_path / "hidden")
    there = shipment.unpack(tmp_path / "there", before.__getitem__)
    assert str(home) not in there.to_toml()
    assert identity(there) == identities
    assert list(outcome(there)) == here
