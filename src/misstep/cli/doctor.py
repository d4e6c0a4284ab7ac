"""`misstep doctor`: what is installed, and does it work."""

import os
import platform
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from misstep import __version__
from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, say
from misstep.reports.status import StatusLine

_EXTRAS = {
    "onnx": (("onnxruntime",), "policies `onnx:`"),
    "ray": (("ray",), "campaigns on several machines"),
    "parquet": (("pyarrow",), "campaigns as Parquet files"),
    "remote": (("grpc",), "policies `remote:`, `misstep serve`"),
    "torch": (("torch",), "your own PyTorch policies"),
    "planners": (("up_fast_downward",), "the search `external:`"),
    "pandas": (("pandas",), "reports as data frames"),
    "unified-planning": (("unified_planning",), "tasks of that library"),
    "gymnasium": (("gymnasium",), "tasks and models as environments"),
    "rl": (("stable_baselines3", "sb3_contrib"), "training with Stable-Baselines3"),
    "storm": (("stormpy",), "comparisons with Storm"),
    "peers": (("up_fast_downward", "unified_planning", "pyperplan"), "comparisons with other planners"),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report; `missing` is optional and no failure."""

    name: str
    status: Literal["ok", "missing", "failed"]
    detail: str


def doctor(*, json: Json = False, quiet: Quiet = False) -> int:
    """Check the installation: Python, the native core, the translator, optional extras, the machine.

    Exit code 0 means that everything that is needed works.

    Example: misstep doctor
    """
    with StatusLine("checking the installation", quiet=quiet or json):
        checks = [_python(), _core(), _translator(), *_extras(), _machine()]
    works = all(check.status != "failed" for check in checks)
    if json:
        emit_json({"ok": works, "version": __version__, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            say(f"{check.status:<8} {check.name}: {check.detail}", hang=9)
        optional = " (extras are optional)" if any(check.status == "missing" for check in checks) else ""
        say(f"everything that is needed works{optional}" if works else "something that is needed is broken")
    return ExitCode.NOTHING_FOUND if works else ExitCode.INTERNAL_ERROR


def _python() -> Check:
    return Check("python", "ok", f"{platform.python_version()} ({sys.executable}), misstep {__version__}")


def _core() -> Check:
    try:
        from misstep import _core as core
    except ImportError as error:
        return Check("native core", "failed", f"{error}; install misstep again")
    built = getattr(core, "build_info", None)  # Version and compiler, where the core tells them.
    name = Path(core.__file__ or "").name
    return Check("native core", "ok", name if built is None else f"{built}, {name}")


def _translator() -> Check:
    try:
        found = version("fast-downward.translate")
    except PackageNotFoundError:
        return Check("translator", "failed", "not installed; pip install fast-downward.translate")
    try:
        from misstep._core import Budget
        from misstep.task import load

        with as_file(files("misstep") / "bundled" / "courier") as folder:
            task = load(folder / "domain.pddl", folder / "problem.pddl", budget=Budget(seconds=30))
    except Exception as error:
        return Check("translator", "failed", f"fast-downward.translate {found} does not work: {error}")
    return Check(
        "translator", "ok", f"fast-downward.translate {found}, bundled task has {len(task.actions)} actions"
    )


def _extras() -> list[Check]:
    checks = []
    for extra, (modules, purpose) in _EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            detail = f'for {purpose}; pip install "misstep[{extra}]"'
            checks.append(Check(f"extra {extra}", "missing", detail))
        else:
            checks.append(Check(f"extra {extra}", "ok", f"for {purpose}"))
    return checks


def _machine() -> Check:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GB memory"
    except (ValueError, OSError):
        memory = "memory unknown"
    return Check("machine", "ok", f"{platform.system()} {platform.machine()}, {cores} cores, {memory}")
