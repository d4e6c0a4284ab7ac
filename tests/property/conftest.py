"""Lets go of the native tasks at the end, so that nanobind does not report them as leaked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.property.cases import numbered


@pytest.fixture(scope="session", autouse=True)
def forget() -> Iterator[None]:
    yield
    numbered.cache_clear()
