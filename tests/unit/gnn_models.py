"""Small random networks and tasks for tests, so that no published data is needed."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tests.unit.torch_file import write_checkpoint

DOMAIN = """
(define (domain ferry)
  (:requirements :strips :typing :negative-preconditions)
  (:types place car)
  (:predicates (at-ferry ?p - place) (at ?c - car ?p - place) (on ?c - car) (empty) (linked ?a ?b - place)
               (between ?a ?b ?c - place))
  (:action sail :parameters (?from ?to - place)
    :precondition (and (at-ferry ?from) (linked ?from ?to))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))
  (:action board :parameters (?c - car ?p - place)
    :precondition (and (at ?c ?p) (at-ferry ?p) (empty))
    :effect (and (on ?c) (not (at ?c ?p)) (not (empty))))
  (:action debark :parameters (?c - car ?p - place)
    :precondition (and (on ?c) (at-ferry ?p))
    :effect (and (at ?c ?p) (empty) (not (on ?c)))))
"""

# From b the ferry may sail to b; d has no link to itself and nobody is ever there.
PROBLEM = """
(define (problem small) (:domain ferry)
  (:objects a b c d - place k l m - car)
  (:init (at-ferry a) (at k a) (at l a) (at m b) (empty) (between a b c)
         (linked a b) (linked b a) (linked b c) (linked c b) (linked b b))
  (:goal (and (at k c) (at l b) (at m b) (at-ferry a))))
"""

PREDICATES = [("linked", 2), ("empty", 0), ("at", 2), ("between", 3), ("on", 1), ("at-ferry", 1)]


def ferry(folder: Path) -> tuple[Path, Path]:
    """Domain and problem file."""
    domain, problem = folder / "domain.pddl", folder / "problem.pddl"
    domain.write_text(DOMAIN)
    problem.write_text(PROBLEM)
    return domain, problem


def random_checkpoint(
    path: Path,
    *,
    seed: int = 1,
    hidden: int = 16,
    iterations: int = 5,
    predicates: list[tuple[str, int]] = PREDICATES,
    solvable: bool = True,
    scale: float = 1.0,
    options: Mapping[str, object] = {},
    tensors: Mapping[str, np.ndarray | None] = {},
) -> Path:
    """Writes a network with random weights; `tensors` replaces some, or leaves them out."""
    chance = np.random.default_rng(seed)
    both = [*predicates, *((name + "_goal", arity) for name, arity in predicates)]
    state: dict[str, np.ndarray] = {"model.dummy": np.zeros(0)}

    def mlp(prefix: str, first: int, middle: int, last: int) -> None:
        for layer, inputs, outputs in ((0, first, middle), (2, middle, last)):
            spread = scale / np.sqrt(inputs)
            state[f"{prefix}.{layer}.weight"] = chance.uniform(-spread, spread, (outputs, inputs)) * 2
            state[f"{prefix}.{layer}.bias"] = chance.uniform(-spread, spread, outputs)

    for at, (_, arity) in enumerate(both):
        if arity:
            mlp(f"model.relation_network.relation_modules.{at}", *[arity * hidden] * 3)
    mlp("model.relation_network.update", 2 * hidden, 2 * hidden, hidden)
    for head in ("readout", "solvable_readout") if solvable else ("readout",):
        mlp(f"{head}.pre", hidden, hidden, hidden)
        mlp(f"{head}.post", hidden, hidden, 1)
    state = {key: array for key, array in (state | dict(tensors)).items() if array is not None}
    parameters = {"predicates": both, "hidden_size": hidden, "iterations": iterations, **options}
    return write_checkpoint(path, {"epoch": 3, "state_dict": state, "hyper_parameters": parameters})
