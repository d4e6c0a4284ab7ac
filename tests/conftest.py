"""What all tests share."""

import os
import signal
import threading
from collections import defaultdict
from pathlib import Path

import pytest

from tests import sanitized
from tests.data import NO_DATA, data_folder

sanitized.use_named_core()
from tests import sas  # noqa: E402 (it loads the core)

_COURIER = Path(__file__).parents[1] / "src" / "misstep" / "bundled" / "courier"
COURIER = _COURIER / "domain.pddl", _COURIER / "problem.pddl"
# Background jobs of a script inherit an ignored Ctrl-C; tests send it to programs that they start.
_IS_MAIN = threading.current_thread() is threading.main_thread()
if _IS_MAIN and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Test workers share the machine; numpy's threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sas.install()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("misstep's own tests")
    group.addoption(
        "--passed-at-least",
        type=int,
        default=0,
        metavar="N",
        help="Fail where fewer pass: what is not collected, or skips, is not tested.",
    )
    group.addoption("--minutes", action="store_true", help="Say which folders took the time.")


def _passed(config: pytest.Config) -> list[pytest.TestReport]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return [] if reporter is None else reporter.stats.get("passed", [])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and len(_passed(session.config)) < session.config.getoption("--passed-at-least"):
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    least, passed = config.getoption("--passed-at-least"), len(_passed(config))
    if passed < least:
        terminalreporter.section("Too few tests", red=True)
        terminalreporter.write_line(f"{passed} passed, at least {least} were expected")
    if config.getoption("--minutes"):
        spent = defaultdict[str, float](float)
        for reports in terminalreporter.stats.values():
            for report in reports:
                if isinstance(report, pytest.TestReport):
                    spent[report.nodeid.split("/")[1].partition("::")[0]] += report.duration
                    if report.nodeid.startswith("tests/integration/"):
                        spent[report.nodeid.partition("::")[0].removeprefix("tests/")] += report.duration
        terminalreporter.section("Minutes, added up over all workers")
        for name, seconds in sorted(spent.items(), key=lambda each: -each[1])[:20]:
            terminalreporter.write_line(f"{seconds / 60:6.1f}  {name}")


@pytest.fixture(autouse=True)
def _with_the_translator(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("translator") is not None:
        monkeypatch.setenv(sas.VARIABLE, "1")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real tasks and policies; tests skip where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip(NO_DATA)
    return folder


@pytest.fixture
def courier() -> tuple[Path, Path]:
    """The bundled task."""
    return COURIER
