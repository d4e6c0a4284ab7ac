"""Checks a built site: every link leads to a page and an anchor that exist, and nothing comes from the network."""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself when it opens a page; a link that one has to click may lead anywhere.
_LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Page(HTMLParser):
    """The links of a page, what it loads, and its anchors."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors = {""}
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes what matters of an element."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if _LOADED.get(tag) in given and given.get("rel") not in (
            "canonical",
            "index",
            "search",
            "next",
            "prev",
        ):
            self.loaded.append(given[_LOADED[tag]])


def problems(site: Path) -> Iterator[str]:
    """What is wrong with a site, in words."""
    pages = {file.resolve(): Page(file) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        where = file.relative_to(site.resolve())
        for url in page.loaded:
            parts = urlsplit(url)
            if parts.scheme not in ("", "data") or parts.netloc:
                yield f"{where} loads {url} from the network"
            elif not parts.scheme and not (file.parent / unquote(parts.path)).exists():
                yield f"{where} loads {url}, which is not there"
        for url in page.links:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.exists():
                yield f"{where} links to {url}, which is not there"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where} links to {url}, but that page has no such anchor"
    for sheet in sorted(site.rglob("*.css")):
        if "url(http" in sheet.read_text() or "@import" in sheet.read_text():
            yield f"{sheet.relative_to(site)} loads something from elsewhere"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print(
        *found or ["all links of the site lead somewhere, and nothing is loaded from the network"], sep="\n"
    )
    sys.exit(1 if found else 0)
