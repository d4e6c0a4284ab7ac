"""The process in which a policy lives: cut off from our terminal, files and signals, it answers questions."""

import contextlib
import json
import os
import resource
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

from misstep.errors import MisstepError
from misstep.isolation.frames import Closed, Connection
from misstep.isolation.service import Service
from misstep.support.census import die_with_parent
from misstep.support.describe import describe_error

READY, FAILED, ASK, ANSWER = b"r", b"f", b"q", b"a"
# Where memory runs out the operating system ends somebody; better this process than all of the test.
_FIRST_TO_GO = "800"


def live(service: Service, sock: socket.socket, output: int) -> NoReturn:
    """Opens the service and answers until nobody asks any more; called right after a fork."""
    code = 70
    try:
        _cut_off(output)
        _answer_all(service, Connection(sock))
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException as error:
        with contextlib.suppress(Exception):
            print(describe_error(error), file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def _cut_off(output: int) -> None:
    os.setsid()
    die_with_parent()
    for name in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(name, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO, encoding="ascii")


def _answer_all(service: Service, connection: Connection) -> None:
    try:
        about, answer = service.open()
    except MisstepError as error:
        _say_failed(connection, type(error).__name__, str(error))
        return
    except BaseException as error:
        _say_failed(connection, "PolicyError", f"loading the policy failed: {describe_error(error)}")
        return
    connection.send(READY, json.dumps(about).encode())
    with contextlib.suppress(Closed):
        while (question := connection.receive(is_near=True)) is not None:
            connection.send(ANSWER, answer(question[1]))


def _say_failed(connection: Connection, kind: str, text: str) -> None:
    connection.send(FAILED, json.dumps({"kind": kind, "text": text}).encode())
