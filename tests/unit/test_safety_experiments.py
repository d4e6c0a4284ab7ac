"""The experiments: pieces that are done once, on bundled benchmarks and on a model of one's own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from misstep.bundled.models import generate
from misstep.config import Config
from misstep.errors import InputError
from misstep.experiments.safety import PLAN, UNITS, bundled_instances, run_experiments
from misstep.experiments.safety_figures import findings
from misstep.experiments.safety_units import DECIDERS, FUZZERS, Instance, Plan
from misstep.safety.policy import zoo_file

SMALL = Plan(runs=20, states=3, paths=2, max_steps=50, max_seconds=5.0, max_expansions=5000)


def test_pieces_that_are_done_are_not_done_again(tmp_path: Path) -> None:
    found = run_experiments(tmp_path, SMALL, bundled_instances(["two_way_line"]))
    units = sorted((tmp_path / UNITS).glob("*.json"))
    assert len(units) == len(FUZZERS) + 2 * len(DECIDERS)
    assert not found["failed"]
    times = {unit: unit.stat().st_mtime_ns for unit in units}
    lost = next(unit for unit in units if unit.name.startswith("deciding"))
    lost.unlink()
    told: list[str] = []
    again = run_experiments(tmp_path, SMALL, bundled_instances(["two_way_line"]), tell=told.append)
    assert {unit for unit in units if unit.stat().st_mtime_ns != times[unit]} == {lost}
    assert again["faults"] == found["faults"]
    assert f"{2 * len(DECIDERS) - 1} of {2 * len(DECIDERS)} pieces of work are done already" in told
    with pytest.raises(InputError, match="another plan"):
        run_experiments(tmp_path, Plan(runs=21), bundled_instances(["two_way_line"]))
    assert json.loads((tmp_path / PLAN).read_text())["plan"]["runs"] == 20


@pytest.mark.parametrize("damage", ["", "[]", '{"rows": 3}', '{"rows": [{}], "unsafe_runs": 1}'])
def test_damaged_pieces_are_named(damage: str, tmp_path: Path) -> None:
    run_experiments(tmp_path, SMALL, bundled_instances(["two_way_line"]))
    for unit in (tmp_path / UNITS).glob("*.json"):
        before = unit.read_text(encoding="utf-8")
        unit.write_text(damage, encoding="utf-8")
        with pytest.raises(InputError, match="is damaged"):
            run_experiments(tmp_path, SMALL, bundled_instances(["two_way_line"]))
        unit.write_text(before, encoding="utf-8")


def test_verdicts_do_not_depend_on_the_decider(tmp_path: Path) -> None:
    run_experiments(tmp_path, SMALL, bundled_instances(["two_way_line"]), jobs=2)
    rows = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    for bound in ("∞", "1", "2"):
        verdicts = {
            tuple(row["verdict"] for row in rows["deciding"] if row["by"] == by)
            for by in {row["by"] for row in rows["deciding"]}
            if by.startswith(bound)
        }
        assert len(verdicts) == 1
    asked = {row["by"][0]: row["asked"] for row in rows["deciding"]}
    assert asked["∞"] == 0 < asked["1"]


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    model = tmp_path / "mine.jani"
    model.write_text(json.dumps(generate("two_way_line")), encoding="utf-8")
    config = Config(model=model, policy=f"nnet:{zoo_file('two_way_line')}")
    found = run_experiments(tmp_path / "out", SMALL, [Instance("mine", config)])
    same = run_experiments(tmp_path / "same", SMALL, bundled_instances(["two_way_line"]))
    assert found["unsafe_runs"] == same["unsafe_runs"]
    policy = tmp_path / "mine.jani2nnet"
    policy.write_text(zoo_file("two_way_line").read_text(encoding="utf-8"), encoding="utf-8")
    network = tmp_path / "two_way_line.nnet"
    network.write_bytes(zoo_file("two_way_line").with_name("two_way_line.nnet").read_bytes())
    mine = Instance("mine", config.replace(policy=f"nnet:{policy}"))
    run_experiments(tmp_path / "own", SMALL, [mine])
    network.write_text("// changed\n" + network.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match="another plan"):
        run_experiments(tmp_path / "own", SMALL, [mine])
    broken = Instance("broken", config.replace(policy="zoo:beluga"))
    failed = run_experiments(tmp_path / "broken", SMALL, [broken])["failed"]
    assert len(failed) == len(FUZZERS)
    assert "the model has no variable" in failed[0]


def test_unknown_benchmarks_are_named() -> None:
    with pytest.raises(InputError, match="unknown benchmark 'nothing'"):
        bundled_instances(["nothing"])


def test_few_unsafe_runs_are_explained() -> None:
    def row(by: str, unsafe: int, distinct: int) -> dict[str, object]:
        ends = {"goal": 30 - unsafe, "unsafe": unsafe}
        counts = {"unsafe": unsafe, "distinct": distinct, "starts": 4, "outcomes": ends}
        return {"bench": "b", "by": by, "seconds": 1.0, **counts}

    def found(*rows: dict[str, object]) -> dict[str, object]:
        return findings({"fuzzing": list(rows), "deciding": [], "faults": []}, enough=20)

    assert found(row("∞-greedy", 30, 25))["few_unsafe_runs"] == {}
    assert found(row("∞-greedy", 30, 3))["few_unsafe_runs"] == {
        "b": "30 unsafe runs from 4 start states, of which only 3 differ"
    }
    assert found(row("∞-greedy", 0, 0))["few_unsafe_runs"] == {
        "b": "the runs ended: 30 goal, 0 unsafe; 0 differ"
    }
    biased = found(row("1-uniform", 2, 2), row("∞-greedy", 5, 5))["biased_beats_uniform"]
    assert biased == {"more": ["b"], "as_many": [], "fewer": []}


def test_the_analysis_of_a_run_has_one_limit_for_all_its_states(tmp_path: Path) -> None:
    plan = replace(SMALL, max_expansions=400)
    run_experiments(tmp_path, plan, bundled_instances(["follow_car"]))
    rows = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["faults"]
    assert max(row["expanded"] for row in rows) == 400
    assert all(row["unknown"] for row in rows if row["expanded"] == 400)
