"""Untrained ASNets: the modules that a domain asks for, with random weights."""

from collections import Counter
from typing import Literal

import numpy as np

from misstep.formats.asnet_model import AsnetModel, Module, domain_hash, make_model
from misstep.pddl.view import PddlView
from misstep.training.asnet_config import AsnetConfig


def configured_model(
    view: PddlView, config: AsnetConfig, *, seed: int, number: int = 0, layers: int | None = None
) -> AsnetModel:
    """The network that the configuration asks for, as the run of this number begins; by default not a deeper one."""
    return initial_model(
        view,
        hidden=config.hidden,
        layers=config.layers if layers is None else layers,
        init=config.init,
        scale=config.init_scales[number % len(config.init_scales)],
        seed=seed,
        landmarks=config.landmarks,
    )


def initial_model(
    view: PddlView,
    *,
    hidden: int,
    layers: int,
    init: Literal["normal", "xavier"],
    seed: int,
    scale: float = 1.0,
    landmarks: bool = False,
) -> AsnetModel:
    """A network for the domain of a task.

    `normal`: weights and biases from N(0, 1), as the published policies began. `xavier`: weights even between
    plus and minus sqrt(6 / (inputs + outputs)), biases 0. With `landmarks` actions also read LM-cut's landmarks.
    """
    rng = np.random.default_rng(seed)

    def module(inputs: int, outputs: int) -> Module:
        if init == "normal":
            weights, bias = rng.normal(size=(inputs, outputs)), rng.normal(size=outputs)
        else:
            most = scale * (6 / (inputs + outputs)) ** 0.5
            weights, bias = rng.uniform(-most, most, (inputs, outputs)), np.zeros(outputs)
        return Module(weights.astype(np.float32), bias.astype(np.float32))

    uses = Counter(atom.predicate for schema in view.schemas for atom in schema.atoms)
    actions, predicates = {}, {}
    for layer in range(layers + 1):
        for index, schema in enumerate(view.schemas):
            slots = len(schema.atoms)
            inputs = 2 * slots + 1 + 3 * landmarks if layer == 0 else (slots + 1) * hidden
            actions[layer, index] = module(inputs, 1 if layer == layers else hidden)
    for layer in range(layers):
        for index in range(len(view.predicates)):
            predicates[layer, index] = module((uses[index] + (layer > 0)) * hidden, hidden)
    domain = view.problem.domain
    return make_model(
        "<untrained>",
        hidden=hidden,
        num_layers=layers,
        actions=[schema.name for schema in view.schemas],
        predicates=[predicate.name for predicate in view.predicates],
        action_arrays=actions,
        predicate_arrays=predicates,
        domain_name=domain.name,
        domain_hash=domain_hash(view.supertypes, domain.predicates, [each.name for each in view.schemas]),
    )
