"""How commands talk: results on standard output, everything else on standard error."""

import json
import sys
from collections.abc import Iterable, Mapping


def emit_json(result: Mapping[str, object]) -> None:
    """The one JSON object of `--json`."""
    print(json.dumps(result))


def warn(warnings: Iterable[str]) -> None:
    """Shows warnings on standard error."""
    for text in warnings:
        print(f"warning: {text}", file=sys.stderr)


def note(text: str, *, quiet: bool = False) -> None:
    """Shows progress on standard error."""
    if not quiet:
        print(text, file=sys.stderr)
