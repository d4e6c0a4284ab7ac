"""How problems share time and places."""

from pathlib import Path

import pytest

from misstep.config import Config
from misstep.errors import InputError
from misstep.suite import Suite, expand

PROBLEMS = [Path(f"p{number}.pddl") for number in range(4)]


def configs(seconds: float | None) -> list[Config]:
    return expand(Config(domain=Path("domain.pddl"), policy="heuristic:ff", seconds=seconds), PROBLEMS)


@pytest.mark.parametrize(
    ("jobs", "shares"),
    [
        # All are taken at once, as if none took any time: what is left is shared anew each time.
        (1, [100 / 4, 100 / 3, 100 / 2, 100]),
        (2, [200 / 4, 200 / 4, 200 / 3, 200 / 2]),
        (3, [300 / 4, 300 / 4, 300 / 4, 300 / 3]),
        (4, [100, 100, 100, 100]),
    ],
)
def test_time_is_shared_by_those_that_are_not_done(jobs: int, shares: list[float]) -> None:
    made = list(Suite(configs(100.0), Path("out"), jobs=jobs).all_jobs())
    assert [job.config.seconds for job in made] == pytest.approx(shares, rel=0.02)
    assert [job.record for job in made] == [Path("out") / problem.stem for problem in PROBLEMS]


def test_the_first_get_a_useful_share() -> None:
    made = list(Suite(configs(3.0), Path("out")).all_jobs())
    assert made[0].config.seconds == pytest.approx(2.0, rel=0.02)
    assert [job.config.seconds for job in Suite(configs(None)).all_jobs()] == [None] * 4


def test_resuming_needs_a_place() -> None:
    with pytest.raises(InputError, match="name it with --out"):
        next(Suite(configs(None), resume=True).all_jobs())


def test_a_directory_may_stand_in_the_configuration(tmp_path: Path) -> None:
    for name in ("b.pddl", "a.pddl", "domain.pddl", "notes.txt"):
        (tmp_path / name).touch()
    config = Config(domain=tmp_path / "domain.pddl", problem=tmp_path, policy="heuristic:ff")
    assert [each.subject for each in expand(config, [])] == ["a.pddl", "b.pddl"]


def test_long_problems_begin_first_where_several_are_tested_at_a_time(tmp_path: Path) -> None:
    sizes = {"a": 10, "b": 30, "c": 20, "d": 30}
    for name, size in sizes.items():
        (tmp_path / f"{name}.pddl").write_text("x" * size)
    files = [tmp_path / f"{name}.pddl" for name in (*sizes, "absent")]
    config = Config(domain=tmp_path / "domain.pddl", policy="heuristic:ff")
    made = list(Suite(expand(config, files), Path("out"), jobs=2).all_jobs())
    assert [(job.number, job.record.name) for job in made] == [
        (1, "b"), (3, "d"), (2, "c"), (0, "a"), (4, "absent"),
    ]  # fmt: skip
    assert [job.number for job in Suite(expand(config, files), Path("out")).all_jobs()] == [0, 1, 2, 3, 4]
    timed = expand(config.replace(seconds=100.0), files)
    assert [job.number for job in Suite(timed, Path("out"), jobs=2).all_jobs()] == [0, 1, 2, 3, 4]
