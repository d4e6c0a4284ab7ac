"""ASNets in PyTorch, straightforwardly: a loop over schemas and predicates with gathered inputs.

The check of the native gradients, and what native training is measured against.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from misstep.formats.asnet_model import AsnetModel
from misstep.policies.asnet import GroundNet


class LabelledState(NamedTuple):
    """A state as the network sees it."""

    net: GroundNet
    truth: NDArray[np.bool_]
    applicable: NDArray[np.bool_]
    good: Sequence[int]
    """Operators with a right answer; the first is the teacher's."""
    landmarks: NDArray[np.float32]
    """By operator three bits, or none where the network reads no landmarks."""


class TorchBatch:
    """Several states, possibly of different tasks, as one graph."""

    def __init__(self, states: Sequence[LabelledState]) -> None:
        import torch

        first = states[0].net
        num_schemas, num_predicates = len(first.slot_facts), len(first.predicate_slots)
        # Facts of all states in one list by predicate, operators by schema.
        fact_at = [np.zeros(len(s.net.fact_variables) + 1, dtype=np.int64) for s in states]
        op_at = [np.zeros(len(s.net.operators), dtype=np.int64) for s in states]
        self.fact_start, self.op_start = [0], [0]
        for p in range(num_predicates):
            self.fact_start.append(
                _number(fact_at, [s.net.predicate_start for s in states], p, self.fact_start[-1])
            )
        for a in range(num_schemas):
            self.op_start.append(_number(op_at, [s.net.schema_start for s in states], a, self.op_start[-1]))
        self.num_facts, self.num_ops = self.fact_start[-1], self.op_start[-1]
        for at in fact_at:
            at[-1] = self.num_facts  # -1 finds the row of minus ones
        truth = np.full(self.num_facts + 1, -1.0, dtype=np.float32)
        goal = truth.copy()
        own = np.zeros((self.num_ops, 1 + states[0].landmarks.shape[1]), dtype=np.float32)
        for s, facts, ops in zip(states, fact_at, op_at, strict=True):
            truth[facts[:-1]], goal[facts[:-1]] = s.truth, s.net.goal
            own[ops] = np.concatenate((s.applicable[:, None], s.landmarks), axis=1)
        self.slots, self.first_inputs = [], []
        for a in range(num_schemas):
            gathered = [at[s.net.slot_facts[a]] for s, at in zip(states, fact_at, strict=True)]
            slots = np.concatenate(gathered)
            mine = own[self.op_start[a] : self.op_start[a + 1]]
            self.slots.append(torch.from_numpy(slots))
            self.first_inputs.append(torch.from_numpy(np.concatenate((truth[slots], goal[slots], mine), 1)))
        self.pools = [
            [torch.from_numpy(self._members(p, schema, position)) for schema, position in slots]
            for p, slots in enumerate(first.predicate_slots)
        ]
        width = max(int(s.applicable.sum()) for s in states)
        competing = np.full((len(states), width), self.num_ops, dtype=np.int64)
        good = np.zeros((len(states), width), dtype=np.bool_)
        teacher = np.zeros((len(states), width), dtype=np.bool_)
        for row, (s, at) in enumerate(zip(states, op_at, strict=True)):
            ops = np.flatnonzero(s.applicable)
            competing[row, : len(ops)] = at[ops]
            good[row, : len(ops)] = np.isin(ops, s.good)
            teacher[row, : len(ops)] = ops == s.good[0]
        self.competing, self.good, self.teacher = map(torch.from_numpy, (competing, good, teacher))

    def _members(self, predicate: int, schema: int, position: int) -> NDArray[np.int64]:
        """By fact of a predicate its operators in a slot, padded with repetitions; num_ops where none."""
        begin, end = self.fact_start[predicate : predicate + 2]
        facts = self.slots[schema][:, position].numpy()
        ops = np.flatnonzero(facts < self.num_facts)
        ops = ops[np.argsort(facts[ops], kind="stable")]
        rows = facts[ops] - begin
        counts = np.bincount(rows, minlength=end - begin)
        starts = np.cumsum(counts) - counts
        padded = np.full((end - begin, max(1, int(counts.max(initial=1)))), self.num_ops, dtype=np.int64)
        some = counts > 0
        padded[some] = self.op_start[schema] + ops[starts[some]][:, None]
        padded[rows, np.arange(len(ops)) - starts[rows]] = self.op_start[schema] + ops
        return padded


