"""How much of the machine the graph networks use: one core and all, beside a plain product of matrices.

OPENBLAS_NUM_THREADS=1 python -m benchmarks.gnn_peak       (the threads are its own)
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import misstep
from benchmarks.gnn_walk import walk
from misstep.policies.gnn import Gnn
from tests.data import NO_DATA, data_folder

STATES, REPEATS = 3, 5
SIZE = 1024


def main() -> None:
    data = data_folder()
    if data is None:
        sys.exit(NO_DATA)
    cores = len(os.sched_getaffinity(0))
    peaks = {threads: peak(threads) for threads in (1, cores)}
    print(f"product of matrices: {peaks[1]:.0f} GFLOP/s on one core, {peaks[cores]:.0f} on {cores}")
    print(
        f"{'largest task':<28} {'ms, 1 core':>10} {'share':>6} {f'ms, {cores} cores':>11} {'share':>6} speed-up"
    )
    for folder in sorted((data / "gnn").iterdir()):
        if (folder / "problems").is_dir():
            show(folder, peaks, cores)


def show(folder: Path, peaks: dict[int, float], cores: int) -> None:
    """One line about the largest task of a domain."""
    problem = max((folder / "problems").glob("*.pddl"), key=lambda path: path.stat().st_size)
    task = misstep.load(folder / "domain.pddl", problem, unit_cost=True)
    states = walk(task, STATES, seed=1)
    found = {}
    for threads in peaks:
        policy = Gnn(next(folder.glob("*.ckpt")), threads=threads).bind(task)

        def ask(policy: misstep._core.GnnPolicy = policy) -> None:
            for state in states:
                policy.values(state)

        seconds = median(ask) / STATES
        # Each product is asked for REPEATS times, and an addition follows each multiplication.
        rate = 2e-9 * policy.work / REPEATS / STATES / seconds
        found[threads] = (seconds * 1e3, rate / peaks[threads])
    (one, share), (all_, shared) = found[1], found[cores]
    name = f"{folder.name} {problem.stem}"
    print(f"{name:<28} {one:10.1f} {share:6.0%} {all_:11.1f} {shared:6.0%} {one / all_:8.2f}")


def peak(threads: int) -> float:
    """GFLOP/s of NumPy's products of large matrices, one on each core."""
    matrix = np.ones((SIZE, SIZE), dtype=np.float32)
    with ThreadPoolExecutor(threads) as pool:
        return (
            2e-9
            * threads
            * SIZE**3
            / median(lambda: list(pool.map(lambda _: matrix @ matrix, range(threads))))
        )


def median(work: Callable[[], object]) -> float:
    """Seconds of the wall clock."""
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


if __name__ == "__main__":
    main()
