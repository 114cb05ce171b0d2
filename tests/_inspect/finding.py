"""What the tests of this wing share: the error of a call, and the line that a function is marked at."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import hoad


def error_of(call: Callable[..., Any], *args: Any, **options: Any) -> hoad.NanError:
    """What a call raises within `hoad.debug_nans`."""
    with pytest.raises(hoad.NanError) as caught, hoad.debug_nans(**options):
        call(*args)
    return caught.value


def marked(function: Callable[..., Any], mark: str = "# nonfinite") -> str:
    """'file:line' of the one line of a function with a mark."""
    lines, first = inspect.getsourcelines(function)
    found = [first + k for k, line in enumerate(lines) if mark in line]
    assert len(found) == 1
    return f"{function.__code__.co_filename}:{found[0]}"
