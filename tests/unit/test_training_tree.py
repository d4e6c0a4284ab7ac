"""Training that chooses where to go on: phases, limits on branching, resuming, the drawing."""

import json
import shutil
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

import misstep
from misstep.errors import InputError
from misstep.training.asnet import Progress
from misstep.training.asnet_config import AsnetConfig
from misstep.training.drawing import TreeNode, draw_tree
from misstep.training.examiner import ExamConfig
from misstep.training.selection import find_candidates
from misstep.training.tree import MODES, Mode, TreeConfig, train_tree
from misstep.training.tree_files import models_in

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"
QUICK = AsnetConfig(hidden=8, batches=25, average=2, max_states=0, max_new_states=10)
EXAM = ExamConfig(pool=6)


@pytest.fixture(scope="module")
def tasks() -> list[misstep.Task]:
    names = ("p01", "p02", "p03")
    return [misstep.load(FERRY / "domain.pddl", FERRY / f"{name}.pddl", unit_cost=True) for name in names]


def parents(out: Path) -> list[int | None]:
    return [json.loads(line)["parent"] for line in (out / "log.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("mode", MODES)
def test_phases_and_branching(tasks: list[misstep.Task], tmp_path: Path, mode: Mode) -> None:
    """Two initialisations, two epochs each, then five more; N_exp is 3 in trees and 1 in lines."""
    tree = TreeConfig(mode=mode, inits=2, start=2, main=5, branches=3)
    result = train_tree(tasks[:2], tasks[2:], QUICK, tree, out=tmp_path, exam=EXAM)
    found = parents(tmp_path)
    if mode == "line":  # 9 epochs in two lines of 4
        assert found == [None, 0, 1, 2, 3, None, 5, 6, 7, 8]
        assert result.epochs == 8
        return
    assert found[:6] == [None, 0, 1, None, 3, 4]
    assert result.epochs == 9
    assert len(found) == 11
    used = Counter(parent for parent in found if parent is not None)
    assert max(used.values()) <= (1 if mode == "line-pi-test" else 3)
    if mode == "line-pi-test":
        assert all(parent in (2, 5) or parent > 5 for parent in found[6:] if parent is not None)
    assert len(find_candidates(tmp_path)) == models_in(tmp_path) == len(found)
    assert (tmp_path / "final.asnet").read_bytes() in {
        path.read_bytes() for path in (tmp_path / "models").glob("n*.asnet")
    }
    assert ElementTree.fromstring((tmp_path / "tree.svg").read_text()).tag.endswith("svg")


@pytest.mark.parametrize("mode", ["line-pi-test", "tree-pi-test"])
def test_where_nothing_is_solved_a_trained_model_wins(
    tasks: list[misstep.Task], tmp_path: Path, mode: Mode
) -> None:
    """Two steps solve no validation task; only the states in reach of the goal and the loss are left to choose by."""
    tree = TreeConfig(mode=mode, inits=2, start=1, main=3, branches=2)
    exam = ExamConfig(pool=6, max_steps=2)
    train_tree(tasks[:2], tasks[2:], QUICK, tree, out=tmp_path, exam=exam)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines[:4]] == [0, 1, 0, 1]
    for line in lines[4:]:
        assert lines[line["parent"]]["epoch"] > 0
    answers = [
        json.loads(line) for line in (tmp_path / "selection" / "answers.jsonl").read_text().splitlines()
    ]
    solved = {Path(line["policy"]).stem: line["pool_solved"] for line in answers[1:]}
    trained = [line for line in lines if line["epoch"] > 0]
    best = max(trained, key=lambda line: (solved[line["model"]], -line["loss"], line["epoch"]))
    model = tmp_path / "models" / f"{best['model']}.asnet"
    assert (tmp_path / "final.asnet").read_bytes() == model.read_bytes()


def test_branches_of_one_model_differ(tasks: list[misstep.Task], tmp_path: Path) -> None:
    tree = TreeConfig(mode="tree", inits=1, start=1, main=6, branches=8)
    train_tree(tasks[:2], tasks[2:], QUICK, tree, out=tmp_path, exam=EXAM)
    models = [path.read_bytes() for path in sorted((tmp_path / "models").glob("n*.asnet"))]
    assert len(set(models)) == len(models) == 8


def test_a_killed_tree_goes_on_to_the_same_models(tasks: list[misstep.Task], tmp_path: Path) -> None:
    tree = TreeConfig(inits=2, start=1, main=4, branches=2)
    whole = train_tree(tasks[:2], tasks[2:], QUICK, tree, out=tmp_path / "whole", exam=EXAM)

    class Killed(Exception):
        pass

    for stop in (3, 2, 1):
        count = 0

        def progress(_: Progress, stop: int = stop) -> None:
            nonlocal count
            count += 1
            if count == stop:
                raise Killed

        with pytest.raises(Killed):
            train_tree(
                tasks[:2], tasks[2:], QUICK, tree, out=tmp_path / "parts", exam=EXAM, progress=progress
            )
    for name in ("log.jsonl", "pool.jsonl"):
        with (tmp_path / "parts" / name).open("a") as file:
            file.write('{"half": "a l')
    about = tmp_path / "parts" / "about.json"  # the order of options is no part of a training
    about.write_text(json.dumps(json.loads(about.read_text()), sort_keys=True))
    parts = train_tree(tasks[:2], tasks[2:], QUICK, tree, out=tmp_path / "parts", exam=EXAM)
    assert parts.final.read_bytes() == whole.final.read_bytes()
    assert parents(tmp_path / "parts") == parents(tmp_path / "whole")
    for model in whole.models.iterdir():
        assert model.read_bytes() == (parts.models / model.name).read_bytes()
    assert (tmp_path / "parts" / "tree.svg").read_text() == (tmp_path / "whole" / "tree.svg").read_text()


def test_a_start_up_phase_is_copied_to_the_same_models(tasks: list[misstep.Task], tmp_path: Path) -> None:
    """Ways to choose differ only after it; a training that has other epochs, or is not there, gives nothing."""
    first = TreeConfig(mode="line-pi-test", inits=2, start=2, main=3)
    train_tree(tasks[:2], tasks[2:], QUICK, first, out=tmp_path / "first", exam=EXAM)
    for mode in ("tree", "tree-pi-test"):
        tree = TreeConfig(mode=mode, inits=2, start=2, main=3)
        alone = train_tree(tasks[:2], tasks[2:], QUICK, tree, out=tmp_path / f"{mode}-alone", exam=EXAM)
        made: list[Progress] = []
        out = tmp_path / f"{mode}-like"
        like = train_tree(
            tasks[:2],
            tasks[2:],
            QUICK,
            tree,
            out=out,
            exam=EXAM,
            like=tmp_path / "first",
            progress=made.append,
        )
        assert len(made) == tree.main
        for name in ("log.jsonl", "pool.jsonl", "tree.svg", "final.asnet"):
            assert (out / name).read_bytes() == (tmp_path / f"{mode}-alone" / name).read_bytes()
        models = sorted(path.name for path in alone.models.iterdir())
        assert models == sorted(path.name for path in like.models.iterdir())
        assert all((alone.models / name).read_bytes() == (like.models / name).read_bytes() for name in models)
    for other in ("first", "absent"):
        made, tree = [], TreeConfig(mode="tree", inits=2, start=1, main=1)
        out = tmp_path / f"from-{other}"
        train_tree(
            tasks[:2], tasks[2:], QUICK, tree, out=out, exam=EXAM, like=tmp_path / other, progress=made.append
        )
        assert len(made) == tree.inits * (tree.start + 1) + tree.main


def test_a_copy_that_was_killed_goes_on(tasks: list[misstep.Task], tmp_path: Path) -> None:
    """The log is copied last: with a part of it there are fewer models, and those are trained."""
    first = TreeConfig(mode="line-pi-test", inits=2, start=2, main=2)
    train_tree(tasks[:2], tasks[2:], QUICK, first, out=tmp_path / "first", exam=EXAM)
    tree = TreeConfig(mode="tree", inits=2, start=2, main=2)
    whole = train_tree(tasks[:2], tasks[2:], QUICK, tree, out=tmp_path / "whole", exam=EXAM)
    half = tmp_path / "half"
    shutil.copytree(tmp_path / "first", half)
    shutil.copyfile(tmp_path / "whole" / "about.json", half / "about.json")
    lines = (half / "log.jsonl").read_text().splitlines(keepends=True)
    (half / "log.jsonl").write_text("".join(lines[:3]))
    rest = train_tree(tasks[:2], tasks[2:], QUICK, tree, out=half, exam=EXAM, like=tmp_path / "first")
    assert rest.final.read_bytes() == whole.final.read_bytes()
    assert (half / "log.jsonl").read_bytes() == (tmp_path / "whole" / "log.jsonl").read_bytes()


def test_models_that_cannot_be_copied_are_named(tasks: list[misstep.Task], tmp_path: Path) -> None:
    first = TreeConfig(mode="line-pi-test", inits=1, start=1, main=1)
    train_tree(tasks[:2], tasks[2:], QUICK, first, out=tmp_path / "first", exam=EXAM)
    (tmp_path / "first" / "models" / "n0001.asnet").unlink()
    tree = TreeConfig(mode="tree", inits=1, start=1, main=1)
    with pytest.raises(InputError, match=r"models cannot be copied from .*first: No such file"):
        train_tree(
            tasks[:2], tasks[2:], QUICK, tree, out=tmp_path / "out", exam=EXAM, like=tmp_path / "first"
        )


def test_refusals(tasks: list[misstep.Task], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs validation tasks"):
        train_tree(tasks[:1], (), QUICK, TreeConfig(), out=tmp_path)
    with pytest.raises(InputError, match="`inits` is 0"):
        TreeConfig(inits=0)
    small = TreeConfig(inits=1, start=1, main=0)
    train_tree(tasks[:1], tasks[1:2], QUICK, small, out=tmp_path, exam=EXAM)
    with pytest.raises(InputError, match="other"):
        train_tree(tasks[:1], tasks[1:2], QUICK, TreeConfig(inits=2, start=1), out=tmp_path, exam=EXAM)


def test_the_drawing_has_every_model_and_edge() -> None:
    """Six models; the fourth and fifth branch off the second, so they need rows of their own."""
    links = [None, 0, 1, 1, 1, None]
    depths = [0, 1, 2, 2, 2, 0]
    nodes = [TreeNode(at, parent, depths[at], at / 5) for at, parent in enumerate(links)]
    drawn = ElementTree.fromstring(draw_tree(nodes, best=3))
    space = "{http://www.w3.org/2000/svg}"
    circles = list(drawn.iter(f"{space}circle"))
    assert len(circles) == 6
    assert len(list(drawn.iter(f"{space}path"))) == 4
    places = {(circle.get("cx"), circle.get("cy")) for circle in circles}
    assert len(places) == 6
    assert [circle.get("stroke-width") for circle in circles].index("3") == 3
