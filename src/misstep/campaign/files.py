"""The files that a test reads: those that its configuration names, and those that they name in turn."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from misstep.campaign.references import References, of_conditions, of_interface, of_policy, of_shield
from misstep.config import Config
from misstep.errors import InputError
from misstep.record.record import around_file

FILE_FIELDS = ("domain", "problem", "model", "pool_file", "properties")
"""The fields of a configuration that name files."""
POLICY, NETWORK, SHIELDED = "policy", "network", "shielded"


@dataclass(slots=True)
class Digests:
    """Digests of files, and what the files name; each file is read again only where it was written to."""

    _known: dict[Path, tuple[int, int, str]] = field(default_factory=dict)
    _named: dict[tuple[References, Path, Path, str], tuple[str, ...]] = field(default_factory=dict)

    def of(self, path: Path) -> str:
        """The SHA-256 of a file's content."""
        try:
            about = path.stat()
            known = self._known.get(path)
            if known is None or known[:2] != (about.st_mtime_ns, about.st_size):
                sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
                known = self._known[path] = about.st_mtime_ns, about.st_size, sha256
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read: {error.strerror}; the campaign needs this file"
            ) from None
        return known[2]

    def named_in(self, path: Path, find: References, *, root: Path) -> tuple[str, ...]:
        """The names of other files in a file, relative to its folder."""
        key = (find, path, root, self.of(path))
        if key not in self._named:
            self._named[key] = tuple(dict.fromkeys(find(path, root)))
        return self._named[key]


@dataclass(frozen=True, slots=True)
class Needed:
    """A file that a configuration names, with the files that it needs."""

    path: Path
    others: Mapping[str, Path] = field(default_factory=dict)
    """By name relative to its folder."""
    around: tuple[str, str] | None = None
    """What stands before and after the file's name in the policy's text, where that names it."""


def files_of(config: Config, digests: Digests) -> dict[str, Needed]:
    """The files that a test reads, by the field that names the first of them."""
    found = {}
    for name in FILE_FIELDS:
        if (path := getattr(config, name)) is not None:
            is_jani = name in ("model", "properties")
            others = _closure(path, digests, first=of_conditions) if is_jani else {}
            found[name] = Needed(path, others)
    if (policy := _policy(config.policy, digests)) is not None:
        found[POLICY] = policy
        if (behind := _behind_shield(config.policy, policy.path, digests)) is not None:
            found[SHIELDED] = behind
    return found


def digests_of(config: Config, digests: Digests) -> dict[str, str]:
    """The digests of all these files, by names that do not depend on where they lie."""
    found = {}
    for name, needed in files_of(config, digests).items():
        found[name] = digests.of(needed.path)
        network = next(iter(needed.others), None) if needed.path.suffix == ".jani2nnet" else None
        for other, path in needed.others.items():
            found[NETWORK if other == network else f"{name}/{other}"] = digests.of(path)
    return found


def _policy(text: str, digests: Digests) -> Needed | None:
    """The file that the text of a policy names, and what that file needs."""
    kind, _, rest = text.partition(":")
    if kind == "shield" and (inner := _policy(rest, digests)) is not None:
        around = inner.around and (f"{kind}:{inner.around[0]}", inner.around[1])
        return Needed(inner.path, inner.others, around)
    if (split := around_file(text)) is not None:
        before, name, after = split
        path = Path(name)
        return Needed(path, _closure(path, digests), (before, after))
    return _module(rest, digests) if kind == "python" else None


def _behind_shield(text: str, file: Path, digests: Digests) -> Needed | None:
    """The file of the policy that a shield's file names."""
    if not text.startswith("shield:") or file.suffix != ".json":
        return None
    named = digests.named_in(file, of_shield, root=file.parent)
    inner = _policy(named[0], digests) if named else None
    return None if inner is None else Needed(inner.path, inner.others)


def _module(target: str, digests: Digests) -> Needed | None:
    """A module of the present directory; what is installed is part of the environment."""
    words = target.rpartition(":")[0].split(".")
    if not all(map(str.isidentifier, words)):
        return None
    here = Path.cwd()
    place = here.joinpath(*words)
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return Needed(path, _closure(path, digests, root=here))
    return None


def _closure(
    start: Path, digests: Digests, *, first: References | None = None, root: Path | None = None
) -> dict[str, Path]:
    """The files that a file names, and those that they name in turn, by names relative to its folder.

    A network has to be there; other files may be missing, where a test does without them.
    """
    find = first or of_policy(start)
    if find is None:
        return {}
    # Python follows links before it looks for neighbours.
    base = start.resolve().parent if start.suffix == ".py" else start.parent
    root = root or base
    found: dict[str, Path] = {}
    waiting: list[tuple[Path, str, References | None]] = [(start, "", find)]
    while waiting:
        path, folder, find = waiting.pop(0)
        for word in () if find is None else digests.named_in(path, find, root=root):
            name = os.path.normpath(os.path.join(folder, word))  # noqa: PTH118 (texts)
            other = base / name
            if name not in found and other != start and (find is of_interface or other.is_file()):
                found[name] = other
                waiting.append((other, os.path.dirname(name), of_policy(other)))  # noqa: PTH120
    return found
