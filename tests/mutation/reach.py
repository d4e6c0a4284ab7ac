"""A plugin of pytest that writes which lines every test reaches: `-p tests.mutation.reach`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutation.hook import REACHED, TEST, Watch, write_reached

_failed: set[str] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    folder, prefix = os.environ[REACHED].split(os.pathsep)
    os.environ[TEST] = item.nodeid
    watch, start = Watch(prefix), time.process_time()
    watch.start()
    try:
        return (yield)
    finally:
        watch.stop()
        del os.environ[TEST]
        if item.nodeid not in _failed:  # such a test could not tell a mutant
            write_reached(Path(folder), item.nodeid, time.process_time() - start, watch.lines)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.outcome != "passed":
        _failed.add(report.nodeid)
