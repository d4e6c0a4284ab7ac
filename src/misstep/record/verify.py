"""`misstep verify`: all certificates of a record, by the trusted checker, without core and without policy."""

from pathlib import Path

from misstep.errors import InputError
from misstep.record.record import EVIDENCE, MODEL, TASK, Record, records_in
from misstep.record.verified import Verified, certificates
from misstep.reference.bits import BitTask
from misstep.reference.certificate import check
from misstep.reference.checked import Refused
from misstep.reference.fdr import parse
from misstep.reference.functions import Functions


def verify_all(folder: Path) -> Verified:
    """The record itself, or those in it where several tasks were tested."""
    total, paths = Verified(), records_in(folder)
    for path in paths:
        found = verify_record(Record.open(path))
        prefix = "" if len(paths) == 1 else f"{path.name}/"
        total.valid += found.valid
        total.by_search += found.by_search
        total.words += found.words
        total.invalid += [{**entry, "certificate": prefix + entry["certificate"]} for entry in found.invalid]
    return total


def verify_record(record: Record) -> Verified:
    """Checks every certificate of one record."""
    if record.store.read(MODEL) is not None:
        from misstep.safety.verify import verify_model_record

        return verify_model_record(record)
    text = record.store.read(TASK)
    try:
        task = parse("" if text is None else text)
    except Refused as error:
        raise InputError(f"{record.where}/{TASK}: the task cannot be read: {error}") from None
    found, functions = Verified(), Functions(BitTask(task), record.store.lines(EVIDENCE))
    for name, verdict, certificate in certificates(record):
        try:
            checked = check(certificate, task, functions)
            if checked.verdict != verdict:
                raise Refused(f"it does not say that the state is {verdict}")
        except Refused as error:
            found.invalid.append({"certificate": name, "reason": str(error)})
        else:
            found.add(checked)
    return found
