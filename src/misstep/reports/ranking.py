"""Fuzzing bugs: by how much the policy errs more than in the state that a walk started in; what to look at first.

Definition 4 of Steinmetz et al. (2022): a state is a fuzzing bug relative to another one where its gap is larger.
Here the other one is its parent in the pool, so the walk of a few steps is what made things worse.
"""

import math
from collections.abc import Mapping

from misstep.events import Judged
from misstep.tally import Tally


def added_gap(event: Judged, parent: Judged | None) -> float | None:
    """How much larger the gap is than the parent's, as far as that is proven; 0 where it is not.

    None where there is nothing to compare with: the initial state, or a parent that was not tested. Whatever
    the parent's gap is, it is at most its upper end, so the difference can only be larger.
    """
    if parent is None:
        return None
    most = parent.gap.hi
    return 0.0 if most == math.inf else max(0.0, event.gap.lo - most)


def added_gaps(tally: Tally, parents: Mapping[int, int | None]) -> dict[int, float]:
    """Of all bugs with a tested parent."""
    found = {}
    for event in tally.bugs:
        parent = parents.get(event.id)
        added = added_gap(event, None if parent is None else tally.judged.get(parent))
        if added is not None:
            found[event.id] = added
    return found


def ranked(tally: Tally, added: Mapping[int, float]) -> list[Judged]:
    """The bugs, those first that a walk made worst; then by their own gap; of equals the shortest run first."""
    return sorted(
        tally.bugs, key=lambda event: (-added.get(event.id, 0.0), -event.gap.lo, event.steps, event.id)
    )
