"""`make mutation`: what it changes, how a process sees the change, and what it counts. Mutants are told by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mutation import __main__ as mutation
from tests.mutation import hook, mutants, selection
from tests.mutation.mutants import Block, Mutant, Stale, blocks, from_block, is_equivalent
from tests.mutation.operators import differs, edits
from tests.mutation.report import Kept, lines, score
from tests.mutation.selection import digest, read_map, write_map
from tests.mutation.trial import Runner, Tried, make_overlay


def changed(text: str) -> set[str]:
    """All mutants of a text."""
    source = text.encode()
    return {edit.apply(source).decode() for edit in edits(source) if differs(source, edit)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", {"x = (a <= b)", "x = (a >= b)"}),
        ("x = a is None", {"x = (a is not None)"}),
        ("x = a and b", {"x = (a or b)"}),
        ("x = not a", {"x = a"}),
        ("x = a + b", {"x = (a - b)"}),
        ("x = 7", {"x = 8"}),
        ("x = 1", {"x = 2", "x = 0"}),
        ("x = True", {"x = False"}),
        ("x = 2.0", {"x = 1.0"}),
        ("x = max(a, b)", {"x = min(a, b)"}),
        ("x = a if b else c", {"x = a if True else c", "x = a if False else c"}),
        ("x = [a for a in b if c]", {"x = [a for a in b if True]", "x = [a for a in b if False]"}),
        ("x -= a", {"pass", "x += a"}),
        ("x[a] = b", {"pass"}),
        ("f(a)", {"pass"}),
        ("if a:\n    f(b)", {"if True:\n    f(b)", "if False:\n    f(b)", "if a:\n    pass"}),
        ("while a:\n    break", {"while False:\n    break", "while a:\n    pass"}),
        ("def f(a=3):\n    return a", {"def f(a=4):\n    return a", "def f(a=3):\n    return None"}),
        ("def f():\n    raise E('no', 3)", {"def f():\n    pass"}),
        ("x = 'ä' + (a)", set()),
        ("# ä\nx = 'ä', 7", {"# ä\nx = 'ä', 8"}),
    ],
)
def test_mutants_are_these(text: str, expected: set[str]) -> None:
    assert changed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"""A text of 3 < 4."""',
        "def f(a: Literal[3]) -> Literal[4]:\n    '''Of 3.'''",
        "x: Literal[3]",
        "if TYPE_CHECKING:\n    import x\n    y = 3",
        "@decorated(3)\ndef f():\n    pass",
        "x = f'{3 + 4}'",
        "log.debug(3)",
        "assert x < 3",
        "def f(a):\n    del a",
        "from a import b",
        "def f():\n    return None",
        "x = zip(a, b, strict=True)",
    ],
)
def test_what_nobody_can_tell_is_left_alone(text: str) -> None:
    assert changed(text) == set()


def test_what_runs_at_import_is_marked() -> None:
    found = edits(b"x = 7\ndef f(a=3):\n    return 5\n")
    assert {(edit.text, edit.is_at_import) for edit in found} == {
        ("8", True),
        ("4", True),
        ("6", False),
        ("return None", False),
    }


def test_the_lines_of_a_condition_are_the_head_alone() -> None:
    (edit, *_) = edits(b"if (a\n        and b):\n    x = y\n")
    assert edit.lines == (1, 2)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project with one module and one test, which leaves much untested."""
    module = tmp_path / "src" / "misstep" / "small.py"
    module.parent.mkdir(parents=True)
    (module.parent / "__init__.py").touch()
    module.write_text(
        "def least(a, b):\n    if a < b:\n        return a\n    return b\n\n\n"
        "def wait(n):\n    while n:\n        n -= 1\n    return n\n",
        encoding="utf-8",
    )
    (tmp_path / "test_small.py").write_text(
        "import pathlib, subprocess, sys\n"
        "from misstep import small\n\n"
        "def test_least():\n    assert small.least(3, 4) == 3\n\n"
        "def test_wait():\n"
        "    words = [sys.executable, '-c', 'from misstep.small import wait; raise SystemExit(wait(2))']\n"
        "    assert subprocess.run(words).returncode == 0\n\n"
        "def test_the_file_is_the_usual_one():\n"
        "    assert pathlib.Path(small.__file__).name == 'small.py'\n",
        encoding="utf-8",
    )
    for place in (mutants, selection, sys.modules["tests.mutation.trial"]):
        monkeypatch.setattr(place, "ROOT", tmp_path)
    return tmp_path


def mutant(checkout: Path, before: str, after: str, line: int) -> Mutant:
    text = (checkout / "src/misstep/small.py").read_text(encoding="utf-8")
    assert text.count(before) == 1
    return Mutant("src/misstep/small.py", text.replace(before, after).encode(), (line, line))


