"""What all tests share."""

from pathlib import Path

import pytest

from tests.data import NO_DATA, data_folder


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
    folder = Path(__file__).parents[1] / "src" / "misstep" / "data" / "courier"
    return folder / "domain.pddl", folder / "problem.pddl"
