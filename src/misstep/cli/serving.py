"""What the commands share that offer a policy to other programs: they serve until Ctrl-C."""

import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from misstep.cli.exit_codes import ExitCode
from misstep.cli.output import emit_json, note, say_plain, warn

if TYPE_CHECKING:
    from misstep.remote.server import Server


def serve_until_stopped(
    server: "Server", about: Mapping[str, object], *, what: str, json: bool, quiet: bool
) -> int:
    """Prints the address, alone or in a JSON object with what it is `about`, and serves."""
    if not server.address.is_local:
        open_to_all = "can be reached from other machines, by anybody and without encryption"
        warn(f"{server.address} {open_to_all}", quiet=quiet)
    try:
        server.start()
        if json:
            emit_json({"address": str(server.address), **about})
        else:
            say_plain(str(server.address))
        sys.stdout.flush()
        note(f"serving {what}; Ctrl-C ends", quiet=quiet)
        threading.Event().wait()
    except KeyboardInterrupt:
        note("ended", quiet=quiet)
    finally:
        server.stop()
    return ExitCode.NOTHING_FOUND
