"""What `misstep demo` finds; `python -m tests.golden.demo` records it and prints the text for the README."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from tests.integration.cli import Ended, misstep

GOLDEN = Path(__file__).parent / "demo.json"


def counts_of(result: dict[str, Any]) -> dict[str, Any]:
    """The part of the demo's JSON that is the same on every machine."""
    names = (
        "pool",
        "tested",
        "solved",
        "bugs",
        "cleared",
        "cleared_by_search",
        "unknown",
        "families",
        "verify",
    )
    found = {name: result[name] for name in names}
    # Another version of the translator may write the same task otherwise.
    notes = [re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", note) for note in found["verify"]["notes"]]
    return {**found, "verify": {**found["verify"], "notes": notes}}


def run_demo(folder: Path, *arguments: str) -> Ended:
    return misstep("demo", "--out", folder / "demo", *arguments)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        GOLDEN.write_text(json.dumps(counts_of(run_demo(Path(first), "--json").json), indent=1) + "\n")
        print(run_demo(Path(second)).out.replace(f"{second}/demo", "runs/demo-001"), end="")
