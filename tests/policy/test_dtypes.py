"""float64 by default and never silently less; float32 stays; integers and booleans have derivative zero."""

from __future__ import annotations

import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([0.5, 1.25, 2.0])
KINDS = ["f4", "f8"]
TOLERANCE = {"f4": 1e-6, "f8": 1e-14}

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], np.ndarray]] = {
    "square": (lambda x: np.sum(x**2), 2 * X),
    "sin": (lambda x: np.sum(np.sin(x)), np.cos(X)),
    "chain": (lambda x: np.sum(np.exp(-(x**2)) * x), np.exp(-(X**2)) * (1 - 2 * X**2)),
    "divided": (lambda x: np.sum(1 / x), -1 / X**2),
    "items": (lambda x: x[0] * x[1] + x[2], np.array([X[1], X[0], 1.0])),
    "slices": (lambda x: np.sum(x[1:] * x[:-1]), np.array([X[1], X[0] + X[2], X[1]])),
    "max": (lambda x: np.max(x) * 2, np.array([0.0, 0.0, 2.0])),
    "where": (lambda x: np.sum(np.where(x > 1, x**3, x)), np.where(X > 1, 3 * X**2, 1)),
    "mean": (lambda x: np.mean(x * x), 2 * X / 3),
    "dot": (lambda x: np.dot(x, x), 2 * X),
    "stack": (lambda x: np.sum(np.stack([x, 2 * x])), np.full(3, 3.0)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_precision_is_kept(name: str, kind: str) -> None:
    f, wanted = FUNCTIONS[name]
    x = X.astype(kind)
    value, gradient = hoad.value_and_grad(f)(x)
    assert np.asarray(value).dtype == np.asarray(f(x)).dtype == x.dtype
    assert gradient.dtype == x.dtype
    np.testing.assert_allclose(gradient.astype(float), wanted, rtol=TOLERANCE[kind], atol=TOLERANCE[kind])
    value, tangent = hoad.jvp(f, (x,), (np.ones_like(x),))
    assert np.asarray(tangent).dtype == x.dtype
    assert float(tangent) == pytest.approx(wanted.sum(), rel=10 * TOLERANCE[kind])
    hessian = hoad.hessian(f)(x)
    assert hessian.dtype == x.dtype
    np.testing.assert_allclose(hessian, hoad.hessian(f)(X), rtol=10 * TOLERANCE[kind], atol=10 * TOLERANCE[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_numpy(kind: str) -> None:
    x = np.dtype(kind).type(0.5)
    value, slope = hoad.value_and_grad(lambda x: np.sin(x) * x)(x)
    assert np.asarray(value).dtype == np.asarray(slope).dtype == x.dtype
    assert float(slope) == pytest.approx(np.cos(0.5) * 0.5 + np.sin(0.5), rel=TOLERANCE[kind])
    assert np.ndim(slope) == 0
    second = hoad.derivative(lambda x: x**3, 2)(x)
    assert np.asarray(second).dtype == x.dtype and float(second) == pytest.approx(3.0, rel=TOLERANCE[kind])


def test_python_floats_are_weak_beside_float32_arrays() -> None:
    """As in NumPy, a Python number does not widen a float32 array; a float64 array does."""
    x = X.astype("f4")
    assert hoad.value_and_grad(lambda x: np.sum(2.0 * x + 1))(x)[0].dtype == np.float32
    value, gradient = hoad.value_and_grad(lambda x: np.sum(np.ones(3) * x))(x)
    assert np.asarray(value).dtype == np.float64
    assert gradient.dtype == np.float32


MIXED: dict[str, Callable[[Any], Any]] = {
    "astype": lambda x: np.sum(x.astype("f8") ** 2) + np.sum(x),
    "float64 array": lambda x: np.sum(x * np.arange(1.0, 4.0)),
    "int array": lambda x: np.sum(x * np.arange(1, 4)),
    "bool array": lambda x: np.sum(x * np.array([True, False, True])),
    "concatenate": lambda x: np.sum(np.concatenate([x, np.ones(2)]) ** 2),
    "stack": lambda x: np.sum(np.stack([x, np.ones(3)]) ** 2),
    "matmul": lambda x: np.sum(np.eye(3) @ x),
    "solve": lambda x: np.sum(np.linalg.solve(np.diag([1.0, 2.0, 4.0]), x)),
    "there and back": lambda x: np.sum((x.astype("f8") ** 2).astype("f4")),
}


@pytest.mark.parametrize("name", MIXED)
def test_mixed_precision(name: str) -> None:
    """The value is NumPy's; the gradient has the dtype of its argument, and agrees with that of float64."""
    f = MIXED[name]
    x = X.astype("f4")
    value, gradient = hoad.value_and_grad(f)(x)
    assert value == f(x) and np.asarray(value).dtype == np.asarray(f(x)).dtype
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, hoad.grad(f)(X), rtol=1e-6)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(hoad.jacobian(f, mode=mode)(x), gradient, rtol=1e-6)


def test_two_arguments_of_different_precision() -> None:
    f = lambda x, y: np.sum(x * y) ** 2  # noqa: E731
    single, double = hoad.grad(f, argnums=(0, 1))(X.astype("f4"), X)
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    blocks = hoad.hessian(f, argnums=(0, 1))(X.astype("f4"), X)
    np.testing.assert_allclose(blocks[0][1], blocks[1][0].T, rtol=1e-5)


ZERO: dict[str, Callable[[Any], Any]] = {
    "astype(int)": lambda x: np.sum(x.astype(int)) * 1.0,
    "astype(bool)": lambda x: np.sum(x.astype(bool)) * 1.0,
    "integers returned": lambda x: np.sum(x.astype(int)),
    "boolean returned": lambda x: x[0] > 1,
    "comparison": lambda x: np.sum(x > 1.0) * 2.0,
    "floor": lambda x: np.sum(np.floor(x)),
    "sign": lambda x: np.sum(np.sign(x)),
    "rint": lambda x: np.sum(np.rint(x)),
    "isnan": lambda x: np.sum(np.isnan(x)),
    "floor_divide": lambda x: np.sum(x // 0.3),
    "constant": lambda x: 3.0,
    "int constant": lambda x: 3,
    "bool constant": lambda x: True,
    "numpy constant": lambda x: np.float32(3),
    "0-d constant": lambda x: np.array(3.0),
    "where of constants": lambda x: np.where(x[0] > 1, 2.0, 3.0),
    "logical": lambda x: np.sum(np.logical_and(x > 0, x < 1)),
}


@pytest.mark.parametrize("name", ZERO)
def test_what_has_no_slope_has_derivative_zero_in_every_mode(name: str) -> None:
    f = ZERO[name]
    value, gradient = hoad.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_array_equal(gradient, np.zeros(3))
    np.testing.assert_array_equal(hoad.jacobian(f, mode="forward")(X), np.zeros(3))
    np.testing.assert_array_equal(hoad.jacobian(f, mode="reverse")(X), np.zeros(3))
    np.testing.assert_array_equal(hoad.hessian(f)(X), np.zeros((3, 3)))
    assert hoad.jvp(f, (X,), (X,))[1] == 0.0
    np.testing.assert_array_equal(hoad.vjp(f, X)[1](1.0)[0], np.zeros(3))
    assert hoad.linearize(f, X)[1](X) == 0.0
    np.testing.assert_array_equal(hoad.hvp(f)(X, X), np.zeros(3))
    np.testing.assert_array_equal(hoad.vhp(f)(X, X), np.zeros(3))


REFUSED: list[tuple[Any, str]] = [
    (3, r"needs a float argument, but argument 0 is int \(3\)\. Write 3\.0"),
    (True, r"needs a float argument, but argument 0 is bool \(True\)"),
    (np.int64(3), r"needs a float argument, but argument 0 is .*int64"),
    (np.arange(3), r"needs a float argument, but argument 0 is an array of int64\. Use x\.astype\(float\)"),
    (np.array([True, False]), r"needs a float argument, but argument 0 is an array of bool"),
    (np.ones(2, dtype=np.clongdouble), r"computes in complex128 and complex64, .*\. Use x\.astype\(np\.complex128\)"),
    (None, r"but argument 0 is NoneType\. Pass a number"),
    ("1.0", r"but argument 0 is str\. Pass a number"),
    (range(3), r"but argument 0 is range\. Convert it with np\.asarray"),
    (np.array([1.0, 2.0], dtype=object), "needs a float argument, but argument 0 is an array of object"),
    (np.array(["a"]), "needs a float argument"),
    (np.ones(2, dtype=np.float16), r"float16\. Use x\.astype"),
    (np.float16(1.0), "float16"),
    (np.ones(2, dtype=np.longdouble), np.dtype(np.longdouble).name),
    (np.array(["2020-01-01"], dtype="datetime64[D]"), "needs a float argument"),
    (np.zeros(2, dtype=[("a", "f8")]), "needs a float argument"),
]

DRIVERS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda x: hoad.grad(np.sum)(x),
    "value_and_grad": lambda x: hoad.value_and_grad(np.sum)(x),
    "jacobian": lambda x: hoad.jacobian(np.sum)(x),
    "hessian": lambda x: hoad.hessian(np.sum)(x),
    "hvp": lambda x: hoad.hvp(np.sum)(x, x),
    "vhp": lambda x: hoad.vhp(np.sum)(x, x),
    "jvp": lambda x: hoad.jvp(np.sum, (x,), (x,)),
    "vjp": lambda x: hoad.vjp(np.sum, x),
    "linearize": lambda x: hoad.linearize(np.sum, x),
    "derivative": lambda x: hoad.derivative(np.sin)(x),
}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("x", "message"), REFUSED, ids=[f"{type(x).__name__} {x!r}"[:40] for x, _ in REFUSED])
def test_arguments_that_are_no_floats(driver: str, x: Any, message: str) -> None:
    with pytest.raises(hoad.DTypeError, match=message) as caught:
        DRIVERS[driver](x)
    assert str(caught.value).startswith(f"{driver} ")
    assert isinstance(caught.value, TypeError)


def test_the_argument_that_is_no_float_is_named() -> None:
    with pytest.raises(hoad.DTypeError, match="argument 1 is int"):
        hoad.grad(lambda x, y: x * y, argnums=(0, 1))(1.0, 2)
    assert hoad.grad(lambda x, n: x**n)(2.0, 3) == 12.0


OTHERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "Decimal": (lambda x: x + decimal.Decimal(1), "a value of type Decimal"),
    "Decimal before": (lambda x: decimal.Decimal(1) * x, "a value of type Decimal"),
    "Fractions in an array": (
        lambda x: x * np.array([fractions.Fraction(1, 2)]),
        "an array with items of type Fraction",
    ),
    "None": (lambda x: np.add(x, None), "a value of type NoneType"),
    "None in an array": (lambda x: x * np.array([None, 1.0]), "an array with items of type NoneType"),
    "text": (lambda x: np.add(x, "a"), "a value of dtype <U1"),
    "texts": (lambda x: x * np.array(["a", "b", "c"]), "an array with items of dtype <U1"),
    "date": (lambda x: np.datetime64("2020") + x, "a value of dtype datetime64"),
    "stacked": (lambda x: np.stack([x[0], decimal.Decimal(1)]), "a value of type Decimal"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_operands_that_are_no_numbers(name: str) -> None:
    f, fact = OTHERS[name]
    with pytest.raises(
        hoad.DTypeError, match=rf"met {fact}.* \(test_dtypes\.py:\d+\).*float\(y\), or y\.astype\(float\)"
    ):
        hoad.grad(lambda x: np.sum(f(x)))(X)


def test_fractions_and_arrays_of_plain_objects_are_taken_as_floats() -> None:
    third = fractions.Fraction(1, 3)
    assert hoad.grad(lambda x: x * third)(2.0) == hoad.grad(lambda x: third * x)(2.0) == 1 / 3
    integers = np.array([1, 2.5, True], dtype=object)
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(x * integers))(X), [1.0, 2.5, 1.0])


def test_other_byte_orders_and_alignments() -> None:
    swapped = X.astype(">f8")
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(x**2))(swapped), 2 * X)
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(x * swapped))(X), X)
    packed = np.zeros(3, dtype=[("tag", "i1"), ("x", "f8")])
    packed["x"] = X
    assert not packed["x"].flags.aligned
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(x**2))(packed["x"]), 2 * X)
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(x * packed["x"]))(X), X)
    np.testing.assert_array_equal(hoad.jvp(lambda x: x**2, (X,), (packed["x"],))[1], 2 * X * X)
    np.testing.assert_array_equal(hoad.vjp(lambda x: x**2, X)[1](packed["x"])[0], 2 * X * X)


