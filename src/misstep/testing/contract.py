"""Contracts: what every part must keep to, and how a breach is told."""

import dataclasses
import pickle
import threading
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from misstep.errors import MisstepError
from misstep.plugins import part_label, registered_names
from misstep.testing.samples import Sample

T = TypeVar("T")

MAX_SECONDS = 60.0
"""How long a part may take to notice that it must stop, before it counts as one that never does."""


class ContractBroken(AssertionError):
    """A part does not keep to its contract: `rule` says what it should do, `found` what it does.

    Where that was seen on a task, `sas` is the text of the task: `misstep.Task(sas)` makes it again.
    """

    def __init__(self, label: str, rule: str, found: str, sas: str | None = None) -> None:
        task = "" if sas is None else f"\n  task, to try it again with `misstep.Task(text)`:\n{sas}"
        super().__init__(f"{label} breaks its contract\n  rule: {rule}\n  found: {found}{task}")
        self.rule = rule
        self.found = found
        self.sas = sas


class Contract:
    """The contract of one part; `on` says which task is looked at just now."""

    def __init__(self, kind: str, part: object) -> None:
        self.kind = kind
        self.part = part
        self.label = part_label(kind, part)
        self.sample: Sample | None = None

    def broken(self, rule: str, found: str) -> NoReturn:
        """Tells a breach."""
        raise ContractBroken(self.label, rule, found, None if self.sample is None else self.sample.sas)

    def need(self, condition: bool, rule: str, found: str | Callable[[], str]) -> None:
        """Tells a breach unless the condition holds."""
        if not condition:
            self.broken(rule, found if isinstance(found, str) else found())

    @contextmanager
    def keeping(self, rule: str, *, on: Sample | None = None) -> Iterator[None]:
        """Whatever is raised meanwhile breaks this rule."""
        before = self.sample
        self.sample = before if on is None else on
        try:
            yield
        except ContractBroken:
            raise
        except (Exception, SystemExit) as error:
            text = str(error) if isinstance(error, MisstepError) else f"{type(error).__name__}: {error}"
            raise ContractBroken(
                self.label, rule, text, None if self.sample is None else self.sample.sas
            ) from error
        finally:
            self.sample = before

    def ends(self, rule: str, work: Callable[[], T], *, max_seconds: float) -> T:
        """What the work returns; a breach where it goes on and on, in a thread that is left behind."""
        answers: list[T] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                answers.append(work())
            except BaseException as error:  # handed on to the caller below
                errors.append(error)

        thread = threading.Thread(target=run, daemon=True, name="misstep-contract")
        thread.start()
        thread.join(max_seconds)
        if errors:
            raise errors[0]
        self.need(bool(answers), rule, f"it did not end within {max_seconds:g} seconds")
        return answers[0]


@contextmanager
def contract_of(kind: str, part: object, *methods: str) -> Iterator[Contract]:
    """The contract of a part whose general rules hold, before and after it was looked at."""
    contract = Contract(kind, part)
    _check_part(contract, methods)
    before = pickle.dumps(part)
    yield contract
    contract.need(
        pickle.dumps(part) == before,
        "a part keeps no notes: what it learns belongs to what `bind` returns",
        "the part is not what it was before it was used",
    )


def _check_part(contract: Contract, methods: tuple[str, ...]) -> None:
    part, cls = contract.part, type(contract.part)
    rule = "a part is an instance of a frozen dataclass"
    contract.need(dataclasses.is_dataclass(cls), rule, f"{cls.__name__} is no dataclass")
    frozen: bool = cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    contract.need(frozen, rule, f"{cls.__name__} is not frozen; write @dataclass(frozen=True)")
    doc = cls.__dict__.get("__doc__") or ""
    is_made_up = doc.startswith(f"{cls.__name__}(")  # dataclasses write their signature there
    contract.need(
        bool(doc.strip()) and not is_made_up,
        "the docstring of a part is its help",
        f"{cls.__name__} has no docstring",
    )
    for method in methods:
        contract.need(
            hasattr(part, method), f"every {contract.kind} has `{method}`", f"{cls.__name__} has none"
        )
    _check_name(contract)
    _check_options(contract, cls)
    with contract.keeping("a part pickles, so that other processes can use it"):
        again = pickle.loads(pickle.dumps(part))
        contract.need(again == part, "a part that was pickled is equal to the original", f"it is {again!r}")


def _check_name(contract: Contract) -> None:
    """Policies are named by their entry point alone; an option of theirs may be called `name`."""
    if contract.kind == "policy":
        return
    name = getattr(contract.part, "name", None)
    contract.need(
        isinstance(name, str) and name != "" and not set(name) & set(":+,= \t\n"),
        "the name of a part is a word that users can type, without `:`, `+`, `,`, `=` and spaces",
        f"its name is {name!r}",
    )
    registered = registered_names(contract.kind, type(contract.part))
    contract.need(
        not registered or name in registered,
        "the name of a part is that of its entry point",
        f"its name is {name!r}, its entry point is called {', '.join(registered)}",
    )


def _check_options(contract: Contract, cls: Any) -> None:
    with contract.keeping("the options of a part have types that can be looked up"):
        hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        contract.need(
            not field.init or (bool(field.metadata.get("help")) and field.name in hints),
            "the fields of a part are its options, each with a help text; `misstep.option` declares one",
            f"the field `{field.name}` has no help",
        )
