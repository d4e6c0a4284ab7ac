"""What the safety experiments show: figures 2 to 4 of the paper redrawn, and its findings on our instances."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from misstep.experiments.figures import bars, coverage, scatter
from misstep.experiments.safety_units import DECIDERS, FUZZERS, Row, label

Results = dict[str, list[Row]]


def draw(results: Results) -> dict[str, str]:
    """The figures by file name."""
    return {**_figure2(results["fuzzing"]), **_figure3(results["deciding"]), **_figure4(results["faults"])}


def _figure2(rows: Iterable[Row]) -> dict[str, str]:
    seconds: dict[str, dict[str, float]] = {}
    unsafe: dict[str, dict[str, float]] = {}
    for row in rows:
        seconds.setdefault(row["bench"], {})[row["by"]] = row["seconds"]
        unsafe.setdefault(row["bench"], {})[row["by"]] = row["unsafe"]
    return {
        "figure2_seconds.svg": bars("Fuzzing: time of all runs", "seconds", seconds, logarithmic=True),
        "figure2_unsafe.svg": bars("Fuzzing: unsafe runs found", "runs", unsafe),
    }


def _grouped(rows: Iterable[Row], key: str) -> list[dict[str, Row]]:
    """Rows about the same state or run, by who made them; only where all did."""
    found: dict[tuple[str, int], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row["bench"], row[key]), {})[row["by"]] = row
    return [group for group in found.values() if len(group) == len(DECIDERS)]


def _figure3(rows: Iterable[Row]) -> dict[str, str]:
    groups, figures = _grouped(rows, "state"), dict[str, str]()
    names = [label(*decider) for decider in DECIDERS]
    for verdict, title, file in (("safe", "bugs", "bugs"), ("unsafe", "non-bugs", "non_bugs")):
        chosen = [group for group in groups if any(_proves(row, verdict) for row in group.values())]
        times = {n: [group[n]["seconds"] for group in chosen if _proves(group[n], verdict)] for n in names}
        shown = f"Test oracles on {title}"
        figures[f"figure3_{file}.svg"] = coverage(f"{shown}: share proved", times, max(len(chosen), 1))
        pairs = {
            n: [
                (group["∞-tarjan"]["seconds"], group[n]["seconds"], _proves(group[n], verdict))
                for group in chosen
            ]
            for n in ("∞-level", "∞-lrtdp", "1-tarjan")
        }
        figures[f"figure3_{file}_scatter.svg"] = scatter(
            f"{shown}: time a state", "seconds of ∞-tarjan", pairs
        )
    return figures


def _figure4(rows: Iterable[Row]) -> dict[str, str]:
    groups, figures = _grouped(rows, "run"), dict[str, str]()
    for file, radii, others in (
        ("figure4_exact.svg", "unlimited radius", ("∞-lrtdp", "∞-lao", "∞-level")),
        ("figure4_radius.svg", "finite radii", ("1-tarjan", "2-tarjan")),
    ):
        points = {
            n: [
                (group["∞-tarjan"]["seconds"], group[n]["seconds"], not group[n]["unknown"])
                for group in groups
            ]
            for n in others
        }
        title = f"Fault analysis: time of a whole run, {radii}"
        figures[file] = scatter(title, "seconds of ∞-tarjan", points)
    return figures


def _proves(row: Row, verdict: str) -> bool:
    """Safe with any radius is safe; only the infinite radius proves that a state is not."""
    return bool(row["verdict"] == verdict and (verdict == "safe" or row["by"].startswith("∞")))


def findings(results: Results, *, enough: int) -> dict[str, Any]:
    """The numbers behind the figures, and the paper's questions answered."""
    return {
        "unsafe_runs": {label(*f): _total(results["fuzzing"], label(*f), "unsafe") for f in FUZZERS},
        "biased_beats_uniform": _biased(results["fuzzing"]),
        "few_unsafe_runs": _few(results["fuzzing"], enough),
        "deciders": {label(*d): _decider(results["deciding"], label(*d)) for d in DECIDERS},
        "faults": {label(*d): _faults(results["faults"], label(*d)) for d in DECIDERS},
    }


def _total(rows: Iterable[Row], by: str, key: str) -> int:
    return sum(row[key] for row in rows if row["by"] == by)


def _biased(rows: list[Row]) -> dict[str, list[str]]:
    """On which instances the best biased fuzzer finds more unsafe runs than uniform runs, as many, or fewer."""
    found: dict[str, list[str]] = {"more": [], "as_many": [], "fewer": []}
    for bench in dict.fromkeys(row["bench"] for row in rows):
        unsafe = {row["by"]: row["unsafe"] for row in rows if row["bench"] == bench}
        if "1-uniform" not in unsafe or len(unsafe) < 2:
            continue
        best = max(count for by, count in unsafe.items() if by != "1-uniform")
        plain = unsafe["1-uniform"]
        found["more" if best > plain else "as_many" if best == plain else "fewer"].append(bench)
    return found


def _few(rows: Iterable[Row], enough: int) -> dict[str, str]:
    """Instances with few distinct unsafe runs, and why."""
    found = {}
    for row in rows:
        if row["by"] != "∞-greedy" or row["distinct"] >= enough:
            continue
        ends = ", ".join(f"{count} {end}" for end, count in sorted(row["outcomes"].items()))
        repeated = f"{row['unsafe']} unsafe runs from {row['starts']} start states, of which only"
        why = repeated if row["unsafe"] >= enough else f"the runs ended: {ends};"
        found[row["bench"]] = f"{why} {row['distinct']} differ"
    return found


def _decider(rows: Iterable[Row], by: str) -> dict[str, Any]:
    mine = [row for row in rows if row["by"] == by]
    counts = {v: sum(row["verdict"] == v for row in mine) for v in ("safe", "unsafe", "unknown")}
    return {
        **counts,
        "expanded": sum(row["expanded"] for row in mine),
        "policy_asked": sum(row["asked"] for row in mine),
        "seconds": round(sum(row["seconds"] for row in mine), 3),
    }


def _faults(rows: Iterable[Row], by: str) -> dict[str, Any]:
    mine = [row for row in rows if row["by"] == by]
    safe = [row for row in mine if row["starts_safe"]]
    return {
        "runs": len(mine),
        "with_fault": sum(row["faults"] > 0 for row in mine),
        "from_safe_start": len(safe),
        "faults": sum(row["faults"] for row in mine),
        "incomplete": sum(row["unknown"] > 0 for row in mine),
        "seconds": round(sum(row["seconds"] for row in mine), 3),
    }
