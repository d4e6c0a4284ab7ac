"""`python -m tests.forgeries N [SEED]`: damages and forges records; what `verify` accepts must still be true.

N random edits, and N / 10 purposeful forgeries whose digests were computed again, over all files of a classical
and of a safety record. What is accepted is compared with brute force: the native enumeration of the task that the
record holds, and for models the words of the untouched record about the same question.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import misstep
import misstep.record.verify as verification
import misstep.safety.verify as safety_verification
from misstep import _core
from misstep.bundled.models import generate
from misstep.reference.bits import BitTask
from misstep.reference.digest import digest
from misstep.reference.packing import packed_lines, unpacked_lines
from tests.property.tampering import places, replacements
from tests.torture.truth import Table, Truth
from tests.torture.worlds import random_world

Files = dict[str, str]
LOGS = ("events.jsonl", "pool.jsonl", "cleared.jsonl", "evidence.jsonl", "answers.jsonl")


RECORDS = (
    (8, "landmarks+planner+improve/ehc"),
    (80, "dead-ends+abstraction+landmarks+improve/ehc"),
    (87, "planner:astar:lmcut+improve/ehc"),
    (84, "greedy+planner:astar:lmcut+improve/ehc"),
)
"""Random worlds and oracles that together use all kinds of evidence."""


def classical_record(folder: Path, seed: int, oracle: str) -> Files:
    """Bugs of several outcomes, clearances and open states on a small random world."""
    rng = random.Random(f"torture {seed}")
    truth = Truth(random_world(rng), most=3000)
    task = misstep.load(truth.world.domain(), truth.world.problem())
    table = Table(truth, rng, {action.name for action in task.actions})
    by_facts = {}
    names = {task.fact_name(v, k) for v, size in enumerate(task.domain_sizes) for k in range(size)}
    for state in truth.moves:
        by_facts[tuple(sorted({f"({' '.join(atom)})" for atom in state} & names))] = table.choice[state]

    def table_policy(batch: _core.StateBatch) -> list[str | None]:
        return [by_facts[tuple(state.facts)] for state in batch]

    misstep.test(task, table_policy, pool=25, out=folder / f"classical-{seed}", oracle=oracle)
    return files_of(folder / f"classical-{seed}")


def safety_record(folder: Path) -> Files:
    """Unsafe runs of a bundled policy on a bundled model."""
    model = folder / "line.jani"
    model.write_text(json.dumps(generate("two_way_line")), encoding="utf-8")
    misstep.test(str(model), "zoo:two_way_line", runs=20, out=folder / "safety")
    return files_of(folder / "safety")


def files_of(folder: Path) -> Files:
    """All files of a record by name."""
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


KINDS = {"abstraction", "charges", "cut", "invariant", "region", "landmarks", "frontier"}
"""Of functions that certificates share, and of what clears a state."""


def kinds_of(records: list[Files]) -> set[str]:
    """The kinds of evidence that occur."""
    lines = [
        json.loads(line)
        for files in records
        if "task.sas" in files
        for name in ("evidence.jsonl", "cleared.jsonl")
        for line in files.get(name, "").splitlines()
    ]
    lines += [*unpacked_lines(lines)]
    lowers = [line.get("lower") for line in lines]
    return {str(line.get("kind")) for line in lines} | {
        one["kind"] for one in lowers if isinstance(one, dict)
    }


class Forger:
    """Edits the files of a record."""

    def __init__(self, files: Files, rng: random.Random) -> None:
        self.files, self.rng = dict(files), rng
        self.names = [name for name in files if files[name]]

    def damage(self) -> str:
        """A random edit of a random file, as an accident would make it."""
        name = self.rng.choice(self.names)
        text, at = self.files[name], self.rng.randrange(len(self.files[name]))
        sort = self.rng.randrange(5)
        if sort == 0:
            self.files[name] = (
                text[:at] + self.rng.choice('0123456789ab(){}[]",: \n\x00\xff') + text[at + 1 :]
            )
        elif sort == 1:
            self.files[name] = text[:at] + text[at + self.rng.randint(1, 40) :]
        elif sort == 2:
            lines = text.splitlines(keepends=True)
            self.rng.shuffle(lines) if self.rng.random() < 0.2 else lines.pop(self.rng.randrange(len(lines)))
            self.files[name] = "".join(lines)
        elif sort == 3:
            lines = text.splitlines(keepends=True)
            lines.insert(self.rng.randrange(len(lines)), self.rng.choice(lines))
            self.files[name] = "".join(lines)
        else:
            del self.files[name]
        return f"damage {sort} in {name}"

    def forge(self) -> str:
        """A change of one value somewhere, with every digest computed again that is about it."""
        name = self.rng.choice([n for n in self.names if n != "config.toml"])
        if name in ("task.sas", "domain.pddl", "problem.pddl", "model.jani"):
            return self._forge_subject(name)
        documents = self._documents(name)
        document = self.rng.choice(documents)
        if isinstance(document, list):  # lines of evidence that are packed together
            document = self.rng.choice(document)
        before = copy.deepcopy(document)
        tries = 0
        while document == before and tries < 20:
            tries += 1
            holder, key = self.rng.choice(places(document))
            if key not in ("sha256", "before"):
                holder[key] = copy.deepcopy(self.rng.choice(replacements(holder[key], [], document)))
        if self.rng.random() < 0.5 and name.startswith(("bugs/", "cleared")):
            self._tell_the_log(document)
        self._sign(documents)
        self._write(name, documents)
        return f"forged {name}"

    def _tell_the_log(self, certificate: dict[str, Any]) -> None:
        """Makes the event about the state say the same as a forged certificate."""
        events = self._documents("events.jsonl")
        for event in events:
            if event.get("event") == "judged" and str(event.get("id")) == certificate.get("id"):
                for field in ("verdict", "cost", "best", "gap", "oracle"):
                    if field in certificate:
                        event[field] = certificate[field]
        self._write("events.jsonl", events)

    def _forge_subject(self, name: str) -> str:
        """Another task or model, whose digest is in the environment."""
        numbers = [at for at, letter in enumerate(self.files[name]) if letter in "0123456789"]
        at = self.rng.choice(numbers)
        self.files[name] = self.files[name][:at] + self.rng.choice("0123456789") + self.files[name][at + 1 :]
        environment = json.loads(self.files["env.json"])
        for file, field in (("task.sas", "task_sha256"), ("model.jani", "model_sha256")):
            if file in self.files:
                environment[field] = hashlib.sha256(self.files[file].encode()).hexdigest()
        self.files["env.json"] = json.dumps(environment)
        return f"forged {name}"

    def _documents(self, name: str) -> list[Any]:
        if name not in LOGS:
            return [json.loads(self.files[name])]
        lines = [json.loads(line) for line in self.files[name].splitlines()]
        return [[*unpacked_lines([line])] if "packed" in line else line for line in lines]

    def _write(self, name: str, documents: list[Any]) -> None:
        lines = [packed_lines(each) if isinstance(each, list) else each for each in documents]
        self.files[name] = "".join(json.dumps(line) + "\n" for line in lines)

    def _sign(self, documents: list[Any]) -> None:
        before = None
        for document in documents:
            if isinstance(document, dict) and "sha256" in document:
                if "before" in document:
                    document["before"] = before
                document["sha256"] = before = digest(document)


class Place:
    """A directory with a record, where edited ones take its place for a moment."""

    def __init__(self, folder: Path, files: Files) -> None:
        self.folder, self.there = folder, Files()
        folder.mkdir()
        self._write(files)

    def accepts(self, files: Files) -> bool:
        """Whether `verify` has nothing against the record. Only errors with a message for users may be raised."""
        self._write(files)
        try:
            return verification.verify_all(self.folder).is_sound
        except misstep.MisstepError:
            return False

    def _write(self, files: Files) -> None:
        for name in self.there.keys() - files.keys():
            (self.folder / name).unlink()
        for name, text in files.items():
            if self.there.get(name) != text:
                path = self.folder / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(
                    text.encode("utf-8") if "\xff" not in text else text.encode("latin-1", "replace")
                )
        self.there = dict(files)


@cache
def best_costs(sas: str) -> dict[tuple[str, ...], float]:
    """h* of every state that can be reached, by enumeration in the core."""
    task = _core.Task(sas)
    every = _core.enumerate_states(task, max_states=10**6)
    return {tuple(every.state(i).facts): value for i, value in enumerate(every.values())}


def falsehood(files: Files, original: Files) -> str | None:
    """What an accepted record says that is not so; None where all of it is true."""
    certificates = [json.loads(text) for name, text in files.items() if name.startswith("bugs/")]
    certificates += [json.loads(line) for line in files.get("cleared.jsonl", "").splitlines()]
    if "model.jani" in files:
        known = {_about(c): c["verdict"] for c in _all(original)}
        for certificate in certificates:
            verdict = known.get(_about(certificate))
            if files["model.jani"] == original["model.jani"] and verdict not in (
                certificate["verdict"],
                None,
            ):
                return f"{certificate['id']} is {verdict}"
        return None
    best = best_costs(files["task.sas"])
    for certificate in certificates:
        h = best.get(tuple(certificate["state"]))
        if h is None:
            continue  # a state that cannot be reached is as good as any other, but is not enumerated
        low, high = (_number(certificate["cost"][end]) for end in ("lo", "hi"))
        if (certificate["verdict"] == "bug" and not high > h) or (
            certificate["verdict"] == "cleared" and low > h
        ):
            return f"{certificate['id']} is no {certificate['verdict']}: {certificate['cost']}, best {h}"
        if not _number(certificate["best"]["lo"]) <= h <= _number(certificate["best"]["hi"]):
            return f"{certificate['id']}: the best is {h}, not {certificate['best']}"
    return None


def _all(files: Files) -> list[dict[str, Any]]:
    bugs = [json.loads(text) for name, text in files.items() if name.startswith("bugs/")]
    return bugs + [json.loads(line) for line in files.get("cleared.jsonl", "").splitlines()]


def _about(certificate: dict[str, Any]) -> str:
    fields = ("state", "step", "radius", "horizon", "constants", "semantics", "unsafe", "goal")
    return json.dumps([certificate[field] for field in fields], sort_keys=True)


def _number(end: float | None) -> float:
    return float("inf") if end is None else end


def remember() -> None:
    """Has the checker look only once at the same certificate beside the same task and the same evidence.

    Its answer depends on nothing else, and an edit changes one file of many.
    """
    verification.translated = cache(verification.translated)
    for module, names in (
        (verification, ("parse", "Functions", "check")),
        (safety_verification, ("Evidence", "check")),
    ):
        for name in names:
            setattr(module, name, _remembered(getattr(module, name)))


_MOST_REMEMBERED = 10_000


def _remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with its results, or what it raises, by its arguments, which are kept so that none takes
    the place of another: plain ones by what they say, others by what they are."""
    known: dict[tuple[object, ...], tuple[Any, Exception | None, tuple[Any, ...]]] = {}

    def remembered(*arguments: Any) -> Any:
        key = tuple(
            json.dumps(each) if isinstance(each, dict | list | str | None) else _identity(each)
            for each in arguments
        )
        if key not in known:
            if len(known) > _MOST_REMEMBERED:
                known.clear()
            try:
                known[key] = function(*arguments), None, arguments
            except Exception as error:
                known[key] = None, error, arguments
        result, problem, _ = known[key]
        if problem is not None:
            raise problem
        return result

    return remembered


