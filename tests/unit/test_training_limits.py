"""A limit in the middle of a training: what was trained until then is the result, and the same call goes on."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.budget import Watch
from misstep.errors import LimitReached
from misstep.experiments.scaling import ANSWERS, ScaleConfig, Scaling
from misstep.generators.ours import bundled_domain
from misstep.generators.problems import ferry as ferry_problem
from misstep.policies.asnet import Asnet
from misstep.policies.zoo import Zoo
from misstep.record.store import DirectoryStore
from misstep.training.asnet import TrainingResult, train_asnet
from misstep.training.asnet_config import AsnetConfig
from misstep.training.examiner import ExamConfig, Examiner
from misstep.training.gnn import train_gnn
from misstep.training.gnn_config import GnnConfig
from misstep.training.retraining import RetrainConfig, retrain
from misstep.training.selection import AnswerBook, find_candidates, select
from misstep.training.tree import TreeConfig, train_tree
from tests.unit.watches import rings_at

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"
QUICK = AsnetConfig(
    hidden=8, epochs=3, batches=20, runs=1, cohorts=1, trial_epochs=1, teacher_expansions=1000
)
Train = Callable[[list[misstep.Task], Path, Watch], TrainingResult]


@pytest.fixture(scope="module")
def tasks() -> list[misstep.Task]:
    names = ("p01", "p02", "p03")
    return [misstep.load(FERRY / "domain.pddl", FERRY / f"{name}.pddl", unit_cost=True) for name in names]


def asnet(tasks: list[misstep.Task], out: Path, watch: Watch) -> TrainingResult:
    return train_asnet(tasks, (), QUICK, out=out, watch=watch)


def gnn(tasks: list[misstep.Task], out: Path, watch: Watch) -> TrainingResult:
    pytest.importorskip("torch", reason='needs pip install "misstep[torch]"')
    config = GnnConfig(
        kind="value", hidden=8, layers=3, epochs=3, batches=5, batch=8, rate=5e-3, max_samples=100
    )
    return train_gnn(tasks, (), config, out=out, watch=watch)


def tree(tasks: list[misstep.Task], out: Path, watch: Watch) -> TrainingResult:
    config = AsnetConfig(hidden=8, batches=25, average=2, max_states=0, max_new_states=10)
    chosen = TreeConfig(inits=1, start=1, main=2)
    return train_tree(tasks[:2], tasks[2:], config, chosen, out=out, exam=ExamConfig(pool=4), watch=watch)


def files(result: TrainingResult) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (result.final, *result.models.iterdir())}


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("train", [asnet, gnn, tree])
def test_what_was_trained_is_saved_and_the_same_call_goes_on(
    train: Train, inside: bool, tasks: list[misstep.Task], tmp_path: Path
) -> None:
    whole = train(tasks, tmp_path / "whole", nullcontext)
    assert whole.limit is None
    out = tmp_path / "parts"
    found, turn = [], 0
    while True:
        try:
            result = train(tasks, out, rings_at(turn, inside=inside))
        except LimitReached as reached:
            assert reached.limit == "memory"
            turn += 1
            continue
        found.append(result.epochs)
        assert result.final.is_file() and len(found) < 20
        if result.limit is None:
            break
        assert result.limit == "memory"
        turn = max(turn, 2) + (found[-1:] == found[-2:-1])  # where nothing was added, more is allowed
    assert found == sorted(found) and found[0] < found[-1] == whole.epochs
    assert files(result) == files(whole)


def test_retraining_ends_and_goes_on(tasks: list[misstep.Task], tmp_path: Path) -> None:
    with Zoo("ferry").opened() as part:
        assert isinstance(part, Asnet)
        model = part.model
    config = RetrainConfig(rounds=2, pool=4, epochs=1, batches=2)

    def work(out: Path, watch: Watch) -> Any:
        return retrain(model, tasks[:1], [], [], config, out=out, watch=watch)

    whole = work(tmp_path / "whole", nullcontext)
    out = tmp_path / "parts"
    with pytest.raises(LimitReached):
        work(out, rings_at(0))
    for turn, rounds in ((1, 0), (2, 1)):
        ended = work(out, rings_at(turn, inside=True))
        assert (ended.limit, ended.rounds, ended.change) == ("memory", rounds, None)
        assert ended.as_json()["before"] is None and ended.final.is_file()
    found = work(out, nullcontext)
    assert (found.rounds, found.change, found.limit) == (whole.rounds, whole.change, None)
    assert found.final.read_bytes() == whole.final.read_bytes()


def test_a_selection_ranks_what_was_examined(tasks: list[misstep.Task], tmp_path: Path) -> None:
    trained = train_asnet(tasks[:1], (), QUICK, out=tmp_path / "training")
    candidates = find_candidates(trained.models)
    assert len(candidates) > 1
    examiner = Examiner(ExamConfig(pool=3), tmp_path)
    examiner.add(tasks[0], name="task")
    book = AnswerBook(tmp_path, about={})
    with pytest.raises(LimitReached) as caught:
        select(candidates, examiner, book, watch=rings_at(0, inside=True))
    assert caught.value.limit == "memory"
    found = select(candidates, examiner, book, watch=rings_at(1))
    assert (found.limit, found.left) == ("memory", len(candidates) - 1)
    assert found.as_json("pi-test")["limit"] == "memory"
    assert select(candidates, examiner, book).limit is None
    book.close()


def test_scaling_tells_of_what_was_drawn(tmp_path: Path) -> None:
    class Ferries:
        def problem(self, size: int, seed: int) -> str:
            return ferry_problem(size, size, seed)

        def __repr__(self) -> str:
            return "ferries"

    def scaling(watch: Watch) -> Scaling:
        store, config = DirectoryStore(tmp_path), ScaleConfig(sizes=(2,), instances=3, width=0.01)
        return Scaling(bundled_domain("ferry"), Ferries(), "zoo:ferry", config, store=store, watch=watch)

    ended = scaling(rings_at(2))
    [result] = ended.results()
    assert (result.instances, ended.limit) == (2, "memory")
    ended.store.close()
    assert len((tmp_path / ANSWERS).read_text().splitlines()) == 1 + 2
    again = scaling(nullcontext)
    [result] = again.results()
    assert (result.instances, again.limit) == (3, "sizes")
    again.store.close()
    assert json.dumps(result.as_json())
