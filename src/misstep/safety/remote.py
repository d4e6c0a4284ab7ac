"""Policies on JANI models over gRPC: a server for any of them, a shielded one too, and the client's side.

Messages are JSON. `Describe` gets nothing and says the model's `labels` and the names of its variables;
`Choose` gets `{"state": {name: value}}` and answers `{"label": ...}`, null where the policy stops.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep._core import SafetyPolicy
from misstep.answers.answer import shown
from misstep.errors import InputError, MisstepError, PolicyError
from misstep.plugins import option
from misstep.remote.address import parse_address
from misstep.remote.server import DEFAULT_ADDRESS, Server
from misstep.safety.model import SafetyTask, StateDict
from misstep.safety.policy import function_policy
from misstep.support.extras import require_extra

SERVICE = "misstep.SafetyPolicy"
DESCRIBE, CHOOSE = "Describe", "Choose"


class ModelPolicyServer(Server):
    """A policy on one model under an address; a state that it cannot read gets the status INVALID_ARGUMENT."""

    def __init__(self, task: SafetyTask, policy: SafetyPolicy, *, address: str = DEFAULT_ADDRESS) -> None:
        self._task = task
        self._game = task.game(policy)
        self._one_at_a_time = threading.Lock()  # a game is not made for several threads
        super().__init__(SERVICE, {DESCRIBE: self._describe, CHOOSE: self._choose}, address=address)

    def _describe(self, _request: bytes, _context: Any) -> bytes:
        return json.dumps({"labels": self._task.labels, "fields": self._task.shown_fields}).encode()

    def _choose(self, request: bytes, context: Any) -> bytes:
        code = self._grpc.StatusCode
        try:
            values = self._task.to_values(json.loads(request)["state"])
        except (InputError, AttributeError, KeyError, TypeError, ValueError) as error:
            context.abort(code.INVALID_ARGUMENT, f"no state of the model: {error}")
        try:
            with self._one_at_a_time:
                s = self._game.add(values)
                ends = self._game.is_unsafe(s) or self._game.is_goal(s)
                label = None if ends else self._game.chosen(s)
        except MisstepError as error:
            context.abort(code.UNKNOWN, str(error))
        return json.dumps({"label": None if label is None else self._task.labels[label]}).encode()


@dataclass(frozen=True)
class Remote:
    """A policy for a JANI model that another program serves, such as `misstep safety serve`."""

    address: str = option("", "host:port, or unix:///path")
    max_seconds: float = option(30.0, "time limit of each answer")

    @property
    def files(self) -> tuple[Path, ...]:
        """None: nobody knows what is behind an address."""
        return ()

    def bind(self, task: SafetyTask, /, *, filter: bool | None = None) -> SafetyPolicy:
        """The policy on a task; PolicyError where nobody answers, or for another model."""
        parsed = parse_address(self.address)
        grpc = require_extra("grpc", extra="remote", purpose="policy `remote:ADDRESS`")
        target = f"unix:{parsed.path}" if parsed.path is not None else f"dns:///{parsed}"
        channel = grpc.insecure_channel(target, options=[("grpc.enable_http_proxy", 0)])
        describe, choose = (channel.unary_unary(f"/{SERVICE}/{method}") for method in (DESCRIBE, CHOOSE))

        def call(method: Any, request: bytes) -> Any:
            try:
                return json.loads(method(request, timeout=self.max_seconds))
            except grpc.RpcError as error:
                raise PolicyError(f"the policy server at {parsed} fails: {error.details()}") from None
            except ValueError:
                raise PolicyError(f"the policy server at {parsed} answers what is no JSON") from None

        theirs = call(describe, b"")
        if theirs != {"labels": task.labels, "fields": task.shown_fields}:
            raise PolicyError(f"the policy server at {parsed} serves a policy for another model")

        def ask(state: StateDict, labels: tuple[str, ...], /) -> str | None:
            answer = call(choose, json.dumps({"state": state}).encode())
            if not isinstance(answer, dict) or "label" not in answer:
                raise PolicyError(
                    f'the policy server at {parsed} answered {shown(answer)}; an answer is {{"label": ...}}, null '
                    "where the policy stops"
                )
            label: str | None = answer["label"]
            return label

        return function_policy(ask, task)
