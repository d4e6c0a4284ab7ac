"""The status of long work where nobody watches a terminal: lines in a file, and none where they are not wanted."""

import time

import pytest

from misstep.reports import status
from misstep.reports.status import StatusLine

FEW = 0.02


def waited(line: StatusLine, capsys: pytest.CaptureFixture[str]) -> str:
    """What was written to standard error until the first line came, or for a while."""
    with line:
        for _ in range(20):
            time.sleep(5 * FEW)
            if found := capsys.readouterr().err:
                return found
    return ""


def test_a_file_gets_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(status, "_LINE_SECONDS", FEW)
    line = StatusLine("planning")
    line.show("stage 1 of 2\x1b[2J")
    lines = waited(line, capsys).splitlines()
    assert lines and set(lines) == {r"stage 1 of 2\x1b[2J · 0:00"}
    capsys.readouterr()
    time.sleep(5 * FEW)
    assert capsys.readouterr().err == ""  # The work is done.


def test_quiet_work_says_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(status, "_LINE_SECONDS", FEW)
    assert waited(StatusLine("planning", quiet=True), capsys) == ""


def test_short_work_needs_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    with StatusLine("planning"):
        pass
    assert capsys.readouterr().err == ""


def test_texts_for_a_file_are_made_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not StatusLine("planning", quiet=True).is_due
    assert not StatusLine("planning").is_due
    monkeypatch.setattr(status, "_LINE_SECONDS", FEW)
    line = StatusLine("planning")
    time.sleep(FEW)
    assert line.is_due
    monkeypatch.undo()
    line.show("stage 1 of 2")
    assert not line.is_due
