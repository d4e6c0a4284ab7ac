"""misstep finds, proves and explains the missteps of learned action policies in AI planning."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from misstep._core import Action as Action
    from misstep._core import Heuristic as Heuristic
    from misstep._core import SearchResult as SearchResult
    from misstep._core import State as State
    from misstep._core import StateBatch as StateBatch
    from misstep._core import StateRegistry as StateRegistry
    from misstep._core import count_states as count_states
    from misstep._core import search as search
    from misstep.errors import InputError as InputError
    from misstep.errors import LimitReached as LimitReached
    from misstep.errors import MisstepError as MisstepError
    from misstep.errors import UnsupportedFeature as UnsupportedFeature
    from misstep.pddl import read_domain as read_domain
    from misstep.pddl.view import PddlView as PddlView
    from misstep.policy import argmax as argmax
    from misstep.task import Task as Task
    from misstep.task import load as load
    from misstep.task import load_sas as load_sas

__version__ = "0.1.0"

# Public name -> module. Loaded on first use, so that the command line starts fast.
_PUBLIC = {
    "Action": "misstep._core",
    "Heuristic": "misstep._core",
    "InputError": "misstep.errors",
    "LimitReached": "misstep.errors",
    "MisstepError": "misstep.errors",
    "PddlView": "misstep.pddl.view",
    "SearchResult": "misstep._core",
    "State": "misstep._core",
    "StateBatch": "misstep._core",
    "StateRegistry": "misstep._core",
    "Task": "misstep.task",
    "UnsupportedFeature": "misstep.errors",
    "argmax": "misstep.policy",
    "count_states": "misstep._core",
    "load": "misstep.task",
    "load_sas": "misstep.task",
    "read_domain": "misstep.pddl",
    "search": "misstep._core",
}
__all__ = sorted([*_PUBLIC, "__version__"])


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'misstep' has no attribute {name!r}")
    value: object = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
