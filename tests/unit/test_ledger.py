"""The ledger of exact cost, without valgrind: what it reads, compares and decides."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.ledger import __main__ as ledger
from benchmarks.ledger import commands, counting
from benchmarks.ledger.commands import COMMANDS, Command
from benchmarks.ledger.counting import Broken, Machine, total
from benchmarks.ledger.kept import Row, append, compare, read

HERE = Machine("3.11.7", "C++ 12.2.0", "x86_64")
LOG = """\
==8523== Cachegrind, a cache and branch-prediction profiler
==8523== Command: python -m misstep --version
==8523==
==8523==
==8523== I   refs:      145,895,534
"""


def row(instructions: int, *, command: str = "plan", commit: str = "a", reason: str = "") -> Row:
    return Row(
        commit, "2026-01-31", command, "12345678", instructions, HERE.python, HERE.compiler, HERE.arch, reason
    )


def test_the_count_of_a_process_is_read() -> None:
    assert total(LOG) == 145_895_534


def test_a_process_that_became_another_program_has_no_count() -> None:
    assert total(LOG.rpartition("==8523== I")[0]) is None


def test_a_count_in_the_output_of_a_command_is_not_taken() -> None:
    assert total("I   refs:      7\n" + LOG) == 145_895_534


def test_the_first_count_is_new_and_no_regression() -> None:
    change = compare(row(100), [])
    assert change.ratio is None
    assert not change.is_regression


@pytest.mark.parametrize(
    ("now", "is_regression"), [(1_029, False), (1_030, False), (1_031, True), (1, False)]
)
def test_more_than_three_per_cent_is_a_regression(now: int, is_regression: bool) -> None:
    change = compare(row(now), [row(1_000)])
    assert change.ratio == now / 1_000
    assert change.is_regression is is_regression


def test_the_change_is_against_the_last_count_but_rises_add_up() -> None:
    change = compare(row(1_050), [row(1_000, commit="a"), row(1_029, commit="b")])
    assert change.last == row(1_029, commit="b")
    assert change.is_regression  # 2 % more than the last one, 5 % more than at the beginning


def test_a_rise_with_a_reason_is_the_new_measure() -> None:
    past = [row(1_000), row(2_000, reason="checks proofs, too"), row(2_010)]
    assert not compare(row(2_060), past).is_regression
    assert compare(row(2_061), past).is_regression


@pytest.mark.parametrize(
    "other",
    [{"arch": "aarch64"}, {"python": "3.13.1"}, {"compiler": "C++ 14"}, {"words": "0"}, {"command": "fuzz"}],
)
def test_only_like_is_compared_with_like(other: dict[str, str]) -> None:
    assert compare(row(5_000), [replace(row(1_000), **other)]).last is None


def test_rows_come_back_as_they_were_kept(tmp_path: Path) -> None:
    file = tmp_path / "kept.csv"
    rows = [row(1_000), row(2_000, reason='reads "all", then\nwrites')]
    assert read(file) == []
    append(file, rows[:1])
    append(file, rows[1:])
    assert read(file) == rows


@pytest.mark.parametrize("text", ["commit,date\na,b\n", "", "\0"])
def test_a_file_with_other_columns_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kept.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Broken, match=r"kept\.csv"):
        read(file)


@pytest.mark.parametrize(
    "line", ["a,b", "a,b,plan,1,many,3.11,C++,x86_64,", "a,b,plan,1,-5,3.11,C++,x86_64,", "a" + 9 * ",1"]
)
def test_a_damaged_row_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "kept.csv"
    append(file, [row(1_000)])
    with file.open("a", encoding="utf-8") as lines:
        lines.write(line + "\n")
    with pytest.raises(Broken, match=r"kept\.csv:3"):
        read(file)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What valgrind would count, by command; nothing is run."""
    found = dict.fromkeys((command.name for command in COMMANDS), 1_000_000)

    def counted(chosen: Sequence[Command], repeat: int, jobs: int) -> dict[str, list[int]]:
        return {command.name: [found[command.name]] * repeat for command in chosen}

    monkeypatch.setattr(ledger, "_count_all", counted)
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/valgrind")
    return found


def test_a_regression_lands_with_its_reason_only(
    tmp_path: Path, counts: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kept.csv"
    words = ["--file", str(file), "--only", "verify", "show"]
    assert ledger.main([*words, "--keep"]) == 0
    counts["verify"] = 1_040_000
    assert ledger.main(words) == 1
    assert "verify takes 4.0 % more" in capsys.readouterr().out
    assert ledger.main([*words, "--keep"]) == 1
    assert len(read(file)) == 2  # nothing is kept without a reason
    assert ledger.main([*words, "--keep", "--reason", "checks every pair"]) == 0
    assert [(row.command, row.reason) for row in read(file)[2:]] == [
        ("verify", "checks every pair"),
        ("show", ""),
    ]
    assert ledger.main(words) == 0


def test_a_count_alone_keeps_nothing(tmp_path: Path, counts: dict[str, int]) -> None:
    file = tmp_path / "kept.csv"
    assert ledger.main(["--file", str(file), "--only", "show"]) == 0
    assert not file.exists()
    assert len(counts) == len(COMMANDS)


def test_without_valgrind_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert ledger.main([]) == 2
    assert capsys.readouterr().err == counting.ABSENT + "\n"


def test_an_unknown_command_is_named(counts: dict[str, int], capsys: pytest.CaptureFixture[str]) -> None:
    assert ledger.main(["--only", "plam"]) == 2
    assert "'plam'" in capsys.readouterr().err
    assert counts


def test_a_reason_that_would_be_lost_is_refused() -> None:
    with pytest.raises(SystemExit):
        ledger.main(["--reason", "why"])


def test_a_command_that_ends_otherwise_is_not_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "files").mkdir()
    monkeypatch.setattr(ledger, "BUILD", tmp_path)
    ended = subprocess.CompletedProcess([], 3, "", "error: broken")
    monkeypatch.setattr(counting, "run", lambda line, folder: ended)
    with pytest.raises(Broken, match="error: broken"):
        ledger.count(Command("show", "show record"))


def test_commands_have_different_names_and_all_files_that_they_name() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
    folder = Path(ledger.__file__).parent / "tasks"
    named = {word for command in COMMANDS for word in command.words.split() if word.startswith("tasks/")}
    assert {Path(word).name for word in named} <= {file.name for file in folder.iterdir()}


def test_a_count_belongs_to_the_words_and_to_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    by_name = {command.name: command for command in COMMANDS}
    before = {name: commands.digest(command) for name, command in by_name.items()}
    assert len(set(before.values())) == len(COMMANDS)
    assert commands.digest(replace(by_name["show"], words="show record 1")) != before["show"]
    monkeypatch.setattr(commands, "_MADE", {"nightly.toml": "pool = 5"})
    changed = {name for name, command in by_name.items() if commands.digest(command) != before[name]}
    assert "campaign" in changed and "test-python" in changed and "show" in changed
    assert not changed & {"version", "help", "plan-ff", "fuzz"}


def test_the_kept_file_has_every_command_as_it_is_now() -> None:
    rows = {(row.command, row.words) for row in read(ledger.KEPT)}
    assert rows >= {(command.name, commands.digest(command)) for command in COMMANDS}
