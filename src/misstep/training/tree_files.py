"""The files of a tree of models, and how a training takes over the start-up phase of another one."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from misstep.errors import InputError
from misstep.record.store import DirectoryStore
from misstep.support.plain import reading

ABOUT, LOG, POOL = "about.json", "log.jsonl", "pool.jsonl"


def model_file(out: Path, name: str) -> Path:
    """A model as a policy."""
    return out / "models" / f"{name}.asnet"


def models_in(out: Path) -> int:
    """How many models a training has made so far."""
    return len(list(model_file(out, "any").parent.glob("*.asnet")))


def node_file(out: Path, name: str) -> Path:
    """All that training goes on from."""
    return out / "nodes" / f"{name}.safetensors"


def copy_start(source: Path, target: DirectoryStore, about: Mapping[str, Any], *, count: int) -> None:
    """Copies the first `count` models of a training where they are those that the training `about` begins with.

    Until something is chosen, models depend on the options, the tasks, and how many of them there are; never on the
    mode. The log is written last, so a copy that was killed leaves a training with fewer models, which goes on.
    """
    other = DirectoryStore(source)
    try:
        known = other.read(ABOUT)
        lines = other.lines(LOG)[:count]
        with reading(source / ABOUT):
            if known is None or len(lines) < count or _start(json.loads(known)) != _start(about):
                return
        with reading(source / LOG):
            names, pool = [line["model"] for line in lines], int(lines[-1]["pool"])
        for name in names:
            for file in (model_file, node_file):
                shutil.copyfile(file(source, name), file(target.path, name))
        target.cut(POOL, 0)
        for entry in other.lines(POOL)[:pool]:
            target.append(POOL, entry)
        for line in lines:
            target.append(LOG, line)
    except OSError as error:
        raise InputError(
            f"{target.path}: models cannot be copied from {source}: {error.strerror}; make room and give the "
            "same command again to go on"
        ) from None
    finally:
        other.close()


def _start(about: Mapping[str, Any]) -> dict[str, Any]:
    """What the start-up phase depends on. How long the main phase is stands in the number of epochs, too."""
    tree = {name: about["tree"][name] for name in ("inits", "start")}
    return {**about, "tree": tree}
