"""Parts from text: names, options, values, and what is said when one of them is wrong."""

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal

import pytest

from misstep import plugins
from misstep.errors import InputError
from misstep.planners.native import AStar, GreedyBestFirst
from misstep.plugins import build_part, list_parts, make_part, option


@dataclass(frozen=True)
class Sample:
    """A part for this test."""

    depth: int = option(2, "how deep")
    share: float = option(0.5, "how much")
    mode: Literal["fast", "slow"] = option("fast", "which way")
    strict: bool = option(False, "or not")
    limit: int | None = option(None, "at most")
    text: str = ""


@pytest.fixture(autouse=True)
def sample(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    values = {"sample": "Sample", "broken": "Absent", "function": "damage"}
    extra = [
        EntryPoint(name, f"tests.unit.test_plugins:{value}", "misstep.search")
        for name, value in values.items()
    ]
    every = plugins._all_entries()
    with_sample = {**every, "search": [*every["search"], *extra]}
    monkeypatch.setattr(plugins, "_all_entries", lambda: with_sample)
    plugins._installed.cache_clear()
    yield
    plugins._installed.cache_clear()


def damage() -> None:
    """Not a part."""


def made(text: Any) -> Any:
    part = make_part("search", text)
    return part.depth, part.share, part.mode, part.strict, part.limit, part.text


def test_defaults_first_option_and_names() -> None:
    assert made("sample") == (2, 0.5, "fast", False, None, "")
    assert made("sample:7") == (7, 0.5, "fast", False, None, "")
    assert made("sample:7,mode=slow,strict=true") == (7, 0.5, "slow", True, None, "")
    assert made("sample:limit=9,share=0.25") == (2, 0.25, "fast", False, 9, "")
    assert made("sample:limit=none,text=a:b") == (2, 0.5, "fast", False, None, "a:b")
    assert made("sample:text=f([a, b],c=1),limit=3") == (2, 0.5, "fast", False, 3, "f([a, b],c=1)")


def test_values_from_python_and_toml_are_taken_as_they_are() -> None:
    part = build_part("search", "sample", {"depth": 3, "strict": True})
    assert (part.depth, part.strict) == (3, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sampel", "did you mean `sample`?"),
        ("sample:deep=3", "has no option `deep`; did you mean `depth`?"),
        ("sample:depth=x", "`x` is not a number (int)"),
        ("sample:mode=fats", "is not one of fast, slow; did you mean `fast`?"),
        ("sample:strict=yes", "neither true nor false"),
        ("sample:1,2", "`2` has no option name"),
        ("sample:depth=1,depth=2", "given twice"),
        ("broken", "cannot be loaded"),
        ("function", "is no dataclass"),
        ("", "unknown search ``"),
    ],
)
def test_mistakes(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        make_part("search", text)
    assert words in str(caught.value)


def test_unknown_kind() -> None:
    with pytest.raises(InputError, match="did you mean `search`"):
        make_part("serch", "astar")


def test_our_searches_come_by_the_same_route() -> None:
    assert make_part("search", "astar:hmax") == AStar("hmax")
    assert make_part("search", "gbfs") == GreedyBestFirst()
    assert str(AStar()) == "astar:lmcut"
    with pytest.raises(FrozenInstanceError):
        AStar().heuristic = "ff"  # type: ignore[misc]


def test_every_heuristic_of_the_list_exists_in_the_core(courier: tuple[Path, Path]) -> None:
    from misstep import Heuristic, load

    task = load(*courier)
    for part in list_parts("heuristic"):
        assert Heuristic(task, part.name)(task.initial_state) > 0


@pytest.mark.parametrize(
    "text", ["sample:depth=-1", "sample:share=nan", "sample:share=inf", "sample:limit=99999999999"]
)
def test_numbers_out_of_range_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not between 0 and"):
        make_part("search", text)
