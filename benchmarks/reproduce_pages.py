"""Puts the tables that `misstep reproduce` wrote into the documentation, so that no number is copied by hand.

python -m benchmarks.reproduce_pages DIR...

Each DIR is the --out of `misstep reproduce`. Between the two markers of docs/reproduce-NAME.md its tables and figures
replace what was there, and docs/results/ gets the same numbers as CSV, and the figures;
tests/unit/test_reproduce_pages.py compares the two.
"""

import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from misstep.experiments.reproduce.stages import PLAN

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "results"
BEGIN = "<!-- tables: begin; made by `python -m benchmarks.reproduce_pages` -->"
END = "<!-- tables: end -->"
_TITLE = "{http://www.w3.org/2000/svg}text"
PARTS = ("table", "times")
"""What a run writes; the second one is not there for every paper."""


def main() -> None:
    for text in sys.argv[1:]:
        folder = Path(text)
        name = json.loads((folder / PLAN).read_text(encoding="utf-8"))["name"]
        page = DOCS / f"reproduce-{name}.md"
        RESULTS.mkdir(exist_ok=True)
        drawings = copied(folder, page.stem)
        tables = with_drawings(tables_in(folder), drawings)
        page.write_text(with_tables(page.read_text(encoding="utf-8"), tables), encoding="utf-8")
        for part in PARTS:
            if (folder / f"{part}.csv").is_file():
                rows = (folder / f"{part}.csv").read_text(encoding="utf-8")
                (RESULTS / f"reproduce-{name}-{part}.csv").write_text(rows, encoding="utf-8")
        print(f"{page.relative_to(DOCS.parent)}: tables of {folder.name}")


def tables_in(folder: Path) -> str:
    """What stands in the run's Markdown files: how it was made, then all tables."""
    parts = []
    for part in PARTS:
        file = folder / f"{part}.md"
        if file.is_file():
            lines = file.read_text(encoding="utf-8").splitlines()
            first = next(at for at, line in enumerate(lines) if line.startswith("## "))
            # The title is the page's, and both files begin with the same words about the run.
            parts.append("\n".join(lines[2:] if part == PARTS[0] else lines[first:]).strip())
    return "\n\n".join(parts)


def copied(folder: Path, stem: str, results: Path = RESULTS) -> list[Path]:
    """Puts the figures of a run where the page finds them, and nothing else."""
    for old in results.glob(f"{stem}-*.svg"):
        old.unlink()
    drawings = []
    for file in sorted(folder.glob("*.svg")):
        drawings.append(results / f"{stem}-{file.name.replace('_', '-')}")
        drawings[-1].write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    return drawings


def with_drawings(tables: str, drawings: Sequence[Path]) -> str:
    """The figure of a table stands above it, as its title says; what the papers call figures come after all tables."""
    last = []
    for drawing in drawings:
        title = ElementTree.parse(drawing).findtext(_TITLE, "")
        image = f"![{title}](results/{drawing.name})"
        heading = next(
            (each for each in re.findall(r"^## (.+)\n", tables, re.M) if title.startswith(each)), None
        )
        if heading is None:
            last.append(image)
        else:
            tables = tables.replace(f"## {heading}\n", f"## {heading}\n\n{image}\n", 1)
    return "\n\n".join([tables, *(["## Figures", *last] if last else [])])


def with_tables(page: str, tables: str) -> str:
    """The page with these tables between its markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page has no lines {BEGIN!r} and {END!r}; write them where the tables belong")
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def differences(page: str, results: Iterable[Path]) -> list[str]:
    """What the page says that the CSV files do not, and the other way round."""
    said = _numbers(page.partition(BEGIN)[2].partition(END)[0])
    meant: dict[tuple[str, str, str, str], str] = {}
    for file in results:
        with file.open(encoding="utf-8", newline="") as text:
            for line in csv.DictReader(text):
                at = line["table"], line["row"], line["column"]
                if line["published"]:
                    meant[*at, "paper"] = line["published"]
                if line["ours"]:
                    meant[*at, "ours"] = line["ours"] + "*" * int(line["cut_off"])
    wrong = [
        f"{' / '.join(at)}: {said.get(at)} instead of {text}"
        for at, text in meant.items()
        if not _agree(said.get(at), text)
    ]
    return wrong + [f"{' / '.join(at)}: {text} is in no file" for at, text in said.items() if at not in meant]


def _numbers(text: str) -> dict[tuple[str, str, str, str], str]:
    """Of every Markdown table: (table, row, column, whose) and what stands there."""
    found: dict[tuple[str, str, str, str], str] = {}
    table, columns = "", list[str]()
    for line in text.splitlines():
        if line.startswith("## "):
            table, columns = line[3:], []
        elif line.startswith("| ") and not line.startswith("| ---"):
            row, whose, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
            if not columns:
                columns = cells
            elif whose in ("paper", "ours"):
                found |= {
                    (table, row, column, whose): cell
                    for column, cell in zip(columns, cells, strict=True)
                    if cell
                }
    return found


def _agree(said: str | None, meant: str) -> bool:
    """Whether a rounded number is that of the file, asterisk included."""
    if said is None or said.endswith("*") != meant.endswith("*"):
        return False
    digits = len(said.rstrip("*").partition(".")[2])
    return bool(abs(float(said.rstrip("*")) - float(meant.rstrip("*"))) <= 0.5 * 10**-digits + 0.001)


if __name__ == "__main__":
    main()
