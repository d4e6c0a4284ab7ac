"""A few mutants of every input format; `python -m tests.mutants` tries many more."""

import random
from pathlib import Path

import pytest

from tests.mutants import documents, texts
from tests.mutants.campaign import campaign
from tests.mutants.trial import Ended, attempt


def test_no_mutant_brings_a_command_down(tmp_path: Path) -> None:
    found = list(campaign(tmp_path, 0, 5, each=2, grow_mb=250))
    assert {mutant.number for mutant, _ in found} == {0, 1}
    assert len({mutant.format for mutant, _ in found}) >= 16
    wrong = [(mutant.format, mutant.number, ended) for mutant, ended in found if ended.wrong is not None]
    assert not wrong


@pytest.mark.parametrize(
    ("mutation", "data"),
    [
        (texts.damage, b"a 1 (b)\n"),
        (texts.lines, b"begin\n1\nend\n"),
        (texts.lisp, b"(define (domain d) (:action a :parameters (?x)))"),
        (documents.json_text, b'{"a": [1, "x", {"b": null}], "c": 0.5}'),
        (documents.json_lines, b'{"a": 1}\n{"b": [2]}\n'),
        (documents.toml, b'a = 1\nb = "x"\n[c]\nd = []\n'),
        (documents.protocol, b"\x0a\x05\x08\x03\x12\x01a"),
    ],
)
def test_mutations_change_what_they_get_and_repeat_by_seed(mutation: texts.Mutation, data: bytes) -> None:
    made = [mutation(data, random.Random(seed)) for seed in range(60)]
    assert made == [mutation(data, random.Random(seed)) for seed in range(60)]
    assert len(set(made)) > 20
    assert sum(one == data for one in made) < 20  # what is short has equal parts, which may be exchanged


def tried(folder: Path, code: str) -> Ended:
    """How a child ends that runs this code instead of a command."""

    def work() -> int:
        exec(code)
        return 0

    folder.mkdir()
    return attempt(work, folder, grow_mb=100)


def test_the_watcher_sees_what_it_is_there_for(tmp_path: Path) -> None:
    """A harness that cannot fail proves nothing."""
    assert tried(tmp_path / "good", "pass").wrong is None
    assert "SIGSEGV" in str(tried(tmp_path / "crash", "import ctypes; ctypes.string_at(0)").wrong)
    assert "Traceback" in str(tried(tmp_path / "error", "1 / 0").wrong)
    assert "exit code 3" in str(tried(tmp_path / "code", "import os; os._exit(3)").wrong)
    assert "MB of memory" in str(tried(tmp_path / "large", "bytearray(b'x') * 300_000_000").wrong)
    assert "without bound" in str(
        tried(tmp_path / "hoard", "a = [bytearray(b'x') * 10**7 for _ in iter(int, 1)]").wrong
    )
