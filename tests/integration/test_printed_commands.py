"""Commands that are printed run as they are printed, wherever the record lies."""

import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import COURIER
from tests.integration.cli import misstep

# Blanks, quotes, a star and a letter of shells.
ODD = Path("q s") / "it's *$t"


def printed(text: str) -> list[list[str]]:
    """The words of the commands in a text, as a shell splits them."""
    found = re.findall(r"misstep (?:show|replay|verify|shrink|campaign) .*", text)
    return [shlex.split(command)[1:] for command in found]


def ran(commands: list[list[str]], cwd: Path) -> list[str]:
    """Runs each, and returns their names."""
    for words in commands:
        done = misstep(*words, cwd=cwd)
        assert done.code in (0, 1) and done.err.count("error") == 0, (words, done.err)
    return [words[0] for words in commands]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a record in an odd place, and one of another policy on the same states."""
    here = tmp_path_factory.mktemp("printed")
    for policy, name, states in (("zoo:courier", "old", ("--pool", "20")), ("heuristic:hadd", "new", ())):
        states = states or ("--pool-file", str(ODD / "old" / "pool.jsonl"))
        done = misstep("test", *COURIER, "--policy", policy, *states, "--out", ODD / name, cwd=here)
        assert done.code == 1, done.err
        assert ran(printed(done.out), here) == ["show"]
    return here


def test_show_and_replay(folder: Path) -> None:
    """`next` names a bug, and the bug names what asks the policy again."""
    (shows,) = printed(misstep("show", ODD / "old", cwd=folder).out)
    assert shows[:2] == ["show", str(ODD / "old")]
    assert ran(printed(misstep(*shows, cwd=folder).out), folder) == ["replay"]
    shrunk = misstep("shrink", ODD / "old", shows[2], cwd=folder)
    assert ran(printed(shrunk.out), folder) == ["replay"]
    assert misstep("verify", ODD / "old", cwd=folder).code == 0


def test_diff(folder: Path) -> None:
    found = ran(printed(misstep("diff", ODD / "old", ODD / "new", cwd=folder).out), folder)
    assert found and set(found) == {"show"}


def test_demo(tmp_path: Path) -> None:
    done = misstep("demo", "courier", "--out", ODD, cwd=tmp_path)
    assert ran(printed(done.out), tmp_path) == ["verify", "show", "replay", "shrink"]


def test_campaign(tmp_path: Path) -> None:
    domain, problem = map(str, COURIER)
    (tmp_path / "nightly.toml").write_text(
        f'domain = "{domain}"\nproblems = ["{problem}"]\npolicies = ["zoo:courier"]\npool = 3\n'
    )
    done = misstep("campaign", "nightly.toml", "--out", ODD, cwd=tmp_path)
    assert ran(printed(done.err), tmp_path) == ["campaign"]


def test_a_directory_that_looks_like_an_option(tmp_path: Path) -> None:
    done = misstep("demo", "courier", "--out=-record", cwd=tmp_path)
    commands = printed(done.out)
    assert [words[1] for words in commands] == ["./-record"] * 4
    assert ran(commands, tmp_path) == ["verify", "show", "replay", "shrink"]
