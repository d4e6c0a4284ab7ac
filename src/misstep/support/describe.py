"""Errors of other people's code in one line."""

import traceback
from pathlib import Path

_LONGEST_TEXT = 500


def describe_error(error: BaseException) -> str:
    """The error and where it was raised, in one line: `ValueError: boom (policy.py:12)`."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = "(its text cannot be shown)"
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return cut(f"{type(error).__name__}: {text}" if text else type(error).__name__) + place


def cut(text: str) -> str:
    """The text, or the beginning of it where it is long."""
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def plain_words(text: str, *, most: int = 200) -> str:
    """The end of what somebody printed, in one line and harmless for a terminal."""
    words = " ".join("".join(c if c.isprintable() and c != "\ufffd" else " " for c in text).split())
    return words if len(words) <= most else "..." + words[-most:]
