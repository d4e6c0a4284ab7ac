"""Reads a pickle as plain data: a small interpreter of pickle's instructions that can run nothing.

A pickle is a program. Here it may build dicts, lists, tuples, texts and numbers, and it may name only what
the caller's allow-list has; naming anything else, or an instruction that plain data does not need, ends with
an error that says which. Nothing is ever imported or looked up, so no name in the file leads to code.
"""

import pickletools
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from misstep.errors import InputError

MAX_INSTRUCTIONS = 2_000_000
MAX_LONG_BYTES = 16

_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = frozenset("BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE".split())
_MARK = object()


class Global(Protocol):
    """What an allowed name of the file stands for."""

    def __call__(self, *arguments: Any) -> Any:
        """The value that stands for the call that the file asks for; must check its arguments."""


class Stateful:
    """A value that an allowed name stands for and that the file says more about afterwards."""

    def set_state(self, state: Any) -> None:
        """Checks what the file says; InputError where that is not expected."""
        raise InputError("a value without a state")


def read_pickle(
    data: bytes,
    *,
    source: str,
    globals: Mapping[str, Global],
    persistent: Callable[[Any], Any],
) -> Any:
    """The value in `data`.

    `globals` maps `module.name` to the function of ours that stands for it. `persistent` gets the pickle's
    references to data outside of it. Sharing is kept, so a value may contain itself: do not recurse.
    """
    return _Reader(source, globals, persistent).read(data)


class _Reader:
    def __init__(self, source: str, allowed: Mapping[str, Global], persistent: Callable[[Any], Any]) -> None:
        self.source = source
        self.allowed = allowed
        self.persistent = persistent
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.position = 0

    def read(self, data: bytes) -> Any:
        try:
            for count, (opcode, argument, position) in enumerate(pickletools.genops(data)):
                self.position = position or 0
                if count >= MAX_INSTRUCTIONS:
                    raise self.refusal(f"more than {MAX_INSTRUCTIONS:,} instructions")
                if opcode.name == "STOP":
                    value = self.pop()
                    if self.stack:
                        raise self.refusal("values left over at the end")
                    return value
                self.step(opcode.name, argument)
        except InputError:
            raise
        except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
            raise self.refusal(f"damaged data ({error})") from None
        raise self.refusal("no end")

    def refusal(self, what: str) -> InputError:
        return InputError(
            f"{self.source}: refused at byte {self.position} of its pickle: {what}; "
            "only plain data and tensors are read, and nothing in the file is run"
        )

    def step(self, name: str, argument: Any) -> None:
        if name in _LITERALS:
            if name == "LONG1" and argument.bit_length() > 8 * MAX_LONG_BYTES:
                raise self.refusal("an oversized number")
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        else:
            handler = _HANDLERS.get(name)
            if handler is None:
                raise self.refusal(f"pickle instruction {name}")
            handler(self, argument)

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise self.refusal("damaged data (a value is missing)")
        return self.stack.pop()

    def top(self, kind: type) -> Any:
        value = self.pop()
        self.stack.append(value)
        if not isinstance(value, kind):
            raise self.refusal(f"a change of a value of type {type(value).__name__}")
        return value

    def since_mark(self) -> list[Any]:
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at] is _MARK:
                values = self.stack[at + 1 :]
                del self.stack[at:]
                return values
        raise self.refusal("damaged data (a mark is missing)")

    def proto(self, version: int) -> None:
        if version != 2:
            raise self.refusal(f"pickle protocol {version} (2 was expected)")

    def mark(self, _: None) -> None:
        self.stack.append(_MARK)

    def empty_dict(self, _: None) -> None:
        self.stack.append({})

    def empty_list(self, _: None) -> None:
        self.stack.append([])

    def empty_tuple(self, _: None) -> None:
        self.stack.append(())

    def tuple_of_marked(self, _: None) -> None:
        values = tuple(self.since_mark())
        self.stack.append(values)

    def tuple1(self, _: None) -> None:
        self.tuple_of(1)

    def tuple2(self, _: None) -> None:
        self.tuple_of(2)

    def tuple3(self, _: None) -> None:
        self.tuple_of(3)

    def tuple_of(self, size: int) -> None:
        values = [self.pop() for _ in range(size)]
        self.stack.append(tuple(reversed(values)))

    def append(self, _: None) -> None:
        value = self.pop()
        self.top(list).append(value)

    def appends(self, _: None) -> None:
        values = self.since_mark()
        self.top(list).extend(values)

    def setitem(self, _: None) -> None:
        value, key = self.pop(), self.pop()
        self.put(self.top(dict), key, value)

    def setitems(self, _: None) -> None:
        values = self.since_mark()
        target = self.top(dict)
        for key, value in zip(values[::2], values[1::2], strict=True):
            self.put(target, key, value)

    def put(self, target: dict[Any, Any], key: Any, value: Any) -> None:
        # Tuples could hide deep nesting from hash(); nothing that is read here needs such keys.
        if not isinstance(key, str | int | float | bool | None):
            raise self.refusal(f"a dict key of type {type(key).__name__}")
        target[key] = value

    def memorise(self, key: int) -> None:
        value = self.pop()
        self.stack.append(value)
        self.memo[key] = value

    def recall(self, key: int) -> None:
        if key not in self.memo:
            raise self.refusal("damaged data (a reference to nothing)")
        self.stack.append(self.memo[key])

    def name(self, words: str) -> None:
        # pickletools separates module and name by a blank; a name with blanks of its own matches nothing.
        dotted = words.replace(" ", ".", 1)
        if dotted not in self.allowed:
            raise self.refusal(f"the name `{dotted}`")
        self.stack.append(_Name(dotted))

    def reduce(self, _: None) -> None:
        arguments, called = self.pop(), self.pop()
        if not isinstance(called, _Name):
            raise self.refusal(f"a call of a value of type {type(called).__name__}")
        if not isinstance(arguments, tuple):
            raise self.refusal("a call without a tuple of arguments")
        try:
            value = self.allowed[called.dotted](*arguments)
        except InputError as error:
            raise self.refusal(f"`{called.dotted}`: {error}") from None
        self.stack.append(value)

    def build(self, _: None) -> None:
        # Attributes of a dict (torch keeps version numbers there) carry nothing that is needed: left out.
        state = self.pop()
        if self.stack and isinstance(self.stack[-1], Stateful):
            try:
                self.stack[-1].set_state(state)
            except InputError as error:
                raise self.refusal(str(error)) from None
            return
        self.top(dict)
        if not isinstance(state, dict):
            raise self.refusal(f"attributes given as {type(state).__name__}")

    def refer(self, _: None) -> None:
        key = self.pop()
        try:
            self.stack.append(self.persistent(key))
        except InputError as error:
            raise self.refusal(str(error)) from None


