"""GNN evaluation: native against a straightforward PyTorch version on one thread, per successor, same states.

python -m benchmarks.gnn        (needs the extra: pip install misstep[torch])
"""

import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

import misstep
from benchmarks.gnn_walk import walk
from misstep.formats.gnn_model import GnnModel, Mlp, Readout
from misstep.policies.gnn import Gnn
from tests.data import NO_DATA, data_folder
from tests.unit.gnn_reference import ReferenceGnn

# By name: the extra may be absent where types are checked.
try:
    torch: Any = import_module("torch")
except ImportError:
    print("graph networks are not measured: that needs PyTorch to compare with (pip install torch==2.13.0)")
    sys.exit(0)

TASKS = [
    ("blocks", "probBLOCKS-9-0"),
    ("blocks", "probBLOCKS-17-0"),
    ("gripper", "prob10"),
    ("delivery", "instance_5_3_0"),
    ("delivery", "instance_9_3_0"),
    ("miconic", "s7-0"),
    ("visitall", "problem08-full"),
]
STATES = 10
REPEATS = 3
TARGET = 3.0


class TorchGnn:
    """The network as one would write it in PyTorch."""

    def __init__(self, model: GnnModel) -> None:
        self.size, self.iterations = model.hidden_size, model.iterations
        modules = (relation.module for relation in model.relations)
        self.relations = [sequential(module) for module in modules if module is not None]
        self.update = sequential(model.update)
        self.readout = two_stages(model.readout)
        self.solvable = None if model.solvable is None else two_stages(model.solvable)

    def __call__(self, rows: Sequence[Any], states: int, num_objects: int) -> Any:
        h = torch.zeros(states * num_objects, self.size)
        for _ in range(self.iterations):
            targets, messages = [], []
            for module, index in zip(self.relations, rows, strict=True):
                if len(index):
                    targets.append(index.view(-1))
                    messages.append(module(h[index].view(len(index), -1)).view(-1, self.size))
            message, target = torch.cat(messages), torch.cat(targets)
            largest = message.max()
            total = torch.full_like(h, 1e-16).index_add_(0, target, (8 * (message - largest)).exp())
            h = self.update(torch.cat([total.log() / 8 + largest, h], dim=1))
        values = self.read(self.readout, h, states).abs()
        if self.solvable is not None:
            values = values + 1e5 * (1 - self.read(self.solvable, h, states).sigmoid().round())
        return values

    def read(self, stages: tuple[Any, Any], h: Any, states: int) -> Any:
        pre, post = stages
        return post(pre(h).view(states, -1, self.size).sum(1)).view(-1)


def sequential(mlp: Mlp) -> Any:
    layers = []
    for weight, bias in ((mlp.weight1, mlp.bias1), (mlp.weight2, mlp.bias2)):
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
        layer.load_state_dict({"weight": torch.from_numpy(weight), "bias": torch.from_numpy(bias)})
        layers.append(layer)
    return torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1])


def two_stages(readout: Readout) -> tuple[Any, Any]:
    return sequential(readout.pre), sequential(readout.post)


def main() -> None:
    data = data_folder()
    if data is None:
        sys.exit(NO_DATA)
    torch.set_num_threads(1)
    print(
        f"{'CPU time per successor':<26} {'successors':>10} {'torch ms':>9} {'native ms':>9} ratio  max |dV|"
    )
    worst = float("inf")
    for domain, name in TASKS:
        folder = data / "gnn" / domain
        task = misstep.load(folder / "domain.pddl", folder / "problems" / f"{name}.pddl", unit_cost=True)
        part = Gnn(next(folder.glob("*.ckpt")), threads=1)
        policy, reference, network = part.bind(task), ReferenceGnn(task, part.model), TorchGnn(part.model)
        states = walk(task, STATES, seed=1)
        # Torch is given its index tensors ready made; native starts from the bare state.
        prepared = []
        for state in states:
            successors = [successor for _, successor in reference.candidates(state)]
            prepared.append(
                ([torch.from_numpy(rows) for rows in reference.batch(successors)], len(successors))
            )
        count = sum(size for _, size in prepared)
        torch_seconds = native_seconds = float("inf")
        difference = 0.0
        with torch.inference_mode():
            for _ in range(REPEATS):
                begin = time.process_time()
                torch_values = [network(rows, size, reference.num_objects).numpy() for rows, size in prepared]
                torch_seconds = min(torch_seconds, time.process_time() - begin)
                begin = time.process_time()
                native_values = [policy.values(state) for state in states]
                native_seconds = min(native_seconds, time.process_time() - begin)
        for ours, theirs in zip(native_values, torch_values, strict=True):
            difference = max(difference, float(np.abs(np.array([v for _, v in ours]) - theirs).max()))
        ratio = torch_seconds / native_seconds
        worst = min(worst, ratio)
        print(
            f"{domain + ' ' + name:<26} {count:>10} {torch_seconds / count * 1e3:9.3f} "
            f"{native_seconds / count * 1e3:9.3f} {ratio:6.1f} {difference:9.1e}"
        )
    print(f"least ratio {worst:.1f}, target {TARGET:.1f}")
    sys.exit(0 if worst >= TARGET else 1)


if __name__ == "__main__":
    main()
