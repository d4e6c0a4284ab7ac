"""The papers by name."""

from collections.abc import Callable

from misstep.campaign.coordinator import alone_in
from misstep.experiments.reproduce.biases import reproduce_biases
from misstep.experiments.reproduce.framework import reproduce_framework
from misstep.experiments.reproduce.oracles import reproduce_oracles
from misstep.experiments.reproduce.order import Order
from misstep.experiments.reproduce.result import Outcome
from misstep.experiments.reproduce.safety import reproduce_safety
from misstep.experiments.reproduce.training import reproduce_training

PAPERS: dict[str, Callable[[Order], Outcome]] = {
    "biases": reproduce_biases,
    "oracles": reproduce_oracles,
    "framework": reproduce_framework,
    "training": reproduce_training,
    "safety": reproduce_safety,
}


def reproduce(order: Order) -> Outcome:
    """Runs what is left of an order, and writes its tables and figures; InputError where somebody else does so."""
    with alone_in(order.out):
        return PAPERS[order.name](order)
