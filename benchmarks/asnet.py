"""ASNet evaluation: native against a straightforward numpy version, a state, on the same states.

    python -m benchmarks.asnet

Uses published policies where the shared data is there, and always a random network on the bundled task. Times
are of the processor, the best of several repeats, one thread.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator

import misstep
from misstep._core import AsnetPolicy
from misstep.formats.asnet_model import AsnetModel
from misstep.policies.asnet import Asnet, bind_asnet, ground_net
from tests.conftest import COURIER
from tests.data import NO_DATA, data_folder
from tests.unit.asnet_reference import AsnetReference, random_model, walked_states

TASKS = [
    ("satellite", "pfile8"),
    ("transport", "opt-p04"),
    ("floortile", "opt-p09-017"),
    ("matching-blocksworld", "mbw-b15-t3-s961"),
    ("elevators", "opt08-p10"),
    ("blocksworld", "prob-blocks-blocks-nblk35-seed2107726020-seq1"),
    ("visitall", "opt14-p-1-11"),
]
BATCH = 256
MIN_RATIO = 6.0
MAX_MS = 0.2
ABOUT_1000 = range(700, 1300)


def cases() -> Iterator[tuple[str, AsnetModel, misstep.Task]]:
    task = misstep.load(*COURIER, unit_cost=True)
    yield "courier (random net)", random_model(task.pddl), task
    data = data_folder()
    if data is None:
        print(NO_DATA)
        return
    for domain, problem in TASKS:
        folder = data / "asnets" / domain
        [file] = folder.glob("*.policy")
        part = Asnet(file)
        path = folder / "problems" / f"{problem}.pddl"
        yield (
            f"{domain} {problem[-12:]}",
            part.model,
            misstep.load(folder / "domain.pddl", path, unit_cost=True),
        )


def seconds(work: Callable[[], object], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def measure(model: AsnetModel, task: misstep.Task) -> tuple[AsnetPolicy, float, float, float]:
    """Seconds a state: native one by one, native together, numpy together."""
    policy = bind_asnet(model, task)
    reference = AsnetReference(model, ground_net(model, task), task)
    states = walked_states(task, BATCH)
    batch, singles = task.batch(states), [task.batch([state]) for state in states]
    inputs = (*reference.inputs(batch), reference.landmarks(batch))
    alone = seconds(lambda: [policy(single) for single in singles], 10)
    together = seconds(lambda: policy(batch), 20)
    plain = seconds(lambda: reference.evaluate(*inputs), 3)
    return policy, alone / BATCH, together / BATCH, plain / BATCH


def main() -> int:
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # Read when numpy is first imported, so begin again.
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.asnet"], os.environ | one_thread)
    failed = False
    print(
        f"{'task':38s} operators facts   native ms/state: batch 1, {BATCH}   numpy ms/state: {BATCH}    ratio"
    )
    for name, model, task in cases():
        policy, alone, together, plain = measure(model, task)
        ratio = plain / together
        slow = policy.num_operators in ABOUT_1000 and max(alone, together) * 1e3 > MAX_MS
        verdict = "  too slow" if slow or ratio < MIN_RATIO else ""
        failed |= bool(verdict)
        print(
            f"{name:38s} {policy.num_operators:9d} {policy.num_facts:5d} {alone * 1e3:25.4f} "
            f"{together * 1e3:8.4f} {plain * 1e3:22.3f} {ratio:8.1f}{verdict}",
            flush=True,
        )
    print(
        f"wanted: {MIN_RATIO:g} times faster, and at most {MAX_MS} ms with about 1,000 operators: "
        f"{'missed' if failed else 'met'}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
