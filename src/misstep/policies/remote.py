"""`remote:ADDRESS`: a policy in another program, asked over the policy protocol."""

from dataclasses import dataclass, field
from typing import cast

from misstep._core import Action, StateBatch
from misstep.plugins import option
from misstep.remote.client import DEFAULT_MAX_SECONDS, PolicyClient
from misstep.remote.correspondence import Correspondence
from misstep.task import Task


@dataclass(frozen=True)
class Remote:
    """A policy server that speaks the gRPC protocol of bughive; `misstep serve` is one.

    The server has its own version of the task. Where it is not the one that is tested, facts and actions are
    matched by name. Needs `pip install "misstep[remote]"`.
    """

    address: str = field(metadata={"help": "host:port or unix:///path"})
    max_seconds: float = option(DEFAULT_MAX_SECONDS, "time limit of each call")
    argmax: bool = option(False, "ask for probabilities and test the most likely action")

    def bind(self, task: Task, /) -> "RemotePolicy":
        """Connects and asks for the server's task; PolicyError where that fails or the tasks differ."""
        client = PolicyClient(self.address, max_seconds=self.max_seconds, argmax=self.argmax)
        try:
            return RemotePolicy(task, client)
        except BaseException:
            client.close()
            raise


class RemotePolicy:
    """Asks for as many states at once as the connection keeps under way."""

    def __init__(self, task: Task, client: PolicyClient) -> None:
        source = f"remote:{client.address}"
        self.task = task
        self.client = client
        self.best_batch = client.in_flight
        self._correspondence = Correspondence(task, Task(client.task_text(), source=source), source=source)

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """The server's answers."""
        mapping = self._correspondence
        answers = self.client.operators(mapping.values(states).tolist(), names=mapping.operator_names)
        return [
            # A BadAnswer stands in the place of an action; the guard knows it.
            cast(
                Action | None,
                mapping.action(state, answer) if isinstance(answer, int) else answer,
            )
            for state, answer in zip(states, answers, strict=True)
        ]