class _Name:
    """An allowed name, before it is called. Opaque: it has no attribute that leads anywhere."""

    __slots__ = ("dotted",)

    def __init__(self, dotted: str) -> None:
        self.dotted = dotted


def is_name(value: object, names: Mapping[str, object]) -> str | None:
    """The allowed name that `value` stands for, if it is one of `names`."""
    return value.dotted if isinstance(value, _Name) and value.dotted in names else None


_HANDLERS: dict[str, Callable[[_Reader, Any], None]] = {
    "PROTO": _Reader.proto,
    "MARK": _Reader.mark,
    "EMPTY_DICT": _Reader.empty_dict,
    "EMPTY_LIST": _Reader.empty_list,
    "EMPTY_TUPLE": _Reader.empty_tuple,
    "TUPLE": _Reader.tuple_of_marked,
    "TUPLE1": _Reader.tuple1,
    "TUPLE2": _Reader.tuple2,
    "TUPLE3": _Reader.tuple3,
    "APPEND": _Reader.append,
    "APPENDS": _Reader.appends,
    "SETITEM": _Reader.setitem,
    "SETITEMS": _Reader.setitems,
    "BINPUT": _Reader.memorise,
    "LONG_BINPUT": _Reader.memorise,
    "BINGET": _Reader.recall,
    "LONG_BINGET": _Reader.recall,
    "GLOBAL": _Reader.name,
    "REDUCE": _Reader.reduce,
    "BUILD": _Reader.build,
    "BINPERSID": _Reader.refer,
}
