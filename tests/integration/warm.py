"""Commands that start warm: forks of a process that has loaded misstep, which take some 20 ms instead of 0.5 s.

Each command still has a process of its own, as it has with users: its streams, signals, limits and exit code are
real, and nothing that it changes is left for the next one. `start` is for tests, `main` is the process that forks.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import pickle
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from tests import sas

ROOT = Path(__file__).parents[2]
# What an interpreter reads once, at its start, so that a fork would not see it.
_READ_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "OMP_", "OPENBLAS_")
_MOST_BYTES, _PID_BYTES = 1 << 20, 16
# Other people's libraries with threads of their own, which forks do not inherit, and what takes long to load.
_LEFT_OUT = ("torch", "grpc", "onnxruntime", "ray", "gymnasium", "pandas", "pyarrow", "matplotlib")


class Warm:
    """A command that runs; what is used of `subprocess.Popen`."""

    def __init__(self, pid: int, status: socket.socket) -> None:
        self.pid = pid
        self._status = status
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._status.settimeout(timeout)
            try:
                told = self._status.recv(64)
            except TimeoutError:
                raise subprocess.TimeoutExpired("misstep", timeout or 0.0) from None
            self._status.close()
            assert told, "the process that forks commands is gone"
            self.returncode = int(told)
        return self.returncode

    def poll(self) -> int | None:
        if self.returncode is None and not select.select([self._status], [], [], 0)[0]:
            return None
        return self.wait()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class _Forker:
    """The process that forks; the first command of a test process starts it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MOST_BYTES)
        with theirs:
            program = [sys.executable, "-m", "tests.integration.warm", str(theirs.fileno())]
            self.process = subprocess.Popen(program, cwd=ROOT, pass_fds=[theirs.fileno()])
        self.socket = ours
        self.owner = os.getpid()
        atexit.register(self._close)

    def _close(self) -> None:
        """It ends where nobody can ask it any more; who waits for it counts its time, and that of its commands."""
        if os.getpid() == self.owner:
            self.socket.close()
            self.process.wait(10)


_forker: list[_Forker] = []
_lock = threading.Lock()


def can_start(environment: dict[str, str]) -> bool:
    """Whether a fork sees all that this environment changes. PYTHONPATH it does, unless code there runs at a start."""
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    if not hasattr(os, "pidfd_open") or any(
        (Path(folder) / "sitecustomize.py").exists() for folder in folders
    ):
        return False
    return not any(name.startswith(_READ_AT_START) for name in environment.keys() - {"PYTHONPATH"})


def start(
    arguments: Sequence[str],
    streams: tuple[int, int, int],
    *,
    env: dict[str, str],
    cwd: Path | None,
    new_session: bool = False,
) -> Warm:
    """Starts a command with these descriptors as its standard streams."""
    with _lock:
        if not _forker or _forker[0].owner != os.getpid():
            _forker[:] = [_Forker()]
        forker = _forker[0]
        status, theirs = socket.socketpair()
        with theirs:
            request = pickle.dumps((list(arguments), env, str(cwd or Path.cwd()), new_session))
            socket.send_fds(forker.socket, [request], [*streams, theirs.fileno()])
    told = status.recv(_PID_BYTES)
    assert told, "the process that forks commands did not start"
    return Warm(int(told), status)


def main() -> bool:
    """Forks until nobody asks any more; True in a fork, which is the command from then on."""
    control = socket.socket(fileno=int(sys.argv[1]))
    _load()
    gc.collect()
    gc.freeze()
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        ready, _, _ = select.select([control.fileno(), *running], [], [])
        for ended in set(ready) & running.keys():
            pid, status = running.pop(ended)
            os.close(ended)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            with contextlib.suppress(OSError), status:
                status.send(str(code).encode())
        if control.fileno() not in ready:
            continue
        data, descriptors, _, _ = socket.recv_fds(control, _MOST_BYTES, 4)
        if not data:
            return False
        *streams, last = descriptors
        status = socket.socket(fileno=last)
        pid = os.fork()
        if pid == 0:
            for ours in (control, status, *(other for _, other in running.values())):
                ours.close()
            for descriptor in running:
                os.close(descriptor)
            _become(pickle.loads(data), streams)
            return True
        status.send(str(pid).encode().ljust(_PID_BYTES))
        for stream in streams:
            os.close(stream)
        running[os.pidfd_open(pid)] = pid, status


def _load() -> None:
    """Loads all of misstep, in which other people's libraries are loaded where they are used."""
    import misstep

    for module in pkgutil.walk_packages(misstep.__path__, "misstep."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # it needs an extra
                importlib.import_module(module.name)
    sas.install()
    loaded = sorted(name for name in _LEFT_OUT if name in sys.modules)
    assert not loaded, f"misstep loads {loaded} before they are needed"
    assert threading.active_count() == 1


def _become(request: tuple[list[str], dict[str, str], str, bool], streams: list[int]) -> None:
    """The rest of this process is the command."""
    arguments, environment, cwd, new_session = request
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if new_session:
        os.setsid()
    os.chdir(cwd)
    before = _search_path()
    rest = [folder for folder in sys.path[1:] if folder not in before]
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = [cwd, *_search_path(), *rest]
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    sys.argv = ["misstep", *arguments]
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        before = getattr(sys, name)
        buffering = 1 if name == "stderr" or os.isatty(number) else -1
        made = open(  # noqa: SIM115
            number, before.mode, buffering, encoding=before.encoding, errors=before.errors, closefd=False
        )
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)


def _search_path() -> list[str]:
    """The folders that PYTHONPATH names."""
    return [str(Path(name).absolute()) for name in os.environ.get("PYTHONPATH", "").split(os.pathsep) if name]


if __name__ == "__main__" and main():
    runpy.run_module("misstep.cli", run_name="__main__", alter_sys=True)
