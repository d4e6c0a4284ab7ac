"""A package of somebody else's, installed: its parts are listed, used, verified, and named in errors."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.cli import Ended, misstep

PACKAGE = Path(__file__).parents[2] / "examples" / "plugin"
NAME = "misstep-example-parts"
Command = Callable[..., Ended]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the package installed in it, as far as it needs no network."""
    pytest.importorskip("setuptools", reason="pip needs setuptools to install the example offline")
    source = tmp_path_factory.mktemp("source") / "plugin"
    target = tmp_path_factory.mktemp("site")
    source.mkdir()
    for name in ("pyproject.toml", "example_parts.py"):  # a copy: building writes into the directory
        (source / name).write_text((PACKAGE / name).read_text())
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    return target


@pytest.fixture
def command(site: Path) -> Command:
    return lambda *arguments: misstep(*arguments, timeout=120, env={"PYTHONPATH": str(site)})


def python(site: Path, text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_is_short() -> None:
    lines = sum(len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py"))
    assert lines <= 120


def test_its_parts_are_listed_with_their_package(command: Command) -> None:
    listed = command("parts", "--json").json
    for kind, name in {
        "policy": "goal-counter",
        "oracle": "dive",
        "bias": "fickle",
        "fuzzer": "one-step",
        "objective": "capped",
    }.items():
        (part,) = [part for part in listed[kind] if part["name"] == name]
        assert part["origin"] == NAME and part["problem"] is None and part["help"]
        assert all(option["help"] for option in part["options"])
    shown = command("parts", "oracle").out
    assert f"(from {NAME})" in " ".join(shown.split())
    assert ":tries=20  int; walks from each state" in shown


def test_a_test_with_all_of_them_is_verified(
    command: Command, courier: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    ended = command(
        "test",
        *courier,
        *("--policy", "goal-counter", "--oracle", "dive:tries=50+perfect", "--bias", "fickle"),
        *("--fuzzer", "one-step:patience=50", "--objective", "capped:cap=30", "--pool", "15", "--json"),
        *("--out", out),
    )
    assert ended.code == 1, ended.err
    assert ended.json["pool"] == 15 and sum(ended.json["bugs"].values()) > 0
    bug = json.loads(next((out / "bugs").iterdir()).read_text())
    assert bug["objective"]["name"] == "capped" and bug["policy"] == "goal-counter"
    verified = command("verify", out, "--json")
    assert verified.code == 0
    assert verified.json["valid"] == verified.json["certificates"] > 0
    assert any("objective capped" in word for word in verified.json["words"])


@pytest.mark.parametrize("fuzzer", ["refined", "one-step"])
def test_pools_go_on(command: Command, courier: tuple[Path, Path], tmp_path: Path, fuzzer: str) -> None:
    options = ("--policy", "goal-counter", "--bias", "fickle", "--fuzzer", fuzzer, "--quiet")
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    assert command("fuzz", *courier, *options, "--pool", "12", "--out", whole).code == 0
    part.write_text("".join(whole.read_text().splitlines(keepends=True)[:5]))
    assert command("fuzz", *courier, *options, "--pool", "12", "--out", part, "--resume").code == 0
    assert part.read_text() == whole.read_text()


def test_the_python_interface_takes_them(site: Path, courier: tuple[Path, Path]) -> None:
    text = f"""
import misstep
from example_parts import Capped, Dive, Fickle, GoalCounter, OneStep
from misstep.oracles.planner import Perfect

files = {tuple(map(str, courier))!r}
named = misstep.test(files, "goal-counter", oracle="dive+perfect", bias="fickle", fuzzer="one-step",
                     objective="capped", pool=15)
given = misstep.test(files, GoalCounter(), oracle=[Dive(), Perfect()], bias=Fickle(), fuzzer=OneStep(),
                     objective=Capped(), pool=15)
assert len(named.bugs) == len(given.bugs) > 0
assert [bug.state for bug in named.bugs] == [bug.state for bug in given.bugs]
print(len(given.bugs))
"""
    assert int(python(site, text)) > 0


def test_its_parts_keep_their_contracts(site: Path) -> None:
    text = (PACKAGE / "tests" / "test_parts.py").read_text() + "\n\ntest_contracts()\n"
    python(site, text)


def test_a_package_that_is_broken_is_named(site: Path, courier: tuple[Path, Path], tmp_path: Path) -> None:
    """A part whose module cannot be imported, and one that raises."""
    info = tmp_path / "broken_parts-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-parts\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[misstep.oracle]\nlost = broken_parts_absent:Lost\nraising = broken_parts_here:Raising\n"
        "dive = broken_parts_here:Raising\n"
    )
    (tmp_path / "broken_parts_here.py").write_text(
        "from dataclasses import dataclass\n\n\n"
        "@dataclass(frozen=True)\nclass Raising:\n    '''Raises.'''\n    name = 'raising'\n\n"
        "    def bind(self, lab):\n        return self\n\n"
        "    def claims(self, case):\n        raise ValueError('no idea')\n"
    )
    env = {"PYTHONPATH": f"{site}:{tmp_path}"}

    def tested(oracle: str) -> Ended:
        options = ("--policy", "heuristic:ff", "--pool", "2", "--oracle", oracle, "--out", tmp_path / oracle)
        return misstep("test", *courier, *options, env=env)

    shown = misstep("parts", "oracle", env=env)
    assert shown.code == 0 and "perfect" in shown.out
    assert "oracle `lost` of broken-parts cannot be loaded" in " ".join(shown.out.split())
    lost = tested("lost")
    assert (
        lost.code == 4 and "oracle `lost` of broken-parts cannot be loaded: ModuleNotFoundError" in lost.err
    )
    raising = tested("raising")
    assert raising.code == 4
    assert (
        "oracle `raising` of broken-parts raised ValueError: no idea (broken_parts_here.py:13)" in raising.err
    )
    twice = tested("dive")
    assert twice.code == 4 and f"is brought by broken-parts and {NAME}" in twice.err
