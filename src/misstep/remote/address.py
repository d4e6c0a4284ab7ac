"""Addresses of policy servers: `host:port`, `*:port`, `unix:///path`."""

import ipaddress
import re
from dataclasses import dataclass

from misstep.errors import InputError

_TCP = re.compile(r"(?P<host>\*|\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9_.-]+):(?P<port>[0-9]{1,5})")
_MAX_PATH = 107  # What the operating system's socket addresses hold.


@dataclass(frozen=True, slots=True)
class Address:
    """Where a policy server is: a host and a port, or the path of a Unix socket."""

    host: str | None = None
    port: int | None = None
    path: str | None = None

    def __str__(self) -> str:
        return f"unix://{self.path}" if self.path is not None else f"{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether only programs on this machine can reach it."""
        if self.host is None or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False


def parse_address(text: str) -> Address:
    """Reads an address; `unix:path` is fine too."""
    if text.startswith("unix:"):
        path = text.removeprefix("unix:")
        path = path.removeprefix("//") if path.startswith("//") else path
        if not path or "\0" in path or len(path.encode()) > _MAX_PATH:
            raise InputError(
                f"address `{text}`: the path of a Unix socket has from 1 to {_MAX_PATH} bytes; write "
                "`unix:///path`"
            )
        return Address(path=path)
    found = _TCP.fullmatch(text)
    if found is None:
        raise InputError(f"address `{text}`: write `host:port`, `*:port` or `unix:///path`")
    port = int(found["port"])
    if port > 0xFFFF:
        raise InputError(f"address `{text}`: {port} is no port; ports go up to {0xFFFF}")
    return Address(host=found["host"], port=port)
