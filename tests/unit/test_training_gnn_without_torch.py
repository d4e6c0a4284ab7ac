"""Without PyTorch `misstep train gnn` says which extra is missing, before it does anything."""

import sys
from pathlib import Path

import pytest

from misstep.errors import InputError
from misstep.training.gnn import train_gnn
from misstep.training.gnn_config import GnnConfig
from misstep.training.gnn_torch import torch_module


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch_module.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r'misstep train gnn needs torch.*pip install "misstep\[torch\]"'):
        train_gnn((), (), GnnConfig(), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
