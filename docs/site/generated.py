"""The parts of the reference that the code writes: commands, parts, and the Python API, as Markdown."""

import ast
import dataclasses
import enum
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import misstep
from misstep.cli.app import app
from misstep.cli.parts import KIND_HELP
from misstep.plugins import KINDS, OptionInfo, PartInfo, list_parts

DOCS = Path(__file__).parents[1]
# Public names of misstep that stand in none of these groups come last.
GROUPS = {
    "Testing": "test Report Bug Config Session Record Verdict",
    "Tasks and states": "load load_sas read_domain Task State StateBatch Action PddlView StateRegistry",
    "Policies": "Policy per_state argmax PolicyGraph Run",
    "Searching": "search SearchResult Heuristic count_states Budget StopFlag",
    "Writing oracles": "Oracle Lab Case Claim Bound Plan Landmarks DeadEnd Exhausted plan_claim",
    "Writing other parts": "option Bias PartialRun Fuzzer FuzzContext PoolEntry Objective",
    "Errors": "MisstepError InputError UnsupportedFeature LimitReached PartError PolicyError FlakyPolicy",
}
_MOST_SHOWN = 8
"""Of a dataclass with more fields the signature would hide more than it tells."""
# Modules that people import from by themselves.
MODULES = {
    "misstep.statistics": "Statistics",
    "misstep.testing": "Contracts for your own parts",
    "misstep.training.task_environment": "Gymnasium: PDDL tasks",
    "misstep.training.episodes": "Gymnasium: policies that were trained on PDDL tasks",
    "misstep.training.environment": "Gymnasium: JANI models",
    "misstep.drawing": "Drawings",
}


def fill_in(page: str) -> str:
    """The page with `<!-- generated: NAME -->` replaced by what NAME stands for.

    A link whose text is the name of the page's file, which reads well on GitHub, gets the page's title instead.
    """
    makers: dict[str, Callable[[], str]] = {
        "commands": commands,
        "parts": parts,
        "python": python,
        "others": other_pages,
    }
    page = re.sub(r"\[[\w-]+\.md\]\(([\w-]+\.md)\)", r"[](\1)", page)
    return re.sub(r"<!-- generated: (\w+) -->", lambda found: makers[found[1]](), page)


def other_pages() -> str:
    """The pages that the table of contents does not name, for the end of a list in it."""
    listed = (DOCS / "index.md").read_text().splitlines()
    return "\n".join(sorted(page.stem for page in DOCS.glob("*.md") if page.stem not in [*listed, "index"]))


def commands() -> str:
    """Every command with all its options, as `--help` has them."""
    text = app.generate_docs(output_format="markdown", recursive=True)
    _, _, text = text.partition("\n## misstep demo\n")
    text = re.sub(r"^Example: (misstep [^\n]*(?:\n[^\n]+)*)", _example, text, flags=re.MULTILINE)
    return "## misstep demo\n" + text.replace("```console", "```text")


def _example(found: re.Match[str]) -> str:
    return f"Example: `{' '.join(found[1].split())}`"


def parts() -> str:
    """Every part of every kind with its options, as `misstep parts` has them."""
    return "\n\n".join(
        f"## {kind}\n\n{KIND_HELP[kind][0].upper()}{KIND_HELP[kind][1:]}.\n\n"
        + "\n\n".join(_part(part) for part in list_parts(kind) if part.origin == "misstep")
        for kind in KINDS
    )


def _part(part: PartInfo) -> str:
    lines = [f"### `{part.name}`", "", part.help, ""]
    if part.options:
        lines += ["| option | default | type | meaning |", "|---|---|---|---|"]
        lines += [_option(option) for option in part.options]
    return "\n".join(lines)


def _option(option: OptionInfo) -> str:
    default = "needed" if option.is_required else f"`{option.default}`"
    kind = option.type.replace("|", "\\|")
    return f"| `{option.name}` | {default} | {kind} | {option.help} |".replace("`None`", "none")


def python() -> str:
    """All public names of misstep in groups, then the modules that are of use by themselves."""
    named = {name for names in GROUPS.values() for name in names.split()}
    others = sorted(set(misstep.__all__) - named - {"__version__"})
    groups = GROUPS | ({"Other names": " ".join(others)} if others else {})
    sections = [
        f"## {title}\n\n" + "\n\n".join(_thing(f"misstep.{name}", _public(name)) for name in names.split())
        for title, names in groups.items()
    ]
    return "\n\n".join(sections + [_module(name, title) for name, title in MODULES.items()])


