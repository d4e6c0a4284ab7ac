"""What commands leave for others to go on with: campaigns, shields, trainings of policies for models."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from pathlib import Path
from unittest.mock import patch

from misstep.campaign.database import NAME
from misstep.cli import app
from misstep.cli.limits import Limits
from misstep.errors import LimitReached
from tests.mutants import documents
from tests.mutants.specimen import LIMITS, Specimen, command


def leftovers(folder: Path, task: Path, model: Path) -> list[Specimen]:
    """The formats; their files are made in `folder`."""
    return [*_campaign(folder, task), *_shield(folder, model), *_networks(folder, model)]


def _campaign(folder: Path, task: Path) -> list[Specimen]:
    file, out = folder / "campaign.toml", folder / "campaign-runs"
    file.write_text(
        f'domain = "{task}"\npolicies = ["heuristic:ff", "heuristic:hadd"]\nseeds = 1\npool = 2\n'
        'oracle = "landmarks+greedy"\ntries = 2\nlimit_seconds = 20\n'
    )
    app.run(["campaign", str(file), "--out", str(out), "--jobs", "1", "--quiet"])
    here = ("campaign-runs", "--json")
    ways = (
        command("campaign", "status", *here),
        command("campaign", "table", *here, "--by", "policy"),
        command("campaign", "export", *here, "--csv", "jobs.csv"),
        command("campaign", "plot", *here, "--kind", "time"),
    )
    planned = (command("campaign", "{}", "--dry-run", "--json"),)
    return [
        Specimen("campaign (TOML)", file, documents.toml, planned),
        Specimen("campaign (database)", out / NAME, documents.sqlite, ways, out),
    ]


def _shield(folder: Path, model: Path) -> list[Specimen]:
    file = folder / "line.shield.json"
    made = ("--policy", "zoo:two_way_line", "--runs", "3", "--quiet", "--out", str(file))
    app.run(["safety", "shield", str(model), *made])
    test = command(
        "safety", "test", model, "--policy", "shield:{}", "--runs", "3", *LIMITS, "--json", "--out", "out"
    )
    return [Specimen("shield", file, documents.json_text, (test,))]


def _soon_over() -> Callable[[Limits], AbstractContextManager[None]]:
    """Stands in for a limit that is reached after a few pieces of work, however fast the machine is."""
    times = count(1)

    def watch(_: Limits) -> AbstractContextManager[None]:
        if next(times) > 5:
            raise LimitReached("enough", "seconds")
        return nullcontext()

    return watch


def _networks(folder: Path, model: Path) -> list[Specimen]:
    """Trainings that their limit ended; the same commands go on with what they left."""
    train = "--hidden 4 --steps 100000000 --exam-every 100 --exam-runs 3"
    retrain = "--policy zoo:two_way_line --rounds 1000 --runs 20 --epochs 3 --exam-runs 20"
    return [
        _stopped(folder, "train mlp", model, train, "--resume"),
        _stopped(folder, "safety retrain", model, retrain),
    ]


def _stopped(folder: Path, name: str, model: Path, options: str, *resume: str) -> Specimen:
    words = (*name.split(), str(model), *options.split())
    tree = folder / name.replace(" ", "-")
    tree.mkdir()
    with patch.object(Limits, "watch", _soon_over()):
        app.run([*words, "--out", str(tree / "net.jani2nnet"), "--quiet"])
    left = sorted(path for path in tree.iterdir() if path.suffix == ".npz")
    assert left, f"{name} has left nothing to go on with"
    again = (*words, "--out", f"{tree.name}/net.jani2nnet", "--seconds", "1", "--memory-mb", "100", "--json")
    ways = (command(*again), command(*again, *resume))
    return Specimen(f"state of {name}", left[0], documents.archive, ways, tree)
