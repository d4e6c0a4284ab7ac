"""Limits of the commands that make policies better: a result or a limit, never an error.

Times are not asserted here (`python -m benchmarks.limits` measures them): what is asked for would take minutes.
"""

import json
from pathlib import Path

import pytest

from misstep import load
from misstep.budget import Budget
from misstep.bundled.models import generate
from misstep.errors import LimitReached
from misstep.experiments.scaling import ScaleConfig, Scaling
from misstep.formats.asnet_policy import write_asnet
from misstep.generators.ours import bundled_domain
from misstep.generators.problems import ferry as ferry_problem
from misstep.policies.asnet import Asnet
from misstep.policies.zoo import Zoo
from misstep.task import Task
from misstep.training.examiner import ExamConfig, Examiner
from misstep.training.retraining import RetrainConfig, retrain
from misstep.training.selection import AnswerBook, Candidate, select
from tests.integration.cli import misstep

_SELECT = ("select", "domain.pddl", "large.pddl", "--policies", "models", "--pool", "100000")
_RETRAIN = ("safety", "retrain", "way.jani", "--policy", "zoo:two_way_line")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("limits")
    (folder / "domain.pddl").write_text(bundled_domain("ferry"))
    (folder / "problem.pddl").write_text(ferry_problem(5, 4, 0))
    (folder / "large.pddl").write_text(ferry_problem(10, 10, 0))
    (folder / "way.jani").write_text(json.dumps(generate("two_way_line")))
    (folder / "models").mkdir()
    with Zoo("ferry").opened() as part:
        assert isinstance(part, Asnet)
        write_asnet(folder / "models" / "first.asnet", part.model)
    return folder


@pytest.fixture(scope="module")
def task(files: Path) -> Task:
    return load(files / "domain.pddl", files / "problem.pddl", unit_cost=True)


def spent() -> Budget:
    return Budget(seconds=0.0)


def test_pools_end_with_the_time(task: Task, tmp_path: Path) -> None:
    examiner = Examiner(ExamConfig(pool=5), tmp_path)
    with pytest.raises(LimitReached):
        examiner.add(task, name="task", budget=spent())
    assert examiner.tasks == []
    assert len(examiner.add(task, name="task").states) == 5  # what was left behind harms nobody


def test_a_selection_without_time_is_a_limit(task: Task, tmp_path: Path) -> None:
    examiner = Examiner(ExamConfig(pool=3), tmp_path)
    examiner.add(task, name="task")
    book = AnswerBook(tmp_path, about={})
    with pytest.raises(LimitReached):
        select([Candidate("heuristic:ff", "digest")], examiner, book, budget=spent())
    book.close()


def test_retraining_without_time_is_a_limit_and_goes_on(task: Task, tmp_path: Path) -> None:
    with Zoo("ferry").opened() as part:
        assert isinstance(part, Asnet)
        model = part.model
    config = RetrainConfig(rounds=1, pool=4, epochs=1, batches=2)
    with pytest.raises(LimitReached):
        retrain(model, [task], [], [], config, out=tmp_path, max_seconds=1e-6)
    result = retrain(model, [task], [], [], config, out=tmp_path)
    assert result.limit is None and result.change is not None


def test_scaling_without_time_has_no_sizes(files: Path) -> None:
    class Never:
        def problem(self, size: int, seed: int) -> str:
            raise AssertionError("nobody has time for this")

    scaling = Scaling(bundled_domain("ferry"), Never(), "heuristic:ff", ScaleConfig(), budget=spent())
    assert list(scaling.results()) == [] and scaling.limit == "seconds"


@pytest.mark.parametrize(
    "arguments",
    [
        ("scale", "--generator", "command:sleep 600", "--domain", "domain.pddl", "--policy", "heuristic:ff"),
        ("train", "asnet", "domain.pddl", "problem.pddl", "--out", "{}", "--max-states", "10"),
        ("retrain", "domain.pddl", "problem.pddl", "--policy", "zoo:ferry", "--out", "{}"),
        ("train", "mlp", "way.jani", "--steps", "1000000000", "--out", "{}.jani2nnet"),
        (*_RETRAIN, "--epochs", "1000000", "--out", "{}.jani2nnet"),
    ],
)
def test_commands_end_with_json(arguments: tuple[str, ...], files: Path, tmp_path: Path) -> None:
    words = [word.replace("{}", str(tmp_path / "out")) for word in arguments]
    ended = misstep(*words, "--seconds", "4", "--json", cwd=files, timeout=300)
    assert ended.code in (0, 1, 5), ended.err
    assert ended.json["limit"] == "seconds"


@pytest.mark.parametrize(
    ("memory_mb", "arguments"),
    [
        (60, ("train", "asnet", "domain.pddl", "large.pddl", "--max-states", "1000000000", "--out", "{}")),
        (60, ("train", "mlp", "way.jani", "--hidden", "20000", "20000", "--out", "{}.jani2nnet")),
        (1, ("scale", "--generator", "ferry", "--policy", "zoo:ferry")),
        (1, (*_SELECT, "--out", "{}")),
        (1, ("retrain", "domain.pddl", "problem.pddl", "--policy", "zoo:ferry", "--out", "{}")),
        (1, (*_RETRAIN, "--exam-runs", "100000000", "--out", "{}.jani2nnet")),
    ],
)
def test_commands_have_a_memory_limit(
    memory_mb: int, arguments: tuple[str, ...], files: Path, tmp_path: Path
) -> None:
    """60 MB: what is asked for would take gigabytes. 1 MB: each of the others was seen to take eight times that."""
    words = [word.replace("{}", str(tmp_path / "out")) for word in arguments]
    limits = ("--memory-mb", str(memory_mb), "--seconds", "120")  # time is for the case that the limit fails
    ended = misstep(*words, *limits, "--json", cwd=files, timeout=300)
    assert ended.code in (0, 5), ended.err
    assert ended.json["limit"] == "memory"


def test_replay_and_shrink_have_a_memory_limit(files: Path, tmp_path: Path) -> None:
    record = tmp_path / "record"
    words = (
        "test",
        "domain.pddl",
        "problem.pddl",
        "--policy",
        "heuristic:hadd",
        "--pool",
        "12",
        "--out",
        record,
    )
    assert misstep(*words, "--quiet", cwd=files).code == 1
    leaks = f"python:{Path(__file__).parents[1] / 'hostile.py'}:leaks"
    ended = misstep("replay", record, "--policy", leaks, "--memory-mb", "100", "--json")
    assert (ended.code, ended.json["outcome"], ended.json["limit"]) == (5, "limit", "memory")
    assert misstep("replay", record, "--memory-mb", "500", "--json").code == 1
    bug = min((record / "bugs").iterdir()).stem
    assert misstep("shrink", record, bug, "--memory-mb", "500", "--json").code == 0
    assert misstep("verify", record, "--memory-mb", "500", "--json").code == 0
    assert misstep("report", record, "--memory-mb", "500", "--seconds", "60", "--json").code == 0
    assert misstep("diff", record, record, "--memory-mb", "500", "--seconds", "60", "--json").code == 0
    ended = misstep("report", record, "--seconds", "0.001", "--json")
    assert (ended.code, ended.json["outcome"], ended.json["limit"]) == (5, "limit", "seconds")
