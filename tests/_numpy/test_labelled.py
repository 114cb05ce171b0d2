"""Labelled arrays in arithmetic with traced values: pandas' are constants without labels, xarray's hold traced ones."""

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


@pytest.mark.parametrize("adopt", [False, True])
def test_a_column_of_traced_values_is_refused_with_what_to_write(adopt: bool) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": A})

    def loss(p: Any) -> Any:
        copy = frame.copy()
        copy["model"] = p[0] * copy["a"]
        return ((copy["model"] - copy["a"]) ** 2).sum()

    with pytest.raises(TracedValueError, match=r"to_numpy\(\) \(test_labelled\.py:\d+\): putting .* numbers of pandas"):
        hoad.grad(hoad.adopt(loss) if adopt else loss)(np.ones(1))


class Named:
    """What matters of an array of xarray's: it holds any array as `data`, and gives another of its kind."""

    __module__ = "xarray.core.dataarray"

    def __init__(self, data: Any) -> None:
        self.data = data

    def __mul__(self, other: Any) -> Any:
        return Named(self.data * other)

    __rmul__ = __mul__

    def sum(self) -> Any:
        return Named(self.data.sum())

    def __repr__(self) -> str:
        return f"Named({self.data!r})"


def check_named(named: Any) -> None:
    def total(t: Any) -> Any:
        return (named * t * t).sum()

    assert hoad.value_and_grad(total)(1.5) == (13.5, 18.0)
    assert hoad.jvp(total, (1.5,), (1.0,)) == (13.5, 18.0)
    assert hoad.hessian(total)(1.5) == 12.0
    np.testing.assert_array_equal(hoad.derivatives(total, 2)(1.5), [13.5, 18.0, 12.0])
    np.testing.assert_array_equal(hoad.vmap(total)(np.array([1.5, 0.5])), [13.5, 1.5])
    np.testing.assert_array_equal(hoad.jacobian(lambda t: {"a": named * t})(1.5)["a"], A)
    assert hoad.record(total, 1.5).evaluate(0.5) == 1.5


def test_what_holds_a_traced_array_is_taken_for_it_where_it_is_returned() -> None:
    check_named(Named(A))
    assert hoad.jit(hoad.grad(lambda t: (Named(A) * t * t).sum()))(1.5) == 18.0


def test_xarray() -> None:
    xarray = pytest.importorskip("xarray")
    check_named(xarray.DataArray(A, dims="t", coords={"t": [0, 1, 2]}))
    data = xarray.Dataset({"a": ("t", A), "b": ("s", np.array([1.0, 2.0]))})

    def loss(p: Any) -> Any:
        return (np.exp(data["a"] * p[0]) * data["b"] * p[1]).sum("s").mean()

    def plain(p: Any) -> Any:
        return np.mean(np.sum(np.exp(A[:, None] * p[0]) * np.array([1.0, 2.0]) * p[1], axis=1))

    p = np.array([0.3, -0.2])
    np.testing.assert_allclose(hoad.grad(loss)(p), hoad.grad(plain)(p), rtol=1e-14)
    np.testing.assert_allclose(hoad.hessian(loss)(p), hoad.hessian(plain)(p), rtol=1e-13)
