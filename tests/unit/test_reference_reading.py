"""JSON is read with care: the type that a place asks for, and no field that nobody reads."""

from __future__ import annotations

import math
from typing import Any

import pytest

from misstep.reference import reading
from misstep.reference.checked import Refused, need, refusing
from misstep.reference.digest import check_digest, check_kind, digest


@pytest.mark.parametrize(
    ("read", "fine", "bad"),
    [
        (reading.items, [[], [1]], [None, {}, "", ()]),
        (reading.text, ["x", ""], [None, 1, ["x"], b"x"]),
        (reading.texts, [[], ["a"]], [None, "a", [1], [None], [["a"]]]),
        (reading.whole, [0, 1, 10**30], [True, -1, 1.0, "1", None, []]),
        (reading.cost, [0, 0.5, None, 10**30], [True, -1, -0.5, math.nan, math.inf, "1", []]),
        (
            reading.interval,
            [{"lo": 0, "hi": None}, {"lo": None, "hi": None}],
            [
                None,
                [0, 1],
                {"lo": 0},
                {"lo": None, "hi": 0},
                {"lo": 0, "hi": 1, "mid": 0},
                {"lo": -1, "hi": 1},
            ],
        ),
    ],
)
def test_each_reader_takes_its_type_and_nothing_else(read: Any, fine: list[Any], bad: list[Any]) -> None:
    for value in fine:
        read(value, "it")
    for value in bad:
        with pytest.raises(Refused, match="it"):
            read(value, "it")


def test_what_is_read_is_the_value() -> None:
    assert reading.cost(None, "it") == math.inf
    assert reading.interval({"lo": 2, "hi": None}, "it") == (2, math.inf)
    for value in (True, 1.0, -1, "1", None):
        with pytest.raises(Refused, match="whole number"):
            reading.whole(value, "it")
    for value in (math.nan, math.inf, -0.5, True, "1"):
        with pytest.raises(Refused, match="null for infinity"):
            reading.cost(value, "it")
    with pytest.raises(Refused, match="3 is above 2"):
        reading.interval({"lo": 3, "hi": 2}, "it")


def test_fields_are_neither_missing_nor_unknown() -> None:
    with pytest.raises(Refused, match=r"no field.*'b'"):
        reading.record({"a": 1}, "it", ("a", "b"))
    with pytest.raises(Refused, match=r"not known here.*'c'"):
        reading.record({"a": 1, "c": 1}, "it", ("a",), optional=("b",))


def test_work_is_bounded() -> None:
    reading.affordable(reading.MAX_WORK, "it")
    with pytest.raises(Refused, match="too large"):
        reading.affordable(reading.MAX_WORK + 1, "it")


def test_every_error_inside_becomes_a_refusal() -> None:
    for error in (KeyError("x"), RecursionError(), MemoryError(), ZeroDivisionError(), OverflowError()):
        with pytest.raises(Refused, match=f"it cannot be read: {type(error).__name__}"), refusing("it"):
            raise error
    with pytest.raises(Refused, match=r"^as it was$"), refusing("it"):
        need(False, "as it was")
    with pytest.raises(KeyboardInterrupt), refusing("it"):
        raise KeyboardInterrupt


def test_the_digest_is_of_everything_but_itself() -> None:
    certificate = {"format": 2, "kind": "classical", "a": [1, {"b": None}]}
    signed = {**certificate, "sha256": digest(certificate)}
    assert digest(signed) == digest(certificate)
    check_digest(signed)
    check_digest(dict(reversed(signed.items())))  # whatever the order of the fields
    for changed in ({**signed, "a": [1, {"b": 0}]}, {**signed, "c": 1}, {**signed, "sha256": None}):
        with pytest.raises(Refused, match="digest"):
            check_digest(changed)


def test_formats_and_kinds_are_refused_by_name() -> None:
    check_kind({"format": 2, "kind": "safety"}, "safety", 2)
    for version in (1, 3, True, 2.0, "2", None):
        with pytest.raises(Refused, match="format 2 is known here, not"):
            check_kind({"format": version, "kind": "safety"}, "safety", 2)
    with pytest.raises(Refused, match="of the kind classical, not safety"):
        check_kind({"format": 2, "kind": "safety"}, "classical", 2)


@pytest.mark.parametrize(("value", "meant"), [(0, 0), (0.0, 0), (2, 2), (2.5, 2.5), (None, float("inf"))])
def test_costs(value: object, meant: float) -> None:
    assert reading.cost(value, "a cost") == meant


@pytest.mark.parametrize("value", [-1, -0.5, True, "1", float("inf"), float("nan"), [1]])
def test_what_is_no_cost_is_refused(value: object) -> None:
    with pytest.raises(Refused, match="a number from 0"):
        reading.cost(value, "a cost")
