"""Every decider, every bug, fault and minimal radius against a plain solver: random games, and our own models.

`python -m benchmarks.safety_truth [GAMES] [MAX_STATES] [SEED]`, by default 20,000 games and all models of up
to 100,000 states. The models are read by the interpreter of the trusted checker and solved by
`misstep.testing.plain_games`; neither uses the native core. Random games become JANI models first, so that
the whole way is tested. The first difference ends it with exit code 1.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from misstep._core import Decider, JaniGame, SafetyFuzzer
from misstep.bundled.models import BUNDLED, INSTANCES, generate
from misstep.bundled.models.build import Builder, E
from misstep.formats.jani import JaniTask
from misstep.reference.jani_model import Jani
from misstep.safety.lab import ModelLab
from misstep.safety.model import SafetyTask
from misstep.safety.policy import function_policy, load_policy
from misstep.testing.plain_games import PlainGame

DECIDERS = ("level", "tarjan", "value-iteration", "lao", "lrtdp", "policy-iteration")
RADII = (None, 0, 1, 2)
CAP = 6
CONTROL = ("bouncing_ball", "follow_car", "cart_pole", "inverted_pendulum")
SAMPLE = 3000
"""States of a model that every decider is asked about; `level` is asked about all."""


@dataclass
class Compared:
    """What was compared so far."""

    counts: Counter[str] = field(default_factory=Counter)

    def same(self, what: str, ours: object, plain: object, where: str) -> None:
        self.counts[what] += 1
        if ours != plain:
            raise SystemExit(f"{where}: {what}: misstep says {ours}, the plain solver {plain}")


def read_plain(document: dict[str, Any], task: SafetyTask, game: JaniGame, limit: int) -> PlainGame | None:
    """The same model by the other interpreter, from all start states."""
    jani = Jani(json.loads(json.dumps(document)), {}, {})
    jani.fuel.rounds = 10**12
    unsafe = jani.condition(task.files.unsafe)
    goal = None if task.files.goal is None else jani.condition(task.files.goal)

    def outcomes(state: Any) -> list[tuple[str, Any]]:
        found = ((label, jani.outcomes(state, label)) for label in jani.labels)
        return [(label, after) for label, after in found if after]

    starts = [jani.read(task.state(game, s)) for s in task.start_states(game)]
    return PlainGame.explore(
        starts,
        outcomes,
        is_unsafe=unsafe,
        is_goal=lambda state: goal is not None and goal(state),
        max_states=limit,
    )


def compare(
    compared: Compared, document: dict[str, Any], policy: str | Sequence[str] | None, where: str, limit: int
) -> int | None:
    """Compares everything about one model; the number of its states, None where they are too many.

    The policy is a bundled one, a label for each state of a random game, or an arbitrary function.
    """
    test = document["properties"][0]["expression"]
    goal = test.get("objective", {}).get("goal")
    task = SafetyTask(JaniTask(json.dumps(document), where, test["reach"], goal, test.get("start"), None))
    if task.model.explore(max_states=limit)[0] > limit:
        return None
    chosen = load_policy(policy, task) if isinstance(policy, str) else _table_policy(task, policy)
    game = task.game(chosen)
    plain = read_plain(document, task, game, limit)
    if plain is None:
        return None
    names = task.shown_fields
    numbers = [game.add(task.to_values(dict(zip(names, state, strict=True)))) for state in plain.states]
    labels: list[str | None] = []
    for s, moves in zip(numbers, plain.moves, strict=True):
        label = game.chosen(s) if moves else None
        labels.append(None if label is None else task.labels[label])
    lost, counted = plain.needed(None, cap=1), plain.needed(labels, cap=CAP)
    failing = plain.can_fail(labels)
    places = np.random.default_rng(0).permutation(len(numbers))[:SAMPLE]
    for name in DECIDERS:
        decider = Decider(game, name)
        for i in range(len(numbers)) if name == "level" else places:
            for radius in RADII:
                truth = "unsafe" if (lost[i] if radius is None else counted[i] > radius) else "safe"
                about = f"{where}, {name}, radius {radius}, {plain.states[i]}"
                compared.same("decisions", decider.decide(numbers[i], radius)[0], truth, about)
        for i in places[:300]:
            least = None if lost[i] or counted[i] >= CAP else int(counted[i])
            compared.same("minimal radii", decider.minimal_radius(numbers[i], most=CAP - 1), least, where)
    _compare_faults(compared, task, game, plain, numbers, labels, lost, counted, failing, where)
    return len(numbers)


def _compare_faults(
    compared: Compared,
    task: SafetyTask,
    game: JaniGame,
    plain: PlainGame,
    numbers: Sequence[int],
    labels: Sequence[str | None],
    lost: Any,
    counted: Any,
    failing: Any,
    where: str,
) -> None:
    """Bugs and faults in every state in which the policy has a move, and whether the alternative is safe."""
    fuzzer = SafetyFuzzer(game, "sampling", depth=1, max_steps=100, seed=0)
    for radius in (None, 1):
        lab = ModelLab(task=task, game=game, decider=Decider(game, "level"), radius=radius)
        value, most = (lost, 0) if radius is None else (counted, radius)
        for i, s in enumerate(numbers):
            after = dict(plain.moves[i]).get(labels[i] or "")
            if after is None:
                continue
            about = f"{where}, radius {radius}, {plain.states[i]}"
            safe = bool(value[i] <= most)
            if fuzzer.run(s)[0] == "unsafe":
                compared.same("bugs", lab.verdict(s) == "safe", bool(failing[i]) and safe, about)
            fault = lab.fault(s, numbers[after[0]])
            compared.same("faults", fault is not None, safe and any(value[t] > most for t in after), about)
            if fault is not None:
                better = task.labels[fault.alternative]
                price = int(radius is not None and better != labels[i])
                worst = max(value[t] for t in dict(plain.moves[i])[better]) + price
                compared.same("alternatives", bool(worst <= most), True, about)


def _table_policy(task: SafetyTask, chosen: Sequence[str] | None) -> Any:
    if chosen is not None:
        return function_policy(lambda state, labels: chosen[int(state["s"])] or None, task)

    def arbitrary(state: dict[str, Any], labels: tuple[str, ...]) -> str:
        return labels[sum(int(value) * (i + 3) for i, value in enumerate(state.values())) % len(labels)]

    return function_policy(arbitrary, task)


def random_document(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    """At most nine states: cycles, dead ends, unsafe goals and dead ends, policies that choose in vain."""
    size, width = rng.randint(2, 9), rng.choice((1, 2, 3))
    share, dead = rng.choice((0.05, 0.15, 0.3)), rng.choice((0.0, 0.1))
    b = Builder("random")
    s = b.integer("s", 0, size - 1, 0)
    chosen = []
    for label in "abcd":
        b.edge(label, E(False), {"s": 0})  # every label exists
    for k in range(size):
        labels = rng.sample("abcd", 0 if rng.random() < dead else rng.randint(1, 3))
        for label in labels:
            for _ in range(rng.choice((1, 1, 2))):
                b.edge(label, s == k, *({"s": rng.randrange(size)} for _ in range(rng.randint(1, width))))
        chosen.append(rng.choice((*labels, *labels, "d", "")) if labels else "")
    bad = [k for k in range(size) if rng.random() < share]
    good = [k for k in range(size) if rng.random() < 0.1]
    starts = [{"s": k} for k in range(size)]
    return b.document(unsafe=_any(s, bad), goal=_any(s, good), starts=starts), chosen


def _any(s: E, values: Sequence[int]) -> E:
    found = E(False)
    for value in values:
        found = found | (s == value)
    return found


def main(games: int, limit: int, seed: int) -> None:
    rng, compared, begin = random.Random(seed), Compared(), time.perf_counter()
    for number in range(games):
        document, chosen = random_document(rng)
        compare(compared, document, chosen, f"game {number} of seed {seed}", 10)
        assert compared.counts["decisions"] > number, "every game has states to decide about"
        if (number + 1) % 1000 == 0 or number + 1 == games:
            what = f"{number + 1} random games of seed {seed}: {dict(compared.counts)}"
            print(f"{what}, {time.perf_counter() - begin:.0f} s", flush=True)
    for name, (domain, parameters) in INSTANCES.items():
        compared, begin = Compared(), time.perf_counter()
        # Real values hardly ever repeat: few steps, or there is no end to them.
        steps = {"steps": 8} if domain in CONTROL else {}
        document = generate(domain, **parameters, **steps)
        states = compare(compared, document, f"zoo:{name}" if name in BUNDLED else None, name, limit)
        what = "too large" if states is None else f"{states} states, {dict(compared.counts)}"
        print(f"{name}: {what}, {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*given, *(20_000, 100_000, 0)[len(given) :])
