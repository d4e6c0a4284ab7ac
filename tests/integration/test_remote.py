"""Client and server of the policy protocol against each other, and against servers that misbehave."""

import contextlib
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from misstep import State, load
from misstep._core import HeuristicPolicy, PolicyGraph
from misstep.answers.answer import BadAnswer
from misstep.answers.guard import Guard, bind_guarded, guarded
from misstep.errors import InputError, PolicyError
from misstep.plugins import make_policy_part
from misstep.policies.remote import Remote, RemotePolicy
from misstep.policy import per_state
from misstep.remote import wire
from misstep.remote.client import PolicyClient, remote_task
from misstep.task import Task
from tests.taskset import OWN, PddlTask

grpc = pytest.importorskip("grpc", reason='needs pip install "misstep[remote]"')

from misstep.remote.server import PolicyServer  # noqa: E402


@pytest.fixture(scope="module")
def task() -> Task:
    return load(OWN / "blocks" / "domain.pddl", OWN / "blocks" / "p03.pddl")


@pytest.fixture(scope="module")
def states(task: Task) -> Any:
    """Some hundred states, breadth first."""
    found = [task.initial_state]
    seen = set(found)
    for state in found:
        for _, successor in task.successors(state):
            if successor not in seen and len(found) < 300:
                seen.add(successor)
                found.append(successor)
    assert len(found) == 300
    return task.batch(found)


