"""Files of jobs on the way to other machines and records on the way back: by content, without a shared disk."""

import dataclasses
import hashlib
import io
import json
import shutil
import tarfile
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.campaign.job import FILE_FIELDS, Digests, files_of
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

    def unpack(self, folder: Path, content: Callable[[str], bytes]) -> Config:
        """The configuration with files below `folder`; `content` fetches what is not there yet."""
        places = {name: self._unpack_parcel(parcel, folder, content) for name, parcel in self.parcels.items()}
        return relocated(self.config, places)

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
    found = files_of(config)
    network = found.pop("network", None)
    parcels: dict[str, Parcel] = {}
    sources: dict[str, Path] = {}
    for name, path in found.items():
        inside = [path]
        if name == "policy" and network is not None:
            if not network.is_relative_to(path.parent):
                raise InputError(
                    f"{path}: its network {network} must lie beside it to be sent to other machines"
                )
            inside.append(network)
        sources |= {digests.of(each): each for each in inside}
        parcels[name] = Parcel(
            tuple((str(each.relative_to(path.parent)), digests.of(each)) for each in inside)
        )
    return Shipment(config, parcels), sources


def relocated(config: Config, places: Mapping[str, Path]) -> Config:
    """The configuration with its files elsewhere."""
    paths: dict[str, Any] = {name: path for name, path in places.items() if name != "policy"}
    if (policy := places.get("policy")) is not None:
        before = files_of(config)["policy"]
        paths["policy"] = config.policy.replace(str(before), str(policy))
    return dataclasses.replace(config, **paths)


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
