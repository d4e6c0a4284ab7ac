"""Files that travel by content, and records that come back."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import misstep
from misstep.campaign.files import Digests
from misstep.campaign.job import job_id
from misstep.campaign.node import Sent, run_here
from misstep.campaign.plan import Limits
from misstep.campaign.shipping import Parcel, pack_config, unpack_record
from misstep.config import Config
from misstep.errors import InputError
from misstep.record.record import Record
from misstep.record.verify import verify_record
from tests.conftest import COURIER

POLICY = """
def first(state):
    return next(iter(sorted(state.task.applicable(state), key=str)), None)
"""


def contents(sources: dict[str, Path]) -> Callable[[str], bytes]:
    return lambda sha256: sources[sha256].read_bytes()


def test_files_arrive_with_their_names_and_options(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "nets").mkdir(parents=True)
    (home / "model.jani").write_text("{}")
    described = {"file": "nets/a.nnet", "input": [], "output": []}
    (home / "a.jani2nnet").write_text(json.dumps(described))
    (home / "nets" / "a.nnet").write_text("weights")
    config = Config(model=home / "model.jani", policy=f"nnet:{home}/a.jani2nnet,filter=true", runs=3)
    shipment, sources = pack_config(config, Digests())
    assert len(sources) == 3
    there = shipment.unpack(tmp_path / "there", contents(sources))
    policy = Path(there.policy.removeprefix("nnet:").removesuffix(",filter=true"))
    assert policy.is_relative_to(tmp_path / "there") and policy.name == "a.jani2nnet"
    assert (policy.parent / "nets" / "a.nnet").read_text() == "weights"
    assert there.model.name == "model.jani" and there.runs == 3

    def nothing(sha256: str) -> bytes:
        raise AssertionError("all of it is there already")

    assert shipment.unpack(tmp_path / "there", nothing) == there


def test_what_changes_on_its_way_is_refused(tmp_path: Path) -> None:
    shipment, _ = pack_config(Config(domain=COURIER[0], problem=COURIER[1], policy="zoo:courier"), Digests())
    with pytest.raises(InputError, match="the file changed on its way"):
        shipment.unpack(tmp_path, lambda sha256: b"something else")
    assert not list(tmp_path.glob("*/*.pddl"))


@pytest.mark.parametrize(("named", "words"), [("{}/a.nnet", "name it relative"), ("../a.nnet", None)])
def test_a_network_travels_where_its_name_is_relative(tmp_path: Path, named: str, words: str | None) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.nnet").write_text("weights")
    described = {"file": named.format(tmp_path), "input": [], "output": []}
    (tmp_path / "in" / "a.jani2nnet").write_text(json.dumps(described))
    (tmp_path / "m.jani").write_text("{}")
    config = Config(model=tmp_path / "m.jani", policy=f"nnet:{tmp_path}/in/a.jani2nnet")
    if words is None:
        assert len(pack_config(config, Digests())[1]) == 3
    else:
        with pytest.raises(InputError, match=words):
            pack_config(config, Digests())


def test_the_policy_behind_a_shield_counts_but_does_not_travel(tmp_path: Path) -> None:
    """The shield's file names the policy by its place here, and is signed for it."""
    (tmp_path / "m.jani").write_text("{}")
    (tmp_path / "a.jani2nnet").write_text('{"file": "a.nnet", "input": [], "output": []}')
    (tmp_path / "a.nnet").write_text("weights")
    (tmp_path / "s.json").write_text(json.dumps({"policy": f"nnet:{tmp_path}/a.jani2nnet"}))
    config = Config(model=tmp_path / "m.jani", policy=f"shield:{tmp_path}/s.json")
    digests = Digests()
    before = job_id(config, task="t", policy="p", digests=digests)
    assert len(pack_config(config, digests)[1]) == 2
    (tmp_path / "a.nnet").write_text("other weights")
    assert job_id(config, task="t", policy="p", digests=digests) != before


def test_places_are_named_by_content() -> None:
    one, other = Parcel((("a", "1"),)), Parcel((("a", "2"),))
    assert one.place == Parcel((("a", "1"),)).place != other.place


def test_a_record_from_elsewhere_is_at_home_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names files here, is valid, and counts as made by this user; nothing is left on the other machine."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "courier.sas").write_text(misstep.load(*COURIER).sas)
    (tmp_path / "mine.py").write_text(POLICY)
    policy = f"python:{tmp_path}/mine.py:first"
    config = Config(domain=tmp_path / "courier.sas", policy=policy, pool=3, oracle=("landmarks+greedy",))
    shipment, sources = pack_config(config, Digests())
    ended, data = run_here(Sent("job", shipment, Limits(seconds=300.0)), contents(sources))
    assert ended.reason is None and ended.result.tested == 3 and data is not None
    place = tmp_path / "records" / "one"
    unpack_record(data, place, config)
    record = Record.open(place)
    assert dataclasses.replace(record.config(), domain=None) == dataclasses.replace(config, domain=None)
    assert record.config().domain == tmp_path / "courier.sas"
    assert record.is_own() and record.has_its_config()
    files = [path for path in place.rglob("*") if path.is_file()]
    assert files and not [path for path in files if b"misstep-campaign" in path.read_bytes()]
    found = verify_record(record)
    assert not found.invalid and not found.problems
    assert not list(tmp_path.glob("misstep-campaign-*/jobs/*"))
