"""Fuzzing sessions, pools and policy runs through the Python API."""

import json
from pathlib import Path

import pytest

import misstep
from misstep import _core
from misstep.bench import set_up
from misstep.biases.published import Detour, NoBias, PlanLength, Surface
from misstep.budget import Budget
from misstep.config import Config
from misstep.errors import FlakyPolicy, InputError
from misstep.fuzz import Fuzz, FuzzProgress
from misstep.fuzzers.published import Classic, Refined
from misstep.plugins import make_part, make_policy_part
from misstep.policy import per_state
from misstep.pool import PoolEntry
from misstep.record.pool_file import PoolWriter, read_entries, read_made_by, read_pool
from misstep.reference import fdr
from misstep.reports.summary import summary_lines
from misstep.task import Task
from misstep.testing.random_tasks import to_sas
from tests.unit.reference_tasks import CLEAR


@pytest.fixture(scope="module")
def task() -> Task:
    folder = Path(misstep.__file__).parent / "bundled" / "courier"
    return misstep.load(folder / "domain.pddl", folder / "problem.pddl")


def graph(task: Task) -> _core.PolicyGraph:
    return _core.PolicyGraph(task, _core.HeuristicPolicy(task, "ff"))


def pool(task: Task, *, size: int = 40, seed: int = 3) -> list[PoolEntry]:
    return list(Fuzz(graph(task), Refined(), Detour(), seed=seed, size=size))


def test_same_seed_same_pool(task: Task) -> None:
    assert pool(task) == pool(task)
    assert pool(task) != pool(task, seed=4)


def test_pools_hold_no_state_twice(task: Task) -> None:
    states = [entry.state for entry in pool(task)]
    assert len(set(states)) == len(states) == 40
    assert states[0] == task.initial_state


def test_a_smaller_pool_is_the_beginning_of_a_larger_one(task: Task) -> None:
    assert pool(task, size=15) == pool(task)[:15]


@pytest.mark.parametrize("part", [Refined(), Classic(), Refined(novelty=1, max_idle_walks=300)])
def test_continuing_equals_one_session(task: Task, part: Refined | Classic) -> None:
    bias = PlanLength()
    whole = list(Fuzz(graph(task), part, bias, seed=1, size=30))
    for cut in (1, 2, 7, len(whole)):
        session = Fuzz(graph(task), part, bias, seed=1, size=30, known=whole[:cut])
        continued = {entry.id: entry for entry in [*whole[:cut], *session]}
        assert [continued[i] for i in sorted(continued)] == whole


def test_novelty(task: Task) -> None:
    seen: set[str] = set()
    session = Fuzz(graph(task), Refined(novelty=1, max_idle_walks=200), NoBias(), size=1000)
    entries = list(session)
    assert session.stopped == "exhausted" and len(entries) < 60
    for entry in entries:
        assert not seen.issuperset(entry.state.facts)
        seen.update(entry.state.facts)


def test_progress_and_limits(task: Task) -> None:
    seen: list[FuzzProgress] = []
    session = Fuzz(
        graph(task),
        Refined(),
        NoBias(),
        size=10**7,
        budget=_core.Budget(seconds=0.3),
        on_progress=seen.append,
    )
    assert len(list(session)) > 1
    assert session.stopped in ("seconds", "exhausted")
    assert seen[-1].pool == max(progress.pool for progress in seen)


def test_stop_flag(task: Task) -> None:
    stop = _core.StopFlag()
    stop.set()
    session = Fuzz(graph(task), Refined(), NoBias(), size=1000, budget=_core.Budget(stop=stop))
    assert len(list(session)) == 1 and session.stopped == "stopped"


@pytest.mark.parametrize("bias", [Detour("star"), Surface("star")])
def test_exact_searches_of_a_bias_obey_the_budget(bias: Detour | Surface) -> None:
    """One search of a large task takes longer than anybody waits: not only expansions count, seconds too."""
    logistics = make_part("generator", "logistics")
    large = misstep.load(logistics.domain, logistics.problem(30, 0))
    part = Refined(max_star_expansions=10**12)
    session = Fuzz(graph(large), part, bias, size=10, budget=_core.Budget(seconds=0.3))
    assert len(list(session)) < 10 and session.stopped == "seconds"


@pytest.mark.parametrize("bias", [Detour("star"), Surface("star")])
def test_the_effort_of_exact_searches_fits_the_task(task: Task, bias: Detour | Surface) -> None:
    """The same effort is enough for exact distances on a small task, and ends soon on a large one."""
    exact = [entry.state for entry in Fuzz(graph(task), Refined(), bias, seed=3, size=8)]
    small = Fuzz(graph(task), Refined(max_star_effort=1e8), bias, seed=3, size=8)
    assert [entry.state for entry in small] == exact
    assert not small.bound_hit
    logistics = make_part("generator", "logistics")
    large = misstep.load(logistics.domain, logistics.problem(30, 0))
    ended = Fuzz(graph(large), Refined(max_star_effort=1e6), bias, size=2)
    assert len(list(ended)) == 2
    assert ended.bound_hit


