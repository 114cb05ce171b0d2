"""Every operator with every kind of operand on either side: the value is NumPy's to the bit, and so is the derivative.

A float argument is traced as a float64 number of NumPy's is, so that is what it is compared with.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import by_complex_steps, by_differences, same

import hoad

ARGUMENTS: dict[str, Any] = {
    "float": 1.75,
    "0-d": np.array(1.75),
    "vector": np.array([1.5, 2.25, 0.375]),
    "matrix": np.array([[0.5, 1.25, 2.5], [3.5, 0.75, 1.125]]),
    "column": np.array([[1.5], [0.625]]),
    "Fortran": np.asfortranarray([[0.5, 1.25, 2.5], [3.5, 0.75, 1.125]]),
    "backwards": np.array([0.375, 2.25, 1.5])[::-1],
    "empty": np.zeros((0, 3)),
    "float32": np.array([1.5, 2.25, 0.375], dtype=np.float32),
    "float32 number": np.float32(1.75),
}

OTHERS: dict[str, Any] = {
    "int": 2,
    "negative int": -3,
    "float": 2.625,
    "bool": True,
    "np.float64": np.float64(2.625),
    "np.float32": np.float32(2.625),
    "np.int64": np.int64(2),
    "np.uint8": np.uint8(3),
    "np.bool": np.True_,
    "0-d": np.array(2.625),
    "vector": np.array([1.125, 2.625, 3.375]),
    "matrix": np.array([[1.125, 2.625, 3.375], [0.625, 1.375, 4.25]]),
    "row": np.array([[1.125, 2.625, 3.375]]),
    "float32 vector": np.array([1.125, 2.625, 3.375], dtype=np.float32),
    "int vector": np.array([1, 2, 3]),
    "bool vector": np.array([True, False, True]),
    "big-endian": np.array([1.125, 2.625, 3.375], dtype=">f8"),
    "Fortran": np.asfortranarray([[1.125, 2.625, 3.375], [0.625, 1.375, 4.25]]),
    "too long": np.ones(5),
    "empty": np.zeros((0, 3)),
}

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "//": operator.floordiv,
    "%": operator.mod,
    "divmod": lambda a, b: np.stack(divmod(a, b)),
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


# Before NumPy 2.3 squares of arrays had the dtype of what is squared, whatever that of the exponent.
SQUARES_KEEP_DTYPES = np.lib.NumpyVersion(np.__version__) < "2.3.0"


def as_numpy(x: Any) -> Any:
    return np.float64(x) if type(x) is float else x


@pytest.mark.parametrize("reflected", [False, True], ids=["left", "right"])
@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.parametrize("kind", ARGUMENTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_are_those_of_numpy(kind: str, symbol: str, reflected: bool) -> None:
    x, op = ARGUMENTS[kind], OPERATORS[symbol]
    compared = 0
    for name, y in OTHERS.items():

        def f(x: Any, y: Any = y) -> Any:
            return op(y, x) if reflected else op(x, y)

        try:
            wanted = f(as_numpy(x))
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                hoad.value(seen_by(f, x))
            continue
        found = hoad.value(seen_by(f, x))
        if symbol == "**":  # NumPy's own loops for one power and for many differ in the last bit
            assert found.dtype == np.asarray(wanted).dtype or SQUARES_KEEP_DTYPES
            np.testing.assert_allclose(found, wanted, rtol=2 * np.finfo(found.dtype).eps)
        else:
            assert same(found, wanted), f"{name}: {found!r} is not {wanted!r}"
        compared += 1
    assert compared >= 15


def seen_by(f: Callable[[Any], Any], x: Any) -> Any:
    """The value of f(x) inside a derivative."""
    seen: list[Any] = []

    def probe(x: Any) -> Any:
        seen.append(np.array(hoad.value(f(x))))
        return 0.0

    hoad.grad(probe)(x)
    return seen[0]


@pytest.mark.parametrize("reflected", [False, True], ids=["left", "right"])
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "**"])
@pytest.mark.parametrize("kind", [kind for kind in ARGUMENTS if "float32" not in kind])
@pytest.mark.filterwarnings("ignore::RuntimeWarning:core.agreement")
def test_derivatives(kind: str, symbol: str, reflected: bool) -> None:
    x, op = ARGUMENTS[kind], OPERATORS[symbol]
    compared = 0
    for name, y in OTHERS.items():
        if "float32" in name or "bool" in name or (reflected and symbol == "**" and name == "negative int"):
            continue  # complex steps go with neither float32 nor division by False; (-3)**x is not real
        try:
            op(x, y)
        except ValueError:
            continue
        compared += 1

        def f(x: Any, y: Any = y) -> Any:
            return op(y, x) if reflected else op(x, y)

        for mode in ("forward", "reverse"):
            found = hoad.jacobian(f, mode=mode)(x)
            np.testing.assert_allclose(found, by_complex_steps(f, x), rtol=1e-13, atol=1e-13, err_msg=f"{name}, {mode}")
    assert compared >= 10


@pytest.mark.parametrize("reflected", [False, True], ids=["left", "right"])
@pytest.mark.parametrize("symbol", ["//", "%"])
@pytest.mark.parametrize("kind", ["float", "vector", "matrix"])
def test_derivatives_of_remainders(kind: str, symbol: str, reflected: bool) -> None:
    x, op = ARGUMENTS[kind], OPERATORS[symbol]
    for y in (0.71, -1.3, np.float64(0.71), np.array([0.71, -1.33, 0.97])):

        def f(x: Any, y: Any = y) -> Any:
            return op(y, x) if reflected else op(x, y)

        for mode in ("forward", "reverse"):
            found = hoad.jacobian(f, mode=mode)(x)
            np.testing.assert_allclose(found, by_differences(f, x, h=1e-4), rtol=1e-8, atol=1e-8)


def test_two_traced_operands() -> None:
    for op in OPERATORS.values():
        for x in (1.75, ARGUMENTS["vector"], ARGUMENTS["matrix"]):

            def f(x: Any, op: Callable[[Any, Any], Any] = op) -> Any:
                return op(x, 0.5 * x + 1)

            assert same(seen_by(f, x), f(as_numpy(x)))


def test_one_operand() -> None:
    for op in (
        operator.neg,
        operator.pos,
        abs,
        lambda x: ~(x > 1),
        lambda x: (x > 1) & (x < 2),
        lambda x: (x > 1) | (x < 0),
    ):
        for x in (1.75, -1.75, np.array([-1.5, 0.0, 2.0]), -0.0):
            assert same(seen_by(op, x), op(as_numpy(x)))


TRUTHS: dict[str, Callable[[Any], Any]] = {
    "and": lambda x: (x > 1) & (x < 2),
    "or": lambda x: (x > 2) | (x < 1),
    "xor": lambda x: (x > 1) ^ (x < 2),
    "and, plain": lambda x: (x > 1) & np.True_,
    "reflected": lambda x: np.True_ & (x > 1),
    "not": lambda x: ~(x > 1),
    "sum of booleans": lambda x: (x > 1) + (x > 0.5),
    "times a boolean": lambda x: x * (x > 1),
    "boolean squared": lambda x: (x > 1) ** 2.0,
    "boolean minus": lambda x: 1 - (x > 1),
    "boolean as float": lambda x: (x > 1).astype(float),
    "logical_and": lambda x: np.logical_and(x > 1, x < 2),
    "logical_not of a float": lambda x: np.logical_not(x),
    "isnan": lambda x: np.isnan(x),
    "compared booleans": lambda x: (x > 1) == (x > 0.5),
}


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("kind", ["float", "vector", "0-d", "empty"])
def test_truth_values(name: str, kind: str) -> None:
    f, x = TRUTHS[name], ARGUMENTS[kind]
    wanted = f(as_numpy(x))
    if name == "boolean squared" and SQUARES_KEEP_DTYPES:
        wanted = np.asarray(wanted, float)
    assert same(seen_by(f, x), wanted)


def test_what_python_refuses_is_refused() -> None:
    refused: list[Callable[[Any], Any]] = [
        lambda x: x + "a",
        lambda x: "a" + x,
        lambda x: x + None,
        lambda x: x & 1,
        lambda x: x << 1,
        lambda x: ~x,
        lambda x: pow(x, 2, 3),
        lambda x: x @ x,
        lambda x: x < "a",
        lambda x: x + {},
        lambda x: x(),
    ]
    for f in refused:
        with pytest.raises(TypeError):
            f(np.float64(1.75))
        with pytest.raises(TypeError):
            hoad.grad(f)(1.75)


def test_another_type_gets_its_turn() -> None:
    class Other:
        def __radd__(self, other: Any) -> float:
            return 42.0

        def __rmul__(self, other: Any) -> Any:
            return other + other

    assert hoad.value_and_grad(lambda x: x + Other())(1.0) == (42.0, 0.0)
    assert hoad.value_and_grad(lambda x: x * Other())(1.0) == (2.0, 2.0)


def test_equality_with_what_is_no_number() -> None:
    answers: list[Any] = []

    def f(x: Any) -> Any:
        answers.extend([x == None, x != None, x == "a", None == x])  # noqa: E711
        return x

    hoad.grad(f)(1.0)
    assert answers == [False, True, False, False]


CONTAINED: list[Callable[[Any], Any]] = [
    lambda x: 0.75 in x,
    lambda x: x[0] in x,
    lambda x: x[::-1] in x,
    lambda x: x[::-1] in x[None],
    lambda x: [0.5, 0.75, 1.5] in x,
    lambda x: np.nan in np.log(-x),
    lambda x: 0.5 in x[:0],
    lambda x: 0.5 in np.asarray(x[0]),
    lambda x: 0.5j in 1j * x,
    lambda x: None in x,
    lambda x: "a" in x,
    lambda x: x[0] in [0.25, 0.5],
    lambda x: x[0] in np.array([0.25, 0.5]),
]


@pytest.mark.parametrize("f", CONTAINED)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_whether_an_array_holds_a_value(f: Callable[[Any], Any]) -> None:
    """As in NumPy, whether any item of ``x == value`` is true."""
    x = np.array([0.5, 0.75, 1.5])
    assert seen_by(f, x) == f(x)


def test_what_an_array_cannot_hold() -> None:
    x = np.array([0.5, 0.75, 1.5])
    refused: tuple[tuple[Callable[[Any], Any], type[Exception]], ...] = (
        (lambda x: x[:2] in x, ValueError),
        (lambda x: 0.5 in x[0], TypeError),
        (lambda x: 0.5 in x.astype(np.float32)[0], TypeError),
    )
    for f, error in refused:
        with pytest.raises(error):
            f(x)
        with pytest.raises(error):
            hoad.jacobian(f)(x)


def test_the_answer_whether_an_array_holds_a_value_is_guarded() -> None:
    def f(x: Any) -> Any:
        return np.sum(x) * (2.0 if 0.75 in x else 1.0)

    x = np.array([0.5, 0.75, 1.5])
    jitted = hoad.jit(f)
    for y in (x, x + 1.0, x[::-1], x + 1.0):
        assert jitted(y) == f(y)
        np.testing.assert_array_equal(hoad.grad(f)(y), hoad.grad(jitted)(y))
        np.testing.assert_array_equal(hoad.grad(f)(y), np.full(3, 2.0 if 0.75 in y else 1.0))
    np.testing.assert_array_equal(hoad.vmap(f)(np.stack([x, x + 1.0])), [f(x), f(x + 1.0)])


def test_shifts_are_of_integers() -> None:
    def shifted(x: Any) -> Any:
        places = x.argsort()
        places <<= 1
        given = np.array([1, 2, 3])
        given <<= places
        assert type(given) is np.ndarray  # of integers, which have no derivative
        return ((places << 2) + (5 >> x.argsort()) + ((x > 0) << 1) + given) * x

    x = np.array([0.5, 0.75, 1.5])
    jitted = hoad.jit(shifted)
    for y in (x, x[::-1].copy()):
        np.testing.assert_array_equal(jitted(y), shifted(y))
        np.testing.assert_array_equal(hoad.jacobian(shifted)(y), np.diag(shifted(y) / y))
    for f in (lambda x: x << 2, lambda x: 2 << x, lambda x: x[0] >> 1, lambda x: np.array([1, 2, 3]) >> x):
        with pytest.raises(hoad.errors.DTypeError, match=r"_shift takes integers, .*float64 .*ldexp"):
            hoad.jacobian(f)(x)


def test_shifts_leave_their_turn_to_another_type() -> None:
    class Other:
        def __lshift__(self, other: Any) -> float:
            return 1.0

        def __rlshift__(self, other: Any) -> float:
            return 42.0

    assert hoad.value_and_grad(lambda x: (x << Other()) + (Other() << x))(1.0) == (43.0, 0.0)


PRODUCTS_WITH_TRUTHS: dict[str, Callable[[Any], Any]] = {
    "times": lambda x: x * (x > 0),
    "times, reflected": lambda x: (x > 0) * x,
    "times minus": lambda x: x * -1.0 * (x > 0),
    "over": lambda x: x / (x > 0),
    "times not": lambda x: x * (1 - (x < 0)),
    "times and": lambda x: x * np.logical_and(x > 0, x < 9),
    "plus": lambda x: x + (x > 0),
    "minus": lambda x: (x > 0) - x,
    "power": lambda x: x ** (x > 0),
    "twice": lambda x: x * (x > 0) * (x < 9),
    "square": lambda x: (x * (x > 0)) ** 2,
}


@pytest.mark.parametrize("name", PRODUCTS_WITH_TRUTHS)
@pytest.mark.parametrize("wrap", ["itself", "reshaped", "spread", "outer", "stacked", "sin"])
def test_truth_values_as_factors(name: str, wrap: str) -> None:
    """A tangent 1 times a boolean is a number, not that boolean."""
    weights = np.array([0.5, -1.25, 0.75])
    wrappers: dict[str, Callable[[Any], Any]] = {
        "itself": lambda y: y,
        "reshaped": lambda y: np.reshape(y, (1,)),
        "spread": lambda y: y * weights,
        "outer": lambda y: np.outer(y, weights),
        "stacked": lambda y: np.stack([y, 2 * y]),
        "sin": lambda y: np.sin(y),
    }
    g = PRODUCTS_WITH_TRUTHS[name]

    def f(x: Any) -> Any:
        return wrappers[wrap](g(x))

    x = 0.7
    wanted = by_differences(f, np.float64(x), h=1e-4)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(hoad.jacobian(f, mode=mode)(x), wanted, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(hoad.jvp(f, (x,), (1.0,))[1], wanted, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(hoad.jvp(f, (x,), (-1.0,))[1], -wanted, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(hoad.vjp(f, x)[1](np.ones(np.shape(wanted)))[0], np.sum(wanted), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(hoad.derivative(f, 1)(x), wanted, rtol=1e-9, atol=1e-10)
    second = by_differences(lambda x: hoad.jacobian(f)(float(x)), np.float64(x), h=1e-4)
    np.testing.assert_allclose(hoad.derivative(f, 2)(x), second, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(hoad.jacobian(hoad.jacobian(f))(x), second, rtol=1e-7, atol=1e-7)
