"""The numbers in the documentation are those that `misstep reproduce` wrote: a page is compared with its CSV files."""

from pathlib import Path

import pytest

from benchmarks.reproduce_pages import BEGIN, DOCS, END, RESULTS, differences, tables_in, with_tables
from misstep.experiments.reproduce.table import Table, Value, percent, write_tables

PAGES = sorted(page for page in DOCS.glob("reproduce-*.md") if BEGIN in page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_numbers_of_its_files(page: Path) -> None:
    files = sorted(RESULTS.glob(f"{page.stem}-*.csv"))
    assert files
    assert differences(page.read_text(encoding="utf-8"), files) == []


def test_every_file_of_numbers_has_a_page() -> None:
    stems = {file.stem.rpartition("-")[0] for file in RESULTS.glob("*.csv")}
    assert stems == {page.stem for page in PAGES}


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
