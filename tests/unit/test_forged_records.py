"""Purposeful forgeries with every digest computed again: no file of a record may say what the others do not."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.bundled.models import generate
from misstep.record.verify import verify_all
from misstep.reference.digest import digest
from misstep.safety.evidence import question_digest

FERRY = Path(__file__).parents[1] / "tasks" / "ferry"
Edit = Callable[[Path], object]
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A test of a task and one of a model, with bugs and clearances."""
    folder = tmp_path_factory.mktemp("records")
    misstep.test((FERRY / "domain.pddl", FERRY / "p02.pddl"), "heuristic:hadd", pool=12, out=folder / "task")
    (folder / "line.jani").write_text(json.dumps(generate("two_way_line")))
    misstep.test(str(folder / "line.jani"), "zoo:two_way_line", runs=20, out=folder / "model")
    found = {name: folder / name for name in ("task", "model")}
    for path in found.values():
        assert (
            verify_all(path).is_sound
            and list((path / "bugs").iterdir())
            and (path / "cleared.jsonl").read_text()
        )
    return found


def document(name: str, change: Change) -> Edit:
    """Changes a JSON file; `bugs` stands for the first bug, which is signed again."""

    def edit(folder: Path) -> None:
        path = min((folder / "bugs").iterdir()) if name == "bugs" else folder / name
        fields = json.loads(path.read_text())
        change(fields)
        if name == "bugs":
            fields["sha256"] = digest(fields)
        path.write_text(json.dumps(fields))

    return edit


def line(name: str, at: int, change: Change) -> Edit:
    """Changes a line of a log, and signs all lines again that are signed."""

    def edit(folder: Path) -> None:
        lines, before = [json.loads(text) for text in (folder / name).read_text().splitlines()], None
        change(lines[at])
        for each in lines:
            if "sha256" in each:
                if "before" in each:
                    each["before"] = before
                each["sha256"] = before = digest(each)
        (folder / name).write_text("".join(json.dumps(each) + "\n" for each in lines))

    return edit


def without(*names: str) -> Edit:
    """Leaves files out."""

    def edit(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return edit


def lines_of(name: str, keep: Callable[[list[str]], list[str]]) -> Edit:
    """Leaves lines of a log out, or writes some twice."""

    def edit(folder: Path) -> None:
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(keep(lines)))

    return edit


