"""The sanitized native core instead of the usual one: in all of pytest's processes where MISSTEP_SANITIZED names its
build folder (`make sanitize`)."""

import importlib.util
import os
import sys
from pathlib import Path

import misstep


def use_core(build: Path) -> None:
    """Makes `misstep._core` the module in a build folder, however it is asked for: by import, or of the package."""
    assert "misstep._core" not in sys.modules, "the usual core is loaded already"
    (module,) = build.glob("_core.*so")
    spec = importlib.util.spec_from_file_location("misstep._core", module)
    assert spec is not None and spec.loader is not None
    core = importlib.util.module_from_spec(spec)
    sys.modules["misstep._core"] = core
    misstep.__dict__["_core"] = core  # an import does both
    spec.loader.exec_module(core)


def use_named_core() -> None:
    if build := os.environ.get("MISSTEP_SANITIZED"):
        use_core(Path(build))
        if "PYTEST_XDIST_WORKER" in os.environ:  # the programs that tests start do without
            os.environ.pop("LD_PRELOAD", None)
