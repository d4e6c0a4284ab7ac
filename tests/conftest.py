"""What all tests share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from data import data_folder


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real tasks and policies; tests skip where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip("no shared data: set MISSTEP_DATA or put it at ../shared/data")
    return folder


@pytest.fixture
def courier() -> tuple[Path, Path]:
    """The bundled task."""
    folder = Path(__file__).parents[1] / "src" / "misstep" / "data" / "courier"
    return folder / "domain.pddl", folder / "problem.pddl"