def test_budgets_that_end_exact_searches_do_not_change_the_pool(task: Task) -> None:
    whole = list(Fuzz(graph(task), Refined(), Detour("star"), seed=3, size=12))
    known, seconds = whole[:1], 0.001
    while len(known) < 12:
        budget = _core.Budget(seconds=seconds)
        session = Fuzz(graph(task), Refined(), Detour("star"), seed=3, size=12, known=known, budget=budget)
        known = sorted({entry.id: entry for entry in [*known, *session]}.values(), key=lambda entry: entry.id)
        seconds *= 1.5
    assert known == whole


def test_random_policies_are_found_out(task: Task) -> None:
    calls = 0

    def moody(state: _core.State) -> _core.Action:
        nonlocal calls
        calls += 1
        applicable = task.applicable(state)
        return applicable[calls % len(applicable)]

    moody_graph = _core.PolicyGraph(task, per_state(moody))
    with pytest.raises(FlakyPolicy, match="not deterministic"):
        moody_graph.run(task.batch([e.state for e in pool(task)]), max_steps=200)


def test_a_policy_that_raises_can_be_asked_again(task: Task) -> None:
    fail = True

    def policy(state: _core.State) -> _core.Action | None:
        if fail:
            raise RuntimeError("no network today")
        return None

    unlucky = _core.PolicyGraph(task, per_state(policy))
    with pytest.raises(RuntimeError, match="no network today"):
        unlucky.run(task.batch([task.initial_state]))
    fail = False
    (run,) = unlucky.run(task.batch([task.initial_state]))
    assert run.outcome == "stuck" and run.answer is None


# Names of actions are read, see test_policies_answers.
@pytest.mark.parametrize("answer", [3, object(), b"jump"])
def test_nonsense_is_failed(task: Task, answer: object) -> None:
    nonsense = _core.PolicyGraph(task, lambda states: [answer] * len(states))
    (run,) = nonsense.run(task.batch([task.initial_state]))
    assert run.outcome == "failed"


@pytest.mark.parametrize("part", [Classic(), Refined()])
def test_a_policy_that_fails_everywhere_leaves_walks_uniform(task: Task, part: Classic | Refined) -> None:
    """Nothing is known of it, so the pool is the one of a run without any preference: no failing states."""
    broken = _core.PolicyGraph(task, lambda states: [object()] * len(states))
    stuck = _core.PolicyGraph(task, lambda states: [None] * len(states))
    pools = [list(Fuzz(graph, part, PlanLength(), seed=5, size=40)) for graph in (broken, stuck)]
    # States where the policy is stuck enter the pool of `classic` from every step of a walk.
    assert {len(entry.walk) for entry in pools[0]} - {0} != {1}
    if isinstance(part, Classic):
        assert [entry.state for entry in pools[0]] != [entry.state for entry in pools[1]]
        ends = {entry.rng for entry in pools[0]}
        assert len(ends) == len(pools[0]), "one state a walk: its end"
        assert len({entry.rng for entry in pools[1]}) < len(pools[1])


def test_wrong_number_of_answers(task: Task) -> None:
    with pytest.raises(InputError, match="1 states and gave 0 answers"):
        _core.PolicyGraph(task, lambda states: []).run(task.batch([task.initial_state]))


