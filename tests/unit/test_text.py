"""Names from files on a screen: harmless, and whole where they are not absurdly long."""

import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.reports.screen import say
from misstep.reports.text import (
    filled,
    harmless,
    listed,
    padded,
    screen_width,
    shorten,
    table,
    table_width,
    width_of,
)

NASTY = "a\x1b[31mred\x07\r\nb\x9b2Jc\u202ed\u2028e\ud800"


def test_control_characters_are_written_out() -> None:
    assert harmless("\x1b[2J") == "\\x1b[2J"
    assert harmless("a\nb\tc") == "a\\nb\\tc"
    assert harmless("a\nb\x1b", keep_lines=True) == "a\nb\\x1b"
    assert harmless("\u202eevil") == "\\u202eevil"
    assert harmless("naïve (drive red)") == "naïve (drive red)"


@given(st.text())
def test_nothing_active_is_left(text: str) -> None:
    assert not {unicodedata.category(char) for char in harmless(text)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.text(), st.integers(min_value=0, max_value=60))
def test_a_shortened_text_fits(text: str, width: Any) -> None:
    short = shorten(text, width)
    assert width_of(short) <= width
    assert harmless(short) == short
    assert width_of(padded(short, width)) == width


def test_the_middle_is_left_out() -> None:
    assert shorten("(drive red harbour market)", 15) == "(drive...arket)"
    assert shorten("(drive red)", 11) == "(drive red)"
    assert shorten("名前名前名前", 9) == "名...前"


def test_a_megabyte_is_cut_without_looking_at_it_as_a_whole() -> None:
    assert shorten("x" + "y\x1b" * 1_000_000 + "z", 20).startswith("xy\\x1by")
    assert all(len(line) <= 80 for line in filled(f"instead of {'b' * 1_000_000} here", 80))


def test_a_log_has_no_word_of_megabytes(capsys: pytest.CaptureFixture[str]) -> None:
    """Where standard output is no terminal, lines are as long as they are, but for such names."""
    say(f"misstep: (go {'b' * 1_000_000}) instead of (stay)", "a path " + "/long" * 100)
    first, second = capsys.readouterr().out.splitlines()
    assert len(first) < 200 and first.startswith("misstep: (go bbb") and first.endswith("instead of (stay)")
    assert second == "a path " + "/long" * 100


def test_lists_are_broken_between_items() -> None:
    lines = listed(["(at red harbour)", "(at blue mill)", "(lit)", NASTY], 30, indent=2)
    assert lines == ["  (at red harbour),", "  (at blue mill), (lit),", f"  {harmless(NASTY)}"]
    assert listed([], 30) == []


@pytest.mark.parametrize("width", [24, 40, 80])
def test_names_of_a_narrow_table_have_a_line_of_their_own(width: int) -> None:
    rows = [
        ("task", "bugs", "remarks"),
        ("a-very-long-name-of-a-problem.pddl", "12", "error"),
        ("p", "3", ""),
    ]
    lines = table(rows, width)
    if width < len(rows[1][0]) + 2 + 4 + 2 + 7:
        assert lines == ["task", "  bugs  remarks", rows[1][0], "    12  error", "p", "     3"]
        return
    assert lines == table(rows, None)
    assert [line.split()[1] for line in lines] == ["bugs", "12", "3"]
    assert lines[0].index("bugs") + 4 == lines[1].index("12") + 2


@pytest.mark.parametrize(
    ("columns", "is_terminal", "text", "a_table"),
    [
        ("", False, 80, None),
        ("200", False, 200, 200),
        ("33", True, 33, 33),
        ("none", False, 80, None),
        ("0", False, 80, None),
        ("-5", False, 80, None),
    ],
)
def test_columns_is_obeyed(
    columns: str, is_terminal: bool, text: int, a_table: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    assert (screen_width(), table_width()) == (text, a_table)
