"""The live view: what a person sees, harmless whatever names are like, and never wider than the terminal."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.events import OracleUse, Progress, from_json
from misstep.reports.live import view_lines
from misstep.session import Session
from tests.conftest import COURIER

GOLDEN = Path(__file__).parents[1] / "golden" / "live.txt"
USES = [
    ("landmarks", 100, 2, 0.31),
    ("abstraction", 300, 0, 2.1),
    ("greedy", 33, 13, 1.2),
    ("improve/ehc", 1428, 52, 40.82),
    ("lookahead", 0, 0, 0.0),
]
PROGRESS = Progress(
    pool=100,
    tested=100,
    bugs=67,
    cleared=2,
    unknown=31,
    kinds=4,
    last_kind_at=40.0,
    round=2,
    done=12,
    size=31,
    asked=12345,
    policy_seconds=3.3,
    oracles=tuple(OracleUse(name=name, asked=a, settled=s, seconds=t) for name, a, s, t in USES),
    memory_mb=212.3,
    seconds_left=None,
    at=82.0,
)
SGR = re.compile(r"\x1b\[[0-9;]*m")


def view(name: str = "opt08-p03.pddl", progress: Progress = PROGRESS, **options: Any) -> list[str]:
    given: dict[str, Any] = {"since": 0.4, "spent": 82.4, "seconds": None, "width": 79, "colour": False}
    return view_lines(name, progress, **(given | options))


def test_what_a_person_sees() -> None:
    shown = [*view(), "", *view(seconds=120.0), "", *view(width=63)]
    text = "\n".join(shown) + "\n"
    if os.environ.get("MISSTEP_UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


@pytest.mark.parametrize("width", [63, 79, 200])
@pytest.mark.parametrize("name", ["[bold red]x[/]", "\x1b[31mred\x07", "漢字" * 50, "x" * 1_000_000, "a\nb"])
def test_names_do_nothing_to_the_terminal(name: str, width: int) -> None:
    use = OracleUse(name=name, asked=1, settled=0, seconds=0.1)
    progress = replace(PROGRESS, oracles=(use,))
    lines = view(name, progress, width=width, colour=True)
    assert len(lines) == 5
    for line in lines:
        plain = SGR.sub("", line)
        assert plain.isprintable()
        assert sum(2 if "一" <= char <= "鿿" else 1 for char in plain) <= width
    if name.startswith("["):
        assert "[bold red]x[/]" in SGR.sub("", lines[0])


def test_a_test_without_bugs_or_limits() -> None:
    nothing = replace(PROGRESS, bugs=0, kinds=0, last_kind_at=None, asked=None, memory_mb=0, size=0, done=0)
    lines = view(progress=nothing)
    assert lines[1] == "bugs 0 · cleared 2 · unknown 31"
    assert lines[2] == "pool 100"


def test_progress_is_told_and_not_logged() -> None:
    session = Session(
        misstep.Config(domain=COURIER[0], problem=COURIER[1], policy="zoo:courier", pool=6),
        progress_seconds=0,
    )
    events = list(session.events())
    told = [event for event in events if isinstance(event, Progress)]
    assert [event.tested for event in told if event.round == 0] == [1, 2, 3, 4, 5, 6]
    assert told[-1].bugs == len(session.tally.bugs) and told[-1].kinds == len(session.tally.kinds)
    assert told[5].done == told[5].size == 6 and told[5].asked
    assert sum(use.asked for use in told[-1].oracles) >= 6
    assert all(a.seconds <= b.seconds for a, b in zip(told[0].oracles, told[-1].oracles, strict=True))
    assert list(session.record.events()) == [
        event for event in events if event.event not in ("progress", "pool")
    ]
    assert from_json(told[-1].as_json()) == told[-1]


def test_on_event_hears_it() -> None:
    heard: list[Any] = []
    misstep.test(COURIER, "zoo:courier", pool=3, on_event=heard.append)
    assert any(isinstance(event, misstep.Progress) for event in heard)
