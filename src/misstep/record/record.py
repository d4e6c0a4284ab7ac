"""A record: what a test was asked, found and proved. The event log is the truth, the rest follows.

config.toml   what was asked                    env.json        versions, seed, machine, digests, format
task.sas      domain.pddl, problem.pddl, or     events.jsonl    everything, append-only
              model.jani: what was tested
pool.jsonl    the test states                   answers.jsonl   what oracles found out, for a resumed test
bugs/ID.json  certificates of bugs              cleared.jsonl   certificates of cleared states
evidence.jsonl  proofs that certificates and answers refer to
"""

import contextlib
import hashlib
import json
import os
import platform
import uuid
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from misstep.config import Config
from misstep.errors import InputError
from misstep.events import UNIT_COST_WARNING, Event, Finished, Judged, Warned, from_json, timeless
from misstep.judge import Verdict
from misstep.record.store import DISK, DirectoryStore, Disk, MemoryStore, Store, free_directory, read_object
from misstep.support.command import command
from misstep.support.plain import to_plain
from misstep.support.suggest import some_of

if TYPE_CHECKING:
    from misstep.proof import ProofLog

TASK, DOMAIN, PROBLEM, MODEL, CONFIG, ENVIRONMENT, EVENTS, POOL, ANSWERS, BUGS, CLEARED, EVIDENCE = (
    "task.sas",
    "domain.pddl",
    "problem.pddl",
    "model.jani",
    "config.toml",
    "env.json",
    "events.jsonl",
    "pool.jsonl",
    "answers.jsonl",
    "bugs",
    "cleared.jsonl",
    "evidence.jsonl",
)
OF_CAMPAIGN = "records"
"""Where the records of a campaign are, each in a directory of a directory."""
UNIT_COST_ASKED = "unit_cost_asked"
"""In the environment, whether unit costs were asked for; `config.toml` has them also where the policy wants them."""
FORMAT = 3
"""Of records and certificates. Other numbers are refused, since nobody can know what they mean."""