def _number(at: list[NDArray[np.int64]], starts: list[NDArray[np.int32]], group: int, begin: int) -> int:
    for numbers, start in zip(at, starts, strict=True):
        count = int(start[group + 1] - start[group])
        numbers[start[group] : start[group + 1]] = np.arange(begin, begin + count)
        begin += count
    return begin


class TorchAsnet:
    """The network with parameters that PyTorch differentiates."""

    def __init__(self, model: AsnetModel, *, dropout: float = 0.0) -> None:
        import torch

        def leaf(array: NDArray[np.float32]) -> Any:
            return torch.tensor(array, requires_grad=True)

        self.hidden, self.dropout = model.hidden, dropout
        self.actions = [[tuple(map(leaf, module)) for module in layer] for layer in model.action_modules]
        self.predicates = [
            [tuple(map(leaf, module)) for module in layer] for layer in model.predicate_modules
        ]

    @property
    def parameters(self) -> list[Any]:
        """All weights and biases."""
        return [
            tensor for layer in (*self.actions, *self.predicates) for module in layer for tensor in module
        ]

    def scores(self, batch: TorchBatch) -> Any:
        """By state the scores of the competing operators, minus infinity where there are fewer."""
        import torch

        elu = torch.nn.functional.elu
        ops = torch.cat(
            [elu(x @ w + b) for x, (w, b) in zip(batch.first_inputs, self.actions[0], strict=True)]
        )
        facts = None
        missing = torch.full((1, self.hidden), -1.0)
        for layer, predicates in enumerate(self.predicates):
            padded = torch.cat((ops, missing))
            made = []
            for p, (weights, bias) in enumerate(predicates):
                begin, end = batch.fact_start[p : p + 2]
                parts = [padded[members].max(dim=1).values for members in batch.pools[p]]
                if facts is not None:
                    parts.append(facts[begin:end])
                inputs = torch.cat(parts, dim=1) if parts else torch.zeros((end - begin, 0))
                made.append(self._drop(elu(inputs @ weights + bias)))
            facts = torch.cat(made)
            padded = torch.cat((facts, missing))
            last = layer + 1 == len(self.predicates)
            made = []
            for a, (weights, bias) in enumerate(self.actions[layer + 1]):
                own = ops[batch.op_start[a] : batch.op_start[a + 1]]
                read = padded[batch.slots[a]].flatten(1)
                out = torch.cat((read, own), dim=1) @ weights + bias
                made.append(out if last else self._drop(elu(out)))
            ops = torch.cat(made)
        scores = torch.cat((ops[:, 0], torch.full((1,), -torch.inf)))
        return scores[batch.competing]

    def _drop(self, values: Any) -> Any:
        import torch

        return torch.nn.functional.dropout(values, self.dropout) if self.dropout > 0 else values

    def any_good_loss(self, batch: TorchBatch) -> Any:
        """Minus the logarithm of the summed probability of good operators, mean over states."""
        import torch

        scores = self.scores(batch)
        good = scores.masked_fill(~batch.good, -torch.inf)
        return (torch.logsumexp(scores, 1) - torch.logsumexp(good, 1)).mean()

    def all_good_loss(self, batch: TorchBatch) -> Any:
        """How far the probabilities are from all good operators being equally likely, mean over states.

        A state in which every operator is good has nothing to teach and counts 0.
        """
        import torch

        wanted = batch.good / batch.good.sum(1, keepdim=True)
        divergence = torch.nn.functional.kl_div(
            torch.log_softmax(self.scores(batch), dim=1), wanted, reduction="none"
        )
        real = batch.competing < batch.num_ops
        teaches = (real & ~batch.good).any(1)
        return (divergence.masked_fill(~batch.good, 0).sum(1) * teaches).mean()

    def teacher_loss(self, batch: TorchBatch) -> Any:
        """Sum of binary cross entropies with the teacher's operator as the right one, mean over states."""
        import torch

        share = torch.softmax(self.scores(batch), dim=1)
        right = torch.where(batch.teacher, share, 1 - share).clamp_min(1e-6)
        real = batch.competing < batch.num_ops
        return -(torch.log(right) * real).sum(1).mean()
