"""Which other files a file names: what a test reads besides the files that its configuration names.

Every function here takes a file and the folder that Python's imports begin at, and yields names relative to the file's
folder; not all of them need exist. What cannot be read names nothing: the test itself says what is wrong with it.
"""

import ast
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from misstep.errors import InputError
from misstep.formats.jani import condition_files, parse, read_text
from misstep.formats.nnet import network_name
from misstep.formats.onnx_data import external_files

References = Callable[[Path, Path], Iterator[str]]


def of_conditions(path: Path, _root: Path) -> Iterator[str]:
    """The files that the properties in a JANI file include."""
    try:
        yield from condition_files(parse(read_text(path), str(path)))
    except InputError:
        return


def of_interface(path: Path, _root: Path) -> Iterator[str]:
    """The network that a `.jani2nnet` file describes."""
    try:
        yield network_name(path)
    except InputError:
        return


def of_shield(path: Path, _root: Path) -> Iterator[str]:
    """The policy behind a shield, as its file names it: no file's name, but the text of a policy."""
    try:
        document = parse(read_text(path), str(path))
    except InputError:
        return
    if isinstance(document, dict) and isinstance(policy := document.get("policy"), str):
        yield policy


def of_network(path: Path, _root: Path) -> Iterator[str]:
    """The files in which an ONNX network keeps weights."""
    try:
        yield from external_files(path.read_bytes())
    except OSError:
        return


def of_code(path: Path, root: Path) -> Iterator[str]:
    """The modules that Python code imports, as they would be called below `root` or in the code's own package.

    Nobody can know what else the code reads.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    start = os.path.relpath(root, path.parent)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield from _module_files(start, each.name)
        elif isinstance(node, ast.ImportFrom):
            base = "../" * (node.level - 1) or "." if node.level else start
            for each in node.names:  # it may be a module of the package, too
                yield from _module_files(base, ".".join(filter(None, (node.module, each.name))))


def _module_files(base: str, module: str) -> Iterator[str]:
    """Of a module and the packages around it: each is a file or a folder with one."""
    words = module.split(".")
    for end in range(1, len(words) + 1):
        place = os.path.normpath("/".join((base, *words[:end])))
        yield f"{place}.py"
        yield f"{place}/__init__.py"


def of_policy(path: Path) -> References | None:
    """How to look into the file of a policy, or into one that it names."""
    return {".jani2nnet": of_interface, ".onnx": of_network, ".py": of_code}.get(path.suffix)
