"""What every test shares: hypothesis without a clock, seeded random numbers, and which hoad is under test."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

try:
    import hoad
except ImportError as error:
    raise pytest.UsageError(
        f"hoad cannot be imported ({error}). If it was found in the source folder, which has no compiled "
        "modules until they are built there: run `pytest` rather than `python -m pytest`, or build in place "
        "with `pip install --no-build-isolation -e .`"
    ) from error

# Machines are shared and slow at times: a deadline would test them, not hoad.
settings.register_profile("hoad", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
settings.load_profile("hoad")


def pytest_report_header() -> str:
    return f"hoad {hoad.__version__} from {os.path.dirname(hoad.__file__)}, numpy {np.__version__}"


@pytest.fixture(autouse=True)
def path_as_it_was() -> Iterator[None]:
    """What a test puts on the path of imports is gone after it: processes that later ones start would inherit it."""
    before = list(sys.path)
    yield
    sys.path[:] = before


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that are the same for a test in every run, and differ between tests."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
