"""The figure of a table: what it shows is what the table says."""

from xml.etree import ElementTree

from misstep.experiments.reproduce.beside import beside
from misstep.experiments.reproduce.table import Table, Value, percent

_SVG = "{http://www.w3.org/2000/svg}"


def test_a_dot_for_ours_a_ring_for_the_paper_and_nothing_for_rows_without_data() -> None:
    rows = {
        "<a>": {"tasks": Value(3, 3), "x": percent(1, 2, printed=25.0), "y": percent(0, 0, printed=75.0)},
        "b": {"x": Value(published=10.0)},
        "c": {"x": Value(ours=100.0), "y": Value(0.0, 0.0)},
    }
    root = ElementTree.fromstring(beside(Table("name", rows), ["x", "y"]))
    texts = [each.text for each in root.iter(f"{_SVG}text")]
    assert "<a>" in texts and "c" in texts and "b" not in texts and "tasks" not in texts
    legend, drawn = 2, list(root.iter(f"{_SVG}circle"))
    dots = [each for each in drawn[legend:] if each.get("fill") != "none"]
    rings = [each for each in drawn[legend:] if each.get("fill") == "none"]
    # The axis of a panel goes from its first tick to its last: 50 % is in the middle.
    [low, *_, high] = [float(each.get("d", "")[1:].split()[0]) for each in root.iter(f"{_SVG}path")][1:6]
    assert [float(each.get("cx", "")) for each in dots[:1]] == [(low + high) / 2]
    assert [float(each.get("cx", "")) for each in rings[:2]] == [
        low + (high - low) / 4,
        low + (high - low) * 3 / 4,
    ]
    assert (len(dots), len(rings)) == (3, 3)


def test_without_bounds_the_legend_says_nothing_of_them() -> None:
    assert "bounds" in beside(Table("name", {"a": {"x": percent(1, 2)}}), ["x"])
    assert "bounds" not in beside(Table("name", {"a": {"x": Value(1.0, 2.0)}}), ["x"])
    assert beside(Table("name", {}), ["x"]).startswith("<svg")
