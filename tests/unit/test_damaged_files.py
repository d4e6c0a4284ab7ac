"""Files that misstep wrote or was given, damaged: refused with their name, never an internal error."""

import json
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest

from misstep import InputError, load, load_sas
from misstep.cli.config_options import _found
from misstep.config import Config
from misstep.experiments.scaling import ANSWERS, ScaleConfig, Scaling, open_store
from misstep.generators.command import Command
from misstep.generators.ours import bundled_domain
from misstep.policies.table import read_table
from misstep.record.pool_file import read_parents
from misstep.record.store import read_object
from misstep.support import process
from misstep.support.plain import read_fields
from misstep.training.asnet import Progress, train_asnet
from misstep.training.asnet_config import make_config
from misstep.training.examiner import ExamConfig, Examiner
from misstep.training.selection import ANSWERS as EXAMS
from misstep.training.selection import AnswerBook
from misstep.training.teacher_cache import TeacherCache
from misstep.training.teachers import Answer, CommandTeacher
from tests.unit.gnn_models import ferry


@pytest.mark.parametrize(
    "text",
    [
        "misstep = 3",
        "[[misstep]]\npool = 3",
        "oracle = 1979-05-27T07:32:00Z",
        "oracle = {a = 1}",
        "constant = 3",
        f"pool = {'[' * 5000}{']' * 5000}",
        f"confidence = 1{'0' * 400}",
        "pool = 1979-13-45",
    ],
)
def test_options_of_the_wrong_kind_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"misstep\.toml: "):
        Config.from_toml(text, where="misstep.toml")


def test_options_of_other_tools_are_no_concern_of_ours() -> None:
    with pytest.raises(InputError, match="unknown option `tool`"):
        Config.from_toml("tool = 3", where="misstep.toml")


def test_a_project_file_in_another_encoding_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_bytes(b"[project]\nname = '\xe9'\n")
    assert _found() is None
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.misstep]\npool = 3\n")
    assert _found() == Path("pyproject.toml")


def test_braces_of_a_program_are_its_own() -> None:
    assert "({x}) 3 {}" in Command("echo '({x})' {size} '{}' {seed}").problem(3, 4)
    with pytest.raises(InputError, match="no command line"):
        Command("echo 'never closed").problem(3, 4)


def test_a_teacher_may_have_braces_and_must_close_its_quotes(tmp_path: Path) -> None:
    task = load(*ferry(tmp_path))
    told = CommandTeacher("sh -c 'echo {unknown}; exit 3'").answer(task, task.initial_state, max_expansions=1)
    assert told.problem == "`sh` ended with code 3 and said `{unknown}`"
    with pytest.raises(InputError, match=r"teacher .* no command line"):
        CommandTeacher('planner "').answer(task, task.initial_state, max_expansions=1)


@pytest.mark.parametrize("answer", ["", "[]", "{", '{"plan": 3}', '{"plan": ["(a)"], "more": 1}', "[" * 9000])
def test_a_damaged_cache_of_teachers_is_named(answer: str, tmp_path: Path) -> None:
    cache = TeacherCache(tmp_path / "cache")
    cache.put(b"good", Answer(("(a)",), optimal=True))
    assert cache.get(b"good") == Answer(("(a)",), optimal=True)
    assert cache.get(b"absent") is None
    with sqlite3.connect(tmp_path / "cache") as connection:
        connection.execute("INSERT INTO answers VALUES (?, ?)", (b"bad", answer))
    with pytest.raises(InputError, match="cache: is damaged"):
        cache.get(b"bad")
    cache.close()


@dataclass
class Pair:
    one: float
    two: int = 0


@pytest.mark.parametrize("table", [[], 3, None, {"one": 10**400}, {"one": True}, {"two": 1}])
def test_plain_data_of_another_shape_is_a_value_error(table: object) -> None:
    with pytest.raises(ValueError, match=r"expected|missing"):
        read_fields(Pair, table)


@pytest.mark.parametrize("line", [{}, {"task": 3}, {"task": "t", "initial": "x", "costs": 1, "bugs": []}])
def test_damaged_answers_of_a_selection_are_named(line: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / EXAMS).write_text(f'{{"about": {{}}}}\n{json.dumps(line)}\n')
    with pytest.raises(InputError, match=f"{EXAMS}:2: is damaged"):
        AnswerBook(tmp_path, about={})


@pytest.mark.parametrize("damage", [{"verdict": "perhaps"}, {"solved": "yes"}, {"size": []}])
def test_damaged_answers_of_scaling_are_named(damage: dict[str, object], tmp_path: Path) -> None:
    scaling = Scaling(
        bundled_domain("ferry"), Command("false"), "heuristic:ff", ScaleConfig(), store=open_store(tmp_path)
    )
    assert scaling._known() == {}
    answer = {"size": 2, "number": 0, "solved": True, "verdict": "bug"}
    scaling.store.append(ANSWERS, answer)
    assert scaling._known() == {(2, 0): answer}
    scaling.store.append(ANSWERS, answer | damage)
    with pytest.raises(InputError, match="is damaged"):
        scaling._known()
    scaling.store.close()


