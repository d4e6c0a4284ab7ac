"""Where places are drawn: grids by coordinates in their names, maps by the ways between them."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Pairs = Sequence[tuple[int, int]]
Points = list[tuple[float, float]]
# A grid that is mostly holes is a map.
_MOST_HOLES = 4
_FEWEST_CELLS = 4
_ROUNDS = 300


def grid_points(names: Sequence[str]) -> Points | None:
    """The last two numbers of each name as a position; None where these make no grid."""
    if len(names) < _FEWEST_CELLS:
        return None
    found: list[tuple[int, int]] = []
    for name in names:
        numbers = re.findall(r"\d+", name)
        if len(numbers) < 2 or len(numbers[-1]) > 6 or len(numbers[-2]) > 6:
            return None
        found.append((int(numbers[-2]), int(numbers[-1])))
    if len(set(found)) < len(found):
        return None
    low = (min(x for x, _ in found), min(y for _, y in found))
    wide, high = (max(x for x, _ in found) - low[0] + 1, max(y for _, y in found) - low[1] + 1)
    if wide * high > _MOST_HOLES * len(found) or min(wide, high) < 2:
        return None
    return [(float(x - low[0]), float(y - low[1])) for x, y in found]


def joins_neighbours(points: Points, pairs: Pairs) -> bool:
    """Whether the ways of a grid lead from cell to cell next to it, nearly all of them."""
    if not pairs:
        return True
    near = sum(
        abs(points[one][0] - points[other][0]) + abs(points[one][1] - points[other][1]) <= 1.01
        for one, other in pairs
    )
    return near >= 0.8 * len(pairs)


_TURNS = [(swap, across, down) for swap in (False, True) for across in (1.0, -1.0) for down in (1.0, -1.0)]
_DIRECTIONS = {
    "up": (0, -1), "above": (0, -1), "over": (0, -1), "north": (0, -1),
    "down": (0, 1), "below": (0, 1), "under": (0, 1), "south": (0, 1),
    "left": (-1, 0), "left-of": (-1, 0), "west": (-1, 0),
    "right": (1, 0), "right-of": (1, 0), "east": (1, 0),
}  # fmt: skip


def direction_of(word: str) -> tuple[int, int] | None:
    """Where a word points to, on a screen."""
    return _DIRECTIONS.get(word.lower().removeprefix("dir-").replace("_", "-"))


def turned(points: Points, said: Sequence[tuple[int, int, tuple[int, int]]]) -> Points:
    """The grid turned so that directions are right: `(a, b, d)` says that b lies in direction d of a."""
    best, most = _turn(points, *_TURNS[0]), -np.inf
    for turn in _TURNS if said else ():
        tried = _turn(points, *turn)
        right = sum(
            float(
                np.sign((tried[b][0] - tried[a][0]) * dx) + np.sign((tried[b][1] - tried[a][1]) * dy),
            )
            for a, b, (dx, dy) in said
        )
        if right > most:
            best, most = tried, right
    return best


def _turn(points: Points, swap: bool, across: float, down: float) -> Points:
    made = [((y if swap else x) * across, (x if swap else y) * down) for x, y in points]
    left, top = min(x for x, _ in made), min(y for _, y in made)
    return [(x - left, y - top) for x, y in made]


def map_points(count: int, pairs: Pairs) -> Points:
    """Positions in which the distance on the page is like that along the ways (stress majorization).

    It starts from a circle and has no dice, so that the same map is drawn the same way every time.
    """
    if count == 1:
        return [(0.0, 0.0)]
    wanted = _distances(count, pairs)
    angles = 2 * np.pi * np.arange(count) / count
    points = np.stack([np.cos(angles), 0.8 * np.sin(angles)], axis=1) * count / 4
    weights = 1 / wanted**2
    np.fill_diagonal(weights, 0)
    for _ in range(_ROUNDS):
        apart = points[:, None, :] - points[None, :, :]
        length = np.maximum(np.linalg.norm(apart, axis=2), 1e-6)
        pull = weights[:, :, None] * (points[None, :, :] + apart * (wanted / length)[:, :, None])
        points = pull.sum(axis=1) / weights.sum(axis=1)[:, None]
    points = _lying(points)
    points -= points.min(axis=0)
    return [(round(float(x), 2), round(float(y), 2)) for x, y in points]


def _distances(count: int, pairs: Pairs) -> NDArray[np.float64]:
    """The number of steps between every two places; far apart where there is no way."""
    steps = np.full((count, count), np.inf)
    np.fill_diagonal(steps, 0)
    for one, other in pairs:
        steps[one, other] = steps[other, one] = 1
    for middle in range(count):
        steps = np.minimum(steps, steps[:, [middle]] + steps[[middle], :])
    longest = np.max(steps[np.isfinite(steps)], initial=1)
    steps[~np.isfinite(steps)] = longest + 1
    np.fill_diagonal(steps, 1)
    return steps


def _lying(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The longer axis from left to right, since screens are wide."""
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])
    turned: NDArray[np.float64] = centred @ (axes * signs[:, None]).T
    return turned
