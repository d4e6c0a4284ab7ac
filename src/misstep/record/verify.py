"""`misstep verify`: all certificates of a record, by the trusted checker, without core and without policy."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from misstep.errors import InputError, LimitReached, MisstepError, ScratchError
from misstep.formats.sexp import Source
from misstep.pddl import parse_domain, parse_problem
from misstep.record.bound_files import changed_policy
from misstep.record.record import (
    CONFIG,
    DOMAIN,
    EVENTS,
    EVIDENCE,
    MODEL,
    POOL,
    PROBLEM,
    TASK,
    Record,
    records_in,
)
from misstep.record.verified import Verified, certificates, other_start, unfinished
from misstep.reference.bits import BitTask
from misstep.reference.certificate import check
from misstep.reference.checked import Refused
from misstep.reference.fdr import Task, parse
from misstep.reference.functions import Functions
from misstep.reference.log import Entry, checked_log
from misstep.reference.packing import unpacked_lines
from misstep.reference.together import contradictions
from misstep.support.forked import in_order


def verify_all(
    folder: Path, *, jobs: int = 1, tell: Callable[[int, int], None] = lambda done, records: None
) -> Verified:
    """The record itself, or those in it where several tasks were tested; in so many processes.

    `tell` hears how many of how many records are done.
    """
    paths = records_in(folder)
    total = Verified(records=len(paths))
    # Either records side by side or, where they are few, the certificates of each.
    across, inside = (jobs, 1) if len(paths) >= 2 * jobs else (1, jobs)

    def verified(at: int) -> Verified:
        record = Record.open(paths[at])
        found = verify_record(record, jobs=inside)
        if not record.has_its_config():
            found.problems.append(f"{CONFIG} is not what was asked: its digest is another")
        return found

    side_by_side = in_order(verified, len(paths), jobs=across, at_a_time=1)
    for done, (path, found) in enumerate(zip(paths, side_by_side, strict=True), start=1):
        total.include(found, prefix="" if len(paths) == 1 else f"{path.name}/")
        tell(done, len(paths))
    return total


def verify_record(record: Record, *, jobs: int = 1) -> Verified:
    """Checks every certificate of one record, and what they and the log say together."""
    if record.store.read(MODEL) is not None:
        from misstep.safety.verify import verify_model_record

        return verify_model_record(record, jobs=jobs)
    text = record.store.read(TASK)
    try:
        task = parse("" if text is None else text)
    except Refused as error:
        raise InputError(f"{record.where}/{TASK}: the task cannot be read: {error}") from None
    found, functions = Verified(), Functions(BitTask(task), unpacked_lines(record.store.lines(EVIDENCE)))
    entries = found.check(
        certificates(record), lambda certificate: check(certificate, task, functions), jobs=jobs
    )
    missing = _missing_for_translation()
    found.problems += _of_the_task(record, "" if text is None else text, translates=missing is None)
    found.problems += _of_the_objective(record, entries)
    found.problems += _together(record, task, entries)
    found.problems += other_start(record)
    digest = f"SHA-256 of the task: {record.environment().get('task_sha256')}"
    if record.store.read(DOMAIN) is None:
        found.remarks.append(f"{digest}; there is no PDDL to compare it with")
    elif missing is None:
        found.questions.append(f"{digest}; what the translator makes of the PDDL")
    else:
        found.questions.append(
            f"{digest}; it was not compared with the PDDL, which takes the translator and the native core ({missing})"
        )
    found.remarks += [*unfinished(record), *changed_policy(record)]
    return found


def _together(record: Record, task: Task, entries: list[Entry]) -> Iterator[str]:
    try:
        yield from checked_log(record.store.lines(EVENTS), entries)
        yield from contradictions(task, entries, record.store.lines(POOL))
    except InputError as error:
        yield str(error)


def _of_the_objective(record: Record, entries: list[Entry]) -> Iterator[str]:
    """The objective is that of the record; one that was a Python object is known by its name only."""
    asked = record.environment().get("objective")
    for entry in entries:
        if entry.fields["objective"]["name"] != asked:
            yield f"{entry.name}: it is about another objective than the record"


def _of_the_task(record: Record, sas: str, *, translates: bool) -> Iterator[str]:
    """`task.sas` is the one that was tested and, where the record has the PDDL, what it stands for.

    The PDDL is only looked at where it can be translated.
    """
    if hashlib.sha256(sas.encode()).hexdigest() != record.environment().get("task_sha256"):
        yield f"{TASK} is not the task that was tested: its digest is another"
    domain, problem = record.store.read(DOMAIN), record.store.read(PROBLEM)
    if domain is None and problem is None and record.config().problem is None:
        return
    if domain is None or problem is None:
        yield f"{DOMAIN if domain is None else PROBLEM} is gone, so nobody can tell what {TASK} stands for"
        return
    if not translates:
        return
    try:
        if translated(domain, problem, unit_cost=record.config().unit_cost) != sas:
            yield f"{TASK} is not what the translator makes of {DOMAIN} and {PROBLEM}"
    except LimitReached as error:
        yield f"{DOMAIN} and {PROBLEM} cannot be compared with {TASK}: {error}"
    except ScratchError:  # it says nothing about the record
        raise
    except MisstepError as error:
        yield f"{DOMAIN} and {PROBLEM} are no task: {error}"


def translated(domain: str, problem: str, *, unit_cost: bool) -> str:
    """PDDL as SAS text once more; only this needs the translator and the core."""
    from misstep.pddl.translate import translate
    from misstep.task import Task as NativeTask

    read = parse_problem(Source(problem, PROBLEM), parse_domain(Source(domain, DOMAIN)))
    return NativeTask(translate(read.domain, read, unit_cost=unit_cost)).sas


def _missing_for_translation() -> str | None:
    """Why PDDL cannot be translated here: the core or NumPy cannot be loaded. None where it can."""
    try:
        import misstep.pddl.translate
        import misstep.task  # noqa: F401
    except ImportError as error:
        return str(error)
    return None
