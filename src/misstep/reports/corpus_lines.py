"""What became of known bugs, in words and as JSON."""

from collections.abc import Sequence
from typing import Any

from misstep.corpus import PASSES, Asked, Corpus
from misstep.explain.words import counted


def asked_line(asked: Sequence[Asked]) -> str:
    """What the known bugs of one problem do now."""
    said = {
        "still there": sum(each.is_bug for each in asked),
        "fixed": sum(each.status == "fixed" for each in asked),
        "of another version of the task": sum(each.status == "stale" for each in asked),
        "without an answer": sum(each.status in ("failed", "unknown") for each in asked),
    }
    words = ", ".join(f"{count} {what}" for what, count in said.items() if count)
    return f"corpus    {counted(len(asked), 'known bug')} tried first: {words}"


def corpus_line(corpus: Corpus) -> str:
    """What the corpus is after the test."""
    waiting = sum(known.passes > 0 for known in corpus.bugs)
    words = [f"{corpus.added} added", f"{corpus.dropped} dropped"]
    if waiting:
        words.append(f"{waiting} not seen any more, dropped after {PASSES} such tests in a row")
    return f"corpus    {corpus.file}: {counted(len(corpus.bugs), 'known bug')} ({'; '.join(words)})"


def corpus_json(corpus: Corpus, asked: Sequence[Asked]) -> dict[str, Any]:
    """For `--json`."""
    return {
        "tried": len(asked),
        "bugs": sum(each.is_bug for each in asked),
        "fixed": sum(each.status == "fixed" for each in asked),
        "added": corpus.added,
        "dropped": corpus.dropped,
        "size": len(corpus.bugs),
    }
