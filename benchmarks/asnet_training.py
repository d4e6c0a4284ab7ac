"""Training ASNets: milliseconds a minibatch of 64, native against a per-schema PyTorch loop, side by side.

    python -m benchmarks.asnet_training

The first 20 training tasks of six domains of the learning track of IPC 2023; H = 16, two layers,
dropout 0.1, Adam. A step begins with drawing states and ends with new weights: making the index tensors of the
states that were drawn (with NumPy) is a part of PyTorch's time, as finding the lists of operators and facts is a
part of ours. `ready` is the same loop on minibatches whose tensors are all made beforehand. One thread is measured
in processor time, two threads against one on the wall clock, the best of several repeats: on a busy machine
everything else is noise.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import misstep
from misstep._core import AsnetTrainer
from misstep.policies.asnet import ground_net
from misstep.training.asnet_config import AsnetConfig
from misstep.training.asnet_data import make_data
from misstep.training.asnet_init import initial_model
from tests.data import NO_DATA, data_folder
from tests.unit.asnet_reference import AsnetReference
from tests.unit.asnet_torch import LabelledState, TorchAsnet, TorchBatch

DOMAINS = ("blocksworld", "ferry", "miconic", "satellite", "spanner", "transport")
NUM_TASKS = 20
BATCH = 64
WANTED_RATIO = 20.0
WANTED_SECOND = 1.6
Clock: TypeAlias = Callable[[], float]


def load_tasks(domain: Path) -> list[misstep.Task]:
    problems = sorted((domain / "training" / "easy").glob("*.pddl"))[:NUM_TASKS]
    return [misstep.load(domain / "domain.pddl", problem, unit_cost=True) for problem in problems]


def native_trainer(tasks: Sequence[misstep.Task], threads: int) -> AsnetTrainer:
    """A trainer with the states near the initial ones of all tasks: all tasks count alike."""
    view = tasks[0].pddl
    assert view is not None
    config = AsnetConfig(threads=threads)
    model = initial_model(view, hidden=16, layers=2, init="xavier", seed=0)
    data = make_data(model, tasks, (), config)
    for number, task in enumerate(tasks):
        for state in walked(task, 50):
            actions = task.applicable(state)
            if actions:
                regrets = [(action.index, 0.0 if at == 0 else 9.0) for at, action in enumerate(actions)]
                data.trainer.add_sample(number, state, regrets)
    return data.trainer


def walked(task: misstep.Task, number: int) -> list[misstep.State]:
    rng = random.Random(0)
    state, states = task.initial_state, []
    for _ in range(number):
        states.append(state)
        actions = task.applicable(state)
        state = task.apply(state, rng.choice(actions)) if actions else task.initial_state
    return states


def native_ms(trainer: AsnetTrainer, batches: int, repeats: int, clock: Clock) -> float:
    def work() -> None:
        trainer.train(
            batches,
            loss="any-good",
            max_regret=0,
            batch=BATCH,
            rate=1e-3,
            dropout=0.1,
            weight_decay=2e-4,
            task_power=0.0,
        )

    return best_seconds(work, repeats, clock) / batches * 1e3


def torch_ms(tasks: Sequence[misstep.Task], batches: int, repeats: int) -> tuple[float, float]:
    """With minibatches that are put together as they are drawn, and with ready ones."""
    import torch

    torch.set_num_threads(1)
    view = tasks[0].pddl
    assert view is not None
    model = initial_model(view, hidden=16, layers=2, init="xavier", seed=0)
    rng = random.Random(0)
    pool = []
    for task in tasks:
        net = ground_net(model, task)
        reference = AsnetReference(model, net, task)
        batch = task.batch(walked(task, 50))
        truth, applicable = reference.inputs(batch)
        rows = [
            LabelledState(net, t, a, [int(a.argmax())], none)
            for t, a, none in zip(truth, applicable, reference.landmarks(batch), strict=True)
            if a.any()
        ]
        pool.append(rows)

    def draw() -> TorchBatch:
        return TorchBatch([rng.choice(rng.choice(pool)) for _ in range(BATCH)])

    network = TorchAsnet(model, dropout=0.1)
    adam = torch.optim.AdamW(network.parameters, lr=1e-3, weight_decay=0.2)

    def learn(batch: TorchBatch) -> None:
        adam.zero_grad()
        network.any_good_loss(batch).backward()
        adam.step()

    def work() -> None:
        for _ in range(batches):
            learn(draw())

    ready = [draw() for _ in range(batches)]

    def work_on_ready() -> None:
        for batch in ready:
            learn(batch)

    seconds = [best_seconds(each, repeats, time.process_time) for each in (work, work_on_ready)]
    return seconds[0] / batches * 1e3, seconds[1] / batches * 1e3


def best_seconds(work: Callable[[], None], repeats: int, clock: Clock) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def measure(domain: Path, repeats: int, *, with_torch: bool) -> dict[str, float | str | None]:
    tasks = load_tasks(domain)
    trainer = native_trainer(tasks, 1)
    one = native_ms(trainer, 50, repeats, time.process_time)
    # What the second thread adds is seen on the wall clock alone, in short pieces that nobody disturbs.
    one_wall = native_ms(trainer, 10, 10 * repeats, time.perf_counter)
    two_wall = native_ms(native_trainer(tasks, 2), 10, 10 * repeats, time.perf_counter)
    plain, ready = torch_ms(tasks, 10, max(3, repeats // 4)) if with_torch else (None, None)
    return {
        "domain": domain.name,
        "torch_ms": plain,
        "torch_ready_ms": ready,
        "native_ms": one,
        "native_2_threads_ms": two_wall,
        "ratio": plain / one if plain is not None else None,
        "ready_ratio": ready / one if ready is not None else None,
        "second_thread": one_wall / two_wall,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--domains", nargs="+", default=DOMAINS)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    data = data_folder()
    if data is None:
        print(NO_DATA)
        return 0
    print("domain        PyTorch ms  ready ms  native ms  2 threads  ratio  ready  second")
    rows = []
    for domain in options.domains:
        row = measure(data / "ipc23-learning" / domain, options.repeats, with_torch=not options.no_torch)
        rows.append(row)
        print(
            f"{domain:12s} {row['torch_ms'] or 0:11.2f} {row['torch_ready_ms'] or 0:9.2f} {row['native_ms']:10.3f} "
            f"{row['native_2_threads_ms']:10.3f} {row['ratio'] or 0:6.1f} {row['ready_ratio'] or 0:6.1f} "
            f"{row['second_thread']:7.2f}",
            flush=True,
        )
    print(f"wanted: {WANTED_RATIO:g} times on one thread, {WANTED_SECOND:g} times more on the second core")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
