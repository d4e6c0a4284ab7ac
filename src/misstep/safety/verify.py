"""`misstep verify` for safety: every certificate of a run directory, checked without the native core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from misstep.errors import InputError
from misstep.formats.jani import parse, read_text
from misstep.reference.checked import Refused
from misstep.reference.safety import check_certificate

MODEL = "model.jani"


def is_safety_run(folder: Path) -> bool:
    """Whether a run directory came from `misstep safety`."""
    return (folder / MODEL).is_file()


def verify_run(folder: Path) -> dict[str, Any]:
    """`{"certificates", "valid", "invalid": [{"certificate", "reason"}]}`."""
    if not is_safety_run(folder):
        raise InputError(f"{folder}: no {MODEL} there; is it the directory of a safety run?")
    model = parse(read_text(folder / MODEL), str(folder / MODEL))
    files = sorted((folder / "bugs").glob("*.json"))
    invalid = []
    for file in files:
        try:
            check_certificate(parse(read_text(file), str(file)), model)
        except (Refused, InputError) as error:
            invalid.append({"certificate": file.stem, "reason": str(error)})
    return {"certificates": len(files), "valid": len(files) - len(invalid), "invalid": invalid}
