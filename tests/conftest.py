"""What all tests share."""

import os
import signal
import threading
from pathlib import Path

import pytest

from tests import sas
from tests.data import NO_DATA, data_folder

_COURIER = Path(__file__).parents[1] / "src" / "misstep" / "bundled" / "courier"
COURIER = _COURIER / "domain.pddl", _COURIER / "problem.pddl"
# Background jobs of a script inherit an ignored Ctrl-C; tests send it to programs that they start.
_IS_MAIN = threading.current_thread() is threading.main_thread()
if _IS_MAIN and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Test workers share the machine; numpy's threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sas.install()


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
