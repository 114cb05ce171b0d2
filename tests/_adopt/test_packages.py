"""`hoad.adopt` and functions of packages that never heard of hoad: values, gradients, replays, and what cannot be.

The packages are in the extra `adopt-test`; rows of those that are not installed are skipped.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from _adopt.packages import ROWS, Row, differences, mistake, second, summed

import hoad

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def bindings(package: str) -> dict[tuple[str, str], int]:
    """Which functions, classes and modules the names of a package's modules stand for."""
    kinds = (FunctionType, BuiltinFunctionType, type, ModuleType, np.ufunc)
    modules = [(name, m) for name, m in sys.modules.items() if name == package or name.startswith(f"{package}.")]
    return {
        (module, name): id(value)
        for module, m in modules
        for name, value in list(getattr(m, "__dict__", {}).items())
        if isinstance(value, kinds)
    }


def is_missing(row: Row) -> bool:
    return importlib.util.find_spec(row.package) is None


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_package(row: Row) -> None:
    if is_missing(row):
        pytest.skip(f"{row.package} is not installed")
    f = row.make()
    plain = summed(f)
    before = plain(row.value)
    names = bindings(row.package)
    derivative = hoad.value_and_grad(summed(hoad.adopt(f)))
    if row.expect == "runs":
        assert not mistake(row, plain, row.value, *derivative(row.value))
        fast = hoad.jit(derivative)
        fast(row.value)
        point = second(row.value)
        assert not mistake(row, plain, point, *fast(point))
    elif row.expect == "keeps":
        assert not mistake(row, summed(row.make()), row.value, *derivative(row.value))
        with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
            plain(row.value)
        return
    else:
        assert_refused(derivative, row.value, row.expect.removeprefix("stops: "))
    assert plain(row.value) == before
    now = bindings(row.package)
    assert not [name for name, value in names.items() if now.get(name) != value]


def assert_refused(derivative: Any, x: Any, name: str) -> None:
    """It is an error, in whose traceback what stands in the way is named."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - of any class, a package's own included
        derivative(x)
    assert name in "".join(traceback.format_exception(caught.value))


def test_a_wrong_derivative_is_found() -> None:
    """The comparison notices a part in a million, and a value in its last digits."""
    row = Row("here", "exp", "math", lambda math: math.exp, 0.7, "runs", 1e-7)
    plain = row.make()
    value = slope = plain(row.value)
    assert not mistake(row, plain, row.value, value, slope)
    assert "gradient" in mistake(row, plain, row.value, value, slope * (1.0 + 1e-6))
    assert "gradient" in mistake(row, plain, row.value, value, 0.0)
    assert "gradient" in mistake(row, plain, row.value, value, np.nan)
    assert "value" in mistake(row, plain, row.value, value * (1.0 + 1e-11), slope)
    assert "coarse" in mistake(row, lambda x: 1.0, row.value, 1.0, 0.0)


def test_differences_know_their_errors() -> None:
    slopes, errors = differences(lambda x: np.sum(np.sin(x) * x[::-1]), np.array([0.3, 0.0, 2.0]))
    wanted = np.cos([0.3, 0.0, 2.0]) * [2.0, 0.0, 0.3] + np.sin([2.0, 0.0, 0.3])
    assert np.max(np.abs(slopes - wanted)) < 1e-10 and np.max(errors) < 1e-9


def test_rows_differ() -> None:
    assert len({str(row) for row in ROWS}) == len(ROWS)
    assert {row.expect.split(":")[0] for row in ROWS} == {"runs", "keeps", "stops"}
