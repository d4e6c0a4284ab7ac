"""`misstep dominance` from outside."""

from pathlib import Path

from tests.integration.cli import misstep


def test_factors_are_shown_and_files_are_reused(courier: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "task.dominance"
    shown = misstep("dominance", *courier, "--save", file)
    assert (shown.code, shown.out.splitlines()[0].split()[:2]) == (0, ["factor", "states"])
    assert "merged factors" in shown.err
    computed = misstep("dominance", *courier, "--json").json
    loaded = misstep("dominance", *courier, "--load", file, "--json").json
    assert computed["details"] == loaded["details"]
    assert computed["limit"] is None
    assert not any(char.isdigit() for char in str(computed["details"][0]["variables"]).split("(")[0])


def test_a_file_of_another_task_is_refused(courier: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "task.dominance"
    assert misstep("dominance", *courier, "--factors", "atomic", "--save", file, "--quiet").err == ""
    refused = misstep("dominance", *courier, "--unit-cost", "--load", file)
    assert refused.code == 4
    assert "another task" in refused.err


def test_limits_are_said(courier: tuple[Path, Path]) -> None:
    small = misstep("dominance", *courier, "--max-transitions", "10", "--json").json
    assert small["limit"] is None
    late = misstep("dominance", *courier, "--seconds", "0.01", "--json")
    assert (late.code, late.json["limit"]) == (0, "seconds")
