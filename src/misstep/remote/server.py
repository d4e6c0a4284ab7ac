"""The server's side of the policy protocol: offers a policy to other programs."""

import contextlib
import os
import socket
import stat
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from misstep._core import Action
from misstep.answers.answer import BadAnswer
from misstep.answers.guard import Guard, guarded
from misstep.errors import InputError
from misstep.policy import Policy
from misstep.remote import wire
from misstep.remote.address import Address, parse_address
from misstep.support.extras import require_extra
from misstep.task import Task

DEFAULT_ADDRESS = "127.0.0.1:0"
_THREADS = 16


Method = Callable[[bytes, Any], bytes]


class Server:
    """A gRPC service under an address; serves in threads of its own from `start` to `stop`.

    Port 0 means any free one: `address` has the real one.
    """

    def __init__(self, service: str, methods: Mapping[str, Method], *, address: str) -> None:
        self._grpc = require_extra("grpc", extra="remote", purpose="`misstep serve`")
        wanted = parse_address(address)
        if wanted.path is not None:
            _make_way(wanted.path)
        _check_free(wanted)
        # Without the option, a second server on the same port would silently take half of the calls.
        self._server = self._grpc.server(
            ThreadPoolExecutor(_THREADS, thread_name_prefix="misstep-serve"),
            options=[("grpc.so_reuseport", 0)],
        )
        handlers = {
            name: self._grpc.unary_unary_rpc_method_handler(method) for name, method in methods.items()
        }
        self._server.add_generic_rpc_handlers(
            (self._grpc.method_handlers_generic_handler(service, handlers),)
        )
        self.address = self._bind(wanted)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begins to answer."""
        self._server.start()

    def stop(self, *, max_seconds: float = 1.0) -> None:
        """Takes no more calls, gives those under way some time, and ends."""
        self._server.stop(max_seconds).wait()
        if self.address.path is not None:
            Path(self.address.path).unlink(missing_ok=True)

    def _bind(self, wanted: Address) -> Address:
        host = "[::]" if wanted.host == "*" else wanted.host
        target = f"unix:{wanted.path}" if wanted.path is not None else f"{host}:{wanted.port}"
        try:
            port = self._server.add_insecure_port(target)
        except RuntimeError:
            port = 0
        if port == 0:
            raise InputError(f"cannot listen at {wanted}; choose another address")
        return wanted if wanted.path is not None else Address(host=wanted.host, port=int(port))


class PolicyServer(Server):
    """A policy on one task under an address.

    A state on which the policy fails gets the status UNKNOWN with the reason, one for which it names no
    action of the task OUT_OF_RANGE; a policy that is dead gets UNAVAILABLE.
    """

    def __init__(self, task: Task, policy: Policy, *, address: str = DEFAULT_ADDRESS) -> None:
        self._task = task
        self._policy = guarded(policy, task)
        self._task_message = wire.encode_task(task.sas)
        methods = {
            wire.GET_TASK: self._get_task,
            wire.GET_OPERATOR: self._get_operator,
            wire.GET_PROBABILITIES: self._get_probabilities,
        }
        super().__init__(wire.SERVICE, methods, address=address)

    def _get_task(self, _request: bytes, _context: Any) -> bytes:
        return self._task_message

    def _get_operator(self, request: bytes, context: Any) -> bytes:
        return wire.encode_operator(self._choose(request, context))

    def _get_probabilities(self, request: bytes, context: Any) -> bytes:
        operator = self._choose(request, context)
        return wire.encode_probabilities([] if operator is None else [(operator, 1.0)])

    def _choose(self, request: bytes, context: Any) -> int | None:
        code = self._grpc.StatusCode
        try:
            state = self._task.state_from_values(wire.decode_state(request))
        except (wire.WireError, InputError) as error:
            context.abort(code.INVALID_ARGUMENT, str(error))
        answer: Action | BadAnswer | None
        (answer,) = self._policy(self._task.batch([state]))
        if isinstance(answer, BadAnswer):
            is_dead = isinstance(self._policy, Guard) and self._policy.dead is not None
            status = code.UNAVAILABLE if is_dead else code.UNKNOWN
            context.abort(code.OUT_OF_RANGE if answer.outcome == "illegal" else status, answer.reason)
        # Other programs may look at nothing but the operator's number.
        return self._task.meant(state, answer).index if isinstance(answer, Action) else None


def _make_way(path: str) -> None:
    """Removes the socket of a server that is gone; refuses where there is one, or a file of another kind."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise InputError(f"cannot listen at unix://{path}: there is a file; choose another address")
    except OSError:
        return
    with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
        probe.settimeout(1)
        probe.connect(path)
        raise InputError(f"cannot listen at unix://{path}: another server is there; choose another address")
    Path(path).unlink(missing_ok=True)


def _check_free(address: Address) -> None:
    """Tries the address with a plain socket, because gRPC tells a reason only on standard error."""
    try:
        if address.path is not None:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.bind(address.path)
            Path(address.path).unlink()
        else:
            host = None if address.host in ("*", None) else address.host.strip("[]")
            found = socket.getaddrinfo(host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            family, kind, *_, where = found[0]
            with socket.socket(family, kind) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # As gRPC does.
                probe.bind(where)
    except (OSError, UnicodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"cannot listen at {address}: {reason}; choose another address") from None