def test_a_damaged_state_of_training_is_named(tmp_path: Path) -> None:
    task = load(*ferry(tmp_path))
    config = make_config("best", seed=0, epochs=3, batches=2, hidden=4, max_states=10, cohorts=1)
    out = tmp_path / "out"

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    for _ in range(2):  # lines of somebody else are passed over
        with pytest.raises(KeyboardInterrupt):
            train_asnet([task], [], config, out=out, progress=stop)
        (out / "log.jsonl").write_bytes(b'\xff\n{"run": 3}\n[]\n' + (out / "log.jsonl").read_bytes())
    whole = (out / "state.safetensors").read_bytes()
    for old, new in ((b'\\"recent\\": 1', b'\\"recent\\": 9'), (b'\\"steps\\"', b'\\"stops\\"')):
        assert old in whole
        (out / "state.safetensors").write_bytes(whole.replace(old, new))
        with pytest.raises(InputError, match=r"state\.safetensors: is damaged"):
            train_asnet([task], [], config, out=out)
    (out / "state.safetensors").write_bytes(whole)
    (out / "pool.jsonl").write_text('[0, ["nobody"], 3]\n' * 1000)
    with pytest.raises(InputError, match=r"pool\.jsonl: is damaged"):
        train_asnet([task], [], config, out=out)


def test_of_a_flood_in_a_file_only_the_beginning_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_MOST_BYTES", 10)
    (tmp_path / "plan").write_bytes(b"(a b)\n\xff" + b"x" * 1000)
    assert process.read_left(tmp_path / "plan") == "(a b)\n�xxx"


def test_half_a_surrogate_pair_is_no_name(tmp_path: Path) -> None:
    task = load(*ferry(tmp_path))
    facts = list(task.initial_state.facts)
    with pytest.raises(InputError, match=r"ud800.* is no text, so it is no fact"):
        task.state([*facts, "(at k \ud800)"])
    file = tmp_path / "table.json"
    for damage in ({"facts": [*facts, "\ud800"]}, {"action": "\ud800"}):
        file.write_text(json.dumps([{"facts": facts, "action": None} | damage]))
        with pytest.raises(InputError, match=r"table\.json: entry 1: an entry is written"):
            read_table(file, task)
    for text in ('{"walk": ["\\ud800"]}', '{"\\uDFFF": 1}'):
        with pytest.raises(InputError, match="no JSON object"):
            read_object(text, "pool")
        with pytest.raises(InputError, match="no JSON object"):
            read_object(text.encode(), "pool")
    assert read_object('{"walk": "\\ud83d\\ude00"}', "pool") == {"walk": "\N{GRINNING FACE}"}


def test_file_names_need_not_be_utf_8_unless_a_record_has_to_name_them(tmp_path: Path) -> None:
    task = load(*ferry(tmp_path))
    odd = tmp_path / os.fsdecode(b"odd\xff.sas")
    odd.write_text(task.sas)
    assert load_sas(odd).source.endswith("odd\\udcff.sas")
    for options in ({"domain": odd, "policy": "heuristic:ff"}, {"policy": f"table:{odd}"}, {"model": odd}):
        with pytest.raises(InputError, match=r"odd\\udcff\.sas', which is no UTF-8 text; rename the file"):
            Config(**options)
    assert Config(policy="table:größe.json").policy == "table:größe.json"


@pytest.mark.parametrize(
    "damage", [{"id": [0]}, {"id": None}, {"id": -1}, {"parent": [0]}, {"parent": "one"}]
)
def test_a_damaged_pool_of_a_record_is_named(damage: dict[str, object], tmp_path: Path) -> None:
    lines = [{"id": 0, "parent": None}, {"id": 1, "parent": 0} | damage]
    with pytest.raises(InputError, match=r"pool.jsonl:2: `(id|parent)` should be a number"):
        read_parents(lines, where="pool.jsonl")
    assert read_parents([{"id": 3}, {"parent": -1}, {"id": 5, "parent": 3}], where="") == {
        3: None,
        1: None,
        5: 3,
    }


@pytest.mark.parametrize("damage", ["", "[]", "{}", "[3, 4, 5]", '["(a)", "(b)", "(c)"]'])
def test_damaged_plans_of_an_examiner_are_named(damage: str, tmp_path: Path) -> None:
    task = load(*ferry(tmp_path))
    Examiner(ExamConfig(pool=3), tmp_path).add(task, name="task")
    [plans] = (tmp_path / "pools").glob("*.plans.json")
    plans.write_text(damage)
    with pytest.raises(InputError):
        Examiner(ExamConfig(pool=3), tmp_path).add(task, name="task")
