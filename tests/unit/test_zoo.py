"""The policies that come with misstep: every one works on its own domain and says what it cannot do."""

from importlib.resources import as_file, files
from pathlib import Path

import pytest

import misstep
from misstep.cli.demo import demo_files
from misstep.errors import MisstepError
from misstep.generators.ours import bundled_domain
from misstep.plugins import make_policy_part
from misstep.policies.zoo import zoo_files
from misstep.training.zoo import DEMO, train_courier

ASNETS = [name for name, file in zoo_files().items() if ".asnet." in file]
# Seven of twelve is what training logistics gave: it is there to have bugs.
WEAK = {"logistics"}


def test_there_are_at_least_eight_small_ones() -> None:
    assert len(ASNETS) >= 8
    folder = files("misstep") / "bundled" / "zoo"
    assert all(len((folder / zoo_files()[name]).read_bytes()) < 100_000 for name in ASNETS)


@pytest.mark.parametrize("name", ASNETS)
def test_it_solves_the_problem_beside_it(name: str) -> None:
    policy = make_policy_part(f"zoo:{name}")
    assert policy.unit_cost
    with as_file(files("misstep") / "bundled") as folder:
        report = misstep.test(demo_files(folder, name), f"zoo:{name}", pool=1, unit_cost=True)
    judged = report.tally.judged[0]
    if name not in WEAK:
        assert judged.outcome == "solved"


def test_the_policy_of_the_demo_is_trained_in_seconds_by_one_command(tmp_path: Path) -> None:
    """Not byte for byte: other processors may round otherwise. But it learns all that it is shown."""
    result = train_courier(tmp_path / "trained")
    assert result.solved == 20
    assert result.final.stat().st_size == len(
        (files("misstep") / "bundled" / "zoo" / zoo_files()[DEMO]).read_bytes()
    )


def test_another_domain_is_refused() -> None:
    problem = (files("misstep") / "bundled" / "problems" / "ferry.pddl").read_text()
    with pytest.raises(MisstepError, match="another domain"):
        misstep.test((bundled_domain("ferry"), problem), "zoo:gripper", pool=1)
    with pytest.raises(MisstepError, match="gripper"):
        misstep.test((bundled_domain("ferry"), problem), "zoo:griper", pool=1)
