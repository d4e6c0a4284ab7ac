"""Policies that do what no policy should, for tests of isolation: named as `python:tests/hostile.py:NAME`.

All of them answer with the first applicable action otherwise. The state decides what happens: `strikes` is
true for about one state in four, so that a test meets both kinds, and the initial state is among the others.
"""

import ctypes
import os
import subprocess
import sys
import time
from typing import Any

from misstep import State


def strikes(state: State) -> bool:
    return sum((at + 1) * value for at, value in enumerate(state.values)) % 4 == 1


def first(state: State) -> Any:
    task: Any = state.task
    return task.applicable(state)[0]


def exits(state: State) -> Any:
    if strikes(state):
        os._exit(3)
    return first(state)


def always_exits(state: State) -> Any:
    os._exit(3)


def crashes(state: State) -> Any:
    if strikes(state):
        ctypes.string_at(0)
    return first(state)


def prints(state: State) -> Any:
    print("hello from the policy")
    os.write(1, b"and from below\n")
    print("an error", file=sys.stderr)
    return first(state)


def changes_directory(state: State) -> Any:
    os.chdir("/")
    return first(state)


def closes_files(state: State) -> Any:
    if strikes(state):
        os.closerange(0, 200)
    return first(state)


def bombs(state: State) -> Any:
    """Forks for ever, but slowly enough for a test."""
    if strikes(state):
        for _ in range(100_000):
            if os.fork() == 0:
                time.sleep(600)
            time.sleep(0.0005)
    return first(state)


def leaves_children(state: State) -> Any:
    """Starts processes that leave its session and hold its files open."""
    if strikes(state):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        os._exit(7)
    return first(state)


def stays_with_children(state: State) -> Any:
    """Starts two processes that leave its session, and never answers."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
    time.sleep(600)
    return first(state)


def sleeps(state: State) -> Any:
    if strikes(state):
        time.sleep(3600)
    return first(state)


def always_sleeps(state: State) -> Any:
    time.sleep(3600)
    return first(state)


def spins(state: State) -> Any:
    """Native code that never gives the interpreter back: no thread of the same process could go on."""
    if strikes(state):
        pow(3, 10**12)
    return first(state)


_HOARD: list[bytearray] = []


def leaks(state: State) -> Any:
    _HOARD.append(bytearray(b"x") * 20_000_000)
    return first(state)


def slow(state: State) -> Any:
    time.sleep(0.2)
    return first(state)


def out_of_memory(state: State) -> Any:
    if strikes(state):
        raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")
    return first(state)


def writes_nonsense(state: State) -> Any:
    """Writes into whatever sockets there are."""
    if strikes(state):
        for descriptor in range(3, 50):
            try:
                os.write(descriptor, b"\xff" * 4096)
            except OSError:
                continue
    return first(state)


def good(state: State) -> Any:
    return first(state)