class Record:
    """A record under way, or one that is read.

    A resumed test is the same computation once more, in which oracles are not asked again: `answers` holds
    what they said. The events that it repeats are compared with the log instead of being written twice; where
    they differ, the policy or the task is not what it was.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.where = store.where
        """How messages call the record."""
        self.path = store.path if isinstance(store, DirectoryStore) else None
        """The directory, None in memory."""
        self.answers: deque[dict[str, Any]] = deque()
        """What was found out before the test was stopped, in order."""
        self._is_old = False
        self._repeated: deque[dict[str, Any]] = deque()
        self._repeated_lines: dict[str, deque[dict[str, Any]]] = {}
        self._events = 0
        self._lines: Counter[str] = Counter()

    @classmethod
    def in_memory(cls) -> "Record":
        """A record that ends with the program."""
        return cls(MemoryStore())

    @classmethod
    def create(cls, path: Path, *, disk: Disk = DISK) -> "Record":
        """A new record in a directory."""
        others = (CONFIG, POOL, ANSWERS, BUGS, CLEARED, EVIDENCE)
        return cls(DirectoryStore.create(path, marker=EVENTS, others=others, disk=disk))

    @classmethod
    def create_free(cls, base: Path) -> "Record":
        """A new record in `base-001`, or after it; two tests that start together get two directories."""
        while True:
            path = free_directory(base)
            try:
                return cls.create(path)
            except InputError:
                if not (path / EVENTS).exists():  # not taken by another test meanwhile: it cannot be made
                    raise

    @classmethod
    def open(cls, path: Path) -> "Record":
        """An old record; InputError where the directory holds none, or one of another format."""
        if not (path / EVENTS).is_file():
            raise InputError(f"{path}: no record (there is no {EVENTS} in it)")
        if not (path / ENVIRONMENT).is_file():
            raise InputError(
                f"{path}: the test was stopped before it had begun; start it again with --resume"
            )
        record = cls(DirectoryStore(path))
        record._is_old = True
        found = record.environment().get("format")
        if found != FORMAT:
            raise InputError(
                f"{path}: the record has format {found}, this version of misstep reads format {FORMAT}"
            )
        return record

    def begin(
        self,
        config: str,
        *,
        environment: Mapping[str, object],
        files: Mapping[str, str],
        policy: str | None = None,
    ) -> None:
        """Writes what the test was asked, as TOML, and what it is about; `policy` may name a file."""
        about = {
            "format": FORMAT,
            "python": platform.python_version(),
            "machine": platform.machine(),
            "config_sha256": hashlib.sha256(config.encode()).hexdigest(),
            "origin": origin(config),
            **({} if policy is None else policy_digest(policy)),
            **environment,
        }
        self.store.lock(EVENTS)
        self.store.cut(EVENTS, 0)  # what an earlier try told that could not load what is tested
        for name, text in files.items():
            self.store.write(name, text)
        self.store.write(CONFIG, config)
        self.store.sync(at_once=True)  # who finds the environment finds all of it
        self.store.write(ENVIRONMENT, json.dumps(about) + "\n")

    def check_same(self, config: Config, digests: Mapping[str, str]) -> None:
        """Raises InputError where a test that is to be resumed is not the one that was begun.

        What may be spent need not be the same: that is why one resumes.
        """
        before, environment = self.config(), self.environment()
        if any(environment.get(name) != value for name, value in digests.items()):
            raise InputError(f"{self.where}: what was tested has changed; start a new record")
        now, old = config.as_table(), before.as_table()
        for name in sorted({*now, *old} - {"seconds", "memory_mb", "isolate", "call_seconds"}):
            if now.get(name) != old.get(name):
                raise InputError(
                    f"{self.where}: the test was begun with {name} = {old.get(name)}, not {now.get(name)}; "
                    "use the same options or start a new record"
                )

    def resume(self) -> None:
        """Gets ready to go on: what is there already is repeated, not written again."""
        self.store.lock(EVENTS)
        self._is_old = True
        self._repeated = deque(self.store.lines(EVENTS))
        self.answers = deque(self.store.lines(ANSWERS))
        for number, answer in enumerate(self.answers, start=1):
            if not _is_answer(answer):
                raise InputError(
                    f"{self.where}/{ANSWERS}:{number}: this is not what an oracle said; start a new record"
                )
        self.store.cut(EVENTS, len(self._repeated))
        self.store.cut(ANSWERS, len(self.answers))
        for log in (CLEARED, EVIDENCE):
            self._repeated_lines[log] = deque(self.store.lines(log))
            self.store.cut(log, len(self._repeated_lines[log]))

    def event(self, event: Event) -> None:
        """Logs an event."""
        line: dict[str, Any] = to_plain(event)
        if self._repeated:
            self._log_again(line)
        else:
            self.store.append(EVENTS, line)
        self.store.sync(at_once=isinstance(event, Finished))

    def _log_again(self, line: dict[str, Any]) -> None:
        """Compares an event with the one that the log has in its place, as long as it has one."""
        if self._repeated:
            before = self._repeated[0]
            if timeless(_as_now(before)) == timeless(line):
                self._repeated.popleft()
                self._events += 1
                return
            if _is_stopped(line) and before.get("event") != "finished":
                return  # stopped again before it came to where it was: the log says more than this test knows
            if before.get("event") != "finished" and before.get("limit") is None:
                raise InputError(
                    f"{self.where}: the test does not go as it went before it was stopped (event "
                    f"{self._events + 1} differs): the policy or misstep has changed, or a limit of time was met at "
                    "another moment; start a new record"
                )
            self._repeated.clear()  # from here on the stopped test knew less
            self.store.cut(EVENTS, self._events)
        self.store.append(EVENTS, line)

    def recall(self, key: str, /) -> dict[str, Any] | None:
        """What was found out about this question before the test was stopped; each answer once.

        The questions come in the same order as before. Where they do not, what is left is of no use.
        """
        if self.answers and self.answers[0].get("key") == key:
            return self.answers.popleft()
        if self.answers:
            self.store.cut(ANSWERS, len(self.store.lines(ANSWERS)) - len(self.answers))
            self.answers.clear()
        return None

    def write_down(
        self, event: Judged, certificate: Mapping[str, Any] | None, answers: Sequence[Mapping[str, Any]]
    ) -> None:
        """Writes what a verdict rests on, and then the event that reports it."""
        line, store, is_bug = to_plain(event), self.store, event.verdict is Verdict.BUG
        is_known = bool(self._repeated or self._repeated_lines.get(CLEARED))
        for answer in answers:
            store.append(ANSWERS, answer)
        if certificate is not None and is_bug:
            store.write(f"{BUGS}/{event.id}.json", certificate_text(certificate), wait=False)
        elif certificate is not None and is_known:
            self._append_once(CLEARED, certificate)
        elif certificate is not None:
            store.append(CLEARED, certificate)
        if is_known:
            self._log_again(line)
        else:
            store.append(EVENTS, line)
        store.sync()

    def keep(self, answers: Sequence[Mapping[str, Any]]) -> None:
        """Writes what oracles said, for a test that goes on later."""
        for answer in answers:
            self.store.append(ANSWERS, answer)

    def bug(self, name: str, certificate: Mapping[str, Any]) -> None:
        """Writes the certificate of a bug."""
        self.store.write(f"{BUGS}/{name}.json", certificate_text(certificate))

    def evidence(self, block: Mapping[str, Any]) -> None:
        """Writes what the certificates of a model's test share, unless it is there already."""
        self._append_once(EVIDENCE, block)

    def proofs(self) -> "ProofLog":
        """What the certificates and answers of a task's test share; new proofs are appended.

        Where the power failed, answers may be there whose proofs are not: these are found out again.
        """
        from misstep.proof import ProofLog  # needs the native core; those who read records do not

        log = ProofLog(partial(self.store.append, EVIDENCE))
        if self._is_old:
            log.take_in(self.store.lines(EVIDENCE))
        named = ([claim.get("proof") for claim in answer["claims"]] for answer in self.answers)
        good = sum(1 for _ in takewhile(lambda names: all(n is None or n in log for n in names), named))
        if good < len(self.answers):
            self.answers = deque(islice(self.answers, good))
            self.store.cut(ANSWERS, good)
        return log

    def _append_once(self, log: str, line: Mapping[str, Any]) -> None:
        """A resumed test repeats the lines of the stopped one; where it differs, it knows more from there."""
        if repeated := self._repeated_lines.get(log):
            if repeated.popleft() == line:
                self._lines[log] += 1
                return
            repeated.clear()
            self.store.cut(log, self._lines[log])
        self.store.append(log, line)
        self._lines[log] += 1

    @property
    def has_begun(self) -> bool:
        """Whether it says what was tested; a test that ended while the task was loaded has not got so far."""
        return self.store.read(CONFIG) is not None

    @property
    def is_loaded(self) -> bool:
        """Whether what is tested was ever loaded; if not, a test that is resumed has nothing to repeat."""
        return not self.environment().keys().isdisjoint(("task_sha256", "model_sha256"))

    def config(self) -> Config:
        """What was asked."""
        text = self.store.read(CONFIG)
        if text is None:
            raise InputError(f"{self.where}: no record (there is no {CONFIG} in it)")
        return Config.from_toml(text, where=f"{self.where}/{CONFIG}")

    def extended_by_default(self) -> bool:
        """Whether a test that does not say `effort` used up its time: it did before there was that option."""
        return "extend = false" not in (self.store.read(CONFIG) or "").splitlines()

    def is_own(self) -> bool:
        """Whether this user made the record on this machine, and what was asked is what it says."""
        return self.environment().get("origin") == origin(self.store.read(CONFIG) or "")

    def has_its_config(self) -> bool:
        """Whether what was asked is still what the environment says."""
        text = self.store.read(CONFIG) or ""
        return self.environment().get("config_sha256") == hashlib.sha256(text.encode()).hexdigest()

    def environment(self) -> dict[str, Any]:
        """Versions, seed, machine and digests."""
        return read_object(self.store.read(ENVIRONMENT), f"{self.where}/{ENVIRONMENT}")

    @property
    def unit_cost_asked(self) -> bool:
        """Whether unit costs were asked for when the test began."""
        known = self.environment().get(UNIT_COST_ASKED)
        if known is not None:
            return bool(known)
        # An older version wrote the record: it warned first of all where the policy alone wanted them.
        first = islice(self.events(), 2)
        return not any(isinstance(event, Warned) and event.text == UNIT_COST_WARNING for event in first)

    def events(self) -> Iterator[Event]:
        """The events so far."""
        for number, line in enumerate(self.store.lines(EVENTS), start=1):
            try:
                yield from_json(line)
            except InputError as error:
                raise InputError(f"{self.where}/{EVENTS}:{number}: {error}") from None

    def bugs(self) -> dict[str, dict[str, Any]]:
        """The certificates of bugs by name."""
        return {name.removesuffix(".json"): self.bug_named(name) for name in self.store.names(BUGS)}

    def bug_named(self, name: str) -> dict[str, Any]:
        """The certificate of one bug."""
        file = f"{BUGS}/{name.removesuffix('.json')}.json"
        text = self.store.read(file)
        if text is None:
            known = some_of([known.removesuffix(".json") for known in self.store.names(BUGS)])
            is_cleared = any(line.get("id") == name for line in self.store.lines(CLEARED))
            why = f"no bug {name}" + (f" ({name} was cleared: {CLEARED} has the proof)" if is_cleared else "")
            raise InputError(f"{self.where}: there is {why}; there are: {known}")
        return read_object(text, f"{self.where}/{file}")

    def discard(self) -> None:
        """Removes a new record in which nothing was written down, so that its place is free again."""
        self.store.close()
        if self.path is not None and not self.has_begun:
            with contextlib.suppress(OSError):
                (self.path / EVENTS).unlink()
                self.path.rmdir()

    def close(self) -> None:
        """Closes the store."""
        self.store.close()