def signed(name: str, field: str, old: str, new: str) -> Edit:
    """Other text in a file whose digest is in the environment."""

    def edit(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        text = text.replace(old, new, 1)
        (folder / name).write_text(text)
        document("env.json", lambda env: env.update({field: hashlib.sha256(text.encode()).hexdigest()}))(
            folder
        )

    return edit


def other_question(**changes: object) -> Edit:
    """Another question in the header of the evidence, and in the environment."""

    def edit(folder: Path) -> None:
        line("evidence.jsonl", 0, lambda header: header.update(changes))(folder)
        header = json.loads((folder / "evidence.jsonl").read_text().splitlines()[0])
        names = ("radius", "horizon", "constants", "semantics", "unsafe", "goal")
        question = question_digest({name: header[name] for name in names})
        document("env.json", lambda env: env.update(question_sha256=question))(folder)

    return edit


def copied(folder: Path) -> None:
    shutil.copy(min((folder / "bugs").iterdir()), folder / "bugs" / "99.json")


def renamed(folder: Path) -> None:
    min((folder / "bugs").iterdir()).rename(folder / "bugs" / "99.json")


def also_cleared(folder: Path) -> None:
    fields = json.loads(min((folder / "bugs").iterdir()).read_text()) | {"verdict": "cleared"}
    with (folder / "cleared.jsonl").open("a") as file:
        file.write(json.dumps(fields | {"sha256": digest(fields)}) + "\n")


def dearer(folder: Path) -> None:
    """A clearance that takes a search's word for a bound above the plan of another certificate."""

    def change(fields: dict[str, Any]) -> None:
        cost = fields["cost"]["hi"] + 2
        way = fields["run"]["actions"]
        fields["run"]["actions"] = (
            [way[0], "(embark car2 port1)", *way] if way[0].startswith("(debark car2") else way
        )
        fields |= {"cost": {"lo": cost, "hi": cost}, "best": {"lo": cost, "hi": cost}, "witness": None}
        fields["objective"]["values"] = [[cost, cost]]
        fields["lower"] = {"kind": "search", "value": cost, "search": "astar:blind", "expanded": 1}

    line("cleared.jsonl", 0, change)(folder)


NOT_CERTIFIED = "but no valid certificate does"
TASK: list[tuple[str, Edit, str]] = [
    ("the PDDL is gone", without("domain.pddl", "problem.pddl"), "domain.pddl is gone"),
    ("the problem is gone", without("problem.pddl"), "problem.pddl is gone"),
    ("a cheaper task", signed("task.sas", "task_sha256", "begin_goal\n2\n2 3\n", "begin_goal\n1\n"),
     "translator"),
    ("another format", document("bugs", lambda bug: bug.update(format=99)), NOT_CERTIFIED),
    ("another format of the record", document("env.json", lambda env: env.update(format=99)), "has format 99"),
    ("another objective", document("env.json", lambda env: env.update(objective="qualitative")), "another objective"),
    ("another seed", document("env.json", lambda env: env.update(seed=5)), "another seed"),
    ("another seed of a bug", document("bugs", lambda bug: bug.update(seed=5)), "another seed"),
    ("another policy", line("events.jsonl", 0, lambda event: event.update(policy="zoo:x")), "another policy"),
    ("another task", document("bugs", lambda bug: bug.update(task="p03.pddl")), "another task"),
    ("another walk", document("bugs", lambda bug: bug["pool"].update(walk=["(sail port1 port2)"])), "walk"),
    ("another pool entry", document("bugs", lambda bug: bug["pool"].update(id=3)), "no such entry"),
    ("another number", document("bugs", lambda bug: bug.update(id="1")), "2 certificates for bug 1"),
    ("another oracle", document("bugs", lambda bug: bug.update(oracle="undo")), "another oracle"),
    ("another command", document("bugs", lambda bug: bug.update(replay="rm -rf /")), "command"),
    ("two commands", document("bugs", lambda bug: bug.update(replay="misstep replay r; ls 0")), "command"),
    ("no fault", document("bugs", lambda bug: bug.update(fault=None)), "another decision at fault"),
    ("a file twice", copied, "2 certificates for bug"),
    ("a file with another name", renamed, "calls itself"),
    ("a bug that is cleared", also_cleared, "do not prove that nobody does better"),
    ("a clearance twice", lines_of("cleared.jsonl", lambda all: [*all, all[0]]), "2 certificates for cleared"),
    ("a dearer clearance", dearer, NOT_CERTIFIED),
    ("no clearances", without("cleared.jsonl"), NOT_CERTIFIED),
    ("no evidence", without("evidence.jsonl"), NOT_CERTIFIED),
    ("no pool", without("pool.jsonl"), "no such entry"),
    ("no events", lines_of("events.jsonl", lambda all: []), "does not begin with the start"),
    ("no start", lines_of("events.jsonl", lambda all: all[1:]), "does not begin with the start"),
    ("a bug without its event", lines_of("events.jsonl", lambda all: [all[0], *all[2:]]), "does not say"),
    ("no word of a search", line("events.jsonl", 1, lambda event: event.update(by_search=True)), "believed"),
    ("other steps", line("events.jsonl", 1, lambda event: event.update(steps=55)), "other steps"),
    ("another end", line("events.jsonl", 1, lambda event: event.update(outcome="stuck")), "ended otherwise"),
    ("another best", line("events.jsonl", 1, lambda event: event.update(best={"lo": 1, "hi": 1})), "another best"),
    ("no families", line("events.jsonl", -1, lambda event: event.update(families=[])), "in no family"),
    ("a bug in two families", line("events.jsonl", -1, lambda event: event["families"].append(event["families"][0])),
     "or in several"),
]  # fmt: skip
MODEL: list[tuple[str, Edit, str]] = [
    ("another format", document("bugs", lambda bug: bug.update(format=99)), NOT_CERTIFIED),
    ("another format of evidence", line("evidence.jsonl", 0, lambda it: it.update(format=99)), "not 99"),
    ("an edited question", line("evidence.jsonl", 0, lambda it: it.update(radius=0)), "another question"),
    ("another radius", other_question(radius=0), NOT_CERTIFIED),
    ("another horizon", other_question(horizon=3), "another number of values"),
    ("a horizon in the options", signed("config.toml", "config_sha256", "runs = 20", "runs = 20\nhorizon = 3"),
     "another horizon"),
    ("another goal", other_question(goal={"op": "state-condition", "exp": True}), NOT_CERTIFIED),
    ("nothing is unsafe", other_question(unsafe={"op": "state-condition", "exp": False}), NOT_CERTIFIED),
    ("other constants", other_question(constants={"x": 1}), "not known here"),
    ("other semantics", other_question(semantics={"overflow": "clip"}), "not known here"),
    ("another radius of a bug", document("bugs", lambda bug: bug.update(radius=0)), NOT_CERTIFIED),
    ("no run", document("bugs", lambda bug: bug.update(run=None)), NOT_CERTIFIED),
    ("another verdict", document("bugs", lambda bug: bug.update(verdict="cleared")), NOT_CERTIFIED),
    ("another digest", document("env.json", lambda env: env.update(model_sha256="0")), "digest is another"),
    ("more runs", line("events.jsonl", -1, lambda event: event.update(runs=99)), "20 runs, not 99"),
    ("fewer unsafe runs", line("events.jsonl", -1, lambda event: event.update(unsafe_runs=1)), "unsafe_runs, not 1"),
    ("no unavoidable state proven", without("cleared.jsonl"), NOT_CERTIFIED),
    ("no evidence", lines_of("evidence.jsonl", lambda all: []), "there is no evidence"),
    ("only a header", lines_of("evidence.jsonl", lambda all: all[:1]), NOT_CERTIFIED),
]  # fmt: skip


def refusals(folder: Path) -> list[str]:
    """Why `verify` does not believe a record."""
    try:
        found = verify_all(folder)
    except misstep.MisstepError as error:
        return [str(error)]
    return [*found.problems, *(each["reason"] for each in found.invalid)]


@pytest.mark.parametrize(
    ("kind", "edit", "reason"),
    [
        pytest.param(kind, edit, reason, id=f"{kind}: {name}")
        for kind, forgeries in (("task", TASK), ("model", MODEL))
        for name, edit, reason in forgeries
    ],
)
def test_forgeries_are_refused(
    records: dict[str, Path], tmp_path: Path, kind: str, edit: Edit, reason: str
) -> None:
    shutil.copytree(records[kind], tmp_path / "record")
    edit(tmp_path / "record")
    assert any(reason in text for text in refusals(tmp_path / "record")), refusals(tmp_path / "record")


@pytest.mark.parametrize(
    "count",
    ["tested", "solved", "bugs", "qualitative", "quantitative", "cleared", "unknown", "failed", "faults"],
)
def test_counts_are_added_up_again(records: dict[str, Path], tmp_path: Path, count: str) -> None:
    shutil.copytree(records["task"], tmp_path / "record")
    line("events.jsonl", -1, lambda event: event.update({count: event[count] + 1}))(tmp_path / "record")
    assert any(f" {count}, not " in text for text in refusals(tmp_path / "record"))


def test_what_is_missing_at_the_end_is_told(records: dict[str, Path], tmp_path: Path) -> None:
    """A test that was killed has no last event: its certificates count, and the reader knows."""
    for kind, path in records.items():
        shutil.copytree(path, tmp_path / kind)
        lines_of("events.jsonl", lambda all: all[:-1])(tmp_path / kind)
        found = verify_all(tmp_path / kind)
        assert found.is_sound and any("the log has no end" in note for note in found.notes)


def test_which_task_it_is_about_is_told(records: dict[str, Path], tmp_path: Path) -> None:
    notes = verify_all(records["task"]).notes
    sas = (records["task"] / "task.sas").read_bytes()
    assert (
        f"SHA-256 of the task: {hashlib.sha256(sas).hexdigest()}; what the translator makes of the PDDL"
        in notes
    )
    task = misstep.Task(sas.decode())
    misstep.test(task, "heuristic:hadd", pool=2, out=tmp_path / "sas")
    assert any("there is no PDDL to compare it with" in note for note in verify_all(tmp_path / "sas").notes)


def test_a_command_with_blanks_is_one_word(tmp_path: Path) -> None:
    misstep.test(
        misstep.load(FERRY / "domain.pddl", FERRY / "p02.pddl"),
        "heuristic:hadd",
        pool=3,
        out=tmp_path / "a b",
    )
    (bug, *_) = sorted((tmp_path / "a b" / "bugs").iterdir())
    assert json.loads(bug.read_text())["replay"] == f"misstep replay '{tmp_path}/a b' {bug.stem}"
    assert verify_all(tmp_path / "a b").is_sound
