"""`misstep demo` from outside: its counts are recorded, its verdicts agree with exhaustive search."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from misstep.record.record import BUGS, CLEARED, POOL, TASK
from misstep.record.store import read_lines, read_object
from misstep.reference.fdr import parse
from misstep.testing.exhaustive import atoms, depths, exact_costs
from tests.golden.demo import GOLDEN, counts_of, run_demo
from tests.integration.cli import misstep


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The demo, and where its run directory is."""
    folder = tmp_path_factory.mktemp("demo")
    return run_demo(folder, "--json"), folder / "demo"


def test_the_counts_are_the_recorded_ones(ended: Any) -> None:
    assert ended[0].code == 0  # although there are bugs
    found = counts_of(ended[0].json)
    assert found == json.loads(GOLDEN.read_text()), "if that is right: python -m tests.golden.demo"
    assert min(found["bugs"].values()) > 0  # a demo without both kinds would show little
    assert found["verify"]["invalid"] == []


def test_the_verdicts_agree_with_exhaustive_search(ended: Any) -> None:
    run = ended[1]
    task = parse((run / TASK).read_text())
    best = exact_costs(task, depths(task, task.initial))
    by_atoms = {atoms(task, state): cost for state, cost in best.items()}

    def h_star(facts: Any) -> Any:
        return by_atoms[frozenset(facts)]

    costs = {action.name: action.cost for action in task.actions}
    bugs = [read_object(file.read_bytes(), str(file)) for file in (run / BUGS).glob("*.json")]
    for bug in bugs:
        spent = sum(costs[name] for name in bug["run"]["actions"])
        cost = spent if bug["run"]["outcome"] == "solved" else math.inf
        assert cost > h_star(bug["state"])
        assert sum(costs[name] for name in bug["witness"]) >= h_star(bug["state"])
    cleared = read_lines(run / CLEARED)
    for one in cleared:
        assert one["cost"]["hi"] == h_star(one["state"])
    assert len(bugs) + len(cleared) + ended[0].json["unknown"] == len(read_lines(run / POOL))


def test_the_commands_it_names_work(tmp_path: Path) -> None:
    shown = run_demo(tmp_path)
    assert shown.code == 0
    commands = [line.split() for line in shown.out.splitlines() if line.startswith("  misstep ")]
    assert [words[1] for words in commands] == ["verify", "show", "replay", "shrink"]
    assert misstep(*commands[0][1:]).code == 0
    assert misstep(*commands[1][1:]).code == 0
    replayed = misstep(*commands[2][1:], "--json")
    assert (replayed.code, replayed.json["bug"]) == (1, 1)
    shrunk = misstep(*commands[3][1:], "--json")
    assert (shrunk.code, shrunk.json["after"]["run"] <= shrunk.json["before"]["run"]) == (0, True)
    assert misstep(*commands[0][1:]).code == 0  # the smaller bug has a valid certificate too
    # It shows a run beside a cheaper plan for each kind of bug, and marks the decision at fault.
    assert shown.out.count("   the policy ") == shown.out.count("| a better way") >= 2
    assert "the policy pays 11 where 10 is enough" in shown.out
    assert "for ever" in shown.out
    (page,) = re.findall(r"Open (\S+) in a browser", shown.out)
    assert "the policy pays 11 where 10 is enough" in (tmp_path / page).read_text()
    assert "> (drive" in shown.out


def test_the_demo_does_not_write_over_a_run(ended: Any) -> None:
    again = run_demo(ended[1].parent)
    assert again.code == 4
    assert "there is a record already" in again.err
