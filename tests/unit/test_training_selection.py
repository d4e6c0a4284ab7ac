"""Selecting policies: the score against hand-made and brute-force results, resuming, criteria, refusals."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import misstep
from misstep.errors import InputError
from misstep.training.asnet import train_asnet
from misstep.training.asnet_config import AsnetConfig
from misstep.training.examiner import ExamConfig, Examiner
from misstep.training.score import Exam, chances, compare, grades, scores, tabulate
from misstep.training.selection import (
    AnswerBook,
    Candidate,
    Selection,
    find_candidates,
    open_book,
    rank,
    select,
)

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"


def failed(task: str = "t") -> Exam:
    return Exam(task, None)


def passed(*costs: float | None, bugs: str = "") -> Exam:
    return Exam("t", 1.0, costs, tuple(mark == "x" for mark in bugs.ljust(len(costs), ".")))


def test_the_example_of_the_paper() -> None:
    """A policy without any task and one with a single task: all depends on what the best one solves."""
    nothing, one = [failed()] * 10, [passed(1.0), *[failed()] * 9]
    table = tabulate([nothing, one], [1] * 10)
    assert scores(table.sum(axis=1)).tolist() == [0.0, 1.0]
    table = tabulate([nothing, one, [passed(1.0)] * 10], [1] * 10)
    assert scores(table.sum(axis=1)).tolist() == pytest.approx([0.0, 0.1, 1.0])


def test_three_equal_parts() -> None:
    """By hand: solved tasks 2 and 1, states 3 of 4 and 2 of 4, without bug 1 of 4 and 2 of 4."""
    first = [passed(5.0, 5.0, bugs="x."), passed(5.0, None, bugs=".x")]
    second = [passed(4.0, 5.0), failed()]
    table = tabulate([first, second], [2, 2])
    assert [(g.solved_tasks, g.states, g.solved_states, g.bug_free_states) for g in grades(table)] == [
        (2, 4, 3, 2),
        (1, 4, 2, 2),
    ]
    assert scores(table.sum(axis=1)).tolist() == pytest.approx([1.0, (1 / 2 + 2 / 3 + 1) / 3])


def test_a_state_that_another_policy_solves_more_cheaply_is_a_bug() -> None:
    table = tabulate([[passed(7.0, 3.0, None)], [passed(6.0, 3.0, 9.0)]], [3])
    assert [grade.bug_free_states for grade in grades(table)] == [1, 3]


def test_nobody_solves_anything() -> None:
    table = tabulate([[failed()], [failed()]], [5])
    assert scores(table.sum(axis=1)).tolist() == [0.0, 0.0]
    assert chances(table, seed=0).tolist() == [0.5, 0.5]


def test_chances_against_all_draws() -> None:
    """With two tasks there are three draws, which can be listed: 1/4, 1/2, 1/4."""
    rng = np.random.default_rng(3)
    table = np.zeros((3, 2, 4))
    table[:, :, 1] = 10
    table[:, :, 0] = 1
    table[:, :, 2:] = rng.integers(0, 10, size=(3, 2, 2))
    expected = np.zeros(3)
    for weights, chance in (((2, 0), 0.25), ((1, 1), 0.5), ((0, 2), 0.25)):
        points = scores(np.einsum("t,ptc->pc", np.array(weights, dtype=float), table))
        expected[int(points.argmax())] += chance
    assert chances(table, seed=1, samples=20_000) == pytest.approx(expected, abs=0.02)


def test_comparison_by_task() -> None:
    table = tabulate([[passed(1.0), failed(), passed(2.0)], [failed(), failed(), passed(1.0)]], [1, 1, 1])
    told = compare(table, 0, 1)
    assert (told.better, told.worse, told.equal, told.p_value) == (1, 1, 1, 1.0)


def candidates(*about: tuple[float, float]) -> list[Candidate]:
    return [
        Candidate(f"asnet:{at}", str(at), loss=loss, success_rate=rate, run="r", epoch=at + 1)
        for at, (loss, rate) in enumerate(about)
    ]


def test_the_four_criteria() -> None:
    """`early` is the twentieth epoch in a row with all training tasks solved."""
    about = candidates((9.0, 0.0), *[(2.0, 1.0)] * 21, (1.0, 0.5), (3.0, 1.0))
    exams = [[failed(), failed()] for _ in about]
    exams[5] = [passed(1.0), failed()]
    exams[7] = [passed(2.0, None), passed(2.0, None)]
    exams[8] = [passed(1.0, 1.0), passed(1.0, 1.0)]
    found = rank(about, exams, [2, 2])
    chosen = {name: each.candidate.digest for name, each in found.choices.items()}
    assert chosen == {"pi-test": "8", "solved": "7", "loss": "22", "early": "20"}
    without_end = rank(about[:10], exams[:10], [2, 2])
    assert without_end.choices["early"].candidate.digest == "9"
    no_log = [replace(each, loss=None) for each in about]
    assert set(rank(no_log, exams, [2, 2]).choices) == {"pi-test", "solved"}


def test_ties_go_to_cheaper_runs_then_to_the_earlier() -> None:
    same, dear = [Exam("t", 3.0, (), ())], [Exam("t", 4.0, (), ())]
    found = rank(candidates(*[(1.0, 1.0)] * 3), [dear, same, same], [0])
    assert [each.candidate.digest for each in found.ranking] == ["1", "2", "0"]
    assert (found.same, found.runner_up) == (2, None)


def test_where_nothing_is_solved_states_then_loss_then_the_later_epoch_decide() -> None:
    """Six that solve no task: the untrained one is last although it solves most states."""

    def at_zero(*states: int) -> list[Exam]:
        return [Exam("t", None, pool_solved=each) for each in states]

    def candidate(name: str, loss: float | None, epoch: int) -> Candidate:
        return Candidate(f"asnet:{name}", name, loss=loss, success_rate=0.0, run="r", epoch=epoch)

    about = [
        candidate("untrained", None, 0),
        candidate("no-number", float("nan"), 1),
        candidate("early", 2.0, 2),
        candidate("least-loss", 1.0, 3),
        candidate("late", 2.0, 4),
        candidate("most-states", 9.0, 5),
    ]
    exams = [at_zero(9, 9), *[at_zero(1, 2)] * 4, at_zero(4, 0)]
    ranking = ["most-states", "least-loss", "late", "early", "no-number", "untrained"]
    found = rank(about, exams, [9, 9])
    assert [each.candidate.digest for each in found.ranking] == ranking
    assert [each.score for each in found.ranking] == [0.0] * 6
    assert found.ranking[0].pool_solved == 4
    assert found.choices["solved"].candidate.digest == "most-states"
    assert found.choices["loss"].candidate.digest == "least-loss"
    # Where the pools of some were not looked at, what is known of the others does not count.
    some = rank(about, [*exams[:2], [failed()] * 2, *exams[3:]], [9, 9])
    assert [each.candidate.digest for each in some.ranking] == [*ranking[1:4], *ranking[:1], *ranking[4:]]


def test_an_untrained_model_never_wins() -> None:
    about = candidates((1.0, 0.0), (2.0, 0.0))
    about = [replace(about[0], loss=None, epoch=0), about[1]]
    found = rank(about, [[passed(1.0)], [failed()]], [1])
    assert [each.candidate.digest for each in found.ranking] == ["1", "0"]
    assert {each.candidate.digest for each in found.choices.values()} == {"1"}
    alone = rank(about[:1], [[failed()]], [1])
    assert {each.candidate.digest for each in alone.choices.values()} == {"0"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained")
    tasks = [misstep.load(FERRY / "domain.pddl", FERRY / f"{n}.pddl", unit_cost=True) for n in ("p01", "p02")]
    config = AsnetConfig(hidden=8, epochs=4, batches=60, runs=1, trial_epochs=9)
    train_asnet(tasks, (), config, out=out)
    return out


def validated(folder: Path, *, pool: int = 12) -> Examiner:
    examiner = Examiner(ExamConfig(pool=pool), folder)
    for name in ("p01", "p03"):
        task = misstep.load(FERRY / "domain.pddl", FERRY / f"{name}.pddl", unit_cost=True)
        examiner.add(task, name=f"{name}.pddl")
    return examiner


def run_select(trained: Path, out: Path) -> Selection:
    examiner = validated(out)
    book = AnswerBook(out, about={"pool": 12})
    try:
        return select(find_candidates(trained), examiner, book)
    finally:
        book.close()


def test_exams_say_what_tests_say(tmp_path: Path) -> None:
    """Costs and bugs of an exam against `misstep.test` with the perfect oracle on the same pool."""
    folder = FERRY.parent / "visitall"
    examiner = Examiner(ExamConfig(pool=12), tmp_path)
    task = misstep.load(folder / "domain.pddl", folder / "p02.pddl")
    made = examiner.add(task, name="p02.pddl")
    for policy in ("heuristic:ff", "heuristic:hadd"):
        exam = examiner.exam(policy, 0)
        report = misstep.test(task, policy, pool_file=made.pool_file, oracle="perfect")
        judged = [report.tally.judged[number] for number in range(len(made.states))]
        assert exam is not None
        assert exam.initial == judged[0].cost.hi
        assert exam.costs == tuple(e.cost.hi if e.outcome == "solved" else None for e in judged)
        proven = [str(event.verdict) == "bug" for event in judged]
        assert any(exam.bugs)
        assert all(is_bug for is_bug, said in zip(proven, exam.bugs, strict=True) if said)
    stuck = examiner.exam("heuristic:ff", 0, part=misstep.per_state(lambda _: None))
    assert stuck == Exam("p02.pddl", None)


def test_a_stopped_selection_goes_on(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_select(trained, tmp_path / "whole")
    asked, exam = 0, Examiner.exam

    def counted(self: Examiner, *args: object, **options: object) -> Exam | None:
        nonlocal asked
        asked += 1
        if asked == 5:
            raise KeyboardInterrupt
        return exam(self, *args, **options)

    monkeypatch.setattr(Examiner, "exam", counted)
    with pytest.raises(KeyboardInterrupt):
        run_select(trained, tmp_path / "parts")
    with (tmp_path / "parts" / "answers.jsonl").open("a") as file:
        file.write('{"policy": "half a l')
    again = run_select(trained, tmp_path / "parts")
    assert again.as_json("pi-test") == whole.as_json("pi-test")
    before = asked
    assert run_select(trained, tmp_path / "parts").ranking == whole.ranking
    assert asked == before, "answers that are known were asked for again"


def test_equal_files_count_once_and_foreign_ones_are_told(trained: Path, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    for name in ("b.asnet", "a.asnet"):
        (models / name).write_bytes((trained / "final.asnet").read_bytes())
    (models / "broken.asnet").write_text("nothing")
    found = find_candidates(tmp_path)
    assert [Path(each.file).name for each in found] == ["a.asnet", "broken.asnet"]
    result = run_select(tmp_path, tmp_path / "out")
    assert [Path(file).name for file in result.failed] == ["broken.asnet"]
    assert Path(result.as_json("pi-test")["best"]).name == "a.asnet"


def test_pools_are_looked_at_where_no_task_is_solved(trained: Path, tmp_path: Path) -> None:
    """With two steps a run solves no initial state, but some pool states; the counts against those of a test."""

    def selected(out: Path) -> Selection:
        examiner = Examiner(ExamConfig(pool=30, max_steps=2), out)
        for name in ("p01", "p02"):
            task = misstep.load(FERRY / "domain.pddl", FERRY / f"{name}.pddl", unit_cost=True)
            examiner.add(task, name=f"{name}.pddl")
        book = open_book(examiner)
        try:
            found = select(find_candidates(trained), examiner, book)
        finally:
            book.close()
        for each in found.ranking:
            reports = [
                misstep.test(
                    made.task,
                    each.candidate.policy,
                    pool_file=made.pool_file,
                    max_steps=2,
                    oracle="lookahead",
                )
                for made in examiner.tasks
            ]
            assert each.pool_solved == sum(report.solved for report in reports)
        return found

    found = selected(tmp_path)
    assert {each.grade.solved_tasks for each in found.ranking} == {0}
    solved = [each.pool_solved or 0 for each in found.ranking]
    assert solved == sorted(solved, reverse=True)
    assert solved[0] > 0
    lines = (tmp_path / "answers.jsonl").read_text().splitlines()
    older = [json.loads(line) for line in lines]  # as older versions of misstep left them
    older = [{key: line[key] for key in line if key not in ("pool_solved", "cleared")} for line in older]
    (tmp_path / "answers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in older))
    assert selected(tmp_path).ranking == found.ranking


def test_refusals(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no directory"):
        find_candidates(tmp_path / "absent")
    with pytest.raises(InputError, match="has no policies"):
        find_candidates(tmp_path)
    with pytest.raises(InputError, match="`pool` is 0"):
        ExamConfig(pool=0)


def test_answers_for_other_tasks_or_options_stand_beside_the_first_ones(tmp_path: Path) -> None:
    abouts = [{"pool": 12}, {"pool": 99}, {"pool": 5}]
    for at, about in enumerate(abouts):
        book = AnswerBook(tmp_path, about=about)
        assert book.known == {}
        book.put(Candidate("asnet:a", "a"), 0, Exam("t", float(at)))
        book.close()
    for at, about in enumerate(abouts):
        book = AnswerBook(tmp_path, about=about)
        assert book.known == {("a", 0): Exam("t", float(at))}
        book.close()
    assert json.loads((tmp_path / "answers.jsonl").read_text().splitlines()[0]) == {"about": {"pool": 12}}
    other = next(path for path in tmp_path.glob("answers-*.jsonl"))
    other.write_text('{"about": {"pool": 0}}\n')
    with pytest.raises(InputError, match=f"{other.name}: is about other tasks"):
        AnswerBook(tmp_path, about={"pool": 99})
        AnswerBook(tmp_path, about={"pool": 5})
