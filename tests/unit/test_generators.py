"""Generators: solvable problems of growing size, the same for a seed; commands that misbehave."""

import sys
from pathlib import Path

import pytest

import misstep
from misstep.errors import InputError
from misstep.generators.ours import bundled_domain
from misstep.plugins import list_parts, make_part

OURS = [info.name for info in list_parts("generator") if info.name != "command"]
DOMAINS = Path(__file__).parents[1] / "tasks"


def test_there_are_at_least_eight() -> None:
    assert len(OURS) >= 8


@pytest.mark.parametrize("name", OURS)
def test_problems_are_solvable_and_repeat(name: str) -> None:
    generator = make_part("generator", name)
    actions = []
    for size in (1, 3):
        text = generator.problem(size, 7)
        assert text == make_part("generator", name).problem(size, 7)
        task = misstep.load(generator.domain, text, unit_cost=True)
        found = misstep.search(task, "gbfs:ff", budget=misstep.Budget(expansions=100_000))
        assert found.outcome == "solved"
        actions.append(len(task.actions))
    assert actions[0] < actions[1]
    assert len({generator.problem(3, seed) for seed in range(4)}) == 4


@pytest.mark.parametrize("name", OURS)
def test_domains_are_those_of_the_tests(name: str) -> None:
    assert make_part("generator", name).domain == (DOMAINS / name / "domain.pddl").read_text()


def test_any_command(tmp_path: Path) -> None:
    script = tmp_path / "make.py"
    script.write_text("import sys\nprint(f'(problem {sys.argv[1]} {sys.argv[2]})')\n")
    made = make_part("generator", f"command:{sys.executable} {script} {{size}} {{seed}}")
    assert made.problem(4, 9).strip() == "(problem 4 9)"
    assert made.domain is None


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "needs a command"),
        ("/no/such/program {size}", "cannot be started"),
        (f"{sys.executable} -c pass", "printed no problem"),
        (f"{sys.executable} -c exit(3)", "ended with code 3"),
        ("echo /etc/hosts", "printed /etc/hosts, which is no PDDL problem"),
    ],
)
def test_commands_that_fail(command: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_part("generator", f"command:{command}").problem(1, 1)


def test_a_text_that_is_no_pddl_is_no_file_name_either() -> None:
    with pytest.raises(InputError, match=r"no name of a PDDL problem file .embedded null byte."):
        misstep.load(bundled_domain("ferry"), "what\0ever")