def _identity(value: object) -> object:
    """What an object is; a BitTask is made anew for the same task again and again."""
    return id(value.task) if isinstance(value, BitTask) else id(value)


def run(
    edits: int, seed: int = 0, tell: Callable[[Counter[str]], None] = lambda _: None
) -> tuple[Counter[str], list[str]]:
    """Counts of refused and accepted records, and what is false; `tell` hears how far it is."""
    rng, counts, false = random.Random(seed), Counter[str](), list[str]()
    remember()
    with tempfile.TemporaryDirectory(prefix="misstep-") as folder:
        records = [*(classical_record(Path(folder), *each) for each in RECORDS), safety_record(Path(folder))]
        if (missing := KINDS - kinds_of(records)) != set():
            false.append(f"no record has evidence of the kinds {missing}")
        places_of = [Place(Path(folder) / f"edited-{at}", record) for at, record in enumerate(records)]
        for place, record in zip(places_of, records, strict=True):
            if not place.accepts(record):
                false.append("the untouched record is refused")
        for number in range(edits + edits // 10):
            place, original = rng.choice(list(zip(places_of, records, strict=True)))
            forger = Forger(original, rng)
            what = forger.damage() if number < edits else forger.forge()
            if forger.files == original:
                continue
            kind = "damaged" if number < edits else "forged"
            try:
                is_accepted = place.accepts(forger.files)
                wrong = falsehood(forger.files, original) if is_accepted else None
            except Exception as error:
                false.append(f"{number}: {what}: {type(error).__name__}: {error}")
                continue
            counts[f"{kind} {'accepted' if is_accepted else 'refused'}"] += 1
            if counts.total() % 1000 == 0:
                tell(counts)
            if wrong is not None:
                false.append(f"{number}: {what}: accepted, but {wrong}")
    return counts, false


def main() -> int:
    """Prints the counts; exit code 1 where something false was accepted."""
    edits, seed = (*map(int, sys.argv[1:3]), *(10_000, 0)[len(sys.argv) - 1 :])
    counts, false = run(edits, seed, lambda counts: print(f"so far {shown(counts)}", flush=True))
    for text in false[:20]:
        print(f"FALSE {text[:300]}")
    print(f"{shown(counts)}; {len(false)} false")
    return 1 if false else 0


def shown(counts: Counter[str]) -> str:
    """Counts in words."""
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main())
