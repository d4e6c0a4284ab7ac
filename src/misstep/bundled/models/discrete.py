"""Discrete problems with outcomes nobody controls: transport, blocksworld, n-puzzle, beluga-like racks."""

from __future__ import annotations

from itertools import islice, pairwise, permutations, product
from math import factorial, prod
from random import Random
from typing import Any

from misstep.bundled.models.build import Builder, E, clamp, conjunction, total

MOST_STARTS = 1000
MOST_ORDERED = 8
WALKS = 100
"""Of each length, that scramble a puzzle."""


def transport(*, places: int = 5, packages: int = 4, limit: int = 2) -> dict[str, Any]:
    """A truck carries packages over a bridge that bears `limit` of them. Loading may take two at once."""
    b = Builder(f"transport_{places}_{packages}")
    bridge = places // 2
    position = b.integer("position", 0, places - 1, 0)
    waiting = b.integer("waiting", 0, packages, packages)
    load = b.integer("load", 0, packages, 0)
    delivered = b.integer("delivered", 0, packages, 0)
    broken = b.integer("broken", 0, 1, 0)
    whole = broken == 0
    heavy = load > limit
    for label, change, at in (("right", 1, bridge - 1), ("left", -1, bridge)):
        inside = (position < places - 1) if change > 0 else (position > 0)
        b.edge(label, whole & inside & ~((position == at) & heavy), {"position": position + change})
        b.edge(label, whole & inside & (position == at) & heavy, {"position": position + change, "broken": 1})
    here = whole & (position == 0) & (waiting > 0) & (load < packages)
    one = {"waiting": waiting - 1, "load": load + 1}
    b.edge("load", here & (waiting == 1), one)
    b.edge("load", here & (waiting > 1), one, {"waiting": waiting - 2, "load": load + 2})
    b.edge(
        "unload",
        whole & (position == places - 1) & (load > 0),
        {"load": load - 1, "delivered": delivered + 1},
    )
    b.edge("put_back", whole & (position == 0) & (load > 0), {"load": load - 1, "waiting": waiting + 1})
    starts = [
        {"position": p, "waiting": packages - n, "load": n}
        for p in range(places)
        for n in range(packages + 1)
    ]
    return b.document(unsafe=broken == 1, goal=delivered == packages, starts=starts)


def blocksworld(*, blocks: int = 5, limit: int = 4, budget: int | None = None) -> dict[str, Any]:
    """Build the tower 0 on 1 on 2 ...; a block that is put on another may fall; `limit` may lie on the table.

    With a budget, putting a block down costs 1, letting it fall 2, and spending more is what is unsafe; then
    any number of blocks may lie on the table, and after one that fell the next does not. below_i is 0 in the
    hand, 1 on the table, j + 2 on block j.
    """
    if budget is not None:
        limit = blocks
    b = Builder(f"blocksworld_{blocks}_{limit if budget is None else f'budget_{budget}'}")
    below = [b.integer(f"below_{i}", 0, blocks + 1, i + 3 if i + 1 < blocks else 1) for i in range(blocks)]
    table = b.integer("table", 0, blocks, 1)
    spent = None if budget is None else b.integer("spent", 0, budget + 2, 0)
    fell = None if budget is None else b.integer("fell", 0, 1, 0)
    inside = table <= limit if spent is None else spent <= budget

    def paid(cost: int, falls: int) -> dict[str, Any]:
        return {} if spent is None else {"spent": spent + cost, "fell": falls}

    def clear(i: int) -> E:
        return conjunction([below[j] != i + 2 for j in range(blocks) if j != i])

    hand_empty = conjunction([place != 0 for place in below])
    for i in range(blocks):
        taken = inside & hand_empty & clear(i)
        b.edge(f"take_{i}", taken & (below[i] == 1), {f"below_{i}": 0, "table": table - 1})
        b.edge(f"take_{i}", taken & (below[i] > 1), {f"below_{i}": 0})
        down = {f"below_{i}": 1, "table": table + 1}
        b.edge("put_on_table", inside & (below[i] == 0), {**down, **paid(1, 0)})
        for j in range(blocks):
            if j != i:
                ready = inside & (below[i] == 0) & (below[j] != 0) & clear(j)
                stays, falls = {f"below_{i}": j + 2, **paid(1, 0)}, {**down, **paid(2, 1)}
                b.edge(f"put_on_{j}", ready if fell is None else ready & (fell == 0), stays, falls)
                if fell is not None:
                    b.edge(f"put_on_{j}", ready & (fell == 1), stays)
    goal = conjunction([below[i] == i + 1 for i in range(1, blocks)] + [below[0] == 1])
    starts = [  # towers, the first block of the order on the table
        {f"below_{order[0]}": 1, **{f"below_{b}": a + 2 for a, b in pairwise(order)}, "table": 1}
        for order in _orders(blocks)
    ]
    return b.document(unsafe=table > limit if spent is None else spent > budget, goal=goal, starts=starts)


