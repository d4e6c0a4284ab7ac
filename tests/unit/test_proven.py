"""The oracles `abstraction`, `dead-ends`, `greedy` and `planner` on a small task, and lazy greedy search."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from misstep import _core as core
from misstep._core import PolicyGraph
from misstep.api import make_session
from misstep.bound import NEVER, Bound
from misstep.claim import Claim, plan_claim
from misstep.config import Config
from misstep.errors import InputError
from misstep.lab import Lab, UnsoundClaim
from misstep.oracle import Case, make_oracles, open_case
from misstep.oracles.planner import Planner
from misstep.oracles.proven import AbstractionBound, BoundGreedy
from misstep.pool import PoolEntry
from misstep.proof import ProofLog, Prover, Surrounded
from misstep.record.record import ANSWERS, CLEARED, EVENTS, EVIDENCE, Record
from misstep.record.verify import verify_record
from misstep.reference import fdr
from misstep.reference.bits import BitTask
from misstep.reference.frontier import frontier_bound
from misstep.reference.functions import Functions
from misstep.reference.packing import unpacked_lines
from misstep.session import Session
from misstep.task import Task
from misstep.testing.random_tasks import to_sas
from tests.unit.core_tasks import DELIVERY, counter, delivery

BROKEN = (0, 0, 1, 0)


BEST = {(0, 0): "(load parcel a)", (0, 2): "(drive lorry a b)", (1, 2): "(unload parcel b)"}


def best_course(states: core.StateBatch) -> list[core.Action | None]:
    """What is optimal where the lorry is whole."""
    task = cast(Task, states.task)
    places = [(state.values[0], state.values[1]) for state in states]
    return [
        task.action(BEST[place]) if state.values[3] else None
        for place, state in zip(places, states, strict=True)
    ]


def bound_by(oracle: str, values: fdr.State) -> float | None:
    """What the oracle claims of a state, after the checker agreed."""
    task = Task(delivery().sas)
    lab = Lab(task=task, graph=PolicyGraph(task, best_course))
    state = task.state_from_values(values)
    run = lab.run([state])[0]
    (part,) = make_oracles([oracle])
    claims = list(part.bind(lab).claims(open_case(lab, PoolEntry(id=0, state=state), run)))
    proofs = [claim for claim in claims if isinstance(claim.evidence, Surrounded)]
    if not proofs:
        return None
    evidence = proofs[0].evidence
    assert isinstance(evidence, Surrounded)
    functions = Functions(BitTask(DELIVERY), evidence.lines().values())
    assert frontier_bound(values, evidence.as_json(proofs[0].bound), functions) == proofs[0].bound.lo
    return proofs[0].bound.lo


@pytest.mark.parametrize("oracle", ["abstraction", "planner"])
def test_what_is_optimal_is_cleared(oracle: str) -> None:
    assert bound_by(oracle, DELIVERY.initial) == 4


@pytest.mark.parametrize("oracle", ["abstraction", "dead-ends", "greedy", "planner"])
def test_dead_ends_are_proven(oracle: str) -> None:
    # The abstraction does not speak of states that cannot be reached from the initial one.
    assert bound_by(oracle, BROKEN) == (None if oracle == "abstraction" else math.inf)


@pytest.mark.parametrize("oracle", ["dead-ends", "greedy"])
def test_solved_states_are_left_alone(oracle: str) -> None:
    assert bound_by(oracle, DELIVERY.initial) is None


def test_an_invariant_serves_other_states() -> None:
    task = delivery()
    prover = Prover(task)
    first = prover.dead_end(task.state_from_values(BROKEN))
    second = prover.dead_end(task.state_from_values((0, 2, 0, 0)))
    assert first is not None and second is not None
    assert first.functions == second.functions
    assert prover.dead_end(task.initial_state) is None


# One coin for two things; whether the lamp is lit does not matter.
ONE_COIN = fdr.Task(
    facts=(("(coin)", None), ("(bread)", None), ("(milk)", None), ("(lit)", "(not (lit))")),
    initial=(0, 1, 1, 1),
    goal={1: 0, 2: 0},
    actions=(
        fdr.Action("(buy bread)", {0: 0}, {0: 1, 1: 0}, 1),
        fdr.Action("(buy milk)", {0: 0}, {0: 1, 2: 0}, 1),
        fdr.Action("(light)", {3: 1}, {3: 0}, 0),
        fdr.Action("(darken)", {3: 0}, {3: 1}, 0),
    ),
)


@pytest.mark.parametrize("failing", ["true", "false"])
def test_undo_leaves_solved_states_alone_where_it_is_told_so(failing: str) -> None:
    """Driving there and back again is undone; the plan of the initial state serves both states."""
    task = Task(delivery().sas)
    away = task.apply(task.initial_state, task.action("(drive lorry a b)"))
    walk = (task.action("(drive lorry a b)"),)

    def solves(states: core.StateBatch) -> list[core.Action | None]:
        names = {(1, 0): "(drive lorry b a)", **BEST}
        return [task.action(names[state.values[0], state.values[1]]) for state in states]

    for policy, is_solved in ((solves, True), (lambda states: [None] * len(states), False)):
        lab = Lab(task=task, graph=PolicyGraph(task, policy))
        entries = [
            PoolEntry(id=0, state=task.initial_state),
            PoolEntry(id=1, state=away, parent=0, walk=walk),
        ]
        lab.add_to_pool(entries)
        case = open_case(lab, entries[1], lab.run([away])[0])
        assert (case.run.outcome == "solved") == is_solved
        (part,) = make_oracles([f"undo:failing={failing}"])
        claims = [claim.bound.hi for claim in part.bind(lab).claims(case)]
        assert len(claims) == (0 if is_solved and failing == "true" else 1)


def test_a_region_serves_other_states() -> None:
    task = core.Task(to_sas(ONE_COIN))
    prover = Prover(task)
    lit = task.state_from_values((0, 1, 1, 0))
    assert prover.known_dead_end(lit) is None
    first = prover.frontier(core.search(task, "astar:hmax", keep_frontier=True))
    second = prover.known_dead_end(lit)
    assert first is not None and second is not None and first.functions == second.functions
    functions = Functions(BitTask(ONE_COIN), second.lines().values())
    assert frontier_bound((0, 1, 1, 0), second.as_json(NEVER), functions) == math.inf


def delivery_lab() -> Lab:
    task = Task(delivery().sas)
    return Lab(task=task, graph=PolicyGraph(task, best_course))


def stuck(states: core.StateBatch) -> list[core.Action | None]:
    """Does nothing anywhere."""
    return [None] * len(states)


def course(lab: Lab) -> list[PoolEntry]:
    """The states of the best course but for the goal, as a pool."""
    states = [lab.task.initial_state]
    for name in ("(load parcel a)", "(drive lorry a b)"):
        states.append(lab.task.apply(states[-1], lab.task.action(name)))
    return [PoolEntry(id=number, state=state) for number, state in enumerate(states)]


def test_costs_of_states_on_the_way_are_kept() -> None:
    task = Task(delivery().sas)
    lab = Lab(task=task, graph=PolicyGraph(task, stuck))
    pool = course(lab)
    lab.add_to_pool(pool)
    (part,) = make_oracles(["planner"])
    run = lab.run([pool[0].state])[0]
    for claim in part.bind(lab).claims(open_case(lab, pool[0], run)):
        lab.enter(claim)
    assert [lab.best(entry.state) for entry in pool] == [Bound(4, 4), Bound(3, 3), Bound(0, 0)]
    proven = lab.lower(pool[1].state)
    assert proven is not None and isinstance(proven.evidence, Surrounded)
    functions = Functions(BitTask(DELIVERY), proven.evidence.lines().values())
    values = tuple(pool[1].state.values)
    assert frontier_bound(values, proven.evidence.as_json(proven.bound), functions) == 3


def test_the_rest_of_a_best_course_is_cleared_with_it(tmp_path: Path) -> None:
    lab, file = delivery_lab(), tmp_path / "pool.jsonl"
    file.write_text("".join(json.dumps({"facts": entry.state.facts}) + "\n" for entry in course(lab)))
    session = make_session(lab.task, best_course, oracle=OnlyTheFirst(), pool_file=file, recheck=False)
    for _ in session.events():
        pass
    assert [event.verdict for event in session.tally.judged.values()] == ["cleared"] * 3
    found = verify_record(session.record)
    assert found.valid == 3 and not found.by_search and found.is_sound


class OnlyTheFirst:
    """A planner that says nothing but of the first state."""

    name = "only-the-first"

    def bind(self, lab: Lab, /) -> OnlyTheFirst:
        self.planner = make_oracles(["planner"])[0].bind(lab)
        return self

    def claims(self, case: Case, /) -> Iterable[Claim[core.State]]:
        return self.planner.claims(case) if case.id == 0 else ()


def test_greedy_takes_up_plans_that_the_run_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(delivery().sas)

    def only_drives(states: core.StateBatch) -> list[core.Action | None]:
        towns = ("(drive lorry a b)", "(drive lorry b a)")
        return [task.action(towns[state.values[0]]) for state in states]

    lab = Lab(task=task, graph=PolicyGraph(task, only_drives))
    entry = PoolEntry(id=0, state=task.initial_state)
    case = open_case(lab, entry, lab.run([entry.state])[0])
    assert case.run.outcome == "loop"
    plan = ("(drive lorry b a)", "(load parcel a)", "(drive lorry a b)", "(unload parcel b)")
    lab.enter(plan_claim(case.run.states[1], [task.action(name) for name in plan], "somebody"))
    monkeypatch.setattr(BoundGreedy, "_search", None)
    (claim,) = make_oracles(["greedy"])[0].bind(lab).claims(case)
    assert claim.bound.hi == 4  # the way there and back is left out


def test_greedy_searches_from_where_the_run_looks_best() -> None:
    task = Task(counter(6).sas)

    def all_but_one(states: core.StateBatch) -> list[core.Action | None]:
        left = [[bit for bit in range(5) if not state.values[bit]] for state in states]
        return [task.action(f"(switch {bits[0]})") if bits else None for bits in left]

    lab = Lab(task=task, graph=PolicyGraph(task, all_but_one))
    entry = PoolEntry(id=0, state=task.initial_state)
    case = open_case(lab, entry, lab.run([entry.state])[0])
    assert case.run.outcome == "stuck"
    effort = 2 * (len(task.actions) + 1)  # two expansions
    assert core.search(task, "lazy:ff", budget=core.Budget(expansions=2)).outcome == "limit"
    (claim,) = make_oracles([f"greedy:effort={effort}"])[0].bind(lab).claims(case)
    assert claim.bound.hi == 6


def test_proofs_are_written_once_and_read_again() -> None:
    lab, again, lines = delivery_lab(), delivery_lab(), list[Mapping[str, Any]]()
    lab.proofs = ProofLog(lines.append)
    prover, start = Prover(lab.task), lab.task.initial_state
    searched = prover.frontier(core.search(lab.task, "astar:lmcut", keep_frontier=True))
    dead = prover.frontier(
        core.search(lab.task, "astar:hmax", state=lab.task.state_from_values(BROKEN), keep_frontier=True)
    )
    assert searched is not None and dead is not None
    claims = [
        Claim(start, Bound(searched.bound), searched, "frontier"),
        Claim(lab.task.state_from_values(BROKEN), NEVER, dead, "greedy"),
        Claim(start, Bound(searched.bound), searched, "frontier"),
    ]
    written = [json.loads(json.dumps(lab.write_claim(claim))) for claim in claims]
    assert len(lines) == 2  # the third one needs no other proof
    again.proofs = ProofLog(lines.append)
    again.proofs.take_in(json.loads(json.dumps(lines)))
    for claim, line in zip(claims, written, strict=True):
        read = again.read_claim(line)
        assert (read.state.values, read.bound, read.oracle) == (claim.state.values, claim.bound, claim.oracle)
        assert isinstance(read.evidence, Surrounded) and isinstance(claim.evidence, Surrounded)
        assert read.evidence.lines() == claim.evidence.lines()
        assert read.evidence.as_json(read.bound) == claim.evidence.as_json(claim.bound)
        again.write_claim(read)
    assert len(lines) == 2
    further = prover.looked_up(core.Abstraction(lab.task), start)
    assert further is not None
    again.proofs.keep(further)
    functions = Functions(BitTask(DELIVERY), unpacked_lines(lines))  # old numbers and new ones are no others
    for state, proof in ((start, searched), (lab.task.state_from_values(BROKEN), dead), (start, further)):
        values = tuple(state.values)
        assert frontier_bound(values, proof.as_json(Bound(proof.bound)), functions) == proof.bound


def test_no_more_is_claimed_than_is_proven() -> None:
    lab = delivery_lab()
    proof = Prover(lab.task).frontier(core.search(lab.task, "astar:lmcut", keep_frontier=True))
    assert proof is not None and proof.bound == 4
    with pytest.raises(UnsoundClaim, match="frontier proves"):
        lab.enter(Claim(lab.task.initial_state, Bound(5), proof, "frontier"))


def test_certificates_rest_on_the_evidence_of_the_record() -> None:
    config = Config(policy="object:test", pool=5, oracle=("abstraction",), recheck=False)
    session = Session(config, task=Task(delivery().sas), policy=best_course)
    for _ in session.events():
        pass
    record = session.record
    names = [line["name"] for line in unpacked_lines(record.store.lines(EVIDENCE))]
    assert names and len(set(names)) == len(names)
    found = verify_record(record)
    assert found.valid and not found.invalid and not found.by_search
    record.store.cut(EVIDENCE, 0)
    assert any("the evidence has no" in each["reason"] for each in verify_record(record).invalid)


def test_answers_whose_proof_is_lost_are_found_out_again(tmp_path: Path) -> None:
    """After a power failure the disk may have what oracles said, and not the proofs."""
    config = Config(policy="object:test", pool=12, oracle=("abstraction+planner",), recheck=False)

    def tested(record: Record, *, resume: bool) -> None:
        session = Session(config, task=Task(delivery().sas), policy=best_course, record=record, resume=resume)
        for _ in session.events():
            pass
        record.close()

    whole, lost = tmp_path / "whole", tmp_path / "lost"
    tested(Record.create(whole), resume=False)
    names = (EVENTS, CLEARED, EVIDENCE, ANSWERS)
    lines = {name: (whole / name).read_bytes().splitlines(keepends=True) for name in names}
    proofs = len(lines[EVIDENCE])
    assert proofs > 1 and all(len(lines[name]) > 1 for name in names)
    for kept in range(proofs):
        shutil.copytree(whole, lost)
        (lost / EVIDENCE).write_bytes(b"".join(lines[EVIDENCE][:kept]) + lines[EVIDENCE][kept][:-9])
        (lost / EVENTS).write_bytes(lines[EVENTS][0])
        (lost / CLEARED).unlink()
        tested(Record.open(lost), resume=True)
        for name in (EVIDENCE, ANSWERS):
            assert (lost / name).read_bytes() == (whole / name).read_bytes()
        assert verify_record(Record.open(lost)).is_sound
        shutil.rmtree(lost)


@pytest.mark.parametrize(
    "damage",
    [
        {"effort": None},
        {"claims": 3.5},
        {"claims": [3]},
        {"limits_hit": [[]]},
        {"claims": [{"state": 7, "oracle": "x"}]},
        {"claims": [{"state": [], "oracle": "x", "plan": [None]}]},
        {"claims": [{"state": ["(lorry-at a)"], "oracle": "x", "kind": "frontier", "bound": 1}]},
    ],
)
def test_damaged_answers_are_named(tmp_path: Path, damage: dict[str, Any]) -> None:
    config = Config(policy="object:test", pool=5, oracle=("abstraction",), recheck=False)
    task = Task(delivery().sas)
    record = Record.create(tmp_path / "record")
    for _ in Session(config, task=task, policy=best_course, record=record).events():
        pass
    record.close()
    first, *rest = (tmp_path / "record" / ANSWERS).read_text().splitlines()
    changed = json.dumps({**json.loads(first), **damage})
    (tmp_path / "record" / ANSWERS).write_text("".join(f"{line}\n" for line in [changed, *rest]))
    again = Session(config, task=task, policy=best_course, resume=True)
    again.record = Record.open(tmp_path / "record")
    with pytest.raises(InputError):
        for _ in again.events():
            pass
    again.record.close()


def test_a_search_without_frontier_proves_nothing() -> None:
    task = delivery()
    assert core.search(task, "astar:lmcut").frontier is None
    assert Prover(task).frontier(core.search(task, "astar:lmcut")) is None


def test_limits_leave_several_factors() -> None:
    task = counter(12)
    whole, parts = core.Abstraction(task, max_states=5000), core.Abstraction(task, max_transitions=30)
    assert whole(task.initial_state) == 12 and len(whole.sizes) == 1
    assert 0 < parts(task.initial_state) <= 12 and len(parts.sizes) > 1


@pytest.mark.parametrize("order", ["newest", "smallest", "one-by-one"])
def test_orders_of_merging(order: str) -> None:
    task = counter(6)
    abstraction = core.Abstraction(task, order=order)
    assert abstraction(task.initial_state) == 6
    assert abstraction.heuristic("lmcut")(task.initial_state) == 6
    assert abstraction.limit is None


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(InputError, match="one-by-one"):
        core.Abstraction(delivery(), order="best")


def test_lazy_search() -> None:
    task = delivery()
    found = core.search(task, "lazy:ff")
    assert found.outcome == "solved" and found.cost == 4
    assert core.search(task, "lazy:ff", state=task.state_from_values(BROKEN)).outcome == "unsolvable"
    with pytest.raises(InputError, match="lazy:ff"):
        core.search(task, "lazy:lmcut")


def test_a_heuristic_or_its_name() -> None:
    task = delivery()
    heuristic = core.Heuristic(task, "hmax")
    assert core.search(task, "astar", heuristic=heuristic).cost == 4
    for text, given in (("astar", None), ("astar:hmax", heuristic)):
        with pytest.raises(InputError, match="astar:lmcut"):
            core.search(task, text, heuristic=given)


@pytest.mark.parametrize(
    ("search", "is_extended", "own", "scale", "most"),
    [
        ("astar:lmcut", False, 300_000, 1.0, 300_000),  # its own effort is what somebody asked for
        ("astar:lmcut", False, 300_000, 32.0, 300_000),
        ("astar:lmcut", False, 10_000, 4.0, 40_000),
        ("astar:lmcut", False, 10_000, 32.0, 200_000),
        ("astar:lmcut", True, 10_000, 32.0, 320_000),
        ("gbfs:ff", False, 10_000, 32.0, 320_000),  # finds plans only, which are proofs however long it took
    ],
)
def test_late_searches_are_as_large_as_their_proofs_may_be(
    search: str, is_extended: bool, own: int, scale: float, most: int
) -> None:
    task = Task(delivery().sas)
    lab = Lab(task=task, graph=PolicyGraph(task, best_course), is_extended=is_extended, scale=scale)
    effort = own * lab.expansion_effort(task.initial_state)
    assert Planner(search=search, effort=effort).bind(lab)._max_expansions(task.initial_state) == most


def test_late_rounds_build_no_larger_abstractions() -> None:
    task = Task(delivery().sas)
    for is_extended in (False, True):
        lab = Lab(task=task, graph=PolicyGraph(task, best_course), is_extended=is_extended)
        part, made = AbstractionBound(), []
        for number in (4, 5, 6, 9):
            lab.round, lab.scale = number, 2.0 ** (number - 4)
            made.append(part.build(lab, "newest"))
        assert made[0] is made[1]
        assert (made[0] is made[2] is made[3]) != is_extended
