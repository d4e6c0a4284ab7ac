"""Files of jobs on the way to other machines and records on the way back: by content, without a shared disk."""

import dataclasses
import hashlib
import io
import json
import os
import shutil
import tarfile
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.campaign.files import FILE_FIELDS, POLICY, SHIELDED, Digests, Needed, files_of
from misstep.config import Config
from misstep.errors import InputError
from misstep.record.record import (
    BUGS,
    CLEARED,
    CONFIG,
    ENVIRONMENT,
    EVENTS,
    certificate_text,
    origin,
    replay_command,
)
from misstep.record.store import DISK, DirectoryStore, read_object, write_whole
from misstep.reference.digest import digest


@dataclass(frozen=True, slots=True)
class Parcel:
    """Files that lie in one directory, with names relative to it and the digests of their contents."""

    files: tuple[tuple[str, str], ...]

    @property
    def place(self) -> str:
        """The name of the directory that holds exactly these files."""
        return hashlib.sha256(json.dumps(self.files).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Shipment:
    """A configuration whose files are named by content, to be unpacked anywhere."""

    config: Config
    parcels: Mapping[str, Parcel]
    """By the field of the configuration that names the first file."""
    around: tuple[str, str] = ("", "")
    """What stands before and after the file's name in the policy's text."""

    def unpack(self, folder: Path, content: Callable[[str], bytes]) -> Config:
        """The configuration with files below `folder`; `content` fetches what is not there yet."""
        places = {name: self._unpack_parcel(parcel, folder, content) for name, parcel in self.parcels.items()}
        paths: dict[str, Any] = dict(places)
        if (policy := places.get(POLICY)) is not None:
            before, after = self.around
            paths[POLICY] = f"{before}{policy}{after}"
        return dataclasses.replace(self.config, **paths)

    def _unpack_parcel(self, parcel: Parcel, folder: Path, content: Callable[[str], bytes]) -> Path:
        place = folder / parcel.place
        for name, sha256 in parcel.files:
            path = place / name
            if not path.is_file():  # what is there is complete
                data = content(sha256)
                if hashlib.sha256(data).hexdigest() != sha256:
                    raise InputError(f"{path}: the file changed on its way; run the campaign again")
                path.parent.mkdir(parents=True, exist_ok=True)
                draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}")
                draft.write_bytes(data)
                draft.replace(path)
        return place / parcel.files[0][0]


def pack_config(config: Config, digests: Digests) -> tuple[Shipment, dict[str, Path]]:
    """The shipment of a configuration, and where the contents are, by digest."""
    found = files_of(config, digests)
    found.pop(SHIELDED, None)  # the shield's file names it by its place here, and may be signed for that
    around = None
    if (policy := found.get(POLICY)) is not None and (around := policy.around) is None:
        del found[POLICY]  # a module, which has to be installed there
    parcels: dict[str, Parcel] = {}
    sources: dict[str, Path] = {}
    for name, needed in found.items():
        inside = _places(needed)
        sources |= {digests.of(path): path for path in inside.values()}
        parcels[name] = Parcel(tuple((place, digests.of(path)) for place, path in inside.items()))
    return Shipment(config, parcels, around or ("", "")), sources


def _places(needed: Needed) -> dict[str, Path]:
    """Where a file and those that it needs lie in their parcel, which begins as far up as they go."""
    for name, path in needed.others.items():
        if os.path.isabs(name):  # noqa: PTH117 (a text)
            raise InputError(
                f"{needed.path}: the file {path}, which it needs, cannot be sent to other machines: name it relative "
                f"to the folder {needed.path.parent}"
            )
    up = max((name.split("/").count("..") for name in needed.others), default=0)
    folder = needed.path.parent.absolute()
    top = [folder, *folder.parents][: up + 1][-1]
    inside = {needed.path.name: needed.path, **needed.others}
    return {os.path.relpath(folder / name, top): path for name, path in inside.items()}


def pack_record(record: Path) -> bytes:
    """A record as one block of bytes."""
    block = io.BytesIO()
    with tarfile.open(fileobj=block, mode="w:gz", compresslevel=1) as archive:
        archive.add(record, arcname=".")
    return block.getvalue()


def unpack_record(data: bytes, record: Path, config: Config) -> None:
    """Puts a record that another machine made in its place, complete or not at all, as if it was made here.

    A record names its own directory and the policy's file; what names them elsewhere is written anew.
    """
    draft = record.with_name(f".{record.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        archive.extractall(draft, filter="data")
    _settle(draft, record, config)
    for path in [*draft.rglob("*"), draft]:
        DISK.sync_path(path)
    shutil.rmtree(record, ignore_errors=True)
    draft.replace(record)
    DISK.sync_path(record.parent)


def _settle(draft: Path, record: Path, config: Config) -> None:
    store = DirectoryStore(draft)
    if store.read(CONFIG) is None:
        return
    there = Config.from_toml(store.read(CONFIG) or "", where=str(draft))
    own = config.absolute()
    paths = {name: getattr(own, name) for name in FILE_FIELDS}
    text = dataclasses.replace(there, policy=config.policy, **paths).to_toml()
    write_whole(draft / CONFIG, text, wait=False)
    about = read_object(store.read(ENVIRONMENT), f"{record}/{ENVIRONMENT}")
    about |= {"config_sha256": hashlib.sha256(text.encode()).hexdigest(), "origin": origin(text)}
    write_whole(draft / ENVIRONMENT, json.dumps(about) + "\n", wait=False)

    def at_home(line: dict[str, Any]) -> dict[str, Any]:
        if "policy" in line:
            line["policy"] = config.policy
        if "replay" in line:
            line["replay"] = f"{replay_command(record)} {line['id']}"
        if "sha256" in line and "verdict" in line:
            line["sha256"] = digest(line)
        return line

    for name in (EVENTS, CLEARED):
        if lines := store.lines(name):
            text = "".join(json.dumps(at_home(line)) + "\n" for line in lines)
            write_whole(draft / name, text, wait=False)
    for name in store.names(BUGS):
        certificate = at_home(read_object(store.read(f"{BUGS}/{name}"), name))
        write_whole(draft / BUGS / name, certificate_text(certificate), wait=False)
