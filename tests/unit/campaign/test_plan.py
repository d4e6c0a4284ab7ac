"""What a campaign's file means, and what is refused with which words."""

from pathlib import Path

import pytest

from misstep.campaign.plan import Limits, read_plan
from misstep.errors import InputError
from tests.unit.campaign.made import TOML, written


def test_everything_is_multiplied(tmp_path: Path) -> None:
    file = written(tmp_path, TOML.replace("]\np", ']\nbias = ["none", "detour"]\nseeds = 2\np', 1))
    jobs = list(read_plan(file).jobs())
    assert len(jobs) == 3 * 2 * 1 * 2 == len({job.id for job in jobs})
    assert {job.task for job in jobs} == {"p1", "p2", "p3"}  # the domain is none of them
    assert {job.configuration for job in jobs} == {"bias=none", "bias=detour"}
    assert {job.config.bias for job in jobs} == {"none", "detour"}
    assert {(job.turn, job.seed, job.config.seed) for job in jobs} == {(0, 0, 0), (1, 1, 1)}
    assert all(job.config.domain == tmp_path.resolve() / "domain.pddl" for job in jobs)


def test_named_configurations_and_limits(tmp_path: Path) -> None:
    more = (
        "pool = 7\nseeds = [5, 3, 5]\ntries = 2\nlimit_seconds = 2.5\nlimit_memory_mb = 100\n"
        '[configuration.quick]\npool = 2\n[configuration.two]\noracle = [["landmarks"], ["landmarks", "greedy"]]\n'
    )
    plan = read_plan(written(tmp_path, TOML + more))
    jobs = [job for job in plan.jobs() if job.task == "p1"]
    assert {(job.configuration, job.config.pool, job.config.oracle) for job in jobs} == {
        ("quick", 2, jobs[0].config.oracle),
        ("two oracle=landmarks", 7, ("landmarks",)),
        ("two oracle=landmarks+greedy", 7, ("landmarks", "greedy")),
    }
    assert [job.seed for job in jobs[:2]] == [5, 3]
    assert (plan.tries, plan.limits) == (2, Limits(2.5, 100))
    assert plan.out == tmp_path / "campaign-runs"


def test_several_domains_and_models(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        'policies = ["heuristic:ff"]\n[[task]]\ndomain = "domain.pddl"\nproblems = "p1.pddl"\npool = 3\n'
        '[[task]]\nmodels = "*.jani"\nname = "safe"\npolicies = ["zoo:one"]\nproperties = "more.jani2"\nruns = 5\n',
    )
    (tmp_path / "line.jani").write_text("{}")
    (tmp_path / "more.jani2").write_text("{}")
    one, other = read_plan(file).jobs()
    assert (one.task, one.policy, one.config.pool) == ("p1", "heuristic:ff", 3)
    assert (other.task, other.policy, other.config.runs) == ("safe/line", "zoo:one", 5)
    assert other.config.properties == tmp_path.resolve() / "more.jani2"
    assert other.config.is_safety