@pytest.mark.parametrize(
    ("before", "after", "outcome", "by"),
    [
        ("a < b", "a <= b", "survived", ()),
        ("a < b", "a > b", "killed", ("test_small.py::test_least",)),
        ("return n", "return 1", "killed", ("test_small.py::test_wait",)),  # in another process
    ],
)
def test_a_mutant_is_tried_without_touching_the_checkout(
    checkout: Path,
    before: str,
    after: str,
    outcome: str,
    by: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (checkout / "src/misstep/small.py").read_bytes()
    tried = Runner(checkout / "build").try_one(mutant(checkout, before, after, 2), ["test_small.py"], 5.0)
    assert tried is not None
    assert (tried.outcome, tried.by) == (outcome, by)
    assert (checkout / "src/misstep/small.py").read_bytes() == text


def test_a_mutant_without_tests_is_unreached(checkout: Path) -> None:
    tried = Runner(checkout / "build").try_one(mutant(checkout, "a < b", "a > b", 2), [], 0.0)
    assert tried is not None
    assert tried.outcome == "unreached"
    assert not tried.is_killed


def test_a_mutant_that_never_ends_is_stopped(checkout: Path) -> None:
    runner = Runner(checkout / "build")
    runner.least_seconds = 2
    tried = runner.try_one(
        mutant(checkout, "a < b", "a < b and [0 for _ in iter(int, 1)]", 2), ["test_small.py"], 0.0
    )
    assert tried is not None
    assert tried.outcome == "timeout"
    assert tried.is_killed


def test_what_is_stopped_is_not_counted(checkout: Path) -> None:
    runner = Runner(checkout / "build")
    runner.stop()
    assert runner.try_one(mutant(checkout, "a < b", "a > b", 2), ["test_small.py"], 1.0) is None


def test_the_map_says_which_tests_reach_a_line(checkout: Path) -> None:
    (checkout / "src" / "misstep").rename(checkout / "src" / "mutated")  # misstep itself is installed
    test = checkout / "test_small.py"
    test.write_text(test.read_text(encoding="utf-8").replace("misstep", "mutated"), encoding="utf-8")
    parts = checkout / "parts"
    parts.mkdir()
    overlay, root = make_overlay(checkout / "overlay"), Path(mutation.__file__).parents[2]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(overlay), str(root), str(checkout / "src"))),
        hook.REACHED: os.pathsep.join((str(parts), str(checkout / "src"))),
    }
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.mutation.reach", "test_small.py"]
    subprocess.run([sys.executable, "-m", "pytest", *words], cwd=checkout, env=environment, check=True)
    write_map(checkout / "map.json", parts)
    reached = read_map(checkout / "map.json")
    assert reached is not None
    file = "src/mutated/small.py"
    assert reached.tests(Mutant(file, b"", (2, 2))) == ["test_small.py::test_least"]
    assert reached.tests(Mutant(file, b"", (4, 4))) == []
    assert reached.tests(Mutant(file, b"", (9, 9))) == ["test_small.py::test_wait"]  # in another process


def test_a_map_of_another_text_falls_back_to_the_tests_of_the_file(checkout: Path) -> None:
    parts = checkout / "parts"
    parts.mkdir()
    file = checkout / "src/misstep/small.py"
    for test, seconds, line in (("a", 2.0, 2), ("b", 1.0, 8)):
        (checkout / test).touch()
        entry = {"test": test, "seconds": seconds, "files": {str(file): [line]}}
        (parts / f"{test}.jsonl").write_text(json.dumps(entry) + "\n", encoding="utf-8")
    reached = write_map(checkout / "map.json", parts)
    one = mutant(checkout, "a < b", "a > b", 2)
    assert reached.tests(one) == ["a"]
    assert reached.digests["src/misstep/small.py"] == digest(file)
    assert not reached.is_stale("a")
    (checkout / "a").write_text("other", encoding="utf-8")
    assert reached.is_stale("a")
    file.write_text("\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert reached.tests(one) == ["b", "a"]  # the quickest first


def entry(file: Path, text: str) -> list[Block]:
    file.write_text(f"A comment.\n\n{text}", encoding="utf-8")
    return blocks(file)


def test_a_mutant_by_hand_is_found_by_its_text(checkout: Path) -> None:
    text = "# never less\n@ src/misstep/small.py def least\n- if a < b:\n- return a\n+ if False:\n+     return a\n"
    (block,) = entry(checkout / "named.txt", text)
    found = from_block(block)
    assert found.name == "never less"
    assert found.changed.startswith(b"def least(a, b):\n    if False:\n        return a\n    return b\n")
    assert found.lines == (2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# x\n@ src/misstep/small.py\n- if a > b:\n+ if True:\n", "is not there any more"),
        ("# x\n@ src/misstep/gone.py\n- if a > b:\n+ if True:\n", "no file"),
        ("# x\n@ src/misstep/small.py def wait\n- if a < b:\n+ if True:\n", "is not there any more"),
        ("# x\n@ src/misstep/small.py\n- if a < b:\n+ if:\n", "not Python"),
        ("@ src/misstep/small.py\n- if a < b:\n+ if True:\n", "an entry has lines"),
    ],
)
def test_a_mutant_by_hand_that_cannot_be_made_is_an_error(checkout: Path, text: str, message: str) -> None:
    with pytest.raises(Stale, match=rf"named\.txt:3: .*{message}"):
        [from_block(block) for block in entry(checkout / "named.txt", text)]


