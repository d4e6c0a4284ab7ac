"""`python -m tests.mutants SECONDS [SEED] [--each N] [--only PATTERN] [--sanitized BUILD]`.

Gives damaged files of every input format in turn to the real commands, at least N of each, for SECONDS. Whatever
crashes, hangs, ends with an internal error or takes more memory than the limit is kept in `build/mutants`, and the
exit code is 1. With a build folder of `make sanitize` the native core watches itself.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.mutants.campaign import Mutant

KEPT = Path("build") / "mutants"
TELL_SECONDS = 60.0
GROW_MB, SANITIZED_GROW_MB = 250.0, 900.0
"""The commands may take 100 MB; searches may meet that between two looks, and checked memory is larger."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--each", type=int, default=0, help="go on until there were so many of each format")
    parser.add_argument("--only", default="", help="formats whose name matches this regular expression")
    parser.add_argument("--sanitized", type=Path, help="a build folder of `make sanitize`")
    options = parser.parse_args()
    if options.sanitized is not None:
        _use_sanitized(options.sanitized)
    from tests.mutants.campaign import campaign

    grow_mb = GROW_MB if options.sanitized is None else SANITIZED_GROW_MB
    begin, counts, wrong = time.monotonic(), dict[str, Counter[str]](), 0
    tell_at = begin + TELL_SECONDS
    with contextlib.suppress(KeyboardInterrupt), tempfile.TemporaryDirectory(prefix="mutants-") as name:
        for mutant, ended in campaign(
            Path(name), options.seconds, options.seed, each=options.each, only=options.only, grow_mb=grow_mb
        ):
            if time.monotonic() > tell_at:
                tell_at += TELL_SECONDS
                done = sum(map(Counter.total, counts.values()))
                print(f"so far {done} mutants, {wrong} wrong", flush=True)
            count = counts.setdefault(mutant.format, Counter())
            count["refused" if ended.code == 4 else "read" if ended.wrong is None else "wrong"] += 1
            if ended.wrong is not None:
                wrong += 1
                _keep(mutant, options.seed, ended.said)
                print(
                    f"{mutant.format}, mutant {mutant.number}: {ended.wrong}\n{ended.said[-1500:]}",
                    flush=True,
                )
    _print_table(counts)
    spent = os.times().children_user + os.times().children_system
    total = sum(map(Counter.total, counts.values()))
    print(
        f"{total} mutants of {len(counts)} formats in {time.monotonic() - begin:.0f} s by the clock, "
        f"{spent:.0f} s of the processors: {wrong} wrong"
    )
    return 1 if wrong else 0


def _print_table(counts: dict[str, Counter[str]]) -> None:
    print("| format | mutants | refused | read | wrong |\n|---|---|---|---|---|")
    for name, count in counts.items():
        print(f"| {name} | {sum(count.values())} | {count['refused']} | {count['read']} | {count['wrong']} |")


def _keep(mutant: Mutant, seed: int, said: str) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    plain = "".join(letter if letter.isalnum() else "-" for letter in mutant.format)
    name = f"{plain}-{seed}-{mutant.number}"
    (KEPT / f"{name}-{mutant.file.name}").write_bytes(mutant.content)
    (KEPT / f"{name}.said").write_text(said)


def _use_sanitized(build: Path) -> None:
    """Starts this program again with the sanitizers' libraries first, then takes the core from the build folder."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        libraries = [
            subprocess.run(
                ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
            ).stdout.strip()
            for name in ("libasan.so", "libubsan.so")
        ]
        checks = "detect_leaks=0:malloc_context_size=5:quarantine_size_mb=16:allocator_may_return_null=1"
        env = os.environ | {
            "LD_PRELOAD": " ".join(libraries),
            "ASAN_OPTIONS": checks,
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        os.execve(sys.executable, [sys.executable, "-m", "tests.mutants", *sys.argv[1:]], env)
    del os.environ["LD_PRELOAD"]  # the programs that misstep starts do without
    from tests.sanitized import use_core

    use_core(build)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # forks have one thread
    sys.exit(main())