def test_policies_with_wildcards_options_and_functions(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    for name in ("b", "a"):
        (tmp_path / "nets" / f"{name}.pt").write_text(name)
    (tmp_path / "mine.py").write_text("")
    file = written(
        tmp_path,
        'domain = "p1.pddl"\npolicies = ["torch:nets/*.pt,activation=relu", "python:mine.py:best", "zoo:a"]\n',
    )
    found = [(job.policy, job.config.policy) for job in read_plan(file).jobs()]
    here = tmp_path.resolve()
    assert found == [
        ("torch:nets/a.pt,activation=relu", f"torch:{here}/nets/a.pt,activation=relu"),
        ("torch:nets/b.pt,activation=relu", f"torch:{here}/nets/b.pt,activation=relu"),
        ("python:mine.py:best", f"python:{here}/mine.py:best"),
        ("zoo:a", "zoo:a"),
    ]


def ids(folder: Path, toml: str = TOML) -> set[str]:
    folder.mkdir(exist_ok=True)
    return {job.id for job in read_plan(written(folder, toml)).jobs()}


def test_the_identity_is_what_determines_the_result(tmp_path: Path) -> None:
    before = ids(tmp_path / "a")
    # The place does not matter, nor how it is written, nor what is done around the test.
    assert ids(tmp_path / "b") == before
    assert ids(tmp_path / "b", TOML + "gap = false\ntries = 9\nlimit_seconds = 1\n") == before
    assert ids(tmp_path / "b", TOML.replace('"p*.pddl"', '"p3.pddl", "p*.pddl"')) == before
    assert ids(tmp_path / "b", TOML + "seeds = 2\n") > before
    for change in ("pool = 99\n", "seconds = 10\n", "seeds = [1]\n"):
        assert not ids(tmp_path / "b", TOML + change) & before
    (tmp_path / "a" / "p1.pddl").write_text("another problem")
    changed = {job.id for job in read_plan(tmp_path / "a" / "campaign.toml").jobs()}
    assert len(changed & before) == 2


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (TOML + "pol = 3\n", r"campaign.toml: unknown key `pol` \(= 3\); did you mean `pool`"),
        (TOML.replace("problems", "problem"), r"unknown key `problem` .* did you mean `problems`"),
        (TOML + "pool = -3\n", "option `pool` is -3; it must be at least 1"),
        (TOML + 'pool = "many"\n', "configuration `default`: `pool`: expected a whole number, found 'many'"),
        (TOML + "runs = 3\n", "option `runs` is for a JANI model only"),
        (TOML + "bias = []\n", "`bias` is an empty list; give a value"),
        (TOML + "seeds = 0\n", r"`seeds` is 0; give how many \(seeds = 5\)"),
        (TOML + "seeds = [1, -1]\n", r"`seeds` is \[1, -1\]"),
        (TOML + "keep_records = 'some'\n", "`keep_records` is 'some'; choose among all, bugs"),
        (TOML + "tries = 0\n", "`tries` is 0; give a number from 1 to"),
        (TOML + "tries = inf\n", "`tries` is inf; give a number from 1 to"),
        (TOML + "limit_seconds = nan\n", "`limit_seconds` is nan; give a number from"),
        (TOML + "[configuration]\nquick = 3\n", r"write \[configuration.NAME\]"),
        (TOML + "[configuration.a]\npoool = 3\n", "configuration `a`: unknown key `poool`"),
        (TOML + "[configuration.a]\n[configuration.b]\ngap = false\n", "`a` and `b` ask for the same test"),
        (TOML + "[task]\n", r"write \[\[task\]\]"),
        (TOML + "[[task]]\nmodels = 'x.jani'\n", "a task is of PDDL or of JANI"),
        (
            TOML.replace("p*.pddl", "q*.pddl"),
            r"`problems` has 'q\*.pddl', but there is no such file in .*relative",
        ),
        (TOML.replace("heuristic:ff", "asnet:*.policy"), "`policies` has .*no file is called so"),
        (TOML.replace("heuristic:ff", "ff"), "write NAME:VALUE such as asnet:FILE"),
        (TOML.replace('["heuristic:ff"]', "[]"), r"`policies` is \[\]; give a list of texts"),
        ("pool = 3\n", "`policies` is missing"),
        ('policies = ["zoo:a"]\n', "there is nothing to test"),
        ("what", "not a TOML file"),
        ("a = " + 5000 * "[", "not a TOML file"),
    ],
)
def test_errors_name_file_key_value_and_next_step(tmp_path: Path, toml: str, said: str) -> None:
    file = written(tmp_path, toml)
    with pytest.raises(InputError, match=said) as error:
        list(read_plan(file).jobs())
    assert "campaign.toml" in str(error.value) or "option" in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.toml: cannot be read: No such file"):
        read_plan(tmp_path / "none.toml")
