"""Methods of ufuncs and options of reductions: values as NumPy's for every layout, dtype and shape; ties; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same
from _numpy.by_pairs import right

import hoad

X = np.array([[0.5, -1.25, 2.0], [3.0, 0.1, 0.7]])
LAYOUTS = {
    "double": X,
    "single": X.astype(np.float32),
    "Fortran order, negative strides": np.asfortranarray(X)[::-1, ::-1],
    "one column": X[:, :1],
    "no rows": X[:0],
    "a vector": X[0],
    "nan": np.where(X == 2.0, np.nan, X),
}
UFUNCS = [
    *(
        "add",
        "multiply",
        "subtract",
        "divide",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "logaddexp",
        "logaddexp2",
        "power",
    ),
    *("float_power", "hypot", "arctan2", "logical_and", "logical_or", "logical_xor", "floor_divide", "remainder"),
    *("fmod", "copysign", "heaviside", "nextafter"),
]
MASK = np.array([True, False, True])
CALLS: dict[str, Callable[[np.ufunc, Any], Any]] = {
    "reduce": lambda u, x: u.reduce(x),
    "reduce, last": lambda u, x: u.reduce(x, axis=-1, keepdims=True),
    "reduce, axes": lambda u, x: u.reduce(x, axis=(0, 1)),
    "reduce, all": lambda u, x: u.reduce(x, axis=None),
    "reduce, initial": lambda u, x: u.reduce(x, axis=-1, initial=0.3),
    "reduce, where": lambda u, x: u.reduce(x, axis=0, initial=1.3, where=MASK),
    "accumulate": lambda u, x: u.accumulate(x, axis=-1),
    "reduceat": lambda u, x: u.reduceat(x, [0, 1, 0], axis=-1),
    "outer": lambda u, x: u.outer(x, np.array([1.0, 2.0])),
    "outer of a number": lambda u, x: u.outer(x, 2.0),
}


def outcome(call: Callable[[], Any]) -> Any:
    with np.errstate(all="ignore"):
        try:
            return call()
        except Exception as error:  # compared by its type
            return error


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("call", CALLS)
def test_values_and_errors_are_those_of_numpy(name: str, call: str) -> None:
    ufunc, f = right(name), CALLS[call]
    for layout, x in LAYOUTS.items():
        x = np.abs(x) if "power" in name else x
        wanted = outcome(lambda x=x: f(ufunc, x))
        found = outcome(lambda x=x: hoad.jvp(lambda y: f(ufunc, y), (x,), (np.ones_like(x),))[0])
        if isinstance(wanted, Exception):
            assert isinstance(found, type(wanted)), (layout, wanted, found)
            continue
        assert np.shape(found) == np.shape(wanted), layout
        assert np.asarray(found).dtype == np.asarray(wanted).dtype, layout
        rtol = 1e-6 if x.dtype == np.float32 else 4e-16
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * 4, err_msg=layout)


@pytest.mark.parametrize("name", ["logaddexp", "hypot", "fmax", "logical_xor", "subtract", "maximum"])
def test_many_items(name: str) -> None:
    """More than are taken one by one."""
    ufunc, x = getattr(np, name), np.sin(np.arange(101.0)) * 3.0
    for f in (ufunc.reduce, ufunc.accumulate):
        np.testing.assert_allclose(hoad.jvp(f, (x,), (x,))[0], f(x), rtol=1e-14)
    if name in ("logaddexp", "hypot"):
        closed = np.exp(x) / np.sum(np.exp(x)) if name == "logaddexp" else x / np.linalg.norm(x)
        np.testing.assert_allclose(hoad.grad(ufunc.reduce)(x), closed, rtol=1e-12, atol=1e-16)


def test_ties_of_extremes_are_shared() -> None:
    x = np.array([2.0, 1.0, 2.0, 2.0])
    for ufunc in (np.maximum, np.fmax):
        np.testing.assert_allclose(hoad.grad(ufunc.reduce)(x), np.array([1, 0, 1, 1]) / 3)
    assert_same(hoad.grad(lambda x: np.max(x, initial=2.0))(x[:2]), np.array([0.5, 0.0]))
    assert_same(hoad.grad(lambda x: np.max(x, initial=3.0))(x), np.zeros(4))


def test_what_does_not_count_has_no_derivative_whatever_it_is() -> None:
    x, mask = np.array([1.0, np.nan, -2.0, np.inf]), np.array([True, False, True, False])
    for f, wanted in [
        (lambda x: np.sum(x, where=mask), mask * 1.0),
        (lambda x: np.mean(x, where=mask), mask / 2.0),
        (lambda x: np.prod(x, where=mask, initial=3.0), np.array([-6.0, 0.0, 3.0, 0.0])),
        (lambda x: np.max(x, where=mask, initial=-9.0), np.array([1.0, 0.0, 0.0, 0.0])),
        (lambda x: np.logaddexp.reduce(x, where=mask), np.exp(np.where(mask, x, -9.0)) / (np.exp(1.0) + np.exp(-2.0))),
    ]:
        np.testing.assert_allclose(hoad.grad(f)(x), np.where(mask, wanted, 0.0), rtol=1e-14)


def test_masks_made_of_values_follow_them() -> None:
    f = hoad.jit(hoad.grad(lambda x: np.sum(x**2, where=x > 0) + np.max(x, where=x < 1, initial=-5.0)))
    for x in (np.array([1.5, -2.0, 0.5]), np.array([-1.5, 2.0, 0.25]), np.array([3.0, 4.0, 5.0])):
        largest = np.where((x < 1) & (x == np.max(x, where=x < 1, initial=-5.0)), 1.0, 0.0)
        np.testing.assert_allclose(f(x), np.where(x > 0, 2.0 * x, 0.0) + largest)


def test_places_of_reduceat_that_are_traced_are_guarded() -> None:
    def f(x: Any) -> Any:
        return np.add.reduceat(x**2, np.argsort(x)[:2])[0]

    g = hoad.jit(hoad.grad(f))
    for x in (np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 2.0])):
        k = int(np.argsort(x)[0])
        last = int(np.argsort(x)[1])
        wanted = np.zeros(3)
        wanted[k : last if last > k else k + 1] = 2.0 * x[k : last if last > k else k + 1]
        np.testing.assert_allclose(g(x), wanted)


def test_arrays_made_like_a_traced_one_keep_their_items() -> None:
    """Whatever their order in memory."""
    turned = np.asfortranarray(X)
    for plain in (turned, X.T, X[::-1, ::-1], X[:, ::2], np.asfortranarray(X)[::-1], np.array(2.0)):
        for f in (lambda x, y=plain: np.asarray(y, like=x), lambda x, y=plain: np.array(y, like=x) + 0.0 * x[0]):
            assert_same(hoad.jvp(f, (X[0],), (X[0],))[0], plain)
    assert_same(hoad.jvp(lambda x: np.eye(2, 3, 1, order="F", like=x) * 1.0, (X,), (X,))[0], np.eye(2, 3, 1))


def test_loops_that_are_chosen() -> None:
    x = np.array([0.3, 1.7])
    for f in (
        lambda x: np.exp(x, dtype=np.float32),
        lambda x: np.add(x, 1, dtype=np.float32),
        lambda x: np.add(x, np.float32(1), signature="ff->f"),
        lambda x: np.multiply(x, 2, dtype=np.complex128),
        lambda x: np.concatenate([x, x], dtype=np.float32),
        lambda x: np.stack([x, x], dtype=np.complex64),
    ):
        assert_same(hoad.jvp(f, (x,), (x,))[0], f(x))
    with pytest.raises(TypeError):
        hoad.grad(lambda x: np.sum(np.exp(x, dtype=np.float32, casting="safe")))(x)


def test_where_without_an_array_to_keep_says_what_to_write() -> None:
    with pytest.raises(hoad.NoRuleError, match=r"np\.where\(condition, x, y\)"):
        hoad.grad(lambda x: np.sum(np.exp(x, where=x > 0)))(X)
    with pytest.raises(hoad.NoRuleError, match=r"np\.add\.outer with where="):
        hoad.grad(lambda x: np.sum(np.add.outer(x, x, where=False)))(X)


def test_partitions_in_place() -> None:
    def f(x: Any) -> Any:
        y = x**2
        y.partition(1)
        return y[0] + 2.0 * y[1] + 3.0 * y[2]

    assert_same(hoad.grad(f)(np.array([3.0, 1.0, 2.0])), np.array([18.0, 2.0, 8.0]))
