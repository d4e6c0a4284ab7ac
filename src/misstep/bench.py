"""Bench: a task with a policy bound to it, and the pool that is asked for: the ground of every test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misstep._core import PolicyGraph
from misstep.answers.guard import guarded, warnings_of
from misstep.budget import Budget
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import UNIT_COST_WARNING
from misstep.fuzz import Fuzz
from misstep.isolation.host import Host
from misstep.isolation.policy import IsolatedPolicy
from misstep.judge import Objective
from misstep.loading import load_task
from misstep.oracle import OraclePart, make_oracles
from misstep.plugins import make_part, make_policy_part
from misstep.policy import Policy, PolicyPart, bind_policy
from misstep.pool import PoolEntry
from misstep.record.pool_file import read_pool
from misstep.task import Task

# A fuzzer may say that it is usually used otherwise.
_USUAL_POOL, _USUAL_BIAS = 100, "none"


@dataclass(frozen=True, slots=True)
class Bench:
    """What a configuration names, loaded."""

    config: Config
    task: Task
    policy: Policy
    graph: PolicyGraph
    unit_cost: bool
    warnings: tuple[str, ...]
    objective: Objective
    fuzzer: Any
    bias: Any
    oracles: Sequence[OraclePart]
    """In the order in which they are asked."""
    host: Host | None = None
    """The process that the policy lives in, where it has one of its own."""

    def pool(self, budget: Budget, *, known: Sequence[PoolEntry] = ()) -> Fuzz | list[PoolEntry]:
        """The test states; `known` are those of an earlier session, to be continued."""
        if self.config.pool_file is not None:
            return read_pool(self.config.pool_file, self.task)
        return self.fuzz(budget, known=known)

    def fuzz(self, budget: Budget, *, known: Sequence[PoolEntry] = ()) -> Fuzz:
        """The fuzzing session that the configuration describes."""
        config = self.config
        return Fuzz(
            self.graph,
            self.fuzzer,
            self.bias,
            seed=config.seed,
            size=getattr(self.fuzzer, "usual_pool", _USUAL_POOL) if config.pool is None else config.pool,
            budget=budget,
            known=known,
        )


def set_up(
    config: Config,
    budget: Budget,
    *,
    task: Task | None = None,
    policy: Policy | PolicyPart | None = None,
    parts: Mapping[str, Any] | None = None,
    unit_cost_asked: bool | None = None,
) -> Bench:
    """Loads the task and the policy; objects stand in for what the configuration names.

    `parts` holds such objects by kind: `oracle` (a sequence), `objective`, `fuzzer`, `bias`. `unit_cost_asked` is
    whether unit costs were asked for in the beginning, where the configuration comes from a record: that says
    `unit_cost` also where the policy alone wanted it.
    """
    named = policy is None
    if policy is None:
        if not config.policy:
            raise InputError("there is no policy to test; give one as NAME:VALUE, such as asnet:FILE")
        policy = make_policy_part(config.policy)
    isolate = (
        named and getattr(policy, "isolate", False) is True if config.isolate is None else config.isolate
    )
    if isolate and not named:
        raise InputError(
            "a policy that is a Python object lives in this process; to have it in a process of its own, name "
            "it, such as python:FILE.py:NAME, or leave `isolate` out"
        )
    host = Host() if isolate else None  # it starts while we load the task
    is_wanted = bool(getattr(policy, "unit_cost", False))
    is_asked = config.unit_cost if unit_cost_asked is None else unit_cost_asked
    unit_cost = config.unit_cost or is_wanted
    loaded = task or load_task(config.domain, config.problem, unit_cost=unit_cost, budget=budget)
    asked: Policy | IsolatedPolicy
    if host is None:
        asked = bind_policy(policy, loaded)
    else:
        asked = IsolatedPolicy.open(host, loaded, config.policy, memory_mb=config.memory_mb, budget=budget)
    bound = guarded(asked, loaded, max_seconds=config.call_seconds, budget=budget)
    graph = PolicyGraph(loaded, bound, recheck=config.recheck, seed=config.seed)
    warnings = [*loaded.warnings, *warnings_of(bound)]
    if is_wanted and not is_asked:
        warnings.insert(0, UNIT_COST_WARNING)
    given = parts or {}
    fuzzer = given.get("fuzzer") or make_part("fuzzer", config.fuzzer or "refined")
    bias = str(config.bias or getattr(fuzzer, "usual_bias", _USUAL_BIAS))
    return Bench(
        config,
        loaded,
        bound,
        graph,
        unit_cost,
        tuple(warnings),
        objective=given.get("objective") or make_part("objective", config.objective),
        fuzzer=fuzzer,
        bias=given.get("bias") or make_part("bias", bias),
        oracles=given.get("oracle") or make_oracles(config.oracle),
        host=host,
    )
