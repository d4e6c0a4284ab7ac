"""Policies for models in a process of their own: the same answers, failures contained, nothing left behind."""

import contextlib
import gc
import json
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from misstep.bundled.models import generate
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Event, Finished, Warned
from misstep.formats.nnet import Interface, read_interface, write_interface
from misstep.safety.policy import zoo_file
from misstep.session import Session
from misstep.support.census import descendants
from misstep.support.plain import to_plain
from tests.unit.onnx_model import linear_model

FUNCTIONS = """
import os

def first(state, applicable):
    return applicable[0]

def exits(state, applicable):
    os._exit(3)

calls = 0

def rarely_random(state, applicable):
    global calls
    calls += 1
    return applicable[-1 if calls % 20 == 0 else 0]
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "line.jani"
    path.write_text(json.dumps(generate("two_way_line", length=5, packages=1)), encoding="utf-8")
    (tmp_path / "functions.py").write_text(FUNCTIONS, encoding="utf-8")
    return path


def finished(config: Config) -> Finished:
    """How a test ends; its process must be gone by then, although somebody still holds the session."""
    session = Session(config)
    *_, last = session.events()
    assert isinstance(last, Finished)
    assert children() == []
    return last


def children() -> list[int]:
    return [one for one in descendants(os.getpid()) if "keeper" in _command(one)]


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Nothing may end only because the garbage collector came by."""
    gc.disable()
    yield
    gc.enable()


def counts(found: Finished) -> dict[str, object]:
    told = to_plain(found)
    return {name: told[name] for name in ("runs", "tested", "bugs", "cleared", "unknown", "extra")}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("policy", ["zoo:two_way_line", "nnet", "python", "onnx"])
def test_a_policy_in_a_process_of_its_own_answers_the_same(policy: str, model: Path, tmp_path: Path) -> None:
    named = {
        "nnet": f"nnet:{zoo_file('two_way_line')}",
        "python": f"python:{tmp_path / 'functions.py'}:first",
        "onnx": "onnx:",
    }
    if policy == "onnx":
        pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
        known = read_interface(zoo_file("two_way_line"))
        rng = np.random.default_rng(3)
        weights = rng.normal(size=(len(known.inputs), len(known.outputs)))
        (tmp_path / "net.onnx").write_bytes(linear_model(weights, np.zeros(len(known.outputs))))
        described = Interface(tmp_path / "net.onnx", known.inputs, known.outputs, known.filter)
        write_interface(tmp_path / "net.jani2nnet", described, [])
        named["onnx"] = f"onnx:{tmp_path / 'net.jani2nnet'}"
    config = Config(model=model, policy=named.get(policy, policy), runs=20)
    inside, outside = (finished(config.replace(isolate=isolate)) for isolate in (False, True))
    assert counts(inside) == counts(outside)
    assert counts(inside) == counts(finished(config))


def test_functions_and_onnx_networks_live_outside_by_default(model: Path, tmp_path: Path) -> None:
    for policy, is_outside in (
        (f"python:{tmp_path / 'functions.py'}:first", True),
        ("zoo:two_way_line", False),
    ):
        session = Session(Config(model=model, policy=policy, runs=2))
        with contextlib.closing(cast(Generator[Event, None, None], session.events())) as events:
            next(events)
            assert (session.host is not None) == is_outside
        assert children() == []


def test_a_process_that_ends_fails_the_run(model: Path, tmp_path: Path) -> None:
    found = finished(Config(model=model, policy=f"python:{tmp_path / 'functions.py'}:exits", runs=20))
    assert found.limits_hit == ("policy",)
    assert found.extra["outcomes"] == {"failed": 10}


def test_a_test_that_cannot_begin_leaves_no_process(model: Path, tmp_path: Path) -> None:
    policy = f"python:{tmp_path / 'functions.py'}:first"
    session = Session(Config(model=model, policy=policy, decider="nobody"))
    with pytest.raises(InputError, match="nobody"):
        list(session.events())
    assert children() == []


def test_a_function_that_is_random_now_and_then_is_noticed(model: Path, tmp_path: Path) -> None:
    for name, is_random in (("rarely_random", True), ("first", False)):
        session = Session(Config(model=model, policy=f"python:{tmp_path / 'functions.py'}:{name}", runs=100))
        told = [event.text for event in session.events() if isinstance(event, Warned)]
        assert any("the policy is not deterministic" in text for text in told) == is_random
    assert session.tally.finished is not None
    said = session.tally.finished.extra["recheck"]
    assert said["compared"] == 90 and said["missed"] == pytest.approx(0.95**90, abs=1e-6)
