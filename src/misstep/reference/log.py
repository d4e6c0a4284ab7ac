"""The log of a test beside its certificates: each decided state has its certificate, and both say the same."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misstep.reference.checked import Checked, need, refusing
from misstep.reference.reading import items, record, text, texts, whole

SAME = ("cost", "best", "gap")
"""What the event of a classical verdict says in the same words as the certificate."""
SHRUNK = "-shrunk"
"""Behind the number of a bug: a smaller one that was made of it later."""


@dataclass(frozen=True)
class Entry:
    """A certificate that was accepted: the name of its file or line, its fields, and what it proves."""

    name: str
    fields: Mapping[str, Any]
    checked: Checked

    @property
    def id(self) -> str:
        """The number of its state in the pool, as a text."""
        return text(self.fields.get("id"), "the id of a certificate")


def check_log(events: Sequence[Mapping[str, Any]], entries: Sequence[Entry]) -> Iterator[str]:
    """What is wrong with the log, or with certificates that do not fit it; nothing where all is well.

    The first event is the start. The last event about a state is the word on it. A test that was killed may
    have written a certificate but not the event; so a certificate of a state of which the log decides nothing
    is in order while the log has no end, and only then.
    """
    of_kind: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        of_kind.setdefault(text(event.get("event"), "the kind of an event"), []).append(event)
    if entries and (not events or events[0].get("event") != "started"):
        yield "the log does not begin with the start of a test"
    last: dict[str, Mapping[str, Any]] = {}
    for event in of_kind.get("judged", ()):
        last[str(whole(event.get("id"), "the id of an event"))] = event
    named = Counter(f"{entry.checked.verdict} {entry.id}" for entry in entries if entry.name != "decision")
    yield from (f"there are {count} certificates for {name}" for name, count in named.items() if count > 1)
    for number, event in last.items():
        verdict = text(event.get("verdict"), "a verdict")
        need(verdict in ("bug", "cleared", "unknown"), f"the log has the verdict {verdict[:60]}")
        if verdict != "unknown" and f"{verdict} {number}" not in named:
            yield f"the log says {verdict} of state {number}, but no valid certificate does"
    for entry in entries:
        if entry.name != "decision":
            yield from _beside(entry, last, is_over=bool(of_kind.get("finished")))
        if "replay" in entry.fields and not _is_replay(entry.fields["replay"], entry.id):
            yield f"{entry.name}: its command is not the one that asks the policy again"
        for event in of_kind.get("started", ())[:1]:
            for name in ("task", "policy", "seed"):
                if entry.fields.get(name) != event.get(name):
                    yield f"{entry.name}: it is about another {name} than the log"
    for event in of_kind.get("finished", ())[-1:]:
        yield from _end(event, last, entries, of_kind.get("run", ()))


def _is_replay(command: object, number: str) -> bool:
    """Whether a command is `misstep replay RECORD NUMBER` and nothing else, whatever shell it is given to."""
    words = shlex.split(text(command, "the command of a certificate"))
    is_plain = len(words) == 4 and shlex.join(words) == command
    return is_plain and words[:2] == ["misstep", "replay"] and words[3] == number


def _beside(entry: Entry, last: Mapping[str, Mapping[str, Any]], *, is_over: bool) -> Iterator[str]:
    """A certificate beside the event about its state."""
    event = last.get(entry.id.removesuffix(SHRUNK))
    verdict = entry.checked.verdict
    expected = f"cleared {entry.id}" if verdict == "cleared" else entry.id
    if entry.name != expected:
        yield f"{entry.name}: the certificate calls itself {expected[:60]}"
    if event is None or event["verdict"] != verdict:
        if is_over or (event is not None and event["verdict"] != "unknown"):
            yield f"{entry.name}: the log does not say that the state is {verdict}"
        return
    if entry.id.endswith(SHRUNK):
        return
    if event.get("oracle") != entry.fields.get("oracle"):
        yield f"{entry.name}: the log names another oracle"
    if event.get("by_search") != entry.checked.rests_on_search:
        yield f"{entry.name}: the log differs about whether a search is to be believed"
    run = record(entry.fields["run"] or {"outcome": "unsafe"}, "a run", ("outcome",), optional=RUN)
    if event.get("outcome") != run["outcome"]:
        yield f"{entry.name}: the log says that the run ended otherwise"
    if entry.fields.get("kind") != "classical":
        return
    for name in SAME:
        if event.get(name) != entry.fields[name]:
            yield f"{entry.name}: the log has another {name}"
    if event.get("steps") != len(run["actions"]):
        yield f"{entry.name}: the log counts other steps"
    fault = entry.fields["fault"]
    told = None if fault is None else {name: fault[name] for name in ("step", "until", "action", "better")}
    if event.get("fault") != told:
        yield f"{entry.name}: the log has another decision at fault"


RUN = ("actions", "answer", "rest", "reason", "steps")


def _end(
    event: Mapping[str, Any],
    last: Mapping[str, Mapping[str, Any]],
    entries: Sequence[Entry],
    runs: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    """The last event sums up: counts, and families of bugs."""
    counts = {
        "runs": len(runs),
        "unsafe_runs": sum(run.get("outcome") == "unsafe" for run in runs),
        **_counts(last.values()),
    }
    unanswered = counts["failed"] + sum(map(_is_unanswered, runs))
    if event.get("failed") == unanswered:  # logs of earlier versions count states alone
        counts["failed"] = unanswered
    for name, count in counts.items():
        if event.get(name) != count:
            yield f"the log sums up to {count} {name}, not {str(event.get(name))[:60]}"
    bugs = {number for number, each in last.items() if each["verdict"] == "bug"}
    yield from _families(event, last, entries, bugs)
    decision = (event.get("extra") or {}).get("decision")
    if decision is not None:
        verdict = decision.get("verdict")
        proven = [entry.checked.verdict for entry in entries if entry.name == "decision"]
        if verdict != "unknown" and proven != ["safe" if verdict == "safe" else "cleared"]:
            yield f"the log says {str(verdict)[:60]}, but no valid certificate does"


def _is_unanswered(run: Mapping[str, Any]) -> bool:
    """Whether a run says nothing of the policy: it failed, or stopped before its first decision."""
    return run.get("outcome") == "failed" or (run.get("outcome") == "stuck" and run.get("steps") == 0)


def _counts(judged: Collection[Mapping[str, Any]]) -> dict[str, int]:
    """What the last words on all states add up to."""
    verdicts = Counter(each["verdict"] for each in judged)
    never = {"lo": None, "hi": None}
    qualitative = sum(each["verdict"] == "bug" and each.get("cost") == never for each in judged)
    return {
        "tested": len(judged),
        "bugs": verdicts["bug"],
        "cleared": verdicts["cleared"],
        "unknown": verdicts["unknown"],
        "qualitative": qualitative,
        "quantitative": verdicts["bug"] - qualitative,
        "cleared_by_search": sum(
            each["verdict"] == "cleared" and bool(each.get("by_search")) for each in judged
        ),
        "failed": sum(each["verdict"] == "unknown" and each.get("outcome") == "failed" for each in judged),
        "solved": sum(each.get("outcome") == "solved" for each in judged),
        "faults": sum(each.get("fault") is not None for each in judged),
    }


def _families(
    event: Mapping[str, Any],
    last: Mapping[str, Mapping[str, Any]],
    entries: Sequence[Entry],
    bugs: set[str],
) -> Iterator[str]:
    """Every bug is in one family, with others that ended in the same way and have the same schema at fault."""
    is_classical = all(entry.fields.get("kind") == "classical" for entry in entries)
    grouped = Counter[str]()
    for family in items(event.get("families"), "the families"):
        fields = ("outcome", "schema", "region", "members", "representative")
        parts = record(family, "a family", fields)
        members = {str(whole(member, "a member")) for member in items(parts["members"], "the members")}
        grouped.update(members)
        if not members <= bugs or str(parts["representative"]) not in members:
            yield "a family has members that are no bugs, or a representative that is no member"
        elif any(last[member].get("outcome") != parts["outcome"] for member in members):
            yield "a family has members that ended otherwise"
        faults = [entry.fields["fault"] for entry in entries if entry.id in members]
        schemas = {None if fault is None else fault.get("schema", parts["schema"]) for fault in faults}
        # On a model the decision at fault may lie ahead of the state; its certificate then names none.
        if is_classical and schemas - {parts["schema"]}:
            yield "a family has members with another schema at fault"
    if any(grouped[number] != 1 for number in bugs):
        yield "there are bugs in no family, or in several"


def checked_log(events: Sequence[Any], entries: Sequence[Entry]) -> list[str]:
    """The same as a list; whatever cannot be read is wrong."""
    found: list[str] = []
    try:
        with refusing("the log"):
            found += texts(list(check_log(events, entries)), "reasons")
    except ValueError as refused:
        found.append(str(refused))
    return found
