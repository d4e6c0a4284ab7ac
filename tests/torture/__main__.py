"""`python -m tests.torture SECONDS [SEED]`: tortures misstep for so long; exit code 1 where anything was false."""

from __future__ import annotations

import argparse
import secrets
import sys
import time

from tests.torture.trial import Score, trials


def main() -> int:
    """Goes on with new worlds until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=180)
    parser.add_argument("seed", type=int, nargs="?", default=None)
    parser.add_argument("--worlds", type=int, default=None, help="at most so many worlds")
    parser.add_argument("--tests", type=int, default=None, help="so many tests a world, and so more worlds")
    parser.add_argument("--states", type=int, default=3000, help="worlds of at most so many states")
    parser.add_argument("--flat", type=float, default=0.3, help="the share of worlds without a translator")
    given = parser.parse_args()
    first = secrets.randbelow(10**9) if given.seed is None else given.seed
    score, begin, told = Score(), time.monotonic(), 0.0
    print(f"torture for {given.seconds:g} seconds, seed {first}")
    number = first
    while time.monotonic() - begin < given.seconds and (
        given.worlds is None or number < first + given.worlds
    ):
        known = len(score.false)
        trials(
            number,
            score,
            tests=given.tests,
            states=given.states,
            flat=given.flat,
            go_on=lambda: time.monotonic() - begin < given.seconds,
        )
        for false in score.false[known:]:
            print(f"FALSE {false}", flush=True)
        number += 1
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(shown(score, time.monotonic() - begin), flush=True)
    print(shown(score, time.monotonic() - begin))
    for reason, count in score.refused.most_common():
        print(f"  {count} worlds are not loaded: {reason}")
    return 1 if score.false else 0


def shown(score: Score, seconds: float) -> str:
    """The counts so far."""
    verdicts = ", ".join(f"{count} {name}" for name, count in sorted(score.verdicts.items()))
    return (
        f"{score.judged} verdicts ({verdicts}), {score.faults} faults, {score.certificates} certificates, "
        f"{score.tests} tests on {score.tasks} worlds, {score.judged / max(seconds, 1e-9):.0f} verdicts a second; "
        f"{len(score.false)} false"
    )


if __name__ == "__main__":
    sys.exit(main())
