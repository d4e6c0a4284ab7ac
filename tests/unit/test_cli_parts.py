"""What `misstep parts` shows: every kind, every part, every option, within the terminal."""

import pytest

from misstep.cli.parts import parts
from misstep.plugins import KINDS, list_parts


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert parts(*arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_it_fits_into_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = shown(capsys)
    assert max(map(len, out.splitlines())) <= columns


def test_everything_is_there(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = " ".join(shown(capsys).split())
    for kind in KINDS:
        assert f"{kind}:" in text
        for part in list_parts(kind):
            assert part.problem is None
            assert f" {part.name} " in text
            assert part.help.split(".")[0].replace("\n", " ") in text
            for option in part.options:
                assert option.help, f"{kind} {part.name}: option {option.name} has no help"
                assert " ".join(option.help.split()) in text
    assert ":max_expansions=none int|none; expansions of one search" in text
    assert ":file (needed) Path" in text


def test_one_kind_alone(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "objective")
    head, first, *_ = out.splitlines()
    assert head.startswith("objective: ") and first.startswith("  qualitative ")
    assert "oracle:" not in out
