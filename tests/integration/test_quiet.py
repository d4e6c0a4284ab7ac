"""`--quiet` is known to every command, and leaves standard error empty although there is something to warn of."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import COURIER
from tests.integration.cli import misstep

# An action that can never be done: whoever loads the task is warned of it.
ODD = "(:action never :parameters (?p - place ?v - van) :precondition (road ?p ?p) :effect (empty ?v))"
LINEAR = Path(__file__).parents[2] / "src" / "misstep" / "bundled" / "zoo" / "courier.linear.json"
FIRST = """
def first(state):
    return {}(map(str, state.task.applicable(state)), default=None)
"""
TASK = ("domain.pddl", "problem.pddl")
MODEL = ("line.jani", "--policy", "zoo:two_way_line")
COMMANDS = [
    ("demo", "--out", "demo"),
    ("test", *TASK, "--policy", "python:changed.py:first", "--pool", "5", "--out", "OUT"),
    ("test", *MODEL, "--runs", "5", "--out", "OUT"),
    ("fuzz", *TASK, "--pool", "5", "--out", "OUT"),
    ("run", *TASK, "--policy", "python:changed.py:first"),
    ("plan", *TASK),
    ("dominance", *TASK),
    ("show", "record"),
    ("show", "record", "BUG"),
    ("report", "record", "--out", "OUT.html"),
    ("verify", "record"),
    ("replay", "record"),
    ("replay", "record", "BUG"),
    ("shrink", "record", "BUG"),
    ("diff", "record", "record"),
    ("select", *TASK, "--policies", "models", "--kind", "linear", "--pool", "3"),
    (
        "scale",
        "--generator",
        "ferry",
        "--policy",
        "zoo:ferry",
        "--start",
        "3",
        "--largest",
        "3",
        "--instances",
        "3",
    ),
    ("doctor",),
    ("parts",),
    ("campaign", "nightly.toml", "--out", "OUT"),
    ("campaign", "nightly.toml", "--dry-run", "--out", "OUT"),
    ("campaign", "status", "nightly.toml", "--out", "campaign"),
    ("campaign", "table", "nightly.toml", "--out", "campaign"),
    ("campaign", "plot", "nightly.toml", "--out", "campaign"),
    ("campaign", "export", "nightly.toml", "--csv", "OUT.csv", "--out", "campaign"),
    ("safety", "test", *MODEL, "--runs", "5", "--out", "OUT"),
    ("safety", "decide", "line.jani"),
    ("safety", "shield", *MODEL, "--runs", "10", "--out", "OUT.json"),
]
WITHOUT_JSON = [
    ("safety", "generate", "two_way_line", "--out", "OUT.jani"),
]
EVERY = [
    *((command, as_json) for command in COMMANDS for as_json in (False, True)),
    *((c, False) for c in WITHOUT_JSON),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("quiet")
    domain, problem = COURIER
    text = domain.read_text().rstrip()
    assert text.endswith(")")
    (here / "domain.pddl").write_text(f"{text[:-1]}\n {ODD})\n")
    shutil.copy(problem, here / "problem.pddl")
    (here / "changed.py").write_text(FIRST.format("min"))
    (here / "models").mkdir()
    shutil.copy(LINEAR, here / "models")
    tested = misstep(
        "test", *TASK, "--policy", "python:changed.py:first", "--pool", "5", "--out", "record", cwd=here
    )
    assert tested.code == 1 and "never" in tested.err, tested.err
    (here / "changed.py").write_text("# other bytes\n" + FIRST.format("min"))
    assert misstep("safety", "generate", "two_way_line", "--out", "line.jani", cwd=here).code == 0
    toml = 'domain = "domain.pddl"\nproblems = ["problem.pddl"]\npolicies = ["heuristic:ff"]\npool = 3\n'
    (here / "nightly.toml").write_text(toml)
    assert misstep("campaign", "nightly.toml", "--out", "campaign", cwd=here).code in (0, 1)
    return here


@pytest.mark.parametrize(
    ("words", "as_json"), EVERY, ids=lambda value: " ".join(value) if isinstance(value, tuple) else None
)
def test_quiet_says_the_result_alone(
    words: tuple[str, ...], as_json: bool, folder: Path, tmp_path: Path
) -> None:
    bug = next(
        path.stem for path in sorted((folder / "record" / "bugs").glob("*.json")) if path.stem.isdigit()
    )
    arguments = [
        bug if word == "BUG" else str(tmp_path / word.lower()) if word.startswith("OUT") else word
        for word in words
    ]
    if words[0] == "demo":
        arguments[-1] = str(tmp_path / "demo")
    done = misstep(*arguments, "--quiet", *(["--json"] if as_json else []), cwd=folder)
    assert done.code in (0, 1), done.err
    assert done.err == ""
    assert done.out
    if as_json:
        assert done.json


def test_a_changed_policy_is_said_in_words(folder: Path) -> None:
    """The warning was printed letter by letter."""
    (line,) = misstep("replay", "record", cwd=folder).err.splitlines()
    assert line == "warning: the file of the policy python:changed.py:first has changed since the test"
    assert misstep("replay", "record", "--json", cwd=folder).err == f"{line}\n"
