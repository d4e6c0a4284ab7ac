"""Frames: how misstep and the processes that it keeps for policies talk over sockets."""

import contextlib
import os
import socket
import struct
import time

_HEADER = struct.Struct("<cI")
_CHUNK = 1 << 18
_AWAKE_SECONDS, _MOST_IN_VAIN = 1.5e-4, 7
MOST_BYTES = 1 << 28
"""Of one frame; whoever sends more is not ours."""


class Closed(Exception):
    """The other side is gone, or does not speak our language."""


class Connection:
    """One side of a socket: frames of a kind (one byte) and some bytes, and file descriptors beside them."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._got = bytearray()
        self._descriptors: list[int] = []
        self._in_vain, self._rest = 0, 0
        """Looks in a row that were in vain, and how often we do without another one."""

    def fileno(self) -> int:
        """For `select`."""
        return self._socket.fileno()

    def send(self, kind: bytes, data: bytes = b"", *, seconds: float | None = None) -> bool:
        """Sends a frame; False where the other side did not take it in time."""
        self._socket.settimeout(seconds)
        try:
            self._socket.sendall(_HEADER.pack(kind, len(data)) + data)
        except TimeoutError:
            return False
        except OSError:
            raise Closed from None
        return True

    def send_with(self, kind: bytes, data: bytes, descriptor: int) -> None:
        """Sends a small frame and a file descriptor."""
        try:
            socket.send_fds(self._socket, [_HEADER.pack(kind, len(data)) + data], [descriptor])
        except OSError:
            raise Closed from None

    def receive(self, *, seconds: float | None = None, is_near: bool = False) -> tuple[bytes, bytes] | None:
        """The next frame, None where it did not come in time: what came of it is kept.

        Where it `is_near`, we stay awake for a moment: most answers of fast policies take less time than waking
        up an idle processor, twice for every question.
        """
        end = None if seconds is None else time.monotonic() + seconds
        if is_near:
            self._look_out()
        while (frame := self._complete()) is None:
            left = None if end is None else max(0.0, end - time.monotonic())
            self._socket.settimeout(left)
            try:
                data = self._take()
            except (TimeoutError, BlockingIOError):
                return None
            except OSError:
                raise Closed from None
            if not data:
                raise Closed
            self._got += data
        return frame

    def take_descriptor(self) -> int:
        """The file descriptor that came with a frame."""
        return self._descriptors.pop(0)

    def close(self) -> None:
        """Closes the socket and what came with frames that nobody read."""
        self._socket.close()
        while self._descriptors:
            os.close(self._descriptors.pop())

    def _look_out(self) -> None:
        """Takes what comes within a moment, unless that was in vain lately.

        It is in vain where the other side needs this very processor: then the fewer tries the better. Offering it
        the processor is no way out, since everybody else on the machine would take it as well.
        """
        if self._rest > 0:
            self._rest -= 1
            return
        end = time.perf_counter() + _AWAKE_SECONDS
        self._socket.settimeout(0)
        while time.perf_counter() < end:
            with contextlib.suppress(OSError):  # Nothing yet, or nobody is there, which who waits finds out.
                self._got += self._take()
                self._in_vain = 0
                return
        self._in_vain = min(self._in_vain + 1, _MOST_IN_VAIN)
        self._rest = 2 ** (self._in_vain - 1) - 1

    def _take(self) -> bytes:
        return self._socket.recv(_CHUNK)

    def _complete(self) -> tuple[bytes, bytes] | None:
        if len(self._got) < _HEADER.size:
            return None
        kind, length = _HEADER.unpack_from(self._got)
        if length > MOST_BYTES:
            raise Closed
        end = _HEADER.size + length
        if len(self._got) < end:
            return None
        data = bytes(self._got[_HEADER.size : end])
        del self._got[:end]
        return kind, data


class ControlConnection(Connection):
    """A connection on which file descriptors come, too."""

    def _take(self) -> bytes:
        data, descriptors, _, _ = socket.recv_fds(self._socket, _CHUNK, 16)
        self._descriptors += descriptors
        return data
