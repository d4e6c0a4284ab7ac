"""`misstep verify` for classical tests: all certificates of a run directory, without the native core."""

from pathlib import Path
from typing import Any

from misstep.errors import InputError
from misstep.record.store import CLEARED, EVENTS, TASK, bug_files, read_log, read_object
from misstep.reference.certificate import check
from misstep.reference.checked import Refused
from misstep.reference.fdr import Task, parse


def runs_in(folder: Path) -> list[Path]:
    """The run directory itself, or those in it where several tasks were tested."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such run directory")
    if (folder / EVENTS).is_file():
        return [folder]
    inside = sorted(path.parent for path in folder.glob(f"*/{EVENTS}"))
    if not inside:
        raise InputError(f"{folder}: no run directory (there is no {EVENTS} in it)")
    return inside


def verify_run(folder: Path) -> dict[str, Any]:
    """`{"certificates", "valid", "invalid": [{"certificate", "reason"}], "by_search"}`.

    `by_search` counts valid certificates whose verdict rests on the word of a search.
    """
    try:
        task = parse((folder / TASK).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / TASK}: the task cannot be read: {error}") from None
    found: dict[str, Any] = {"certificates": 0, "valid": 0, "invalid": [], "by_search": 0}
    for path in bug_files(folder):
        try:
            certificate = read_object(path)
            if certificate.get("verdict") != "bug":
                raise ValueError("it does not say that there is a bug")
        except (InputError, ValueError) as error:
            _count(found, path.stem, error)
        else:
            _check(found, path.stem, certificate, task)
    for certificate in read_log(folder / CLEARED):
        _check(found, f"cleared {certificate.get('id')}", certificate, task)
    return found


def _check(found: dict[str, Any], name: str, certificate: dict[str, Any], task: Task) -> None:
    try:
        checked = check(certificate, task)
    except Refused as error:
        _count(found, name, error)
    else:
        _count(found, name, None)
        found["by_search"] += checked.rests_on_search


def _count(found: dict[str, Any], name: str, error: Exception | None) -> None:
    found["certificates"] += 1
    if error is None:
        found["valid"] += 1
        return
    found["invalid"].append({"certificate": name, "reason": str(error)})