def test_pool_files_round_trip(task: Task, tmp_path: Path) -> None:
    entries, path = pool(task), tmp_path / "pool.jsonl"
    with PoolWriter(path, made_by={"seed": 3}) as writer:
        for entry in entries:
            writer.write(entry)
    assert read_pool(path, task) == entries
    assert read_made_by(path) == {"seed": 3}
    line = json.loads(path.read_text().splitlines()[1])
    assert line.keys() >= {"id", "facts", "parent", "walk"} and line["facts"][0].startswith("(")
    path.write_bytes(path.read_bytes()[:-5])  # the writer was killed within the last line
    assert read_pool(path, task) == entries[:-1]
    with pytest.raises(InputError, match="exists"):
        PoolWriter(path, made_by={})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("nonsense\n", "no JSON object"),
        ("[1]\n", "no JSON object"),
        ('{"facts": 3}\n', "`facts`"),
        ('{"facts": ["(at red nowhere)"]}\n', "not a fact"),
        ('{"facts": []}\n', "incomplete"),
        ('{"facts": ["(at red depot)"], "walk": ["(jump)"]}\n', "pool.jsonl:1"),
        ("\x00\x01\n", "no JSON object"),
    ],
)
def test_damaged_pools(task: Task, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_pool(path, task)


def test_walks_with_actions_of_one_name(tmp_path: Path) -> None:
    """The translator splits an action where its condition has an `or`; what applies is meant."""
    facts = (("(at 0)", "(at 1)", "(at 2)"),)
    steps = tuple(fdr.Action("(go)", {0: at}, {0: at + 1}, 1) for at in range(2))
    task = Task(to_sas(fdr.Task(facts=facts, initial=(0,), goal={0: 2}, actions=steps)))
    path = tmp_path / "pool.jsonl"
    path.write_text(
        '{"id": 0, "facts": ["(at 1)"]}\n{"id": 1, "facts": ["(at 2)"], "parent": 0, "walk": ["(go)"]}\n'
    )
    walk = read_pool(path, task)[1].walk
    assert [action.index for action in walk] == [1]


def test_missing_pool(task: Task, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_pool(tmp_path / "none.jsonl", task)


def test_policy_parts() -> None:
    assert not getattr(make_policy_part("heuristic:ff"), "unit_cost", False)
    with pytest.raises(InputError, match="unknown policy"):
        make_policy_part("heuristik:ff")
    with pytest.raises(InputError, match="is not one of"):
        make_policy_part("heuristic:fff")


def test_classic_biases(task: Task) -> None:
    with pytest.raises(InputError, match="classic fuzzer"):
        list(Fuzz(graph(task), Classic(), Detour()))


def test_the_classic_fuzzer_is_used_as_in_its_paper(task: Task) -> None:
    """A pool of 200 and the quality of the policy as weight, unless something else is asked for."""
    policy = _core.HeuristicPolicy(task, "ff")
    usual = set_up(Config(fuzzer="classic"), Budget(), task=task, policy=policy)
    assert isinstance(usual.bias, PlanLength)
    assert usual.fuzz(Budget()).size == 200
    asked = set_up(Config(fuzzer="classic", bias="none", pool=7), Budget(), task=task, policy=policy)
    assert isinstance(asked.bias, NoBias)
    assert asked.fuzz(Budget()).size == 7
    refined = set_up(Config(), Budget(), task=task, policy=policy)
    assert isinstance(refined.bias, NoBias)
    assert refined.fuzz(Budget()).size == 100


def test_a_run_that_was_cut_off_is_no_failure(task: Task) -> None:
    """With runs of one step, nothing is known to fail, so nothing enters the pool but ends of walks."""
    cut = list(Fuzz(graph(task), Classic(max_steps=1, novelty=0), PlanLength(), seed=1, size=60))
    walks = [entry.rng for entry in cut]
    assert len(set(walks)) == len(walks)


def test_a_pool_that_cannot_grow_says_so(tmp_path: Path) -> None:
    two_states = """begin_version\n3\nend_version\nbegin_metric\n0\nend_metric\n1\nbegin_variable\nvar0\n-1\n3
Atom at(a)\nAtom at(b)\nAtom at(c)\nend_variable\n0\nbegin_state\n0\nend_state\nbegin_goal\n1\n0 2\nend_goal\n3
begin_operator\ngo\n0\n1\n0 0 0 1\n1\nend_operator\nbegin_operator\nback\n0\n1\n0 0 1 0\n1\nend_operator
begin_operator\nend\n0\n1\n0 0 1 2\n1\nend_operator\n0\n"""
    report = misstep.test(Task(two_states), lambda batch: ["(go)"] * len(batch), pool=50)
    assert report.finished.pool == 2  # goals are no test states
    assert report.limits_hit == ("fuzz: exhausted",)
    words = " ".join(summary_lines(report))
    assert "walks lead to no other states any more, there are 2 states" in words


def test_a_name_that_actions_share_means_the_one_that_is_applicable() -> None:
    """`(home)` leads from c (action 5), or from anywhere while the door is shut (action 6)."""
    task = Task(to_sas(CLEAR))
    lines = [
        {"id": 0, "facts": ["(at c)", "(not (shut))"]},
        {"id": 1, "facts": ["(at a)", "(not (shut))"], "walk": ["(home)"], "parent": 0},
        {"id": 2, "facts": ["(at b)", "(shut)"]},
        {"id": 3, "facts": ["(at a)", "(shut)"], "walk": ["(home)"], "parent": 2},
    ]
    entries = read_entries(lines, task, where="pool")
    assert [[action.index for action in entry.walk] for entry in entries] == [[], [5], [], [6]]


@pytest.mark.parametrize("parent", [None, -1, 7])
def test_without_the_state_before_a_shared_name_is_still_read(parent: int | None) -> None:
    line = {"facts": ["(at a)", "(shut)"], "walk": ["(home)"], "parent": parent}
    (entry,) = read_entries([line], Task(to_sas(CLEAR)), where="pool")
    assert [action.name for action in entry.walk] == ["(home)"]
