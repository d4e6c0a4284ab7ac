"""Damaged models, properties, networks and certificates end in errors that say where, never in a crash."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from misstep._core import Budget, Decider, SafetyFuzzer
from misstep.bundled.models import BUNDLED, generate
from misstep.errors import MisstepError
from misstep.reference.checked import Refused
from misstep.reference.evidence import QUESTION
from misstep.safety.certificate import make_certificate
from misstep.safety.lab import ModelLab
from misstep.safety.model import SafetyTask, Semantics
from misstep.safety.policy import function_policy, load_policy, zoo_file
from tests.property.tampering import places
from tests.unit.reference_model import check_proof, resigned

MUTATIONS = max(10, int(os.environ.get("MISSTEP_RANDOM_TASKS", "2000")) // 100)
SEED = int(os.environ.get("MISSTEP_RANDOM_SEED", "0"))
GARBAGE: list[Any] = [
    None,
    True,
    -1,
    3,
    10**19,
    0.5,
    1e300,
    "",
    "position",
    "no such name",
    [],
    {},
    [[]],
    {"op": "aa"},
    {"op": "nondet", "var": "n", "exp": True},
    {"op": "call", "function": "f", "args": []},
    {"op": "/", "left": 1, "right": 0},
    {"kind": "bounded", "base": "real", "lower-bound": 0, "upper-bound": 1},
    {"kind": "array", "base": "int"},
]


def mutate(document: Any, rng: random.Random) -> Any:
    """One to three small damages: something deleted, replaced, doubled, or put in another place."""
    result = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 2, 3))):
        known = places(result)
        if not known:
            break
        container, key = rng.choice(known)
        kind = rng.random()
        if kind < 0.25:
            del container[key]
        elif kind < 0.65:
            container[key] = copy.deepcopy(rng.choice(GARBAGE))
        elif kind < 0.85:
            other, at = rng.choice(known)
            container[key] = copy.deepcopy(other[at])
        elif isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            container[f"{key}-"] = container.pop(key)
    return result


def use(model: Path, policy: str | None, **options: Any) -> None:
    """What the commands do with the files, in small."""
    task = SafetyTask.load(model, semantics=Semantics(box_points=2, ignore_rates=True), **options)
    game = task.game(None if policy is None else load_policy(policy, task), horizon=20)
    starts = task.start_states(game, count=3)
    fuzzer = SafetyFuzzer(game, "greedy", depth=2, max_steps=10, max_lookahead=50, seed=1)
    for start in starts[:3]:
        fuzzer.run(start)
        Decider(game).decide(start, 1, budget=Budget(expansions=30))


def trial(action: Callable[[], None]) -> bool:
    """Whether it went through; any error that is not ours goes up."""
    try:
        action()
    except MisstepError as error:
        assert str(error).strip()
        return False
    return True


@pytest.mark.parametrize("name", list(BUNDLED))
def test_damaged_models(name: str, tmp_path: Path) -> None:
    rng = random.Random(f"{SEED} {name}")
    document, file = generate(name), tmp_path / "model.jani"
    passed = 0
    for _ in range(MUTATIONS):
        file.write_text(json.dumps(mutate(document, rng)), encoding="utf-8")
        passed += trial(lambda: use(file, f"zoo:{name}"))
    assert passed < MUTATIONS


@pytest.mark.parametrize(
    "name", ["qcomp/consensus.2", "qcomp/ij.3", "unit/for_succ_gen", "unit/for_nn_sat", "qcomp/cdrive.2"]
)
def test_damaged_published_models(name: str, data: Path, tmp_path: Path) -> None:
    rng = random.Random(f"{SEED} {name}")
    document = json.loads((data / "jani" / f"{name}.jani").read_text(encoding="utf-8-sig"))
    file, constants = tmp_path / "model.jani", {"K": 2} if "consensus" in name else {}
    for _ in range(MUTATIONS):
        damaged = mutate(document, rng)
        file.write_text(json.dumps(damaged), encoding="utf-8")
        trial(lambda: use(file, None, unsafe='{"op": "=", "left": 1, "right": 2}', constants=constants))


def test_damaged_property_files(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    model = generate("two_way_line", length=5, packages=1)
    properties = {"properties": model.pop("properties")}
    start = {
        "op": "states-values",
        "values": [{"locations": [], "variables": [{"var": "position", "value": 1}]}],
    }
    properties["properties"][0]["expression"]["start"] = start
    file, extra = tmp_path / "model.jani", tmp_path / "properties.jani"
    file.write_text(json.dumps(model), encoding="utf-8")
    for _ in range(2 * MUTATIONS):
        extra.write_text(json.dumps(mutate(properties, rng)), encoding="utf-8")
        trial(lambda: use(file, None, properties=extra))


def test_damaged_interfaces_and_networks(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    model = tmp_path / "model.jani"
    model.write_text(json.dumps(generate("two_way_line")), encoding="utf-8")
    interface = json.loads(zoo_file("two_way_line").read_text(encoding="utf-8"))
    network = zoo_file("two_way_line").with_suffix(".nnet").read_text(encoding="utf-8")
    leaf = {"leaf_value": [0.0] * len(interface["output"])}
    split = {"feat_id": 0, "split_value": 3, "lt": leaf, "gt": leaf}
    trees = {"base_scores": [0.0] * len(interface["output"]), "trees": [split, leaf]}
    file, net, ensemble = tmp_path / "p.jani2nnet", tmp_path / interface["file"], tmp_path / "trees.json"
    for number in range(2 * MUTATIONS):
        damaged = [interface, network, trees]
        part = number % 3
        if part == 1:
            at = rng.randrange(len(network))
            cut = network[at + rng.randint(0, 30) :]
            damaged[1] = network[:at] + rng.choice(["", "nan", "1e999", ",", "\n", "x", "\0", "é"]) + cut
        else:
            damaged[part] = mutate(damaged[part], rng)
        if part == 2:
            damaged[0] = {**interface, "file": ensemble.name}
        file.write_text(json.dumps(damaged[0]), encoding="utf-8")
        net.write_text(str(damaged[1]), encoding="utf-8")
        ensemble.write_text(json.dumps(damaged[2]), encoding="utf-8")
        trial(lambda: use(model, f"nnet:{file}"))


@pytest.mark.parametrize("radius", [None, 1])
def test_damaged_certificates_prove_nothing_or_the_same(radius: int | None, tmp_path: Path) -> None:
    """A damaged certificate or evidence with new digests is refused, or what is claimed is still true."""
    rng = random.Random(f"{SEED} {radius}")
    file = tmp_path / "model.jani"
    document = generate("two_way_line", length=6, packages=1)
    file.write_text(json.dumps(document), encoding="utf-8")
    task = SafetyTask.load(file)
    game = task.game(function_policy(lambda _, labels: labels[0], task))
    decider = Decider(game)
    accepted = 0
    for start in task.start_states(game)[5:9]:
        lab = ModelLab(task=task, game=game, decider=decider, radius=radius)
        claim = lab.claim(lab.state(start))
        assert claim is not None and lab.enter(claim)
        verdict = "safe" if lab.verdict(start) == "safe" else "cleared"
        evidence = [lab.book.header, lab.book.block()]
        certificate = make_certificate(lab.book, task, game, start, verdict=verdict)
        proof = json.loads(json.dumps({"certificate": certificate, "evidence": evidence}))
        assert check_proof(proof, document).verdict == verdict
        for _ in range(MUTATIONS):
            damaged = mutate(proof, rng)
            if not isinstance(damaged.get("evidence"), list) or "certificate" not in damaged:
                continue
            if damaged != proof:
                with pytest.raises(Refused):
                    check_proof(damaged, document)
            damaged = resigned(damaged)
            try:
                found = check_proof(damaged, document)
            except Refused:
                continue
            accepted += 1
            same = all(damaged["certificate"][key] == certificate[key] for key in QUESTION)
            if same and damaged["evidence"][1]["decisions"] == proof["evidence"][1]["decisions"]:
                s = game.add(task.to_values(damaged["certificate"]["state"]))
                assert (decider.decide(s, radius)[0] == "safe") == (found.verdict == "safe")
    assert accepted < 4 * MUTATIONS
