"""Options of trainings: what all kinds share is checked for all; what is on disk still belongs to them."""

import hashlib
import json
from dataclasses import asdict, fields

import pytest

from misstep.errors import InputError
from misstep.training.asnet_config import AsnetConfig, make_config
from misstep.training.gnn_config import GnnConfig
from misstep.training.run_config import RunConfig


@pytest.mark.parametrize("kind", [AsnetConfig, GnnConfig])
def test_shared_options_have_bounds(kind: type[AsnetConfig] | type[GnnConfig]) -> None:
    names = {field.name for field in fields(RunConfig)}
    assert names < {field.name for field in fields(kind)}
    assert set(RunConfig.bounds) < set(kind.bounds) and set(RunConfig.bounds) <= names
    for name, (low, high) in kind.bounds.items():
        for value in (low - 1, high + 1):
            with pytest.raises(InputError, match=f"`{name}` is {value}, not in"):
                kind(**{name: value})
    with pytest.raises(TypeError):
        kind(8)  # type: ignore[call-arg]


def test_options_that_leave_nothing_to_learn_from_are_refused() -> None:
    with pytest.raises(InputError, match="at least one variant"):
        AsnetConfig(variants=())
    with pytest.raises(InputError, match="needs a teacher"):
        AsnetConfig(teachers=(), max_states=0)
    for scales in ((), (0.0,), (float("nan"),)):
        with pytest.raises(InputError, match="init_scales"):
            AsnetConfig(init_scales=scales)


@pytest.mark.parametrize(
    ("config", "digest"),
    [
        (AsnetConfig(), "94e820418d630e04"),
        (make_config("published"), "c25d51c1bc27b472"),
        (GnnConfig(), "d1db10ae298b2a96"),
    ],
)
def test_trainings_on_disk_still_belong_to_the_same_options(config: RunConfig, digest: str) -> None:
    """A checkpoint goes on only with options whose text is the same: a change here ends all trainings so far."""
    text = json.dumps(asdict(config), sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest
