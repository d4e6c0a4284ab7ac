"""Two courses side by side, or one below the other: the misstep marked, a loop in a bracket, long runs folded."""

from dataclasses import dataclass
from itertools import zip_longest

from misstep.reports.comparison import Comparison, Course
from misstep.reports.text import padded, whole, width_of

# Longer comparisons are folded where nothing happens.
_MOST_ROWS = 60
_AROUND = 12
_HEADS = ("the policy", "a better way")
_ENDS = {
    "stuck": "the run ends here",
    "illegal": "not applicable: the run ends here",
    "dead-end": "dead end: the goal is out of reach",
    "cut-off": "the run was cut off here",
    "failed": "the policy failed to answer",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A step of one course, or the line that says how it ends."""

    text: str
    cost: int | None = None
    """None where nothing is paid: an answer that is no applicable action, and the end."""
    is_step: bool = False


_NOTHING = Cell("")
"""Beside the steps of the longer course."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the comparison; steps count from 1."""

    step: int
    marks: str
    left: Cell
    right: Cell


def side_by_side(comparison: Comparison, width: int) -> list[str]:
    """Both courses beside each other where `width` columns hold all names, one below the other where they do not.

    Names are never cut: what is left of two actions may be the same. `>` marks the misstep, or all steps that it
    may be; `+ | +` marks the steps of a loop.
    """
    left, right = policy_cells(comparison), better_cells(comparison.better)
    rows = [
        Row(at + 1, _marks(comparison, at), one, other)
        for at, (one, other) in enumerate(zip_longest(left, right, fillvalue=_NOTHING))
    ]
    shown = _folded(comparison, rows)
    lines = _drawn(shown, most=len(rows))
    return lines if max(map(width_of, lines)) <= width else _stacked(shown)


def policy_cells(comparison: Comparison) -> list[Cell]:
    """The policy's steps, and how its run ends."""
    course, outcome = comparison.policy, comparison.outcome
    cells = _steps(course)
    if outcome == "solved":
        return [*cells, Cell(f"goal reached at cost {course.cost}")]
    if outcome == "loop":
        back = "" if comparison.back_to is None else f" to step {comparison.back_to + 1}"
        return [*cells, Cell(f"back{back}, for ever")]
    if outcome in ("illegal", "stuck"):
        cells.append(Cell(comparison.answer or "no action", is_step=True))
    return [*cells, Cell(_ENDS.get(outcome, outcome))]


def better_cells(course: Course) -> list[Cell]:
    """The steps of the better way, and its end."""
    return [*_steps(course), Cell(f"goal reached at cost {course.cost}")]


def _steps(course: Course) -> list[Cell]:
    return [Cell(action.name, action.cost, is_step=True) for action in course.actions]


def _marks(comparison: Comparison, at: int) -> str:
    """The loop's bracket and the mark of the misstep; without a loop there is no room for a bracket."""
    step, until = comparison.step, comparison.until
    misstep = ">" if step is not None and until is not None and step <= at < until else " "
    first, last = comparison.back_to, len(comparison.policy.actions) - 1
    if first is None:
        return misstep
    bracket = "+" if at in (first, last) else "|" if first < at < last else " "
    return bracket + misstep


def _drawn(rows: list[Row | None], *, most: int) -> list[str]:
    """Two columns that are as wide as their names; `most` is how many rows there are with those left out."""
    shown = [row for row in rows if row is not None]
    cells = [cell for row in shown for cell in (row.left, row.right)]
    costs = max([len("cost"), *(len(str(cell.cost)) for cell in cells if cell.cost is not None)])
    steps = max(len("step"), len(str(most)))
    marks = len(shown[0].marks)
    name = max([len(_HEADS[1]), *(_wanted(cell, costs) for cell in cells)])
    heads = [f"{padded(text, name)} {'cost':>{costs}}" for text in _HEADS]
    lines = [f"{'step':>{steps}} {'':{marks}} {heads[0]} | {heads[1]}"]
    for row in rows:
        if row is None:
            lines.append(f"{'...':>{steps}}")
            continue
        number = str(row.step) if row.left.is_step or row.right.is_step else ""
        left, right = _cell(row.left, name, costs), _cell(row.right, name, costs)
        lines.append(f"{number:>{steps}} {row.marks} {left} | {right}".rstrip(" "))
    return lines


def _wanted(cell: Cell, costs: int) -> int:
    """The width of the column of names that a cell asks for; what has no cost may use that column too."""
    width = width_of(whole(cell.text))
    return width if cell.cost is not None else width - costs - 1


def _cell(cell: Cell, name: int, costs: int) -> str:
    if cell.cost is None:
        return padded(whole(cell.text), name + 1 + costs)
    return f"{padded(whole(cell.text), name)} {cell.cost:>{costs}}"


def _folded(comparison: Comparison, rows: list[Row]) -> list[Row | None]:
    """The rows near what matters, None for those that are left out between them."""
    if len(rows) <= _MOST_ROWS:
        return list(rows)
    ends = (len(comparison.policy.actions), len(comparison.better.actions))
    points = {0, *ends} | {at for at in (comparison.step, comparison.back_to) if at is not None}
    near = {point: _AROUND if point == comparison.step else _AROUND // 3 for point in points}
    kept = [any(abs(at - point) <= most for point, most in near.items()) for at in range(len(rows))]
    found: list[Row | None] = []
    for at, row in enumerate(rows):
        if kept[at]:
            found.append(row)
        elif at == 0 or kept[at - 1]:
            found.append(None)
    return found


def _stacked(rows: list[Row | None]) -> list[str]:
    """One course below the other, in as many columns as its names take."""
    lines = []
    for title, is_policy in ((_HEADS[0], True), (_HEADS[1], False)):
        lines.append(f"{title}:")
        for row in rows:
            if row is None:
                lines.append(f"{'...':>4}")
            elif (cell := row.left if is_policy else row.right) is not _NOTHING:
                marks = row.marks if is_policy else " "
                cost = "" if cell.cost is None else f" ({cell.cost})"
                number = str(row.step) if cell.is_step else ""
                lines.append(f"{number:>4} {marks} {whole(cell.text)}{cost}".rstrip(" "))
        # The other course goes on longer: nothing of this one is left out there.
        while lines[-1].strip() == "...":
            lines.pop()
    return lines