def _as_now(line: Mapping[str, Any]) -> dict[str, Any]:
    """An event as this version writes it: those of earlier ones lack fields that came later."""
    try:
        return from_json(dict(line)).as_json()
    except InputError:
        return dict(line)


def _is_stopped(line: Mapping[str, Any]) -> bool:
    """Whether the event is the end of a test that Ctrl-C or a limit stopped."""
    limits = line.get("limits_hit")
    return line.get("event") == "finished" and not {"interrupted", "seconds", "memory", "stopped"}.isdisjoint(
        limits or ()
    )


def _is_answer(line: Mapping[str, Any]) -> bool:
    """Whether a line has the fields that `recall` gives away; what the claims hold is looked at later."""
    claims, effort, limits = line.get("claims"), line.get("effort"), line.get("limits_hit")
    return (
        isinstance(claims, list)
        and all(isinstance(claim, dict) for claim in claims)
        and type(effort) in (int, float)
        and isinstance(limits, list)
        and all(isinstance(limit, str) for limit in limits)
    )


def certificate_text(certificate: Mapping[str, Any]) -> str:
    """A field a line, for people who look into the file; the encoder is ten times slower where it indents."""
    fields = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in certificate.items()]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def open_record(path: Path, *, is_free: bool, resume: bool) -> tuple[Record, bool]:
    """The record of a test that begins: a new one there, or in a free directory whose name begins so, or the
    one to be resumed; and whether there is anything to resume."""
    if is_free:
        return Record.create_free(path), False
    if resume and (path / ENVIRONMENT).is_file() and (record := Record.open(path)).is_loaded:
        return record, True
    if resume and (path / EVENTS).is_file():  # it ended before what is tested was loaded: begin now
        return Record(DirectoryStore(path)), False
    return Record.create(path), False


