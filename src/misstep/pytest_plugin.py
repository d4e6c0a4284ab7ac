"""The plugin for pytest: tests of policies among other tests, one item a family of bugs.

`pytest --misstep` collects every `misstep.toml`: it runs the test that the file describes and makes an item of
each family of bugs and of each rule. The fixture `misstep_policy` is for tests that are written by hand. pytest
loads this module by its entry point; nothing else imports it.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from misstep.events import Family
    from misstep.reports.report import Report
    from misstep.reports.rules import Rules

FILE = "misstep.toml"


class Broken(Exception):
    """A policy does what it may not do; the text says what, for people."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The only option: collecting runs tests of policies, which nobody wants without asking for it."""
    group = parser.getgroup("misstep", "tests of learned action policies")
    group.addoption(
        "--misstep",
        action="store_true",
        default=False,
        help=f"Test the policies of all {FILE} files: one item a family of bugs.",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "PolicyFile | None":
    """A file that describes the test of a policy."""
    if file_path.name == FILE and parent.config.getoption("--misstep"):
        made: PolicyFile = PolicyFile.from_parent(parent, path=file_path)
        return made
    return None


class PolicyFile(pytest.File):
    """The test of a policy. It runs while items are collected, since they are what it finds."""

    def collect(self) -> Iterator["PolicyItem"]:
        """One item a family, one a rule; one that says so where there is nothing else."""
        from misstep.config import Config, read_around
        from misstep.corpus import Corpus
        from misstep.errors import MisstepError
        from misstep.reports.failures import undecided_rules
        from misstep.reports.rules import Rules

        with contextlib.chdir(self.path.parent):  # files are named as on the command line
            try:
                around = read_around(self.path)
                rules = Rules.of((), around["fail"]) if around.get("fail") else None
                corpus = around.get("corpus")
                known = set() if corpus is None else Corpus.read(Path(corpus)).families
                reports = list(_reports(Config.read(self.path)))
            except MisstepError as error:
                raise self.CollectError(str(error)) from None
        for report in reports:
            yield from self._of_report(report, rules, known)
        if rules is not None:
            broken, undecided = rules.broken(reports, known), undecided_rules(reports)
            for name in rules.given:
                yield PolicyItem.from_parent(self, name=name, failure=broken.get(name), not_tested=undecided)

    def _of_report(
        self, report: "Report", rules: "Rules | None", known: set[tuple[str, str | None]]
    ) -> Iterator["PolicyItem"]:
        from misstep.reports.failures import nothing_tested
        from misstep.reports.rules import breaks_a_rule
        from misstep.status import is_dead

        task = "?" if report.tally.started is None else report.tally.started.task
        if report.error is not None:
            yield PolicyItem.from_parent(self, name=f"{task}: loading", failure=report.error)
            return
        for number, family in enumerate(report.families, start=1):
            is_broken = breaks_a_rule(report, family, rules, known)
            yield PolicyItem.from_parent(
                self,
                name=f"{task}: family {number}: {_words(family)}",
                failure=report.show(family.representative) if is_broken else None,
            )
        why = nothing_tested(report.finished, report.failures)
        if is_dead(report.finished):
            yield PolicyItem.from_parent(self, name=f"{task}: answers of the policy", failure=why)
        elif not report.families:
            yield PolicyItem.from_parent(self, name=f"{task}: no bugs", not_tested=why)


class PolicyItem(pytest.Item):
    """A family of bugs or a rule; it passes where it breaks nothing, and is skipped where that was not tested."""

    def __init__(self, *, failure: str | None = None, not_tested: str | None = None, **given: Any) -> None:
        super().__init__(**given)
        self.failure, self.not_tested = failure, not_tested

    def runtest(self) -> None:
        """Fails where there is something to say."""
        if self.failure is not None:
            raise Broken(self.failure)
        if self.not_tested is not None:
            pytest.skip(self.not_tested)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What the policy does and what would be better, instead of our traceback."""
        if isinstance(excinfo.value, Broken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it stands."""
        return self.path, None, self.name


@pytest.fixture
def misstep_policy() -> Callable[..., "Report"]:
    """Tests a policy and fails where it has bugs, or where nothing was tested, since it gave hardly an answer:
    `misstep_policy(task, policy, pool=100, seed=0)`.

    It takes what `misstep.test` takes, and `fail_on`: rules as on the command line, such as
    `["max_bug_rate=0.1"]`. The report comes back.
    """
    return check


def check(task: Any, policy: Any, *, fail_on: Iterable[str] = (), **options: Any) -> "Report":
    """Tests a policy; the test of pytest fails with the families, or with the rules that are broken."""
    import misstep
    from misstep.reports.rules import Rules
    from misstep.reports.summary import kind_lines, summary_lines
    from misstep.status import Status, status_of_all

    __tracebackhide__ = True
    texts = list(fail_on)
    rules = Rules.of(texts, {}) if texts else None
    report = misstep.test(task, policy, **options)
    broken = {} if rules is None else rules.broken([report])
    status = status_of_all([report.finished], is_failed=None if rules is None else bool(broken))
    if status is not Status.CLEAN:
        why = [f"{name}: {said}" for name, said in broken.items()]
        first = report.show(report.families[0].representative) if report.families else ""
        pytest.fail("\n".join([*why, *summary_lines(report), *kind_lines(report), "", first]), pytrace=False)
    return report


def _reports(config: Any) -> "Iterator[Report]":
    """The tests of one file, in memory; a problem that cannot be read is an item of its own."""
    from misstep.errors import MisstepError
    from misstep.reports.report import Report
    from misstep.session import Session
    from misstep.suite import expand

    configs = expand(config, [])
    for each in configs:
        session = Session(each)
        try:
            for _ in session.events():
                pass
        except MisstepError as error:
            if len(configs) == 1:
                raise
            session.fail(error)
        yield Report(session.record, tally=session.tally)


def _words(family: "Family") -> str:
    from misstep.explain.words import does

    return f"the policy {does(family.outcome)}" + ("" if family.schema is None else f" ({family.schema})")
