"""What states that misstep leaves unknown really are: blocksworld and gripper have exact solvers of their own.

python -m benchmarks.domain_truth DIR [--seconds 10]

DIR is the --out of `misstep reproduce`. For every state of these two domains that was tested there, the least cost is
computed by code that knows the domain and nothing of misstep. So it tells how many states are bugs in truth, how many
of them were proven, and whether a verdict is wrong. Blocksworld is hard in general: a state that takes longer than
--seconds is left out.
"""

import argparse
import heapq
import itertools
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from misstep.judge import Verdict
from misstep.record.record import POOL, Record, records_in
from misstep.reports.text import shorten
from misstep.tally import Tally

Supports = dict[str, str | None]
"""What every block stands on: another block, or None for the table."""
Solver = Callable[[Collection[str], Collection[str], float], int | None]
"""The least cost from the facts of a state to those of a goal; None where it is not known after so many seconds."""


def atoms(text: str) -> list[tuple[str, ...]]:
    """All `(word word ...)` without others inside, in lower case."""
    return [tuple(found.split()) for found in re.findall(r"\(([^()]*)\)", text.lower())]


def blocksworld(facts: Collection[str], goal: Collection[str], max_seconds: float) -> int | None:
    """Blocksworld with four actions (pick-up, put-down, stack, unstack) and a goal that gives every block a place.

    A move is two actions. A block is settled if it stands where it shall, and so do all below it. To settle a block
    that can be settled is always best, so there is a choice only where there is none: which block goes to the table.
    The estimate: every block that is not settled moves once, and twice if it shall stand above a block that has to
    move itself and that it stands above now.
    """
    stands, held = _supports(facts)
    wanted = _wanted(goal, {*stands, *held})
    cost = 0
    for block in held:  # onto its place if that is ready, else onto the table
        place = wanted[block]
        is_ready = place is not None and place in _settled(stands, wanted) and place not in stands.values()
        stands = {**stands, block: place if is_ready else None}
        cost = 1
    return _search(stands, wanted, cost, time.monotonic() + max_seconds)


def _supports(facts: Collection[str]) -> tuple[Supports, list[str]]:
    found: Supports = {}
    held = []
    for words in atoms(" ".join(facts)):
        if words[0] == "on":
            found[words[1]] = words[2]
        elif words[0] == "ontable":
            found[words[1]] = None
        elif words[0] == "holding":
            held.append(words[1])
    return found, held


def _wanted(goal: Collection[str], blocks: set[str]) -> Supports:
    """Where every block shall stand; of a single tower of all blocks, the goal need not say that this is the table."""
    found, _ = _supports(goal)
    rest = blocks - found.keys()
    if len(rest) > 1:
        raise SystemExit(
            f"the goal leaves open where {' and '.join(sorted(rest))} stand; this solver cannot tell"
        )
    return found | dict.fromkeys(rest)


def _settled(stands: Supports, wanted: Supports) -> set[str]:
    found: set[str] = set()
    above: dict[str | None, list[str]] = {}
    for block, place in stands.items():
        above.setdefault(place, []).append(block)
    left: list[str | None] = [None]
    while left:
        place = left.pop()
        for block in above.get(place, ()):
            if wanted[block] == place:
                found.add(block)
                left.append(block)
    return found


def _below(stands: Supports, block: str) -> set[str]:
    found: set[str] = set()
    place = stands.get(block)
    while place is not None:
        found.add(place)
        place = stands.get(place)
    return found


def _search(stands: Supports, wanted: Supports, cost: int, end: float) -> int | None:
    under = {block: _below(wanted, block) for block in wanted}

    def estimate(stands: Supports, settled: set[str]) -> int:
        moving = [block for block in stands if block not in settled]
        twice = sum(not under[block].isdisjoint(_below(stands, block) - settled) for block in moving)
        return 2 * (len(moving) + twice)

    def advanced(stands: Supports, cost: int) -> tuple[Supports, int, set[str]]:
        """Everything that can be settled is."""
        while True:
            settled, used = _settled(stands, wanted), set(stands.values())
            ready = [
                block
                for block in stands
                if block not in settled
                and block not in used
                and (wanted[block] is None or (wanted[block] in settled and wanted[block] not in used))
            ]
            if not ready:
                return stands, cost, settled
            stands, cost = {**stands, ready[0]: wanted[ready[0]]}, cost + 2

    order, number = sorted(wanted), itertools.count()
    queue: list[tuple[int, int, int, Supports, set[str]]] = []
    best: dict[tuple[str | None, ...], int] = {}

    def add(stands: Supports, cost: int) -> None:
        stands, cost, settled = advanced(stands, cost)
        key = tuple(stands[block] for block in order)
        if cost < best.get(key, cost + 1):
            best[key] = cost
            heapq.heappush(queue, (cost + estimate(stands, settled), next(number), cost, stands, settled))

    add(stands, cost)
    while queue and time.monotonic() < end:
        _, _, cost, stands, settled = heapq.heappop(queue)
        if len(settled) == len(stands):
            return cost
        used = set(stands.values())
        for block, place in stands.items():
            if block not in settled and block not in used and place is not None:
                add({**stands, block: None}, cost + 2)
    return None


