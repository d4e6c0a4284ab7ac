"""Broken policies at every door: what is broken is never green, and each door says in words what is broken.

A row of `EXPECTED` is a policy; it says what a test of it comes to, on a task and on a model, and the words that
every door has to say. A door tells what it shows as one of these results. The task and the model are the same
corridor of six places: the goal is at its right end, and the model has a pit at its left end.
"""

import contextlib
import functools
import io
import json
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree as Xml

import pytest

import misstep
from misstep.cli import app
from misstep.pytest_plugin import check
from tests import corridor
from tests.corridor import corridor_model, corridor_task

CLEAN, BUGS, NOTHING = "clean", "bugs", "nothing-tested"
Kind = Literal["task", "model"]
KINDS: tuple[Kind, ...] = ("task", "model")


@dataclass(frozen=True)
class Row:
    """What a test of a policy comes to, and what is said of it; the model's where that differs."""

    on_task: str
    words: str
    on_model: str | None = None
    model_words: str | None = None

    def expected(self, kind: Kind) -> tuple[str, str]:
        if kind == "task":
            return self.on_task, self.words
        return self.on_model or self.on_task, self.model_words or self.words


EXPECTED = {
    "optimal": Row(CLEAN, ""),
    "none": Row(BUGS, "gives no action", NOTHING, "the policy gave no action where some apply"),
    "illegal": Row(
        BUGS,
        "answers with an action that does not apply",
        NOTHING,
        "the policy chose jump, which does not apply",
    ),
    "unknown": Row(
        BUGS,
        "answers with an action that does not apply",
        NOTHING,
        "the policy chose 'fly', which is not an action of the model",
    ),
    "wrong_type": Row(NOTHING, "the policy answered 3.5 (float)"),
    "raises": Row(NOTHING, "the policy raised ValueError: the weights are gone"),
    "exits": Row(NOTHING, "the policy's process ended"),
    "leaves": Row(NOTHING, "the policy raised SystemExit: good bye"),
    "fails_late": Row(NOTHING, "the policy raised ValueError: the fourth call"),
    "hangs": Row(NOTHING, "gave no answer"),
    "errs_and_raises": Row(BUGS, "the policy raised ValueError: too far"),
}
CODE = {CLEAN: 0, BUGS: 1, NOTHING: 5}
ISOLATED = ("raises", "exits", "leaves", "fails_late", "hangs")
"""In a process of their own, as `python:` is by default."""
POLICIES = Path(corridor.__file__)


@dataclass(frozen=True, eq=False)
class Corridor:
    """A policy that the command line has tested once, for the doors that look at what that left."""

    policy: str
    kind: Kind
    file: Path
    folder: Path
    code: int
    out: str
    """All that was printed for people."""
    json: dict[str, Any]

    @property
    def options(self) -> dict[str, Any]:
        """As `misstep.test` takes them."""
        size = {"pool": 6, "seed": 1} if self.kind == "task" else {"runs": 12, "seed": 1}
        isolate = {} if self.policy in ISOLATED else {"isolate": False}  # which takes longer
        return {**size, **isolate, **({"call_seconds": 0.2} if self.policy == "hangs" else {})}

    @property
    def words(self) -> list[str]:
        """The same for the command line."""
        return [
            *("test", str(self.file), "--policy", named(self.policy)),
            *(f"--{name}={value}" for name, value in self.options.items() if name != "isolate"),
            *(["--no-isolate"] if self.options.get("isolate") is False else []),
        ]


def named(policy: str) -> str:
    return f"python:{POLICIES}:{policy}"


def command(*words: str) -> tuple[int, str, str]:
    """A command in this process: its exit code, and what it printed."""
    before, out, err = signal.getsignal(signal.SIGTERM), io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = app.run(words)
    finally:
        signal.signal(signal.SIGTERM, before)
    return code, out.getvalue(), err.getvalue()


# ---- the doors: each says what it shows, in one word and in all its words ----


def exit_code(one: Corridor) -> tuple[str, str]:
    return {code: name for name, code in CODE.items()}[one.code], one.out


