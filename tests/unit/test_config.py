"""Configurations: one value, many sources."""

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.config import DEFAULT_ORACLE, MODEL_ONLY, TASK_ONLY, Config
from misstep.errors import InputError


def test_defaults_and_names() -> None:
    config = Config(domain=Path("a/d.pddl"), problem=Path("b/p.pddl"), policy="asnet:x")
    assert config.oracle == (DEFAULT_ORACLE,) and config.pool is None and config.seed == 0
    assert config.subject == "p.pddl" and not config.is_safety
    assert Config(model=Path("m.jani")).is_safety
    assert pickle.loads(pickle.dumps(config)) == config


texts = st.text(min_size=1, max_size=8)
configs = st.builds(
    Config,
    policy=texts,
    pool=st.integers(1, 1000),
    seed=st.integers(0, 2**30),
    seconds=st.none() | st.floats(0, 1e6),
    oracle=st.lists(texts, min_size=1, max_size=3).map(tuple),
    gap=st.booleans(),
    recheck=st.booleans(),
    fuzzer=st.none() | texts,
)


@given(configs)
def test_toml_reads_back(config: Config) -> None:
    assert Config.from_toml(config.to_toml(), where="test") == config
    assert Config.from_table(config.as_table(), where="test") == config


def test_files_and_tables(tmp_path: Path) -> None:
    for name, text in {"a.toml": "pool = 7\n", "b.toml": "[misstep]\npool = 7\n",
                       "pyproject.toml": "[tool.misstep]\npool = 7\n"}.items():  # fmt: skip
        (tmp_path / name).write_text(text)
        assert Config.read(tmp_path / name).pool == 7


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"poool": 3}, "did you mean"),
        ({"pool": "many"}, "`pool`: expected a whole number"),
        ({"pool": True}, "`pool`: expected a whole number"),
        ({"pool": 0}, "at least 1"),
        ({"seed": -1}, "at least 0"),
        ({"seconds": float("nan")}, "seconds"),
        ({"gap": 1}, "`gap`: expected true or false"),
        ({"model": "m.jani", "bias": "detour"}, "`bias` is for a PDDL task only"),
        ({"domain": "d.pddl", "radius": 2}, "`radius` is for a JANI model only"),
        ({"domain": "d.pddl", "model": "m.jani"}, "not both"),
    ],
)
def test_bad_values(table: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Config.from_table(table, where="test")


def test_what_people_write() -> None:
    made = Config.from_table({"domain": Path("d"), "oracle": "perfect", "seconds": "inf"}, where="test")
    assert made.domain == Path("d") and made.oracle == ("perfect",) and made.seconds is None
    assert Config.from_table({"model": "m.jani", "radius": "inf"}, where="test").radius is None
    assert made.replace(problem="p.pddl", pool=None).problem == Path("p.pddl")
    assert made.absolute().domain == Path("d").resolve()


def test_bad_files(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("pool = \n")
    for name, message in {"bad.toml": "not a TOML file", "none.toml": "cannot be read"}.items():
        with pytest.raises(InputError, match=message):
            Config.read(tmp_path / name)


def test_no_option_is_for_nobody() -> None:
    assert not TASK_ONLY & MODEL_ONLY
