"""ModelLab and its book: verdicts with evidence, faults, and deciders that lie."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest

from misstep._core import Decider, JaniGame, SafetyFuzzer
from misstep.bound import NEVER
from misstep.bundled.models import generate
from misstep.claim import Claim, Exhausted
from misstep.formats.jani import JaniTask
from misstep.lab import UnsoundClaim
from misstep.reference.evidence import Evidence
from misstep.reference.safety import check
from misstep.safety.certificate import make_certificate
from misstep.safety.evidence import Refutation, RefutationLine, Strategy, StrategyLine
from misstep.safety.lab import SAFE, KnownLine, ModelLab
from misstep.safety.model import SafetyTask
from misstep.safety.policy import function_policy


def line_task(**parameters: Any) -> SafetyTask:
    document = generate("two_way_line", **{"length": 6, "packages": 1, "random": False, **parameters})
    test = document["properties"][0]["expression"]
    return SafetyTask(
        JaniTask(json.dumps(document), "line", test["reach"], test["objective"]["goal"], None, None)
    )


def full_speed(state: dict[str, Any], applicable: tuple[str, ...]) -> str:
    return "accelerate" if "accelerate" in applicable else "coast"


def make_lab(**options: Any) -> ModelLab:
    task = line_task()
    game = task.game(function_policy(full_speed, task), horizon=options.get("horizon"))
    decider = options.pop("decider", Decider)(game)
    return ModelLab(task=task, game=game, decider=decider, name="level", **options)


def unsafe_run(lab: ModelLab) -> list[int]:
    end, run = SafetyFuzzer(lab.game, "greedy", seed=0).run(lab.game.initial()[0])
    assert end == "unsafe"
    for s, following in zip(reversed(run[:-1]), reversed(run), strict=False):
        lab.book.add_step(s, following)
    return run


def test_faults_are_the_last_chance() -> None:
    """Full speed ahead on a line of 6: the fault is the step after which braking comes too late."""
    lab = make_lab()
    run = unsafe_run(lab)
    verdicts = [lab.verdict(s) for s in run[:-1]]
    assert verdicts == sorted(verdicts)  # safe first, then never again
    assert (verdicts[0], verdicts[-1]) == ("safe", "unsafe")
    last = verdicts.index("unsafe") - 1
    faults = [lab.fault(s, following) for s, following in pairwise(run[: last + 2])]
    assert faults[:-1] == [None] * last
    fault = faults[-1]
    assert fault is not None and fault.alternative != fault.action
    assert lab.verdict(fault.outcome) == "unsafe"
    assert not lab.possible_faults
    # Staying safe means deviating from this policy again and again, too often for any finite radius.
    near = make_lab(radius=3)
    assert {near.verdict(s) for s in unsafe_run(near)[:-1]} == {"unsafe"}


def test_limits_make_possible_faults() -> None:
    lab = make_lab(max_expansions=0)
    run = unsafe_run(lab)
    assert [lab.fault(s, following) for s, following in pairwise(run)] == [None] * (len(run) - 1)
    assert lab.limits_hit == {"expansions"}
    assert lab.possible_faults  # its outcome is unsafe, the state itself undecided
    assert lab.claim(lab.state(run[0])) is None


def lines_of(claim: Claim[Any]) -> Sequence[StrategyLine | RefutationLine]:
    assert isinstance(claim.evidence, Strategy | Refutation)
    return claim.evidence.lines


def is_known(lab: ModelLab, line: StrategyLine | RefutationLine) -> bool:
    knows = lab.book.knows_answers if isinstance(line[2], list) else lab.book.knows_choice
    return knows(line[0], line[1])


@pytest.mark.parametrize("radius", [None, 0, 2])
@pytest.mark.parametrize("algorithm", ["level", "tarjan", "lao", "policy-iteration"])
def test_claims_are_certified(radius: int | None, algorithm: str) -> None:
    """Every state of the run with every decider: what the lab claims passes the trusted checker."""
    lab = make_lab(radius=radius, decider=lambda game: Decider(game, algorithm))
    model = json.loads(lab.task.files.model)
    lines, certificates = [lab.book.header], []
    for s in reversed(unsafe_run(lab)[:-1]):
        claim = lab.claim(lab.state(s))
        assert claim is not None
        assert not any(is_known(lab, line) for line in lines_of(claim))  # nothing is brought twice
        assert lab.enter(claim)
        if (block := lab.book.block()) is not None:
            lines.append(block)
        verdict = "bug" if lab.verdict(s) == "safe" else "cleared"
        certificates.append(make_certificate(lab.book, lab.task, lab.game, s, verdict=verdict))
        assert lab.best(lab.state(s)) == (SAFE if verdict == "bug" else NEVER)
    plain = json.loads(json.dumps({"lines": lines, "certificates": certificates}))
    evidence = Evidence(plain["lines"], model)
    assert [check(c, evidence).verdict for c in plain["certificates"]] == [c["verdict"] for c in certificates]
    states = [row for block in lines[1:] for row in block["states"]]
    assert len(states) == len({tuple(row) for row in states})  # each is written once


class Liar:
    """A decider that says the opposite, or brings evidence that proves nothing."""

    expanded = 0

    def __init__(self, game: JaniGame, change: Callable[[list[Any]], list[Any]]) -> None:
        self._honest, self._change = Decider(game), change

    def decide(self, s: int, radius: int | None, *, budget: Any = None) -> tuple[str, str | None, int, float]:
        return self._honest.decide(s, radius)

    def strategy(self, s: int, radius: int | None, known: KnownLine | None = None) -> list[Any]:
        return self._change(self._honest.strategy(s, radius, known))

    def refutation(self, s: int, radius: int | None, known: KnownLine | None = None) -> list[Any]:
        return self._change(self._honest.refutation(s, radius, known))


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[1:],
        lambda lines: lines[:-1],
        lambda lines: [],
        lambda lines: [(s, *rest[:-1], None if isinstance(rest[-1], int) else []) for s, *rest in lines],
        lambda lines: [
            (s, *rest[:-1], 99 if isinstance(rest[-1], int) else rest[-1]) for s, *rest in lines[1:]
        ],
    ],
)
def test_deciders_that_lie_are_found_out(change: Callable[[list[Any]], list[Any]]) -> None:
    lab, caught = make_lab(decider=lambda game: Liar(game, change)), 0
    for s in unsafe_run(lab)[:-1]:
        claim = lab.claim(lab.state(s))
        assert claim is not None
        if not lab.book.is_safe(s) and not lab.book.is_lost(s):
            with pytest.raises(UnsoundClaim, match="level"):
                lab.enter(claim)
            assert not lab.book.is_safe(s) and not lab.book.is_lost(s)
            caught += 1
    assert caught > 0


def test_unknown_evidence_is_refused() -> None:
    lab = make_lab()
    state = lab.state(lab.game.initial()[0])
    for bound, evidence in ((SAFE, Exhausted("astar", 3)), (NEVER, Strategy(()))):
        with pytest.raises(UnsoundClaim, match="not proven"):
            lab.enter(Claim(state, bound, evidence, "guess"))