def _orders(blocks: int) -> list[tuple[int, ...]]:
    """All orders of the blocks, or about a thousand of them; of many blocks any, because all take too long."""
    if blocks > MOST_ORDERED:
        rng = Random(0)
        return [tuple(rng.sample(range(blocks), blocks)) for _ in range(MOST_STARTS)]
    step = max(1, factorial(blocks) // MOST_STARTS)
    return list(islice(permutations(range(blocks)), 0, None, step))


def npuzzle(*, rows: int = 2, columns: int = 3, budget: int | None = None) -> dict[str, Any]:
    """Slide tiles into order. A move may slip one cell further; tile 1 must stay out of one cell.

    The cell is in the middle of the second row. With a budget there is none, but every move costs 1, one that
    slips 2, and spending more is unsafe; then the move after one that slipped does not.
    """
    b = Builder(f"npuzzle_{rows}_{columns}" + ("" if budget is None else f"_budget_{budget}"))
    size = rows * columns
    # cell_k holds the tile there, 0 is the gap.
    cells = [b.integer(f"cell_{k}", 0, size - 1, (k + 1) % size) for k in range(size)]
    spent = None if budget is None else b.integer("spent", 0, budget + 2, 0)
    slipped = None if budget is None else b.integer("slipped", 0, 1, 0)
    bad = cells[_pit(columns)] == 1 if spent is None else spent > budget

    def paid(cost: int, slips: int) -> dict[str, Any]:
        return {} if spent is None else {"spent": spent + cost, "slipped": slips}

    for label, down, right in (("up", -1, 0), ("down", 1, 0), ("left", 0, -1), ("right", 0, 1)):
        for k in range(size):
            row, column = divmod(k, columns)
            path = [k]
            for n in (1, 2):
                r, c = row + n * down, column + n * right
                if 0 <= r < rows and 0 <= c < columns:
                    path.append(r * columns + c)
            if len(path) == 1:
                continue
            once = {f"cell_{path[0]}": cells[path[1]], f"cell_{path[1]}": 0}
            ready, outcomes = ~bad & (cells[k] == 0), [{**once, **paid(1, 0)}]
            if len(path) == 3:
                if slipped is not None:
                    b.edge(label, ready & (slipped == 1), *outcomes)
                    ready = ready & (slipped == 0)
                twice = {**once, f"cell_{path[1]}": cells[path[2]], f"cell_{path[2]}": 0}
                outcomes.append({**twice, **paid(2, 1)})
            b.edge(label, ready, *outcomes)
    goal = conjunction([cells[k] == (k + 1) % size for k in range(size - 1)])
    return b.document(unsafe=bad, goal=goal, starts=_scrambled(rows, columns))


def _pit(columns: int) -> int:
    return columns + columns // 2


def _scrambled(rows: int, columns: int) -> list[dict[str, int]]:
    """Solvable start states: walks of single moves back from the goal, around the bad states."""
    rng = Random(1)
    size = rows * columns
    starts: dict[tuple[int, ...], None] = {}
    for length in [n for n in range(4, 34) for _ in range(WALKS)]:
        cells = [(k + 1) % size for k in range(size)]
        gap = size - 1
        for _ in range(length):
            row, column = divmod(gap, columns)
            places = [
                r * columns + c
                for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
                if 0 <= r < rows and 0 <= c < columns
            ]
            there = rng.choice(places)
            if gap == _pit(columns) and cells[there] == 1:
                continue
            cells[gap], cells[there] = cells[there], 0
            gap = there
        starts.setdefault(tuple(cells))
    return [{f"cell_{k}": tile for k, tile in enumerate(cells)} for cells in starts]


def beluga(*, racks: int = 2, capacity: int = 3, arrivals: int = 6) -> dict[str, Any]:
    """Jigs arrive one or two at a time and go to racks; the line takes them from the fullest rack it likes.

    Unsafe: jigs arrive and there is no room. Waiting lets more arrive; taking from a rack may fail.
    """
    b = Builder(f"beluga_{racks}_{capacity}")
    rack = [b.integer(f"rack_{i}", 0, capacity, 0) for i in range(racks)]
    waiting = b.integer("waiting", 0, 3, 1)
    left = b.integer("left", 0, arrivals, arrivals)
    overflow = b.integer("overflow", 0, 1, 0)
    fine = overflow == 0
    full = total(rack) >= racks * capacity
    comes = {"waiting": clamp(waiting + 1, 0, 3), "left": clamp(left - 1, 0, arrivals)}
    crowd = {"overflow": 1}
    for i in range(racks):
        stored = {f"rack_{i}": rack[i] + 1, "waiting": waiting - 1}
        can = fine & (waiting > 0) & (rack[i] < capacity)
        b.edge(f"store_{i}", can & (left == 0), stored)
        b.edge(f"store_{i}", can & (left > 0), stored, {**stored, "waiting": waiting, "left": left - 1})
        taken = {f"rack_{i}": rack[i] - 1}
        b.edge(f"take_{i}", fine & (rack[i] > 0) & ((left == 0) | (waiting == 3)), taken)
        b.edge(
            f"take_{i}", fine & (rack[i] > 0) & (left > 0) & (waiting < 3), taken, {**taken, **comes}, comes
        )
    b.edge("wait", fine & (left > 0) & (waiting < 3) & ~full, comes)
    b.edge("wait", fine & (left > 0) & ((waiting == 3) | full), crowd)
    b.edge("skip", fine & (waiting == 3) & full, crowd)
    goal = (left == 0) & (waiting == 0) & (total(rack) == 0)
    return b.document(unsafe=overflow == 1, goal=goal, starts=_filled(racks, capacity))


def _filled(racks: int, capacity: int) -> list[dict[str, int]]:
    """Jigs in the racks and before them in all ways; of many ways a thousand, drawn at random."""
    sizes = [4, *[capacity + 1] * racks]
    if prod(sizes) > MOST_STARTS:
        rng = Random(0)
        ways = sorted({tuple(rng.randrange(size) for size in sizes) for _ in range(MOST_STARTS)})
    else:
        ways = list(product(*map(range, sizes)))
    return [
        {**{f"rack_{i}": n for i, n in enumerate(filled)}, "waiting": waiting} for waiting, *filled in ways
    ]
