"""The numbers in the documentation are those that `misstep reproduce` wrote: a page is compared with its CSV files."""

import re
from pathlib import Path

import pytest

from benchmarks.reproduce_pages import (
    BEGIN,
    DOCS,
    END,
    RESULTS,
    copied,
    differences,
    tables_in,
    with_drawings,
    with_tables,
)
from misstep.experiments.figures import coverage
from misstep.experiments.reproduce.beside import beside
from misstep.experiments.reproduce.table import Table, Value, percent, write_tables

PAGES = sorted(page for page in DOCS.glob("reproduce-*.md") if BEGIN in page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_numbers_of_its_files(page: Path) -> None:
    files = sorted(RESULTS.glob(f"{page.stem}-*.csv"))
    assert files
    assert differences(page.read_text(encoding="utf-8"), files) == []


def test_every_file_of_numbers_has_a_page() -> None:
    stems = {file.stem.rpartition("-")[0] for file in RESULTS.glob("reproduce-*.csv")}
    assert stems == {page.stem for page in PAGES}
    pages = "\n".join(page.read_text(encoding="utf-8") for page in RESULTS.parent.glob("*.md"))
    others = {file.name for file in RESULTS.iterdir() if not file.name.startswith("reproduce-")}
    assert others and all(f"results/{name}" in pages for name in others)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_all_its_figures_and_no_others(page: Path) -> None:
    shown = re.findall(r"!\[.+\]\(results/(.+)\)", page.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(file.name for file in RESULTS.glob(f"{page.stem}-*.svg"))


def test_figures_of_tables_stand_above_them_and_old_ones_go(tmp_path: Path) -> None:
    run, results = tmp_path / "run", tmp_path / "results"
    run.mkdir()
    results.mkdir()
    (results / "page-figure9.svg").write_text("old")
    value = percent(1, 4, printed=50.0)
    (run / "table1.svg").write_text(beside(Table("one & all, in percent", {"a": {"x": value}}), ["x"]))
    (run / "figure_2.svg").write_text(coverage("Over time", {"x": [0.5]}, 1))
    drawings = copied(run, "page", results)
    assert sorted(results.iterdir()) == sorted(drawings)
    text = with_drawings("- about\n\n## none\n\n## one & all\n\n| table |", drawings)
    assert text == (
        "- about\n\n## none\n\n## one & all\n\n![one & all, in percent](results/page-table1.svg)\n\n| table |"
        "\n\n## Figures\n\n![Over time](results/page-figure-2.svg)"
    )


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    rows = {"a": {"x": percent(1, 3, printed=50.0, is_cut=True), "n": Value(3, 4)}, "b": {"x": percent(0, 0)}}
    write_tables(
        tmp_path, "Title", ["how it was made"], [Table("one", rows)], present={"a": True, "b": False}
    )
    write_tables(
        tmp_path,
        "Times",
        ["how it was made"],
        [Table("two", {"a": {"x": Value(ours=0.127)}}, digits=2)],
        name="times",
    )
    page = with_tables(f"# Page\n\n{BEGIN}\nold | text\n{END}\n\nwords | that stay\n", tables_in(tmp_path))
    assert "old" not in page
    assert page.count("how it was made") == 1
    assert page.endswith("words | that stay\n")
    files = [tmp_path / "table.csv", tmp_path / "times.csv"]
    assert differences(page, files) == []
    assert with_tables(page, tables_in(tmp_path)) == page
    for old, new in (
        ("33.3*", "33.3"),
        ("33.3*", "33.4*"),
        ("| 50.0 |", "| 50.1 |"),
        ("0.13", "0.14"),
        ("| 4 |", "|  |"),
    ):
        assert old in page
        assert differences(page.replace(old, new), files) != []
    with pytest.raises(SystemExit, match="has no lines"):
        with_tables("# Page\n", "tables")
