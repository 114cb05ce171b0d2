"""Series and frames of pandas in arithmetic with traced values: they are constants, and the result has no labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
from hoad.errors import TracedValueError

A = np.array([1.0, 2.0, 3.0])


class Column:
    """What matters of a series: it leaves operators to classes of a higher priority, and is no ndarray."""

    __pandas_priority__ = 3000
    __array_priority__ = 1000

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(A, dtype)

    def __mul__(self, other: Any) -> Any:
        return A * other if type(other) in (float, np.float64) else NotImplemented

    __rmul__ = __mul__

    def __gt__(self, other: Any) -> Any:
        return A > other if type(other) in (float, np.float64) else NotImplemented


def test_operators_are_left_to_traced_values() -> None:
    column: Any = Column()
    cases: list[tuple[Callable[[Any], Any], float]] = [
        (lambda t: np.sum(column * t), 6.0),
        (lambda t: np.sum(t * column), 6.0),
        (lambda t: np.sum(np.where(column > t, t, 0.0)), 2.0),
        (lambda t: np.sum(np.exp(column) * t), float(np.sum(np.exp(A)))),
    ]
    for f, wanted in cases:
        value, slope = hoad.value_and_grad(f)(1.5)
        assert slope == pytest.approx(wanted, rel=1e-15)
        assert value == pytest.approx(f(1.5), rel=1e-15)


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": A, "b": [0.5, 0.25, 2.0]})
    theta = np.array([1.5, -2.0])

    def loss(p: Any) -> Any:
        model = p[0] * frame["a"] + frame["b"] ** 2 * p[1]
        return np.sum((model - frame["a"]) ** 2) + np.linalg.norm(frame * p)

    def plain(p: Any) -> Any:
        b = frame["b"].to_numpy()
        return np.sum((p[0] * A + b**2 * p[1] - A) ** 2) + np.linalg.norm(frame.to_numpy() * p)

    value, slope = hoad.value_and_grad(loss)(theta)
    assert value == pytest.approx(plain(theta), rel=1e-15)
    np.testing.assert_allclose(slope, hoad.grad(plain)(theta), rtol=1e-14)
    np.testing.assert_allclose(hoad.jit(hoad.grad(loss))(theta), slope, rtol=1e-14)


def test_errors_within_pandas_name_the_line_of_the_user() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.eye(2))
    with pytest.raises(TracedValueError, match=r"test_labelled\.py:\d+"):
        hoad.jacobian(lambda x: frame @ x)(np.ones(2))
