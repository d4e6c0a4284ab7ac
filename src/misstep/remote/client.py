"""The client's side of the policy protocol: many calls under way at once, every failure said clearly."""

import math
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any, TypeAlias

from misstep.answers.answer import BadAnswer
from misstep.errors import InputError, PolicyError
from misstep.remote import wire
from misstep.remote.address import parse_address
from misstep.support.extras import require_extra
from misstep.task import Task

DEFAULT_MAX_SECONDS = 30.0
DEFAULT_IN_FLIGHT = 64
_MAX_MESSAGE_BYTES = 1 << 30  # Tasks can be far larger than gRPC's default of 4 MB.

RemoteAnswer: TypeAlias = int | BadAnswer | None
"""The index of an operator, None for none; or why the server could not tell."""


class PolicyClient:
    """A connection to a policy server. `max_seconds` bounds each call, waiting for its turn included.

    With `argmax` the server is asked for probabilities, and the likeliest operator is the answer, the one
    with the lowest number among equals; otherwise for the operator that its policy chooses. Operators of one
    name are splits of one action, so their probabilities count together.
    """

    def __init__(
        self,
        address: str,
        *,
        max_seconds: float = DEFAULT_MAX_SECONDS,
        in_flight: int = DEFAULT_IN_FLIGHT,
        argmax: bool = False,
    ) -> None:
        parsed = parse_address(address)
        if parsed.host == "*" or parsed.port == 0:
            raise InputError(
                f"address `{address}`: a client needs a host and a port, such as localhost:50051"
            )
        if not max_seconds > 0:
            raise InputError(f"max_seconds is {max_seconds}; a call needs more than 0 seconds")
        self._grpc = require_extra("grpc", extra="remote", purpose="policy `remote:ADDRESS`")
        self.address = str(parsed)
        self.max_seconds = max_seconds
        self.in_flight = in_flight
        # With its scheme, since gRPC would take some host names for schemes of its own.
        target = f"unix:{parsed.path}" if parsed.path is not None else f"dns:///{parsed}"
        self._channel = self._grpc.insecure_channel(
            target,
            options=[
                ("grpc.enable_http_proxy", 0),  # Only the address that the user named is talked to.
                ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
            ],
        )
        self._call = {
            method: self._channel.unary_unary(f"/{wire.SERVICE}/{method}")
            for method in (wire.GET_TASK, wire.GET_OPERATOR, wire.GET_PROBABILITIES)
        }
        self._method = wire.GET_PROBABILITIES if argmax else wire.GET_OPERATOR

    def close(self) -> None:
        """Ends the connection."""
        self._channel.close()

    def task_text(self) -> str:
        """The server's task as SAS text."""
        try:
            return wire.decode_task(self._call[wire.GET_TASK](b"", timeout=self.max_seconds))
        except wire.WireError as error:
            raise self._garbage(error) from None
        except self._grpc.RpcError as error:
            if error.code() is self._grpc.StatusCode.UNAVAILABLE:
                raise PolicyError(
                    f"no policy server answers at {self.address} ({_line(error.details())}); check the "
                    "address, and that the server is running (`misstep serve` starts one)"
                ) from None
            raise self._failed(error, "asking for the task") from None

    def operators(self, states: Sequence[Sequence[int]], *, names: Sequence[str] = ()) -> list[RemoteAnswer]:
        """What the server's policy does in each state, given by its values in the server's task.

        `names` are those of the operators there; without them each operator counts alone.
        """
        requests = [wire.encode_state(values) for values in states]
        try:
            return self._ask_all(requests, names)
        except _Unimplemented as error:
            if self._method == wire.GET_PROBABILITIES:
                raise self._failed(error.cause, "asking for probabilities") from None
            raise PolicyError(
                f"the policy server at {self.address} does not choose operators "
                f"({_line(error.cause.details())}); where it tells probabilities, test the likeliest one: "
                f"`remote:{self.address},argmax=true`"
            ) from None

    def _ask_all(self, requests: Sequence[bytes], names: Sequence[str]) -> list[RemoteAnswer]:
        call = self._call[self._method]
        answers: list[RemoteAnswer] = []
        waiting: deque[Any] = deque()
        try:
            for request in requests:
                if len(waiting) >= self.in_flight:
                    answers.append(self._answer(waiting.popleft(), len(answers), len(requests), names))
                waiting.append(call.future(request, timeout=self.max_seconds))
            while waiting:
                answers.append(self._answer(waiting.popleft(), len(answers), len(requests), names))
        finally:
            for future in waiting:
                future.cancel()
        return answers

    def _answer(self, future: Any, answered: int, total: int, names: Sequence[str]) -> RemoteAnswer:
        code = self._grpc.StatusCode
        try:
            data = future.result()
        except self._grpc.RpcError as error:
            if error.code() is code.UNIMPLEMENTED:
                raise _Unimplemented(error) from None
            if error.code() is code.UNKNOWN:  # What gRPC makes of an exception in the server's own code.
                return BadAnswer(f"the server's policy failed: {_line(error.details())}")
            if error.code() is code.OUT_OF_RANGE:  # What `misstep serve` says of an action that is none.
                return BadAnswer(f"the server's policy: {_line(error.details())}", "illegal")
            raise self._failed(error, f"{answered} of {total} states were answered") from None
        except self._grpc.FutureCancelledError:
            raise PolicyError(f"the connection to the policy server at {self.address} was closed") from None
        try:
            if self._method == wire.GET_OPERATOR:
                return wire.decode_operator(data)
            return _likeliest(wire.decode_probabilities(data), names)
        except wire.WireError as error:
            raise self._garbage(error) from None

    def _failed(self, error: Any, during: str) -> PolicyError:
        code = self._grpc.StatusCode
        where = f"the policy server at {self.address}"
        if error.code() is code.UNAVAILABLE:
            return PolicyError(f"{where} is gone ({during}): {_line(error.details())}; start it again")
        if error.code() is code.DEADLINE_EXCEEDED:
            return PolicyError(f"{where} did not answer within {self.max_seconds:g} seconds ({during})")
        if error.code() is code.UNIMPLEMENTED:
            return PolicyError(f"{where} does not speak the policy protocol: {_line(error.details())}")
        return PolicyError(
            f"{where} failed with {error.code().name} ({during}): {_line(error.details()) or 'no details'}"
        )

    def _garbage(self, error: wire.WireError) -> PolicyError:
        return PolicyError(f"the policy server at {self.address} does not speak the policy protocol: {error}")


def remote_task(address: str, *, max_seconds: float = DEFAULT_MAX_SECONDS) -> Task:
    """The task that a policy server works on, exactly as it numbers variables and operators."""
    client = PolicyClient(address, max_seconds=max_seconds)
    try:
        return Task(client.task_text(), source=f"remote:{client.address}")
    finally:
        client.close()


class _Unimplemented(Exception):
    """The server does not know a method."""

    def __init__(self, cause: Any) -> None:
        super().__init__(cause)
        self.cause = cause


def _likeliest(operators: list[tuple[int, float]], names: Sequence[str]) -> RemoteAnswer:
    shares: defaultdict[str | int, list[float]] = defaultdict(list)
    first: dict[str | int, int] = {}
    for operator, probability in operators:
        if math.isnan(probability):
            return BadAnswer(f"the server's probability of operator {operator} is not a number")
        action = names[operator] if 0 <= operator < len(names) else operator
        shares[action].append(probability)
        first[action] = min(operator, first.get(action, operator))
    best = min(first, key=lambda action: (-sum(shares[action]), first[action]), default=None)
    return None if best is None else first[best]


def _line(details: str | None) -> str:
    return " ".join((details or "").split())[:500]