def gripper(facts: Collection[str], goal: Collection[str], max_seconds: float) -> int | None:
    """Gripper with two rooms, one robot and two hands; all balls of the goal shall be in the same room.

    Balls are alike, so a state is: whether the robot is where they shall be, how many it carries, how many are away.
    """
    words = atoms(" ".join(facts))
    (home,) = {place for name, _, place in atoms(" ".join(goal)) if name == "at"}
    wanted = {ball for _, ball, _ in atoms(" ".join(goal))}
    where = next(place for name, place, *_ in (word for word in words if word[0] == "at-robby"))
    away = sum(word[0] == "at" and word[1] in wanted and word[2] != home for word in words)
    carried = sum(word[0] == "carry" and word[1] in wanted for word in words)
    start = (where == home, carried, away)
    cost, left = {start: 0}, deque([start])
    while left:
        is_home, carried, away = state = left.popleft()
        if carried == away == 0:
            return cost[state]
        following = [(not is_home, carried, away)]
        if is_home and carried:
            following.append((is_home, carried - 1, away))
        if not is_home and away and carried < 2:
            following.append((is_home, carried + 1, away - 1))
        for other in following:
            if other not in cost:
                cost[other] = cost[state] + 1
                left.append(other)
    return None


SOLVERS: Mapping[str, Solver] = {"blocks": blocksworld, "blocksworld": blocksworld, "gripper": gripper}
"""By the folder of the domain."""


def count(
    record: Record, counts: Counter[str], known: dict[tuple[str, ...], int | None], *, max_seconds: float
) -> None:
    """Adds the states of a record: bugs in truth, and what was said of them.

    `known` remembers least costs, since oracles are often compared on the same states.
    """
    config, tally = record.config(), Tally.added_up(record.events())
    if config.problem is None or config.domain is None:
        return
    text = config.problem.read_text(encoding="utf-8").lower()
    goal = text[text.index("(:goal") :]
    facts = {line["id"]: line["facts"] for line in record.store.lines(POOL)}
    for id, event in tally.judged.items():
        state = (str(config.problem), *sorted(facts[id]))
        if state not in known:
            known[state] = SOLVERS[config.domain.parent.name](facts[id], [goal], max_seconds)
        least = known[state]
        if least is None:
            counts["left out"] += 1
            continue
        is_bug = event.cost.lo > least
        counts["states"] += 1
        counts["bugs"] += is_bug
        counts["proven bugs"] += event.verdict is Verdict.BUG
        counts["unknown"] += event.verdict is Verdict.UNKNOWN
        counts["unknown bugs"] += event.verdict is Verdict.UNKNOWN and is_bug
        counts["false"] += event.verdict is (Verdict.CLEARED if is_bug else Verdict.BUG)


COLUMNS = ("states", "bugs", "proven bugs", "unknown", "unknown bugs", "false", "left out")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    rows: dict[tuple[str, str, str], Counter[str]] = {}
    known: dict[tuple[str, ...], int | None] = {}
    for path in records_in(given.folder):
        record = Record.open(path)
        config = record.config()
        domain = "" if config.domain is None else config.domain.parent.name
        if domain in SOLVERS:
            what = f"{config.policy.partition(':')[0]} {domain}", config.bias or "", "+".join(config.oracle)
            count(record, rows.setdefault(what, Counter()), known, max_seconds=given.seconds)
    print(f"{'':<20} {'bias':<16} {'oracle':<24}", *(f"{column:>12}" for column in COLUMNS))
    for (name, bias, oracle), row in sorted(rows.items()):
        print(
            f"{name:<20} {bias:<16} {shorten(oracle, 24):<24}", *(f"{row[column]:>12}" for column in COLUMNS)
        )


if __name__ == "__main__":
    main()
