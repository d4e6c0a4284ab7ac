"""`table:FILE`: round trips, leniency, and errors with their place."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep import Task, load, load_sas
from misstep._core import HeuristicPolicy, PolicyGraph
from misstep.errors import InputError
from misstep.plugins import make_policy_part
from misstep.policies.table import Table, read_table, write_table
from tests.conftest import COURIER


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


@pytest.fixture(scope="module")
def choices(task: Task) -> list[Any]:
    """What another policy does on its way to the goal, and nothing in the goal."""
    policy = HeuristicPolicy(task, "lmcut")
    (run,) = PolicyGraph(task, policy).run(task.batch([task.initial_state]))
    assert run.outcome == "solved"
    return [*zip(run.states, [*run.actions, None], strict=True)]


@pytest.mark.parametrize("name", ["table.json", "table.jsonl", "table"])
def test_round_trip(task: Task, choices: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_table(path, choices)
    policy = make_policy_part(f"table:{path}").bind(task)
    assert policy.choices == dict(choices)
    graph = PolicyGraph(task, policy)
    (run,) = graph.run(task.batch([task.initial_state]))
    assert (run.outcome, run.steps) == ("solved", len(choices) - 1)
    write_table(tmp_path / "again", policy.choices.items())
    assert read_table(tmp_path / "again", task).choices == policy.choices
    entries = path.read_text()
    first = json.loads(entries.splitlines()[0]) if name.endswith("l") else json.loads(entries)[0]
    assert first == {"facts": task.initial_state.facts, "action": choices[0][1].name}


def test_a_state_that_is_not_in_the_table_gets_no_answer(task: Task, choices: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "t.json", choices[:2])
    policy = read_table(tmp_path / "t.json", task)
    (run,) = PolicyGraph(task, policy).run(task.batch([task.initial_state]))
    assert (run.outcome, run.steps) == ("stuck", 2)


def test_facts_may_be_written_freely_and_hold_constant_atoms(
    task: Task, choices: Any, tmp_path: Path
) -> None:
    state, action = choices[0]
    constant = task.pddl.text(task.pddl.static_atoms[0])
    facts = [fact.upper().replace(" ", "   ") for fact in reversed(state.facts)] + [constant.upper()]
    entry = {"facts": facts, "action": f" {action.name.upper()} ", "id": 7}
    (tmp_path / "t.jsonl").write_text(f"\n{json.dumps(entry)}\r\n\n{json.dumps(entry)}")
    assert read_table(tmp_path / "t.jsonl", task).choices == {state: action}


def test_of_split_actions_the_applicable_one_is_taken(tmp_path: Path) -> None:
    """Two actions of one name, as the translator makes them of a disjunction."""
    operator = "begin_operator\ngo\n0\n1\n0 0 {} 2\n0\nend_operator\n"
    (tmp_path / "t.sas").write_text(
        "begin_version\n3\nend_version\nbegin_metric\n0\nend_metric\n1\nbegin_variable\nvar0\n-1\n3\n"
        "Atom p(a)\nAtom p(b)\nAtom p(c)\nend_variable\n0\nbegin_state\n1\nend_state\n"
        "begin_goal\n1\n0 2\nend_goal\n2\n" + operator.format(0) + operator.format(1) + "0\n"
    )
    task = load_sas(tmp_path / "t.sas")
    (tmp_path / "t.json").write_text('[{"facts": ["(p b)"], "action": "(go)"}]')
    (run,) = PolicyGraph(task, read_table(tmp_path / "t.json", task)).run(task.batch([task.initial_state]))
    assert run.outcome == "solved"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "t.json:1:2: this is not JSON"),
        ("[\n  {]", "t.json:2:4: this is not JSON"),
        ("[" * 100_000, "t.json:1:1: this JSON cannot be read"),
        ("7", "t.json:1: an entry is written {"),
        ('[{"facts": 3, "action": null}]', "t.json: entry 1: an entry is written"),
        ('[{"facts": [3], "action": null}]', "t.json: entry 1: an entry is written"),
        ('[{"facts": []}]', "t.json: entry 1: an entry is written"),
        ('[{"facts": [], "action": 4}]', "t.json: entry 1: an entry is written"),
        ('[{"facts": ["(made up)"], "action": null}]', "t.json: entry 1: '(made up)' is not a fact"),
        ('[{"facts": [], "action": null}]', "t.json: entry 1: the state is incomplete"),
        ('\n{"facts": FACTS, "action": "(made up)"}', "t.json:2: '(made up)' is not an action"),
        ('{"facts": FACTS, "action": null}\n{"facts": FACTS, "action": ACTION}', "t.json:2: this state has"),
        ("\0", "this is a binary file"),
    ],
)
def test_mistakes(task: Task, choices: Any, tmp_path: Path, text: str, words: str) -> None:
    state, action = choices[0]
    text = text.replace("FACTS", json.dumps(state.facts)).replace("ACTION", json.dumps(action.name))
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(InputError) as caught:
        Table(tmp_path / "t.json").bind(task)
    assert words in str(caught.value)


def test_files(task: Task, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Table(tmp_path / "missing.json").bind(task)
    (tmp_path / "empty.json").write_text("")
    assert Table(tmp_path / "empty.json").bind(task).choices == {}
    with pytest.raises(InputError, match="cannot write the table"):
        write_table(tmp_path / "no" / "folder.json", [])
