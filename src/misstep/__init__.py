"""misstep finds, proves and explains the missteps of learned action policies in AI planning."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from misstep._core import Action as Action
    from misstep._core import Heuristic as Heuristic
    from misstep._core import PolicyGraph as PolicyGraph
    from misstep._core import Run as Run
    from misstep._core import SearchResult as SearchResult
    from misstep._core import State as State
    from misstep._core import StateBatch as StateBatch
    from misstep._core import StateRegistry as StateRegistry
    from misstep._core import count_states as count_states
    from misstep._core import search as search
    from misstep.api import test as test
    from misstep.bias import Bias as Bias
    from misstep.bias import PartialRun as PartialRun
    from misstep.bound import Bound as Bound
    from misstep.budget import Budget as Budget
    from misstep.budget import StopFlag as StopFlag
    from misstep.claim import Claim as Claim
    from misstep.claim import DeadEnd as DeadEnd
    from misstep.claim import Exhausted as Exhausted
    from misstep.claim import Landmarks as Landmarks
    from misstep.claim import Plan as Plan
    from misstep.claim import plan_claim as plan_claim
    from misstep.config import Config as Config
    from misstep.errors import FlakyPolicy as FlakyPolicy
    from misstep.errors import InputError as InputError
    from misstep.errors import LimitReached as LimitReached
    from misstep.errors import MisstepError as MisstepError
    from misstep.errors import PartError as PartError
    from misstep.errors import PolicyError as PolicyError
    from misstep.errors import UnsupportedFeature as UnsupportedFeature
    from misstep.events import Progress as Progress
    from misstep.fuzzer import FuzzContext as FuzzContext
    from misstep.fuzzer import Fuzzer as Fuzzer
    from misstep.judge import Objective as Objective
    from misstep.judge import Verdict as Verdict
    from misstep.lab import Lab as Lab
    from misstep.loading import load as load
    from misstep.oracle import Case as Case
    from misstep.oracle import Oracle as Oracle
    from misstep.pddl import read_domain as read_domain
    from misstep.pddl.view import PddlView as PddlView
    from misstep.plugins import option as option
    from misstep.policy import Policy as Policy
    from misstep.policy import argmax as argmax
    from misstep.policy import per_state as per_state
    from misstep.pool import PoolEntry as PoolEntry
    from misstep.record.record import Record as Record
    from misstep.reports.report import Bug as Bug
    from misstep.reports.report import Report as Report
    from misstep.session import Session as Session
    from misstep.task import Task as Task
    from misstep.task import load_sas as load_sas

__version__ = "0.1.0"

# Public name -> module. Loaded on first use, so that the command line starts fast.
_PUBLIC = {
    "Action": "misstep._core",
    "Bias": "misstep.bias",
    "Bound": "misstep.bound",
    "Budget": "misstep.budget",
    "Bug": "misstep.reports.report",
    "Case": "misstep.oracle",
    "Claim": "misstep.claim",
    "Config": "misstep.config",
    "DeadEnd": "misstep.claim",
    "Exhausted": "misstep.claim",
    "FlakyPolicy": "misstep.errors",
    "FuzzContext": "misstep.fuzzer",
    "Fuzzer": "misstep.fuzzer",
    "Heuristic": "misstep._core",
    "InputError": "misstep.errors",
    "Lab": "misstep.lab",
    "Landmarks": "misstep.claim",
    "LimitReached": "misstep.errors",
    "MisstepError": "misstep.errors",
    "Objective": "misstep.judge",
    "Oracle": "misstep.oracle",
    "PartError": "misstep.errors",
    "PartialRun": "misstep.bias",
    "PddlView": "misstep.pddl.view",
    "Plan": "misstep.claim",
    "Policy": "misstep.policy",
    "PolicyError": "misstep.errors",
    "PolicyGraph": "misstep._core",
    "PoolEntry": "misstep.pool",
    "Progress": "misstep.events",
    "Record": "misstep.record.record",
    "Report": "misstep.reports.report",
    "Run": "misstep._core",
    "SearchResult": "misstep._core",
    "Session": "misstep.session",
    "State": "misstep._core",
    "StateBatch": "misstep._core",
    "StateRegistry": "misstep._core",
    "StopFlag": "misstep.budget",
    "Task": "misstep.task",
    "UnsupportedFeature": "misstep.errors",
    "Verdict": "misstep.judge",
    "argmax": "misstep.policy",
    "count_states": "misstep._core",
    "load": "misstep.loading",
    "load_sas": "misstep.task",
    "option": "misstep.plugins",
    "per_state": "misstep.policy",
    "plan_claim": "misstep.claim",
    "read_domain": "misstep.pddl",
    "search": "misstep._core",
    "test": "misstep.api",
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
