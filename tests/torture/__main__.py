"""`python -m tests.torture SECONDS [SEED]`: tortures misstep for so long; exit code 1 where anything was false."""

from __future__ import annotations

import argparse
import contextlib
import secrets
import sys
import time

from tests.torture.trial import Score, trials


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=180)
    parser.add_argument("seed", type=int, nargs="?", default=None)
    parser.add_argument("--worlds", type=int, default=None, help="so many worlds are enough")
    parser.add_argument("--tests", type=int, default=None, help="so many tests a world, and so more worlds")
    parser.add_argument("--states", type=int, default=3000, help="worlds of at most so many states")
    parser.add_argument("--flat", type=float, default=0.3, help="the share of worlds without a translator")
    parser.add_argument("--whole", type=float, default=0.25, help="the share of tests on the whole space")
    parser.add_argument(
        "--verify", type=float, default=0.1, help="the share of tests whose proofs are checked"
    )
    parser.add_argument("--bare", type=int, default=2, help="so many tests a world without a session")
    parser.add_argument("--small", type=float, default=0.2, help="the share of small worlds that are taken")
    parser.add_argument(
        "--recorded", type=float, default=1.0, help="the share of worlds with other tests, too"
    )
    parser.add_argument(
        "--verdicts", type=int, default=None, help="so many and the worlds asked for are enough"
    )
    return parser.parse_args()


def main() -> int:
    """Goes on with new worlds until the time is over."""
    given = options()
    first = secrets.randbelow(10**9) if given.seed is None else given.seed
    score, begin, told = Score(), time.monotonic(), 0.0
    print(f"torture for {given.seconds:g} seconds, seed {first}")
    number = first

    def go_on() -> bool:
        asked = [(score.tasks, given.worlds), (score.judged, given.verdicts)]
        is_enough = any(most is not None for _, most in asked) and all(n >= (most or 0) for n, most in asked)
        return time.monotonic() - begin < given.seconds and not is_enough

    with contextlib.suppress(KeyboardInterrupt):  # what was found until then counts
        while go_on():
            known = len(score.false)
            trials(
                number,
                score,
                tests=given.tests,
                states=given.states,
                flat=given.flat,
                whole=given.whole,
                verify=given.verify,
                bare=given.bare,
                small=given.small,
                recorded=given.recorded,
                go_on=go_on,
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
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(score.kinds.items()))
    return (
        f"{score.judged} verdicts ({verdicts}), {score.faults} faults, "
        f"{score.tests} tests and {score.bare} without a record on {score.tasks} worlds, "
        f"{score.judged / max(seconds, 1e-9):.0f} verdicts a second; "
        f"{score.certificates} certificates verified "
        f"(evidence: {kinds}); {score.tampered} tampered with; {score.forged} forged, {score.accepted} of them "
        f"accepted and compared with the truth; {len(score.false)} false"
    )


if __name__ == "__main__":
    sys.exit(main())
