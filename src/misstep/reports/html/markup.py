"""Markup that is safe whatever stands in the texts: everything is escaped, long names are cut."""

import hashlib
import html
import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from misstep.reports.text import harmless, shorten

# Longer names and texts are not read by anybody; they would only make the page large.
_LONGEST_WORD = 80
_LONGEST = 2000
# A name is the same word in an atom and alone.
_LONG_WORD = re.compile(rf"[^\s()]{{{_LONGEST_WORD + 1},}}")


class Html(str):
    """Markup, as opposed to text."""

    __slots__ = ()


Child: TypeAlias = "str | int | Html | Iterable[Child] | None"


def element(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Html:
    """An element. Texts are escaped; `class_` is `class`, and `aria_label` is `aria-label`."""
    given = "".join(map(_attribute, attributes.items()))
    inner = "".join(map(_child, children))
    if not children and name in ("br", "input", "meta", "line", "path", "rect"):
        return Html(f"<{name}{given}/>")
    return Html(f"<{name}{given}>{inner}</{name}>")


def safe_text(text: str) -> str:
    """The text as a page shows it: control characters written out, long words and long texts cut.

    A word that is cut ends with a digest of the whole, so that two names that differ stay different.
    """
    if len(text) > _LONGEST_WORD:
        text = _LONG_WORD.sub(_cut, text)
    return shorten(text, _LONGEST)


def _cut(found: re.Match[str]) -> str:
    word = found.group()
    digest = hashlib.sha256(word.encode("utf-8", errors="surrogatepass")).hexdigest()
    return f"{word[: _LONGEST_WORD // 2]}...{digest[:6]}"


def script_json(data: Any) -> Html:
    """Data as JSON that may stand in a script element: it can neither end it nor begin another."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Html(text)


def _attribute(item: tuple[str, str | int | bool | None]) -> str:
    name, value = item[0].removesuffix("_").replace("_", "-"), item[1]
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{html.escape(harmless(str(value)))}"'


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str | int):
        return html.escape(safe_text(str(child)))
    return "".join(map(_child, child))
