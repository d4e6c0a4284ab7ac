"""The intervals hold: `python -m benchmarks.intervals` in small, and what tests say about their rate."""

import json
from pathlib import Path

import pytest

import misstep as library
from benchmarks.intervals import Truth, independent, looked_at, walked
from benchmarks.intervals import courier as all_of_courier
from misstep.statistics import confidence_below, rate_bounds
from tests.integration.cli import misstep


@pytest.fixture(scope="module")
def truth() -> Truth:
    return all_of_courier()


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_bounds_of_independent_states(truth: Truth, unknown: float) -> None:
    row = independent(truth, tests=1000, pool=50, unknown=unknown, seed=3)
    assert row.held >= 0.95 * row.tests


def test_bounds_that_are_looked_at_all_the_time(truth: Truth) -> None:
    running = looked_at(truth, tests=150, pool=50, seed=3, running=True)
    exact = looked_at(truth, tests=150, pool=50, seed=3, running=False)
    assert running.held >= 0.95 * running.tests > exact.held


def test_bounds_of_pools_from_walks(truth: Truth) -> None:
    plain, scaled = walked(truth, tests=100, pool=60, seed=3)
    assert scaled.held >= 0.95 * scaled.tests > plain.held


def test_a_test_states_its_rate(courier: tuple[Path, Path], tmp_path: Path) -> None:
    done = misstep(
        "test", *courier, "--policy", "zoo:courier", "--pool", "40", "--out", tmp_path / "r", "--json"
    )
    found = json.loads(done.out)
    report = library.Report.read(tmp_path / "r")
    bugs = sum(found["bugs"].values())
    assert found["confidence"] == 0.95 and 1 < found["effective"] < 40
    exact = rate_bounds(bugs, found["cleared"], found["unknown"], effective=found["effective"])
    assert found["bug_rate"] == pytest.approx(exact, abs=0.01)  # the effective size is rounded
    assert found["bug_rate"] == pytest.approx(report.bug_rate)
    assert report.confidence_below(0.9) == confidence_below(
        0.9, bugs, found["cleared"], found["unknown"], effective=found["effective"]
    )
    shown = misstep("show", tmp_path / "r").out
    assert f"rate      {report.rate}\n" in shown
    assert (
        f"({bugs} of 40); 95 %: " in shown
        and f"as much as {found['effective']:.0f} independent ones" in shown
    )


def test_given_states_are_taken_as_independent(courier: tuple[Path, Path], tmp_path: Path) -> None:
    pool = tmp_path / "pool.jsonl"
    assert misstep("fuzz", *courier, "--pool", "30", "--out", pool).code == 0
    lines = [json.loads(line) for line in pool.read_text().splitlines()]
    pool.write_text("".join(json.dumps({"facts": line["facts"]}) + "\n" for line in lines))
    report = library.test(courier, "zoo:courier", pool_file=str(pool), confidence=0.8)
    assert report.finished.effective is None
    assert report.bug_rate == rate_bounds(len(report.bugs), report.cleared, report.unknown, confidence=0.8)


def test_a_test_ends_when_the_rate_is_known(courier: tuple[Path, Path]) -> None:
    report = library.test(courier, "zoo:courier", pool=300, until_width=0.5)
    assert "until-width" in report.limits_hit
    assert 10 < report.tested < 100 and report.bug_rate.width <= 0.5


def test_runs_of_models_end_too(tmp_path: Path) -> None:
    model = tmp_path / "line.jani"
    assert misstep("safety", "generate", "two_way_line", "--out", model).code == 0
    report = library.test(model, "zoo:two_way_line", runs=3000, until_width=0.2)
    found = report.finished
    assert found.limits_hit == ("until-width",) and 50 < found.runs < 1000
    assert report.bug_rate == rate_bounds(found.unsafe_runs, found.runs - found.unsafe_runs, 0)
    assert report.bug_rate.lo < found.unsafe_runs / found.runs < report.bug_rate.hi


@pytest.mark.parametrize(("option", "value"), [("confidence", "95"), ("until-width", "0")])
def test_shares_are_shares(courier: tuple[Path, Path], option: str, value: str) -> None:
    done = misstep("test", *courier, "--policy", "zoo:courier", f"--{option}", value)
    assert done.code == 4 and "must lie between 0 and 1" in done.err