def as_json(one: Corridor) -> tuple[str, str]:
    bugs = one.json["bugs"]
    count = bugs if isinstance(bugs, int) else sum(bugs.values())
    result = BUGS if count else NOTHING if one.json.get("failed") else CLEAN
    said = [failure["reason"] for failure in one.json.get("failures", ())]
    return result, one.out if result == BUGS and not said else "\n".join(said)


def junit(one: Corridor) -> tuple[str, str]:
    text = (one.folder / "junit.xml").read_text()
    root = Xml.fromstring(text)
    failures, errors = int(root.get("failures", "")), int(root.get("errors", ""))
    marks = " ".join(
        f"{mark.get('message')} {mark.text}" for tag in ("failure", "error") for mark in root.iter(tag)
    )
    return BUGS if failures else NOTHING if errors else CLEAN, marks


class Results:
    """A plugin of pytest that keeps what became of each item."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}
        self.passed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)
        elif report.when == "call" and report.passed:
            self.passed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)


def plugin(one: Corridor) -> tuple[str, str]:
    table = {"model" if one.kind == "model" else "domain": str(one.file), "policy": named(one.policy)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in {**table, **one.options}.items()]
    (one.folder / "misstep.toml").write_text("\n".join(lines))
    (one.folder / "pytest.ini").write_text("[pytest]\n")
    results, plugins = Results(), ("no:cacheprovider", "no:terminal", "misstep.pytest_plugin")
    words = ["--misstep", *(word for name in plugins for word in ("-p", name))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.delenv("PYTEST_ADDOPTS", raising=False)
        pytest.main(
            [*words, "-c", str(one.folder / "pytest.ini"), str(one.folder / "misstep.toml")], [results]
        )
    families = [name for name in results.failed if ": family " in name]
    result = BUGS if families else NOTHING if results.failed else CLEAN
    assert results.failed or results.passed
    return result, "\n".join(f"{name} {text}" for name, text in results.failed.items())


@functools.cache
def reported(one: Corridor) -> misstep.Report:
    """What the library says; the fixture says it once more."""
    return misstep.test(str(one.file), named(one.policy), **one.options)


def fixture(one: Corridor) -> tuple[str, str]:
    report = reported(one)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(misstep, "test", lambda *_task_and_policy, **_options: report)
            check(str(one.file), named(one.policy), **one.options)
    except pytest.fail.Exception as failed:
        return in_words(str(failed)), str(failed)
    return CLEAN, ""


def library(one: Corridor) -> tuple[str, str]:
    report = reported(one)
    result = BUGS if report.bugs else NOTHING if report.failed else CLEAN
    shown = [report.show(family.representative) for family in report.families]
    return result, "\n".join([repr(report), *shown])


def page(one: Corridor) -> tuple[str, str]:
    file = misstep.Report.read(one.folder / "record").write_html(one.folder / "page.html")
    text = unescape(re.sub(r"<(script|style).*?</\1>", "", file.read_text(), flags=re.DOTALL))
    title = re.search("<title>(.*?) - misstep</title>", text)
    assert title is not None
    result = NOTHING if title[1] == "Nothing was tested" else CLEAN if title[1].startswith("0 bugs") else BUGS
    return result, re.sub("<[^>]*>", " ", text)


def show(one: Corridor) -> tuple[str, str]:
    code, out, _ = command("show", str(one.folder / "record"))
    assert code == 0
    return in_words(out), out


def in_words(text: str) -> str:
    """What the lines of a summary say."""
    if re.search(r"^bugs +[1-9]", text, re.MULTILINE):
        return BUGS
    return NOTHING if "nothing was tested" in text else CLEAN


def fail_on(one: Corridor) -> tuple[str, str]:
    code, out, err = command(*one.words, "--out", str(one.folder / "ruled"), "--fail-on", "max_bug_rate=0")
    return {number: name for name, number in CODE.items()}[code], out + err


DOORS: dict[str, Callable[[Corridor], tuple[str, str]]] = {
    "exit code": exit_code,
    "--json": as_json,
    "--junit": junit,
    "pytest --misstep": plugin,
    "misstep_policy": fixture,
    "misstep.test": library,
    "misstep show": show,
    "report": page,
    "--fail-on": fail_on,
}


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Kind], Corridor]:
    files = tmp_path_factory.mktemp("corridor")
    (files / "corridor.sas").write_text(corridor_task())
    (files / "corridor.jani").write_text(corridor_model())

    @functools.cache
    def test(policy: str, kind: Kind) -> Corridor:
        folder = tmp_path_factory.mktemp(f"{policy}-{kind}")
        one = Corridor(
            policy, kind, files / f"corridor.{'sas' if kind == 'task' else 'jani'}", folder, 0, "", {}
        )
        record = str(folder / "record")
        code, out, err = command(*one.words, "--out", record, "--junit", str(folder / "junit.xml"))
        data = json.loads(command("show", record, "--json")[1])
        return Corridor(policy, kind, one.file, folder, code, out + err, data)

    return test


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", EXPECTED)
def test_doors(walked: Callable[[str, Kind], Corridor], policy: str, kind: Kind, door: str) -> None:
    result, said = DOORS[door](walked(policy, kind))
    expected, words = EXPECTED[policy].expected(kind)
    assert result == expected, said
    assert words in " ".join(said.split())


# ---- commands that ask a policy again, or many ----


def test_campaigns_are_not_green_because_of_the_others(
    walked: Callable[[str, Kind], Corridor], tmp_path: Path
) -> None:
    one = walked("raises", "model")
    names = ", ".join(json.dumps(named(policy)) for policy in ("optimal", "raises"))
    file = tmp_path / "nightly.toml"
    file.write_text(
        f"models = [{json.dumps(str(one.file))}]\npolicies = [{names}]\nruns = 12\nisolate = false\n"
    )
    code, out, _ = command("campaign", str(file), "--quiet", "--out", str(tmp_path / "nightly"))
    assert code == CODE[NOTHING]
    said = " ".join(out.split())
    assert re.search(r"no answer 1 job \(\S*corridor, \S*:raises\)", said)
    assert "gave no usable answer in half" in said
    _, out, _ = command("campaign", "status", str(tmp_path / "nightly"), "--json")
    assert json.loads(out)["without_answers"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_bug_is_not_fixed_by_a_policy_that_is_dead(
    walked: Callable[[str, Kind], Corridor], kind: Kind
) -> None:
    old, new = walked("errs_and_raises", kind), walked("raises", kind)
    record, other = (str(one.folder / "record") for one in (old, new))
    again = "--trust", "--policy", named("raises")
    code, out, _ = command("replay", record, *again)
    assert code == CODE[NOTHING] and "the policy raised ValueError: the weights are gone" in out
    fixed = command("replay", record, "--trust", "--policy", named("optimal"))
    assert fixed[0] == CODE[CLEAN], fixed
    code, out, _ = command("diff", record, other)
    assert code == CODE[NOTHING] and "fixed     0" in out
    assert f"{other}: nothing was tested: no usable answer in" in " ".join(out.split())


def test_a_task_on_which_a_policy_is_dead_among_others(tmp_path: Path) -> None:
    from tests.conftest import COURIER

    for name in ("p1", "p2"):
        (tmp_path / f"{name}.pddl").write_text(COURIER[1].read_text())
    (tmp_path / "mine.py").write_text(
        "from misstep._core import HeuristicPolicy\n\nmade = []\n\n\nclass Mine:\n"
        "    def __init__(self, task):\n        made.append(task)\n        self.works = len(made) == 1\n"
        "        self.policy = HeuristicPolicy(task, 'ff')\n\n"
        "    def __call__(self, states):\n        assert self.works, 'made for the first task'\n"
        "        return self.policy(states)\n"
    )
    words = [
        "test",
        str(COURIER[0]),
        *(str(tmp_path / f"p{i}.pddl") for i in (1, 2)),
        "--no-isolate",
        "--pool=5",
    ]
    rules = [
        "--fail-on",
        "max_bug_rate=1",
        "--out",
        str(tmp_path / "records"),
        "--junit",
        str(tmp_path / "j.xml"),
    ]
    code, out, _ = command(*words, "--policy", f"python:{tmp_path / 'mine.py'}:Mine", *rules)
    assert code == CODE[NOTHING], "bugs are within the rules, and the policy is dead on p2"
    assert "no usable answers" in out.splitlines()[-2]
    errors = [
        int(suite.get("errors", "")) for suite in Xml.parse(tmp_path / "j.xml").getroot().iter("testsuite")
    ]
    assert errors == [0, 1, 0]
