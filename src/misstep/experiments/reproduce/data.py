"""What is tested: the papers' policies and tasks where they are at hand, else those that come with misstep."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from misstep.errors import InputError
from misstep.generators.ours import Generator, bundled_domain
from misstep.plugins import make_part
from misstep.record.store import write_whole

VARIABLE = "MISSTEP_DATA"
USUAL = Path("..") / "shared" / "data"
ZOO_SIZES = range(3, 13)
"""Sizes of the problems that are generated where there are no others."""
_KINDS = {".policy": "asnet", ".ckpt": "gnn"}
# A network may use all cores by itself; here tests run side by side.
_OPTIONS = {"gnn": ",threads=1"}


@dataclass(frozen=True, slots=True)
class Subject:
    """A row of a table: a policy and its tasks, the smallest first."""

    row: str
    domain: Path
    problems: tuple[Path, ...]
    policy: str
    label: str

    @property
    def is_slow(self) -> bool:
        """Whether the policy takes so long for a state that asking it about thousands of others takes minutes."""
        return self.policy.startswith("gnn:")

    def chosen(self, count: int) -> list[Path]:
        """So many tasks spread over all sizes: the middle, a quarter, three quarters, then between."""
        found: dict[Path, None] = {}
        for share in _shares():
            if len(found) == min(count, len(self.problems)):
                break
            found.setdefault(self.problems[int(share * (len(self.problems) - 1))])
        return list(found)


def _shares() -> list[float]:
    """Parts of 1 that become finer; all of a thousand tasks are met."""
    parts = [(2 * k + 1) / 2**level for level in range(1, 12) for k in range(2 ** (level - 1))]
    return [*parts, 0.0, 1.0]


def published(name: str) -> dict[str, Any]:
    """The printed numbers of a paper, as data."""
    text = (files("misstep") / "experiments" / "published" / f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def find_data(named: Path | None) -> Path | None:
    """The folder that was named, that of MISSTEP_DATA, `../shared/data`, or nothing."""
    if named is not None or os.environ.get(VARIABLE):
        folder = named or Path(os.environ[VARIABLE])
        if not folder.is_dir():
            raise InputError(f"{folder}: no such directory; name the one that holds `asnets` and `gnn`")
        return folder.resolve()
    return USUAL.resolve() if USUAL.is_dir() else None


def subjects(rows: Mapping[str, Mapping[str, Any]], data: Path | None, out: Path) -> list[Subject]:
    """Those rows of a table for which there are a policy and tasks; problems that are made go to `out`."""
    if data is not None:
        found = [_from_folder(row, data / about["folder"]) for row, about in rows.items()]
    else:
        found = [_from_zoo(row, about["zoo"], out / "tasks") for row, about in rows.items() if "zoo" in about]
    chosen = [subject for subject in found if subject is not None]
    if not chosen:
        raise nothing_in(data, rows)
    return chosen


def nothing_in(data: Path | None, rows: Mapping[str, Mapping[str, Any]]) -> InputError:
    """What to say where no row of a table has a policy and tasks."""
    folder = next(iter(rows.values()))["folder"]
    return InputError(
        f"{data}: none of the paper's domains is there, such as {folder}; name another --data, or leave it out"
    )


def _from_folder(row: str, folder: Path) -> Subject | None:
    policies = sorted(path for path in folder.glob("*") if path.suffix in _KINDS)
    problems = by_size((folder / "problems").glob("*.pddl"))
    if not policies or not problems:
        return None
    kind = _KINDS[policies[0].suffix]
    text = f"{kind}:{policies[0]}{_OPTIONS.get(kind, '')}"
    return Subject(row, folder / "domain.pddl", problems, text, f"{kind}:{policies[0].name}")


def _from_zoo(row: str, name: str, out: Path) -> Subject:
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    generator: Generator = make_part("generator", name)
    texts = {"domain.pddl": bundled_domain(name)}
    texts |= {f"{size:02d}.pddl": generator.problem(size, seed=size) for size in ZOO_SIZES}
    for file, text in texts.items():
        if not (folder / file).is_file():
            write_whole(folder / file, text)
    problems = by_size(path for path in folder.glob("[0-9]*.pddl"))
    return Subject(row, (folder / "domain.pddl").resolve(), problems, f"zoo:{name}", f"zoo:{name}")


def by_size(found: Iterable[Path]) -> tuple[Path, ...]:
    """Problems, the shortest file first."""
    return tuple(
        sorted((path.resolve() for path in found), key=lambda path: (path.stat().st_size, path.name))
    )