def test_a_text_that_is_there_twice_is_an_error(checkout: Path) -> None:
    file = checkout / "src/misstep/small.py"
    file.write_text(file.read_text(encoding="utf-8") * 2, encoding="utf-8")
    with pytest.raises(Stale, match="2 times"):
        from_block(entry(checkout / "named.txt", "# x\n@ src/misstep/small.py\n- if a < b:\n+ if True:\n")[0])


def test_a_proven_equivalent_is_recognised(checkout: Path) -> None:
    text = "# equal numbers are equal\n@ src/misstep/small.py\n- if a < b:\n+ if a <= b:\n"
    known = entry(checkout / "equivalent.txt", text)
    assert is_equivalent(mutant(checkout, "a < b", "(a <= b)", 2), known) == known[0]
    assert is_equivalent(mutant(checkout, "a < b", "(a >= b)", 2), known) is None


def test_results_are_kept_and_survivors_are_tried_again_with_other_tests(checkout: Path) -> None:
    file = checkout / "results.jsonl"
    dead, alive = mutant(checkout, "a < b", "a > b", 2), mutant(checkout, "a < b", "a <= b", 2)
    kept = Kept(file, "old")
    kept.add(Tried(dead.key, "killed", ("test_small.py::test_least",), 3, 1.5))
    kept.add(Tried(alive.key, "survived", (), 3, 2.5))
    with file.open("a", encoding="utf-8") as out:
        out.write('{"key": "cut o')
    assert Kept(file, "old").get(alive) == Tried(alive.key, "survived", (), 3, 2.5)
    assert Kept(file, "new").get(alive) is None
    assert Kept(file, "new").get(dead) == Tried(dead.key, "killed", ("test_small.py::test_least",), 3, 1.5)


def test_equivalents_above_five_per_cent_count_as_survivors() -> None:
    assert score(90, 3, 100) == (90, 97)
    assert score(90, 5, 100) == (90, 95)
    assert score(90, 10, 100) == (90, 95)


def test_survivors_are_told_with_the_command_that_repeats_one(checkout: Path) -> None:
    dead, alive = mutant(checkout, "a < b", "a > b", 2), mutant(checkout, "a < b", "a <= b", 2)
    results = {dead.key: Tried(dead.key, "killed"), alive.key: Tried(alive.key, "survived", (), 3)}
    told = list(lines([dead, alive], results, [], is_named=False))
    assert told[:3] == [
        "\nsurvived (3 tests)",
        "src/misstep/small.py:2\n-    if a < b:\n+    if a <= b:",
        f"  .venv/bin/python -m tests.mutation --only {alive.key}",
    ]
    assert told[-1].split() == ["small.py", "1", "0", "1", "0", "50", "%", "(1", "to", "99", "%)"]


def test_an_equivalent_that_a_test_kills_is_reported(checkout: Path) -> None:
    known = entry(checkout / "equivalent.txt", "# no\n@ src/misstep/small.py\n- if a < b:\n+ if a > b:\n")
    dead = mutant(checkout, "a < b", "a > b", 2)
    told = "\n".join(lines([dead], {dead.key: Tried(dead.key, "killed")}, known, is_named=False))
    assert "it is not equivalent" in told


def test_drawing_depends_on_the_seed_alone(checkout: Path) -> None:
    files = ["src/misstep/small.py"]
    first: Sequence[Mutant] = mutants.draw(files, 4, 1)
    assert [one.key for one in first] == [one.key for one in mutants.draw(files, 4, 1)]
    everything = {one.key for one in mutants.all_of(files[0])}
    assert {one.key for one in mutants.with_keys(files, everything)} == everything
    assert {one.key for one in mutants.draw(files, 10_000, 2)} == everything


def test_all_mutants_by_hand_can_be_made() -> None:
    here = Path(mutation.__file__).parent
    assert len([from_block(block) for block in blocks(here / "named.txt")]) >= 40
    for block in blocks(here / "equivalent.txt"):
        from_block(block)
