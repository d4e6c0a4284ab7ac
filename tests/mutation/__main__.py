"""`python -m tests.mutation`: changes the most trusted modules a little, and looks whether a test notices.

Mutants that were made by hand (tests/mutation/named.txt), and others that are drawn by a seed. The checkout stays as
it is. Results are kept in build/mutation: after Ctrl-C the same command goes on. Exit code 1: a mutant survives.
"""

from __future__ import annotations

import argparse
import hashlib
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tests.mutation import mutants as made
from tests.mutation.mutants import ROOT, Block, Mutant, Stale, blocks
from tests.mutation.report import MOST_EQUIVALENT, Kept, lines
from tests.mutation.selection import MAPPED, Reached, make_map, read_map, usual_tests
from tests.mutation.trial import Runner, Tried, make_overlay

HERE = Path(__file__).parent
BUILD = ROOT / "build" / "mutation"


def main(words: Sequence[str] | None = None) -> int:
    options = _options(words)
    if options.map:
        tests = options.tests or list(MAPPED)
        reached = make_map(BUILD / "map.json", tests, make_overlay(BUILD / "overlay"), options.jobs)
        print(f"{len(reached.seconds)} tests reach {sum(map(len, reached.lines.values()))} lines")
        return 0 if reached.seconds else 1
    try:
        known = blocks(HERE / "equivalent.txt")
        for block in known:
            made.from_block(block)
        named = [] if options.drawn else [made.from_block(block) for block in blocks(HERE / "named.txt")]
        files = made.targets(options.modules or made.TARGETS)
        if options.only:
            named, drawn = _only(options.only, named, files)
        else:
            drawn = [] if options.named else made.draw(files, options.mutants, options.seed)
    except Stale as stale:
        print(f"error: {stale}", file=sys.stderr)
        return 2
    kept = Kept(BUILD / "results.jsonl", _digest_of_tests())
    work = [mutant for mutant in [*named, *drawn] if options.only or kept.get(mutant) is None]
    print(
        f"{len(named)} made by hand, {len(drawn)} drawn with seed {options.seed}; {len(work)} to try",
        flush=True,
    )
    is_whole = _try_all(work, kept.add, options)
    survived = _tell(named, drawn, kept, known)
    return 2 if not is_whole else 1 if survived else 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=400, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=1, help="which ones are drawn")
    parser.add_argument("--modules", nargs="*", help="patterns below src/misstep instead of the usual ones")
    parser.add_argument("--named", action="store_true", help="only those that were made by hand")
    parser.add_argument("--drawn", action="store_true", help="only those that are drawn")
    parser.add_argument("--only", nargs="*", help="these mutants alone, by the keys that are printed")
    parser.add_argument(
        "--matrix", action="store_true", help="note all tests that kill a mutant, not only the first"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at the same time")
    parser.add_argument(
        "--seconds", type=float, default=7200.0, help="stop after so long; the same command goes on"
    )
    parser.add_argument(
        "--map", action="store_true", help="note which tests reach which lines, for later runs"
    )
    parser.add_argument("--tests", nargs="*", help="with --map: the tests; else: these instead of the map's")
    return parser.parse_args(words)


def _only(
    keys: Sequence[str], named: list[Mutant], files: Sequence[str]
) -> tuple[list[Mutant], list[Mutant]]:
    """Those with these keys, out of all that there are."""
    chosen = [mutant for mutant in named if mutant.key in keys]
    left = set(keys) - {mutant.key for mutant in chosen}
    found = made.with_keys(files, left) if left else []
    if missing := left - {mutant.key for mutant in found}:
        raise Stale(f"no mutant has the key {min(missing)}: the module changed since")
    return chosen, found


def _digest_of_tests() -> str:
    found = hashlib.sha256()
    for file in sorted((ROOT / "tests").rglob("*.py")):
        if HERE not in file.parents:
            found.update(file.read_bytes())
    return found.hexdigest()[:16]


def _try_all(work: Sequence[Mutant], add: Callable[[Tried], None], options: argparse.Namespace) -> bool:
    """Tries mutants side by side; False if Ctrl-C or the time ended it."""
    runner = Runner(BUILD, matrix=options.matrix)
    reached = None if options.tests else read_map(BUILD / "map.json")
    choice = _Choice(reached, options.tests, runner)
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in work:
        waiting.put(mutant)
    done: queue.SimpleQueue[tuple[Mutant, Tried] | None] = queue.SimpleQueue()
    threads = [
        threading.Thread(target=_take, args=(waiting, choice, runner, done)) for _ in range(options.jobs)
    ]
    for thread in threads:
        thread.start()
    end, left, count = time.monotonic() + options.seconds, len(threads), 0
    try:
        while left:
            try:
                item = done.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                print("the time is up", flush=True)
                return False
            if item is None:
                left -= 1
                continue
            mutant, tried = item
            add(tried)
            count += 1
            what = mutant.name or f"{mutant.file}:{mutant.lines[0]}"
            print(f"{count}/{len(work)} {tried.outcome:9} {tried.seconds:6.1f} s  {what}", flush=True)
    except KeyboardInterrupt:
        print("stopped; the same command goes on", flush=True)
        return False
    finally:
        runner.stop()
        for thread in threads:
            thread.join()
    return count == len(work)


class _Choice:
    """The tests of a mutant and what they take; those that no map knows have to pass without a change first."""

    def __init__(self, reached: Reached | None, given: Sequence[str] | None, runner: Runner) -> None:
        self._reached, self._given, self._runner = reached, given, runner
        self._checked: dict[tuple[str, ...], float] = {}
        self._lock = threading.Lock()

    def tests(self, mutant: Mutant) -> tuple[list[str], float]:
        """Those of the map; files of tests that changed since come whole."""
        if self._reached is None:
            tests = list(self._given or usual_tests(mutant))
            return tests, self._seconds(mutant, tests)
        stale = [file for file in usual_tests(mutant) if self._reached.is_stale(file)]
        tests = [test for test in self._reached.tests(mutant) if test.split("::")[0] not in stale]
        seconds = self._reached.cost(tests) + self._seconds(mutant, stale)
        return [*stale, *tests], seconds

    def _seconds(self, mutant: Mutant, tests: list[str]) -> float:
        """What tests take that pass without a change."""
        if not tests:
            return 0.0
        with self._lock:
            if tuple(tests) not in self._checked:
                begin = time.monotonic()
                if not self._runner.passes_without(mutant, tests, 600.0):
                    raise RuntimeError(f"these tests fail without a change: {' '.join(tests)}")
                self._checked[tuple(tests)] = time.monotonic() - begin
            return self._checked[tuple(tests)]


def _take(
    waiting: queue.SimpleQueue[Mutant],
    choice: _Choice,
    runner: Runner,
    done: queue.SimpleQueue[tuple[Mutant, Tried] | None],
) -> None:
    try:
        while True:
            mutant = waiting.get_nowait()
            tried = runner.try_one(mutant, *choice.tests(mutant))
            if tried is None:
                return
            done.put((mutant, tried))
    except queue.Empty:
        pass
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
    finally:
        done.put(None)


def _tell(named: Sequence[Mutant], drawn: Sequence[Mutant], kept: Kept, known: Sequence[Block]) -> bool:
    """Whether any mutant survives that is not proven equivalent, or more are than may be."""
    survives = False
    for group, is_named in ((named, True), (drawn, False)):
        if group:
            results = _results(group, kept)
            for line in lines(group, results, known, is_named=is_named):
                print(line)
            survives |= _survives(group, results, known)
    return survives


def _results(group: Iterable[Mutant], kept: Kept) -> dict[str, Tried]:
    return {mutant.key: tried for mutant in group if (tried := kept.get(mutant)) is not None}


def _survives(group: Sequence[Mutant], results: dict[str, Tried], known: Sequence[Block]) -> bool:
    left = [mutant for mutant in group if mutant.key in results and not results[mutant.key].is_killed]
    proven = [mutant for mutant in left if made.is_equivalent(mutant, known)]
    return len(proven) < len(left) or (not group[0].name and len(proven) > MOST_EQUIVALENT * len(group))


if __name__ == "__main__":
    sys.exit(main())
