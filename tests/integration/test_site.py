"""The documentation site builds without warnings, its links hold, and it needs no network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.pages import DOCS

sys.path.insert(0, str(DOCS / "site"))

from check import problems

NO_SPHINX = "the extra 'docs' is not installed; `make docs` builds the site"


def test_the_site_builds_and_its_links_hold(tmp_path: Path) -> None:
    for module in ("sphinx", "furo", "myst_nb"):
        pytest.importorskip(module, reason=NO_SPHINX)
    site = tmp_path / "site"
    build = [
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        tmp_path / "trees",
        "-c",
        DOCS / "site",
        DOCS,
        site,
    ]
    done = subprocess.run(
        [sys.executable, *map(str, build)], capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    assert not list(problems(site))
    shown = (site / "commands.html").read_text() + (site / "parts.html").read_text()
    assert "--until-width" in shown and "lookahead" in shown
    assert "confidence_below" in (site / "python.html").read_text()


def test_every_public_name_and_every_page_has_its_place() -> None:
    import misstep
    from generated import GROUPS, fill_in

    named = [name for names in GROUPS.values() for name in names.split()]
    assert len(set(named)) == len(named) and set(named) <= set(misstep.__all__)
    reference = fill_in("<!-- generated: python -->")
    assert not [name for name in misstep.__all__ if f"}} misstep.{name}" not in reference and name[0] != "_"]
    contents = fill_in((DOCS / "index.md").read_text()).splitlines()
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert {page: contents.count(page) for page in pages} == dict.fromkeys(pages, 1)


def test_pages_that_are_named_elsewhere_exist() -> None:
    root = DOCS.parent
    named = [*root.glob("*.md"), *(root / "src").rglob("*.py"), *(root / "native").rglob("*.hpp")]
    lost = {
        f"{file.relative_to(root)}: docs/{page}"
        for file in named
        for page in re.findall(r"\bdocs/([\w-]+\.md)", file.read_text())
        if not (DOCS / page).exists()
    }
    assert not lost


def test_a_broken_site_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<script src="https://example.org/x.js"></script><a href="no.html">1</a><a href="#nowhere">2</a>'
        '<a href="other.html#there">3</a><a href="https://example.org">4</a><img src="lost.png">'
    )
    (tmp_path / "other.html").write_text('<p id="there">')
    (tmp_path / "style.css").write_text("@import 'x';")
    assert [text.split(" ", 1)[1].split(",")[0] for text in problems(tmp_path)] == [
        "loads https://example.org/x.js from the network",
        "loads lost.png",
        "links to no.html",
        "links to #nowhere",
        "loads something from elsewhere",
    ]


def test_the_protocol_file_is_that_of_the_wire() -> None:
    from misstep.remote import wire

    text = (DOCS / "policy.proto").read_text()
    package, service = wire.SERVICE.rsplit(".", 1)
    assert f"package {package};" in text and f"service {service} {{" in text
    for call in (wire.GET_TASK, wire.GET_OPERATOR, wire.GET_PROBABILITIES):
        assert f"rpc {call}(" in text