def records_in(folder: Path) -> list[Path]:
    """The record itself, or those in it where several tasks were tested, or those of a campaign."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such record")
    if (folder / EVENTS).is_file():
        return [folder]
    found = [*folder.glob(f"*/{EVENTS}"), *folder.glob(f"{OF_CAMPAIGN}/*/*/{EVENTS}")]
    inside = sorted(path.parent for path in found)
    if not inside:
        raise InputError(f"{folder}: no record (there is no {EVENTS} in it)")
    return inside


def origin(config: str) -> str:
    """A text that only this user on this machine makes of what was asked; it tells nobody who that is."""
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        machine = f"{uuid.getnode():012x}"
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    text = f"misstep record {machine} {user} {config}"
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def policy_file(policy: str) -> Path | None:
    """The file that a policy text names, such as `asnet:FILE` or `python:FILE:function,option=value`."""
    around = around_file(policy)
    return None if around is None else Path(around[1])


def around_file(policy: str) -> tuple[str, str, str] | None:
    """What stands before the file's name in a policy text, the name, and what stands after it."""
    kind, colon, rest = policy.partition(":")
    ends = [len(rest), *(at for at, letter in enumerate(rest) if letter in ":,")]
    for end in sorted(ends, reverse=True):
        try:
            if end and Path(rest[:end]).is_file():
                return kind + colon, rest[:end], rest[end:]
        except (OSError, ValueError):  # longer than names can be, or with a NUL
            continue
    return None


def replay_command(where: object) -> str:
    """What asks the policy again about the bugs of a record, for any shell; the name of one bug may follow."""
    return command("replay", Path(str(where)))


def policy_digest(policy: str) -> dict[str, str]:
    """`policy_sha256` of the file that a policy text names; nothing where it names none."""
    file = policy_file(policy)
    return {} if file is None else {"policy_sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