def _public(name: str) -> Any:
    """As its own module has it."""
    return getattr(import_module(misstep._PUBLIC[name]), name)


def _module(name: str, title: str) -> str:
    module = import_module(name)
    names = getattr(module, "__all__", None) or [
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", None) == name
    ]
    things = "\n\n".join(_thing(f"{name}.{key}", getattr(module, key)) for key in names)
    return f"## {title}\n\n{inspect.getdoc(module)} Import from `{name}`.\n\n{things}"


def _thing(path: str, value: Any) -> str:
    """A function, or a class with its members."""
    if inspect.isclass(value):
        is_error = issubclass(value, Exception)
        signature = "" if is_error or issubclass(value, enum.Enum) else _signature(value)
        body = "\n\n".join([_text(value), *([] if is_error else _members(path, value))])
        return _directive("exception" if is_error else "class", path + signature, body, depth=5)
    return _directive("function", path + _signature(value), _text(value), depth=5)


def _members(path: str, cls: type) -> Iterator[str]:
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    texts = _field_texts(cls) if fields else {}
    for field in fields:
        if not field.name.startswith("_"):
            text = field.metadata.get("help", texts.get(field.name, ""))
            told = f":type: {_short(str(field.type))}\n\n{text}"
            yield _directive("attribute", f"{path}.{field.name}", told, depth=4)
    if issubclass(cls, enum.Enum):
        for member in cls:
            yield _directive("attribute", f"{path}.{member.name}", f":value: {member.value!r}", depth=4)
    for name, member in _named_members(cls):
        if isinstance(member, property) or type(member).__name__ == "cached_property":
            yield _directive("property", f"{path}.{name}", _text(member), depth=4)
        elif callable(member) or isinstance(member, classmethod | staticmethod):
            made = getattr(cls, name)
            yield _directive("method", f"{path}.{name}{_signature(made)}", _text(made), depth=4)


def _field_texts(cls: type) -> dict[str, str]:
    """What the source says of fields, in a text on the line below each."""
    texts: dict[str, str] = {}
    for owner in reversed([owner for owner in cls.__mro__ if owner.__module__.startswith("misstep.")]):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in pairwise(definition.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(told))):
                    texts[name] = inspect.cleandoc(told)
    return texts


def _named_members(cls: type) -> Iterator[tuple[str, Any]]:
    """What the class has itself, and what it has from a native class of the same name."""
    seen: set[str] = set()
    for owner in cls.__mro__:
        if owner.__module__.split(".")[0] != "misstep":
            continue
        for name, member in vars(owner).items():
            if not name.startswith("_") and name not in seen and not isinstance(member, type):
                seen.add(name)
                yield name, member


def _signature(value: Any) -> str:
    """As one writes it; native functions know theirs as text."""
    native = getattr(value, "__nb_signature__", None)
    if native is None and inspect.isclass(value):
        native = getattr(value.__init__, "__nb_signature__", None)
    if native is not None:
        text = re.sub(r"^def \w+", "", native[0][0])
        text = re.sub(
            r"(\| None) = \\\d+", r"\1 = None", text
        )  # defaults that are objects have numbers there
        return _short(re.sub(r"\(self(, /)?(, )?", "(", re.sub(r"= \\\d+", "= ...", text)))
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    shown = [p for p in signature.parameters.values() if p.name != "self" and not p.name.startswith("_")]
    if len(shown) > _MOST_SHOWN and dataclasses.is_dataclass(value):
        return ""  # The attributes below it say the same.
    text = str(signature.replace(parameters=shown))
    for annotation in (signature.return_annotation, *(p.annotation for p in shown)):
        if isinstance(annotation, str):
            text = text.replace(repr(annotation), annotation)
    return _short(re.sub(r"<factory>|<[\w.]+ object at \w+>", "...", text))


def _short(text: str) -> str:
    """`Path` instead of `pathlib.Path`, and classes by their names."""
    text = re.sub(r"<class '(.*?)'>", r"\1", text).replace("~", "")
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", text)


def _text(value: Any) -> str:
    native = getattr(value, "__nb_signature__", None)
    if native is not None:
        return native[0][1] or ""
    text = inspect.getdoc(value) or ""
    # Dataclasses and native properties without a docstring get their signature for one.
    is_signature = text.startswith(f"{getattr(value, '__name__', '')}(") or re.match(r"\w+\(self", text)
    return "" if is_signature else text


def _directive(kind: str, signature: str, body: str, *, depth: int) -> str:
    fence = "`" * depth
    return f"{fence}{{py:{kind}}} {signature}\n{body}\n{fence}"
