"""Selecting among the checkpoints of a training on the learning track of IPC 2023: what each criterion gives.

    python -m benchmarks.select_ipc23 --out results --domains blocksworld spanner satellite

Trains the published loop for 64 epochs without an early end on the first 20 tasks of training/easy, selects on
every second of the others (--every), and compares the choices on testing/easy: solved tasks, and the share of
bugs among pool states of the tasks that both `pi-test` and `solved` solve. What is finished is not done again.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.train_ipc23 import load_all
from misstep.training.asnet import train_asnet
from misstep.training.asnet_config import make_config
from misstep.training.examiner import ExamConfig, Examiner
from misstep.training.score import Exam, grades, tabulate
from misstep.training.selection import AnswerBook, Candidate, Selection, find_candidates, select
from tests.data import NO_DATA, data_folder

EPOCHS = 64
NUM_TRAINING = 20


def examiner_of(domain: Path, problems: list[Path], folder: Path, pool: int) -> tuple[Examiner, AnswerBook]:
    examiner = Examiner(ExamConfig(pool=pool), folder)
    for problem, task in zip(problems, load_all(domain, problems), strict=True):
        examiner.add(task, name=problem.name)
    tasks = [each.pool_file.stem for each in examiner.tasks]
    return examiner, AnswerBook(folder, about={"pool": pool, "tasks": tasks})


def train(domain: Path, out: Path, seed: int, seconds: float) -> None:
    config = make_config(
        "published", epochs=EPOCHS, solved_epochs=None, patience=1000, perfect_epochs=1000, seed=seed
    )
    problems = sorted((domain / "training" / "easy").glob("*.pddl"))[:NUM_TRAINING]
    train_asnet(load_all(domain, problems), (), config, out=out, max_seconds=seconds)


def choose(domain: Path, out: Path, pool: int, every: int) -> Selection:
    problems = sorted((domain / "training" / "easy").glob("*.pddl"))[NUM_TRAINING:]
    examiner, book = examiner_of(domain, problems[::every], out / "validation", pool)
    try:
        return select(find_candidates(out), examiner, book)
    finally:
        book.close()


def test(domain: Path, out: Path, pool: int, chosen: list[Candidate]) -> list[list[Exam]]:
    problems = sorted((domain / "testing" / "easy").glob("*.pddl"))
    examiner, book = examiner_of(domain, problems, out / "test", pool)
    results = []
    for candidate in chosen:
        exams = []
        for number in range(len(examiner.tasks)):
            exam = book.known.get((candidate.digest, number)) or examiner.exam(candidate.policy, number)
            assert exam is not None
            if (candidate.digest, number) not in book.known:
                book.put(candidate, number, exam)
            exams.append(exam)
        results.append(exams)
    book.close()
    return results


def row(domain: Path, out: Path, pool: int, every: int) -> dict[str, object]:
    found = choose(domain, out, pool, every)
    names = list(found.choices)
    exams = test(domain, out, pool, [found.choices[name].candidate for name in names])
    shared = [at for at in range(len(exams[0])) if all(each[at].initial is not None for each in exams[:2])]
    compared = [[each[at] for at in shared] for each in exams[:2]]
    bugs = grades(tabulate(compared, [pool] * len(shared))) if shared else []
    return {
        "domain": domain.name,
        "checkpoints": len(found.ranking),
        "chance": found.ranking[0].chance,
        "chosen": {name: Path(each.candidate.file).stem for name, each in found.choices.items()},
        "validation": {name: each.grade.solved_tasks for name, each in found.choices.items()},
        "test": {
            name: sum(exam.initial is not None for exam in each)
            for name, each in zip(names, exams, strict=True)
        },
        "bug_rate": {
            name: 1 - grade.bug_free_states / grade.states
            for name, grade in zip(names[:2], bugs, strict=False)
        },
        "states": bugs[0].states if bugs else 0,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--domains", nargs="+", default=["blocksworld", "spanner", "satellite"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pool", type=int, default=25)
    parser.add_argument(
        "--every", type=int, default=2, help="each so manieth of the others is for validation"
    )
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    data = data_folder()
    if data is None:
        print(NO_DATA)
        return 0
    for name in options.domains:
        folder, out = data / "ipc23-learning" / name, options.out / name
        file = options.out / f"{name}.json"
        if not file.is_file():
            train(folder, out, options.seed, options.seconds)
            file.write_text(
                json.dumps(row(folder, out, options.pool, options.every)) + "\n", encoding="utf-8"
            )
        print(file.read_text(encoding="utf-8").strip(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