@pytest.fixture(params=["tcp", "unix"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return "127.0.0.1:0" if request.param == "tcp" else f"unix://{tmp_path}/socket"


@contextlib.contextmanager
def raw_server(**methods: Any) -> Iterator[Any]:
    """A server whose methods are plain functions of bytes."""
    server = grpc.server(ThreadPoolExecutor(4))
    handlers = {name: grpc.unary_unary_rpc_method_handler(function) for name, function in methods.items()}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(wire.SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()


def of_task(task: Task) -> Callable[..., Any]:
    return lambda _request, _context: wire.encode_task(task.sas)


def test_the_same_answers_as_without_a_server(task: Task, states: Any, address: str) -> None:
    policy = HeuristicPolicy(task, "ff")
    with PolicyServer(task, policy, address=address) as server:
        remote = make_policy_part(f"remote:{server.address}").bind(task)
        assert remote(states) == policy(states)
        starts = task.batch(list(states)[:20])
        here = PolicyGraph(task, policy).run(starts)
        there = PolicyGraph(task, guarded(remote, task)).run(starts)
        assert [(a.outcome, a.steps) for a in here] == [(b.outcome, b.steps) for b in there]
        assert {run.outcome for run in here} & {"solved", "loop"}
        remote.client.close()
    if server.address.path is not None:
        assert not Path(server.address.path).exists()


def test_the_task_of_the_server(task: Task, states: Any, address: str) -> None:
    policy = HeuristicPolicy(task, "ff")
    with PolicyServer(task, policy, address=address) as server:
        copy = remote_task(str(server.address))
        assert copy.sas == task.sas
        assert copy.source == f"remote:{server.address}"
        remote = Remote(str(server.address)).bind(copy)
        theirs = remote(copy.batch([copy.state(state.facts) for state in states]))
    assert [action.name for action in theirs] == [action.name for action in policy(states)]


def test_another_translation_is_matched_by_names(states: Any) -> None:
    here = load(OWN / "blocks" / "domain.pddl", OWN / "blocks" / "p03.pddl")
    pddl = PddlTask(OWN / "blocks" / "domain.pddl", OWN / "blocks" / "p03.pddl")
    there = Task(pddl.sas("--invariant-generation-max-candidates", "0"))
    assert there.domain_sizes != here.domain_sizes
    policy = HeuristicPolicy(there, "lmcut")
    expected = policy(there.batch([there.state(state.facts) for state in states]))
    with PolicyServer(there, policy) as server:
        answers = Remote(str(server.address)).bind(here)(states)
    assert [action.name for action in answers] == [action.name for action in expected]
    assert all(answer.task is here for answer in answers)


def test_another_problem_is_refused(task: Task) -> None:
    other = load(OWN / "gripper" / "domain.pddl", OWN / "gripper" / "p01.pddl")
    with (
        PolicyServer(other, HeuristicPolicy(other, "ff")) as server,
        pytest.raises(PolicyError, match="do not correspond"),
    ):
        Remote(str(server.address)).bind(task)


def test_no_action_and_failures_come_through(task: Task, states: Any) -> None:
    def choose(state: State) -> Any:
        if state == states[1]:
            raise ValueError("no idea")
        if state == states[2]:
            return "text"
        return None if state == states[3] else task.applicable(state)[0]

    with PolicyServer(task, per_state(choose)) as server:
        guard: Any = bind_guarded(Remote(str(server.address)), task)
        answers = guard(states)
    assert [at for at, answer in enumerate(answers) if answer is None] == [3]
    assert [answers[at].outcome for at in (1, 2)] == ["failed", "illegal"]
    assert set(guard.failures) == {states[1], states[2]}
    assert "the server's policy failed: the policy raised ValueError: no idea" in guard.failures[states[1]]
    assert "which is no action of the task" in guard.failures[states[2]]


def test_a_policy_that_is_dead_ends_the_client_too(task: Task, states: Any) -> None:
    released = threading.Event()

    def hang(states: Any) -> Any:
        released.wait(30)
        return [None] * len(states)

    with PolicyServer(task, Guard(hang, task, max_seconds=0.3)) as server:
        remote = Remote(str(server.address)).bind(task)
        with pytest.raises(PolicyError, match=r"is gone .*within 0\.3 seconds and is not asked again"):
            remote(states)
        released.set()


def test_probabilities(task: Task, states: Any) -> None:
    policy = HeuristicPolicy(task, "ff")
    with PolicyServer(task, policy) as server:
        channel = grpc.insecure_channel(str(server.address))
        call = channel.unary_unary(f"/{wire.SERVICE}/{wire.GET_PROBABILITIES}")
        data = call(wire.encode_state(states[0].values), timeout=10)
        channel.close()
    assert wire.decode_probabilities(data) == [(policy(states)[0].index, 1.0)]


def test_a_server_that_only_knows_probabilities(task: Task, states: Any) -> None:
    rows = {0: [], 1: [(5, 0.25), (3, 0.5), (2, 0.5)], 2: [(1, float("nan"))], 3: [(-1, 0.9), (4, 0.1)]}
    number = {tuple(state.values): at for at, state in enumerate(states)}

    def probabilities(request: Any, _context: Any) -> Any:
        return wire.encode_probabilities(rows[number[tuple(wire.decode_state(request))] % 4])

    with raw_server(**{wire.GET_TASK: of_task(task), wire.GET_PROBABILITIES: probabilities}) as address:
        answers = Remote(address, argmax=True).bind(task)(states)
        refused: Any = bind_guarded(Remote(address), task)
        assert all(answer.outcome == "failed" for answer in refused(states))
        assert f"`remote:{address},argmax=true`" in refused.dead
    assert answers[0] is None
    assert answers[1] == task.actions[2]
    assert isinstance(answers[2], BadAnswer)
    assert answers[3] == task.actions[4]
    assert len(answers) == len(states)


@pytest.mark.parametrize("operator", [-2, 99_999, 2**31 - 1])
def test_operators_that_do_not_exist_are_illegal(task: Task, operator: int) -> None:
    def answer(_request: Any, _context: Any) -> Any:
        return wire.encode_operator(operator)

    with raw_server(**{wire.GET_TASK: of_task(task), wire.GET_OPERATOR: answer}) as address:
        guard: Any = bind_guarded(Remote(address), task)
        (run,) = PolicyGraph(task, guard).run(task.batch([task.initial_state]))
    assert run.outcome == "illegal"
    assert f"the server answered operator {operator}" in guard.failures[task.initial_state]


def test_many_calls_are_under_way_at_once(task: Task, states: Any) -> None:
    """Sixteen threads that take 50 ms a call: one after the other 300 calls would take 15 seconds."""
    at_once = []
    now = threading.Semaphore(0)
    lock = threading.Lock()
    running = 0

    def slow(_request: Any, _context: Any) -> Any:
        nonlocal running
        with lock:
            running += 1
            at_once.append(running)
        now.acquire(timeout=0.05)
        with lock:
            running -= 1
        return wire.encode_operator(None)

    with raw_server(**{wire.GET_TASK: of_task(task), wire.GET_OPERATOR: slow}) as address:
        Remote(address).bind(task)(states)
    assert max(at_once) == 4


def test_a_slow_server(task: Task, states: Any) -> None:
    released = threading.Event()

    def slow(_request: Any, _context: Any) -> Any:
        released.wait(30)
        return wire.encode_operator(None)

    with raw_server(**{wire.GET_TASK: of_task(task), wire.GET_OPERATOR: slow}) as address:
        remote = Remote(address, max_seconds=3).bind(task)
        with pytest.raises(PolicyError, match=r"did not answer within 3 seconds \(0 of 300 states"):
            remote(states)
        released.set()


@pytest.mark.parametrize("answer", [b"", b"garbage", b"\x0a\x01\xff", b"\x08"])
def test_a_server_that_answers_garbage(task: Task, states: Any, answer: bytes) -> None:
    def garbage(_request: Any, _context: Any) -> Any:
        return answer

    with (
        raw_server(**{wire.GET_TASK: garbage}) as address,
        pytest.raises(PolicyError, match="does not speak the policy protocol"),
    ):
        Remote(address).bind(task)
    with raw_server(**{wire.GET_TASK: of_task(task), wire.GET_OPERATOR: garbage}) as address:
        remote = Remote(address).bind(task)
        with pytest.raises(PolicyError, match="does not speak the policy protocol"):
            remote(states)


def test_a_task_that_is_no_task(task: Task) -> None:
    def wrong(_request: Any, _context: Any) -> Any:
        return wire.encode_task("begin_nothing\n")

    with raw_server(**{wire.GET_TASK: wrong}) as address:
        for use in (remote_task, lambda text: Remote(text).bind(task)):
            with pytest.raises(InputError, match=rf"remote:{address}"):
                use(address)


def test_a_grpc_server_of_another_kind(task: Task) -> None:
    with (
        raw_server(Other=lambda request, context: b"") as address,
        pytest.raises(PolicyError, match="does not speak the policy protocol"),
    ):
        Remote(address).bind(task)
    with raw_server(**{wire.GET_TASK: of_task(task)}) as address:
        remote = Remote(address).bind(task)
        with pytest.raises(PolicyError, match="does not choose operators"):
            remote(task.batch([task.initial_state]))
        remote = Remote(address, argmax=True).bind(task)
        with pytest.raises(PolicyError, match="does not speak the policy protocol"):
            remote(task.batch([task.initial_state]))


def test_the_likeliest_operator_by_choice(task: Task, states: Any) -> None:
    """A server that chooses one operator and tells other probabilities: the option decides which counts."""

    def chosen(_request: Any, _context: Any) -> Any:
        return wire.encode_operator(7)

    def probabilities(_request: Any, _context: Any) -> Any:
        return wire.encode_probabilities([(7, 0.2), (5, 0.4), (3, 0.4)])

    methods = {wire.GET_TASK: of_task(task), wire.GET_OPERATOR: chosen, wire.GET_PROBABILITIES: probabilities}
    with raw_server(**methods) as address:
        assert set(make_policy_part(f"remote:{address}").bind(task)(states)) == {task.actions[7]}
        likeliest = make_policy_part(f"remote:{address},argmax=true,max-seconds=9").bind(task)
        assert set(likeliest(states)) == {task.actions[3]}
        assert likeliest.client.max_seconds == 9


def test_an_exception_in_a_foreign_server_is_failed(task: Task) -> None:
    def broken(_request: Any, _context: Any) -> None:
        raise RuntimeError("broken network")

    with raw_server(**{wire.GET_TASK: of_task(task), wire.GET_OPERATOR: broken}) as address:
        guard: Any = bind_guarded(Remote(address), task)
        (run,) = PolicyGraph(task, guard).run(task.batch([task.initial_state]))
    assert run.outcome == "failed"
    assert "broken network" in guard.failures[task.initial_state]


@pytest.mark.parametrize("words", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00\xff" * 100, b""])
def test_something_else_listens_there(task: Task, words: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        done = threading.Event()

        def talk() -> None:
            while not done.is_set():
                with contextlib.suppress(OSError):
                    other, _ = listener.accept()
                    with other:
                        other.sendall(words)

        thread = threading.Thread(target=talk)
        thread.start()
        try:
            port = listener.getsockname()[1]
            with pytest.raises(PolicyError, match=rf"127\.0\.0\.1:{port}"):
                Remote(f"127.0.0.1:{port}", max_seconds=3).bind(task)
        finally:
            done.set()
            thread.join()


def free_port() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def test_nobody_listens_there(task: Task, tmp_path: Path) -> None:
    for address in (f"127.0.0.1:{free_port()}", f"unix://{tmp_path}/nothing"):
        with pytest.raises(PolicyError, match=r"no policy server answers at .*check the address"):
            make_policy_part(f"remote:{address}").bind(task)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("", "write `host:port`"),
        ("*:50051", "a client needs a host and a port"),
        ("localhost:0", "a client needs a host and a port"),
        ("somewhere", "write `host:port`"),
    ],
)
def test_wrong_addresses(task: Task, address: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Remote(address).bind(task)
    assert words in str(caught.value)
    with pytest.raises(InputError, match="max_seconds"):
        PolicyClient("localhost:1", max_seconds=0)


def test_requests_that_are_wrong_are_refused(task: Task) -> None:
    with PolicyServer(task, HeuristicPolicy(task, "ff")) as server:
        channel = grpc.insecure_channel(str(server.address))
        call = channel.unary_unary(f"/{wire.SERVICE}/{wire.GET_OPERATOR}")
        good = task.initial_state.values
        for values in ([], good[:-1], [*good, 0], [99, *good[1:]], [-1, *good[1:]]):
            with pytest.raises(grpc.RpcError) as caught:
                call(wire.encode_state(values), timeout=10)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        for data in (b"", b"garbage", b"\x08\x01"):
            with pytest.raises(grpc.RpcError) as caught:
                call(data, timeout=10)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert wire.decode_operator(call(wire.encode_state(good), timeout=10)) is not None
        channel.close()


def test_an_address_is_taken_once(task: Task, tmp_path: Path) -> None:
    policy = HeuristicPolicy(task, "ff")
    with (
        PolicyServer(task, policy) as first,
        pytest.raises(InputError, match=r"cannot listen at .*: Address already in use"),
    ):
        PolicyServer(task, policy, address=str(first.address))
    path = tmp_path / "socket"
    with (
        PolicyServer(task, policy, address=f"unix://{path}"),
        pytest.raises(InputError, match="another server is there"),
    ):
        PolicyServer(task, policy, address=f"unix://{path}")
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with PolicyServer(task, policy, address=f"unix://{path}") as server:
        assert remote_task(str(server.address)).sas == task.sas
    path.write_text("precious")
    with pytest.raises(InputError, match="there is a file"):
        PolicyServer(task, policy, address=f"unix://{path}")
    assert path.read_text() == "precious"


SERVER = """
import sys, threading
from misstep import load
from misstep.policy import per_state
from misstep.remote.server import PolicyServer
task = load(sys.argv[1], sys.argv[2])
asked = 0
def choose(state):
    global asked
    asked += 1
    if asked == 20:
        print("on the way", flush=True)
    threading.Event().wait(0.02)
    return task.applicable(state)[0]
with PolicyServer(task, per_state(choose)) as server:
    print(server.address, flush=True)
    threading.Event().wait(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_dies_on_the_way(task: Task, states: Any, how: signal.Signals) -> None:
    files = [str(OWN / "blocks" / name) for name in ("domain.pddl", "p03.pddl")]
    server = subprocess.Popen([sys.executable, "-c", SERVER, *files], stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        remote = Remote(address, max_seconds=3).bind(task)
        assert remote(task.batch([task.initial_state])) == [task.applicable(task.initial_state)[0]]

        def strike() -> None:
            if server.stdout.readline() == "on the way\n":
                server.send_signal(how)

        threading.Thread(target=strike, daemon=True).start()
        words = "is gone" if how == signal.SIGKILL else "did not answer within 3 seconds"
        with pytest.raises(
            PolicyError, match=rf"the policy server at {address} {words} .*of 300 states were"
        ):
            remote(states)
    finally:
        server.kill()
        server.wait(timeout=10)
        server.stdout.close()


def test_closing_while_calls_are_under_way(task: Task, states: Any) -> None:
    released = threading.Event()

    def slow(_request: Any, _context: Any) -> Any:
        released.wait(30)
        return wire.encode_operator(None)

    with raw_server(**{wire.GET_TASK: of_task(task), wire.GET_OPERATOR: slow}) as address:
        remote = RemotePolicy(task, PolicyClient(address, max_seconds=20))
        threading.Timer(0.3, remote.client.close).start()
        with pytest.raises(PolicyError):
            remote(states)
        released.set()


def test_proxies_are_not_asked(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment must not see the calls."""
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with PolicyServer(task, HeuristicPolicy(task, "ff")) as server:
        assert remote_task(str(server.address)).sas == task.sas
