"""What the tests of lowering share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hoad._core.base.threads import assume_cores


@pytest.fixture
def four_cores() -> Iterator[None]:
    assume_cores(4)
    try:
        yield
    finally:
        assume_cores(0)
