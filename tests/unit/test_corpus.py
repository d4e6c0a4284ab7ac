"""A corpus is tried, healed, added to and read back."""

import json
from pathlib import Path

import pytest

import misstep
from misstep.config import Config
from misstep.corpus import PASSES, Asked, Corpus, Known, ask_again
from misstep.errors import InputError
from tests.conftest import COURIER

PERFECT = """
from misstep import search

def best(state):
    return next(iter(search(state.task, "astar:lmcut", state=state).plan), None)
"""


def config(policy: str) -> Config:
    return Config(domain=COURIER[0], problem=COURIER[1], policy=policy)


@pytest.fixture(scope="module")
def report() -> misstep.Report:
    return misstep.test(COURIER, "zoo:courier", pool=15)


@pytest.fixture
def corpus(report: misstep.Report, tmp_path: Path) -> Corpus:
    made = Corpus.read(tmp_path / "corpus.jsonl")
    assert made.bugs == []
    made.add(report.record, "problem.pddl", report.families)
    return made


def test_one_bug_of_each_family(corpus: Corpus, report: misstep.Report) -> None:
    assert len(corpus.bugs) == corpus.added == len(report.families) > 1
    assert corpus.families == {(family.outcome, family.schema) for family in report.families}
    corpus.add(report.record, "problem.pddl", report.families)
    assert corpus.added == len(report.families), "what is known is not added again"


def test_it_is_read_back(corpus: Corpus) -> None:
    corpus.write()
    assert Corpus.read(corpus.file).bugs == corpus.bugs
    assert corpus.of("problem.pddl") == tuple(corpus.bugs) and corpus.of("other.pddl") == ()


def test_the_same_policy_still_has_them(corpus: Corpus) -> None:
    asked, task, _ = ask_again(config("zoo:courier"), corpus.bugs)
    assert [each.status for each in asked] == ["bug"] * len(corpus.bugs)
    assert task.problem is not None
    corpus.heal(asked)
    assert corpus.dropped == 0 and all(known.passes == 0 for known in corpus.bugs)


def test_a_better_policy_heals_it(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "perfect.py").write_text(PERFECT)
    perfect, size = config(f"python:{tmp_path / 'perfect.py'}:best"), len(corpus.bugs)
    for passes in range(1, PASSES):
        asked, _, _ = ask_again(perfect, corpus.bugs)
        corpus.heal(asked)
        assert {known.passes for known in corpus.bugs} == {passes} and corpus.dropped == 0
    asked, _, _ = ask_again(perfect, corpus.bugs)
    corpus.heal(asked)
    assert corpus.bugs == [] and corpus.dropped == size


def test_a_bug_that_comes_back_starts_anew(corpus: Corpus) -> None:
    known = corpus.bugs[0]
    corpus.bugs[0] = again = Known(**{name: getattr(known, name) for name in known.__slots__} | {"passes": 2})
    corpus.heal([Asked(again, "changed")])
    assert corpus.bugs[0].passes == 0
    corpus.heal([Asked(corpus.bugs[0], "failed")])
    assert corpus.bugs[0].passes == 0


def test_another_version_of_the_task(corpus: Corpus, tmp_path: Path) -> None:
    changed = tmp_path / "problem.pddl"
    changed.write_text(COURIER[1].read_text().replace("(at red depot)", "(at red market)"))
    asked, _, left = ask_again(config("zoo:courier").replace(problem=changed, seconds=100.0), corpus.bugs)
    assert {each.status for each in asked} == {"stale"}
    assert left.seconds is not None and 0 < left.seconds < 100


@pytest.mark.parametrize("line", ["{}", json.dumps({"problem": 3}), "not JSON"])
def test_what_is_no_corpus(line: str, tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(InputError, match=r"corpus.jsonl:1: "):
        Corpus.read(file)
