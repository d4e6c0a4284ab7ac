"""Runs pytest on the sanitized native core: `sanitized.py BUILD_DIR PYTEST_ARGS...`."""

import importlib.util
import sys
from pathlib import Path

import pytest

import misstep


def use_core(build: Path) -> None:
    """Makes `misstep._core` the module in a build folder, however it is asked for: by import, or of the package."""
    (module,) = build.glob("_core.*so")
    spec = importlib.util.spec_from_file_location("misstep._core", module)
    assert spec is not None and spec.loader is not None
    core = importlib.util.module_from_spec(spec)
    sys.modules["misstep._core"] = core
    misstep.__dict__["_core"] = core  # an import does both
    spec.loader.exec_module(core)


if __name__ == "__main__":
    use_core(Path(sys.argv[1]))
    sys.exit(pytest.main(sys.argv[2:]))
