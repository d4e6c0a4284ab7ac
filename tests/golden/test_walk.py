"""The way through the modules is the one that was looked at, and it is a straight one."""

from pathlib import Path

import pytest

from tests.golden import walk

HERE = Path(__file__).parent


@pytest.mark.translator
@pytest.mark.parametrize("name", ["walk_task", "walk_model"])
def test_the_walk(name: str) -> None:
    found = walk.task_walk() if name == "walk_task" else walk.model_walk()
    kept = (HERE / f"{name}.txt").read_text().splitlines()
    assert sorted(found.order) == sorted(kept), "look at the change: python -m tests.golden.walk"


def test_both_have_the_same_spine() -> None:
    task, model = ((HERE / f"walk_{kind}.txt").read_text().splitlines() for kind in ("task", "model"))
    spine = ["cli/test", "suite", "session", "oracle", "tally", "lab", "judge", "reports/report"]
    for found in (task, model):
        places = [found.index(module) for module in spine]
        assert places == sorted(places), "the same modules in the same order"
