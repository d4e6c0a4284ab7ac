"""Limits of commands: they end whatever is done, natively too, and nobody takes them for an error of a part."""

import contextlib
import signal
import time

import pytest

from misstep._core import enumerate_states
from misstep.cli.limits import Limits
from misstep.errors import LimitReached
from misstep.generators.ours import bundled_domain
from misstep.generators.problems import ferry
from misstep.task import load


def test_without_limits_nothing_happens() -> None:
    before = signal.getsignal(signal.SIGALRM)
    limits = Limits(seconds=None, memory_mb=None)
    with limits.watch():
        assert signal.getsignal(signal.SIGALRM) is before
    assert limits.seconds_left is None


def test_time_ends_what_is_done_and_then_nothing_more() -> None:
    limits = Limits(seconds=0.05, memory_mb=None)
    for _ in range(2):
        with pytest.raises(LimitReached) as caught, limits.watch():
            time.sleep(60)
        assert caught.value.limit == "seconds"
    time.sleep(0.1)  # outside of it nothing rings


def test_memory_counts_from_the_beginning_of_the_command() -> None:
    limits = Limits(seconds=None, memory_mb=50)
    with limits.watch():
        held = [bytearray(b"x") * 20_000_000]
    with pytest.raises(LimitReached) as caught, limits.watch():
        held.append(bytearray(b"x") * 60_000_000)
        time.sleep(60)
    assert caught.value.limit == "memory"
    with Limits(seconds=None, memory_mb=50).watch():
        time.sleep(0.2)


def test_native_work_ends_too() -> None:
    task = load(bundled_domain("ferry"), ferry(9, 9, 0))
    with pytest.raises(LimitReached) as caught, Limits(seconds=0.3, memory_mb=None).watch():
        enumerate_states(task, max_states=2**30)
    assert caught.value.limit == "seconds"


def test_parts_that_survive_errors_do_not_survive_limits() -> None:
    with pytest.raises(LimitReached), Limits(seconds=0.1, memory_mb=None).watch():
        while True:
            with contextlib.suppress(Exception):
                time.sleep(60)


def test_errors_inside_stay_what_they_are() -> None:
    with pytest.raises(ZeroDivisionError), Limits(seconds=60, memory_mb=1000).watch():
        raise ZeroDivisionError


def test_a_signal_at_any_moment_is_a_limit_or_nothing() -> None:
    """Between the frames of the context manager, too: found by a damaged checkpoint that was read in no time."""
    ended = [0, 0]
    for number in range(3000):
        try:
            with Limits(seconds=1e-9, memory_mb=None).watch():  # it rings after a millisecond
                until = time.perf_counter() + 9e-4 + 1e-7 * (number % 1000)
                while time.perf_counter() < until:
                    pass
            ended[0] += 1
        except LimitReached:
            ended[1] += 1
    assert min(ended) > 0, ended
