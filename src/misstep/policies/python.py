"""`python:module:name` and `python:path/to/file.py:name`: policies from the user's own code."""

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

from misstep._core import NativePolicy
from misstep.errors import InputError, PolicyError
from misstep.plugins import option
from misstep.policy import Policy, annotation_of, argmax, first_parameter, per_state, what_it_takes
from misstep.support.describe import describe_error
from misstep.support.suggest import did_you_mean
from misstep.task import Task

_RULE = (
    "annotate it with State (one state in, one answer out) or StateBatch (many states in, as many answers "
    "out), call it `state` or `states`, or set the attribute `takes` to 'state' or 'states'"
)


@dataclass(frozen=True)
class Python:
    """Your own code: a function of a State or a StateBatch, or a class or function that makes one for a task.

    The module or file is imported, which runs it. A class, and a function whose first parameter is called
    `task`, makes the policy: it is called with the task (a class without such a parameter, with nothing). A
    policy takes one state or many: its attribute `takes` ('state' or 'states') says which, else the
    annotation of its first parameter (State or StateBatch), else that parameter's name (`state` or `states`).
    With `argmax` its answers are probabilities, {action or name: probability}, and the likeliest counts.
    """

    isolate: ClassVar[bool] = True
    """Anything may happen in there."""
    target: str = field(metadata={"help": "MODULE:NAME or path/to/file.py:NAME"})
    argmax: bool = option(False, "the answers are probabilities: test the most likely action")

    def bind(self, task: Task, /) -> Policy:
        """Imports the code and makes the policy for this task."""
        found = find_object(self.target)
        if inspect.isclass(found) or _wants_task(found):
            found = _make(found, task, self.target)
        policy = _policy(found, self.target)
        return argmax(policy) if self.argmax else policy


def find_object(target: str) -> Any:
    """What `MODULE:NAME` or `FILE.py:NAME` names; the module or file is imported, which runs it."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise InputError(f"policy `python:{target}`: write `python:MODULE:NAME` or `python:FILE.py:NAME`")
    module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            hint = did_you_mean(part, [word for word in dir(found) if not word.startswith("_")])
            raise InputError(f"policy `python:{target}`: {place} has no `{name}`; {hint or 'check the name'}")
        found = getattr(found, part)
    return found


def _import_module(name: str) -> ModuleType:
    if not all(word.isidentifier() for word in name.split(".")):
        raise InputError(
            f"policy `python:{name}:...`: `{name}` is no module name; a file's name ends with `.py`"
        )
    _make_importable(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise InputError(
                f"policy `python:{name}:...`: there is no module `{error.name}`, neither installed nor in "
                "this directory; check the name, or give the file: `python:path/to/file.py:NAME`"
            ) from None
        raise _import_failed(name, error) from error
    except (Exception, SystemExit) as error:
        raise _import_failed(name, error) from error


def _import_file(path: Path) -> ModuleType:
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise InputError(f"{path}: cannot read the policy's code: {error.strerror}; check the path") from None
    # One module for each version of the file: it is run once, however many tasks it is bound to.
    version = hashlib.sha256(f"{path.resolve()} {changed}".encode()).hexdigest()[:16]
    name = f"_misstep_policy_{version}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: this is no Python file")
    _make_importable(path.resolve().parent)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Dataclasses and pickling look their module up there.
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _import_failed(str(path), error) from error
    return module


def _make_importable(folder: Path) -> None:
    """Lets the user's code import its neighbours. Last in line, so that they hide nothing installed."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _import_failed(what: str, error: BaseException) -> PolicyError:
    return PolicyError(f"{what}: importing the policy failed: {describe_error(error)}")


def _wants_task(found: Any) -> bool:
    first = first_parameter(found) if callable(found) else None
    return first is not None and (first.name == "task" or annotation_of(first) == "Task")


def _make(factory: Callable[..., Any], task: Task, target: str) -> Any:
    """Calls the class or function that makes a policy."""
    arguments = (task,) if _wants_task(factory) else ()
    try:
        inspect.signature(factory).bind(*arguments)
    except TypeError as error:
        raise PolicyError(
            f"policy `python:{target}` is made with the task alone, but here: {error}; call the first "
            "parameter `task` and give the others defaults"
        ) from None
    except ValueError:
        pass  # No signature to be had: the call itself will tell.
    try:
        return factory(*arguments)
    except (PolicyError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise PolicyError(f"policy `python:{target}`: making it failed: {describe_error(error)}") from error


def _policy(found: Any, target: str) -> Policy:
    if isinstance(found, NativePolicy):
        return found
    if inspect.iscoroutinefunction(found) or inspect.iscoroutinefunction(getattr(found, "__call__", None)):  # noqa: B004
        raise PolicyError(f"policy `python:{target}` is a coroutine; a policy is a plain function")
    if not callable(found):
        raise PolicyError(
            f"policy `python:{target}` is a {type(found).__name__}, which cannot be called; give a function, "
            "a class or an object that is callable"
        )
    takes = _takes(found, target)
    policy: Policy = found if takes == "states" else per_state(found)
    return policy


def _takes(found: Any, target: str) -> Literal["state", "states"]:
    said = getattr(found, "takes", None)
    if said is not None and said not in ("state", "states"):
        raise PolicyError(f"policy `python:{target}`: `takes` is {said!r}; it is 'state' or 'states'")
    if (known := what_it_takes(found)) is not None:
        return known
    first = first_parameter(found)
    if first is None:
        raise PolicyError(
            f"policy `python:{target}` shows no first parameter, so one state or many is unknown; {_RULE}"
        )
    raise PolicyError(
        f"policy `python:{target}`: does its parameter `{first.name}` stand for one state or many? {_RULE}"
    )