def test_read_only_and_broadcast_arrays() -> None:
    frozen = X.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(x * frozen))(frozen), X)
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(x**2))(np.broadcast_to(2.0, (2, 3))), np.full((2, 3), 4.0))


def test_subclasses_of_arrays_count_as_arrays() -> None:
    class Tagged(np.ndarray):
        pass

    tagged = X.view(Tagged)
    gradient = hoad.grad(lambda x: np.sum(x**2 * tagged))(tagged)
    assert type(gradient) is np.ndarray
    np.testing.assert_array_equal(gradient, 2 * X * X)


class Celsius(float):
    """A float of the user's."""


def test_subclasses_of_float_count_as_floats() -> None:
    assert hoad.grad(lambda x: x * x)(Celsius(3.0)) == 6.0
    assert hoad.grad(lambda x: x * Celsius(3.0))(2.0) == 3.0


class Units(np.ndarray):
    """An array that gives ufuncs a meaning of its own."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return "a quantity"


MEANINGFUL: dict[str, Any] = {
    "masked": np.ma.array([1.0, 2.0, 3.0], mask=[True, False, False]),
    "matrix": np.ones((3, 3)).view(np.matrix),
    "overriding": np.ones(3).view(Units),
}

MEETINGS: dict[str, Callable[[Any, Any], Any]] = {
    "operator": lambda x, a: x * a,
    "reflected": lambda x, a: a * x,
    "ufunc": lambda x, a: np.add(x, a),
    "matmul": lambda x, a: x @ a,
    "reflected matmul": lambda x, a: a @ x,
    "np.dot": lambda x, a: np.dot(a, x),
    "np.outer": lambda x, a: np.outer(a, x),
    "np.kron": lambda x, a: np.kron(a, x),
    "np.einsum": lambda x, a: np.einsum("i,...i->i", x, a),
    "np.clip": lambda x, a: np.clip(a, 0.0, x),
    "np.where": lambda x, a: np.where(x > 0, x, a),
    "np.concatenate": lambda x, a: np.concatenate([np.stack([x, x, x]) if a.ndim == 2 else x, a]),
    "np.average": lambda x, a: np.average(x, weights=a if a.ndim == 1 else a[0]),
    "np.trapezoid": lambda x, a: np.trapezoid(a, x),
    "np.interp": lambda x, a: np.interp(x, [0.0, 1.0, 2.0], a if a.ndim == 1 else a[0]),
    "packed": lambda x, a: np.clip(a * x[0], 0.0, x),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")  # which NumPy makes of a traced array, or tries to
@pytest.mark.parametrize("meeting", MEETINGS)
@pytest.mark.parametrize("kind", MEANINGFUL)
def test_subclasses_with_a_meaning_of_their_own_are_refused(kind: str, meeting: str) -> None:
    """A masked array is more than its data, and a product of matrices is not a product of arrays: never in silence."""
    with pytest.raises((TypeError, hoad.NoRuleError)):
        hoad.jacobian(lambda x: np.sum(MEETINGS[meeting](x, MEANINGFUL[kind])))(X)


def test_arguments_with_a_meaning_of_their_own_are_refused() -> None:
    for a in MEANINGFUL.values():
        with pytest.raises(TypeError):
            hoad.grad(lambda x: np.sum(x**2))(a)
