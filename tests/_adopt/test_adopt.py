"""`hoad.adopt`: code written for plain numbers, beside the same formula written for traced values."""

from __future__ import annotations

import cmath
import math
import sys
import types
from collections.abc import Callable, Iterator
from math import log
from typing import Any

import numpy as np
import pytest
from numpy import array

import hoad
from hoad._adopt import mathematics
from hoad.errors import TracedValueError

X = np.array([0.3, 0.7, 1.6])


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


# ---- programs -------------------------------------------------------------------------------------------------------

SCALE = 3.0


def filled(x: Any) -> Any:
    out = np.zeros(3)
    for i in range(3):
        out[i] = math.exp(x[i]) * SCALE
    return out.sum() * out[0]


def changed(x: Any) -> Any:
    a, b = np.ones((2, 3)), np.full(3, 0.5)
    a[0] = x
    b[:] *= x
    return np.sum(a @ b)


class Model:
    def __init__(self, x: Any) -> None:
        self.x = np.asarray(x, dtype=float)

    @property
    def size(self) -> float:
        return math.sqrt(float(self.x @ self.x))

    def __call__(self) -> Any:
        return self.size * self.weight(self.x[0])

    @staticmethod
    def weight(x: float) -> float:
        return math.tanh(x)


def made_inside(x: Any) -> Any:
    class Inner:
        factor = SCALE

        def of(self, y: Any) -> Any:
            return self.factor * np.array([y, 1.0])

    return Inner().of(math.sin(x[0]))[0]


def closed_over() -> Callable[[Any], Any]:
    import math

    import numpy as np

    power = 2

    def f(x: Any) -> Any:
        return math.pow(x[0], power) * np.array([x, x]).sum()

    return f


def imported(x: Any) -> Any:
    from math import sin

    import numpy as np

    return sin(np.asarray([x[0], x[1]])[0])


def generated(x: Any) -> Any:
    def each() -> Iterator[Any]:
        for y in x:
            yield math.log1p(y)

    return sum(each())


def default_of(x: Any, call: Any = lambda y: math.cos(y)) -> Any:
    return call(x[2])


ROOT = lambda y: math.sqrt(y)  # noqa: E731


def by_c(x: Any) -> Any:
    return sorted(x, key=lambda y: math.exp(-y))[0] * sum(map(ROOT, x))


_space: dict[str, Any] = {}
exec("import math\ndef of_text(y): return math.exp(y)", _space)
OF_TEXT = _space["of_text"]


def kinds(x: Any) -> Any:
    y = float(x[0])
    right = (isinstance(y, float), type(y) is float, type(x) is np.ndarray, type(x[0]) is np.float64, np.isscalar(y))
    return y * sum(right)


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "asarray": (lambda x: (np.asarray(x) ** 2).sum(), lambda x: np.sum(x**2)),
    "array of rows": (lambda x: np.array([x, 2 * x])[1].sum(), lambda x: np.sum(2 * x)),
    "array by name": (lambda x: array([[x[0], 1.0], [2.0, x[1]]]).sum(), lambda x: x[0] + x[1] + 3.0),
    "solve": (
        lambda x: np.linalg.solve([[x[0], 1.0], [2.0, x[1]]], [1.0, 2.0]).sum(),
        lambda x: (x[1] - 2 + 2 * x[0] - 2) / (x[0] * x[1] - 2),
    ),
    "lists": (
        lambda x: np.mean([x[0], x[1], 1.0]) + np.var([x, 2 * x]) + np.diff([x[0], x[2]])[0],
        lambda x: (x[0] + x[1] + 1.0) / 3 + np.var(np.stack([x, 2 * x])) + x[2] - x[0],
    ),
    "filled": (filled, lambda x: 9.0 * np.sum(np.exp(x)) * np.exp(x[0])),
    "changed": (changed, lambda x: 0.5 * np.sum(x * x) + 0.5 * np.sum(x)),
    "float": (lambda x: float(x[0]) * np.float64(x[1]), lambda x: x[0] * x[1]),
    "complex": (lambda x: abs(complex(x[0], x[1])), lambda x: np.sqrt(x[0] ** 2 + x[1] ** 2)),
    "int": (lambda x: int(10 * x[1]) * x[0], lambda x: 7 * x[0]),
    "round": (lambda x: round(x[2]) * x[0] + round(x[1], 3), lambda x: 2 * x[0] + 0.7 + 0 * x[1]),
    "floor": (lambda x: (math.floor(x[2]) + math.ceil(x[0])) * x[0], lambda x: 2 * x[0]),
    "by name": (lambda x: log(x[0], 2), lambda x: np.log(x[0]) / np.log(2.0)),
    "rows and columns": (
        lambda x: (np.r_[x[0], x, 1.0:3.0] ** 2).sum() + np.c_[x, x**2].sum(),
        lambda x: x[0] ** 2 + 2 * np.sum(x**2) + np.sum(x) + 5.0,
    ),
    "class": (lambda x: Model([x[0], x[1]])(), lambda x: np.sqrt(x[0] ** 2 + x[1] ** 2) * np.tanh(x[0])),
    "class made inside": (made_inside, lambda x: 3 * np.sin(x[0])),
    "closure": (closed_over(), lambda x: x[0] ** 2 * 2 * np.sum(x)),
    "import inside": (imported, lambda x: np.sin(x[0])),
    "generator": (generated, lambda x: np.sum(np.log1p(x))),
    "default": (default_of, lambda x: np.cos(x[2])),
    "called by C": (by_c, lambda x: x[2] * np.sum(np.sqrt(x))),
    "made of text": (lambda x: OF_TEXT(x[1]), lambda x: np.exp(x[1])),
    "kinds": (kinds, lambda x: 5 * x[0]),
    "dtype": (lambda x: np.asarray([1, 2, 3], float) @ x.astype(float), lambda x: x[0] + 2 * x[1] + 3 * x[2]),
    "conjugate roots": (
        lambda x: cmath.sqrt(-x[0]).imag * cmath.exp(1j * x[1]).real,
        lambda x: np.sqrt(x[0]) * np.cos(x[1]),
    ),
    "table": (lambda x: np.array([5.0, 7.0])[int(x[2])] * x[0], lambda x: 7.0 * x[0]),
    "ranges": (lambda x: np.sum(np.arange(x[1], 2.0, x[0])) + len(np.arange(3)), lambda x: 5 * x[1] + 10 * x[0] + 3.0),
    "iterators": (lambda x: np.sum(np.fromiter((v * v for v in x), float)), lambda x: np.sum(x**2)),
    "one range": (lambda x: np.sum(np.arange(x[2])), lambda x: 1.0 + 0.0 * x[0]),
    "masked out": (
        lambda x: np.sum(np.where(np.less(x, 0.5, out=np.zeros(3, bool)), x, 2 * x)),
        lambda x: x[0] + 2 * x[1] + 2 * x[2],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    f, formula = PROGRAMS[name]
    if name == "class" and sys.version_info[:2] == (3, 13):
        pytest.skip("this Python enters __init__ of a class that is made often without asking for its frame")
    adopted = hoad.adopt(f)
    close(adopted(X), f(X))
    close(f(X), formula(X))
    close(hoad.grad(adopted)(X), hoad.grad(formula)(X))
    close(hoad.hessian(adopted)(X), hoad.hessian(formula)(X))
    close(hoad.jvp(adopted, (X,), (np.ones(3),))[1], np.sum(hoad.grad(formula)(X)))
    close(
        hoad.derivative(lambda t: adopted(X + t * X[::-1]), 3)(0.0),
        hoad.derivative(lambda t: formula(X + t * X[::-1]), 3)(0.0),
    )
    jitted = hoad.jit(hoad.grad(adopted))
    for x in (X, X + 0.01, X):
        close(jitted(x), hoad.grad(formula)(x))
    assert hoad.adopt(f)(X) == f(X)


# ---- math -----------------------------------------------------------------------------------------------------------

ARGUMENTS = {
    "acosh": (1.7,),
    "atan2": (0.4, 0.9),
    "copysign": (0.4, -2.0),
    "fma": (0.4, 0.7, 2.0),
    "fmod": (5.3, 0.9),
    "hypot": (0.3, 0.4, 1.2),
    "ldexp": (0.4, 3),
    "log": (0.4, 3.0),
    "nextafter": (0.4, 1.0),
    "pow": (0.4, 2.5),
    "remainder": (5.3, 0.9),
    "isclose": (0.4, 0.4 + 1e-12),
}
FORMULAS: dict[str, Callable[..., Any]] = {
    "dist": lambda x, y: np.sqrt((x[0] - y[0]) ** 2 + (x[1] - y[1]) ** 2),
    "fma": lambda x, y, z: x * y + z,
    "frexp": lambda x: x * 2.0,  # of 0.4
    "fsum": lambda xs: xs[0] + xs[1] + 1.0,
    "hypot": lambda x, y, z: np.sqrt(x * x + y * y + z * z),
    "ldexp": lambda x, k: x * 8.0,
    "log": lambda x, b: np.log(x) / np.log(b),
    "modf": lambda x: x,  # of 0.4
    "pow": lambda x, y: x**y,
    "prod": lambda xs: xs[0] * xs[1],
    "remainder": lambda x, y: x - 6 * y,
    "sumprod": lambda xs, ys: xs[0] * ys[0] + xs[1] * ys[1],
    "lgamma": lambda x: mathematics.FLOATS["lgamma"](x),
}
SEQUENCES = {"dist": 2, "fsum": 1, "prod": 1, "sumprod": 2}
NAMES = [name for name in (*mathematics.FLOATS, *mathematics.OTHERS) if hasattr(math, name)]
# Of integers, and constants; `fsum` and the like take sequences and are in the tables above.
OF_INTEGERS = {"comb", "factorial", "gcd", "isqrt", "lcm", "perm"}


def test_no_function_of_math_is_left_out() -> None:
    functions = {name for name, x in vars(math).items() if isinstance(x, types.BuiltinFunctionType)}
    assert functions - set(NAMES) == OF_INTEGERS
    assert not OF_INTEGERS & set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_math(name: str) -> None:
    function = getattr(math, name)
    if name in ("erf", "erfc", "gamma", "lgamma"):
        pytest.importorskip("scipy")
    if name in SEQUENCES:
        args: tuple[Any, ...] = ((0.4, 0.7), (1.1, -0.3))[: SEQUENCES[name]]
        f = lambda t: function([args[0][0] + t, args[0][1]], *args[1:])  # noqa: E731
        formula = lambda t: FORMULAS[name]([args[0][0] + t, args[0][1]], *args[1:])  # noqa: E731
        if name == "fsum":
            formula = lambda t: t + 1.1  # noqa: E731
    else:
        args = ARGUMENTS.get(name, (0.4,))
        first = lambda y: y[0] if isinstance(y, tuple) else y  # noqa: E731
        f = lambda t: first(function(args[0] + t, *args[1:]))  # noqa: E731
        plain = FORMULAS.get(name) or mathematics.FLOATS.get(name) or (lambda *_: 0.0 * args[0])
        formula = lambda t: 1.0 * plain(args[0] + t, *args[1:])  # noqa: E731
    adopted = hoad.adopt(f)
    assert adopted(0.0) == f(0.0)
    if type(f(0.0)) is not float:  # an integer or a boolean: a decision, which is guarded
        assert hoad.value_and_grad(lambda t: (1.0 + t) * adopted(t))(0.0)[1] == f(0.0)
        return
    close(hoad.value_and_grad(adopted)(0.0)[0], f(0.0))
    for order in range(1, 5):
        close(hoad.derivative(adopted, order)(0.0), hoad.derivative(formula, order)(0.0))


@pytest.mark.parametrize(
    ("f", "x", "kind"),
    [
        (lambda x: math.sqrt(x), -1.0, ValueError),
        (lambda x: math.log(x), 0.0, ValueError),
        (lambda x: math.acos(x), 1.5, ValueError),
        (lambda x: math.exp(x), 1000.0, OverflowError),
        (lambda x: math.pow(x, 0.5), -1.0, ValueError),
        (lambda x: int(x), math.nan, ValueError),
        (lambda x: math.floor(x), math.inf, OverflowError),
    ],
)
def test_errors_of_math(f: Callable[[Any], Any], x: float, kind: type[Exception]) -> None:
    jitted = hoad.jit(hoad.adopt(lambda x: 1.0 * f(x)))
    jitted(0.25)
    for g in (f, hoad.grad(hoad.adopt(lambda x: 1.0 * f(x))), jitted):  # guarded: not replayed there
        with pytest.raises(kind):
            g(x)


def test_a_sum_is_not_rounded_at_each_step() -> None:
    f = hoad.adopt(lambda x: math.fsum([1e16, x, -1e16, *[0.1] * 10]))
    jitted = hoad.jit(hoad.value_and_grad(f))
    for x in (1.0, 2.5):
        close(jitted(x), (f(x), 1.0))
    close(hoad.value_and_grad(hoad.adopt(lambda x: math.fsum(k * x for k in range(4))))(0.5), (3.0, 6.0))
    assert hoad.value_and_grad(hoad.adopt(lambda x: math.fsum([x, math.inf])))(0.5)[0] == math.inf


def test_math_takes_no_complex_numbers() -> None:
    with pytest.raises(TypeError, match=r"must be real number, not complex \(test_adopt\.py:\d+\)"):
        hoad.grad(hoad.adopt(lambda x: abs(math.exp(1j * x))))(0.5)


def test_a_text_is_guarded() -> None:
    f = lambda x: float(f"{x:.1f}") * x  # noqa: E731
    jitted = hoad.jit(hoad.grad(hoad.adopt(f)))
    for x in (0.52, 0.71):
        close(jitted(x), float(f"{x:.1f}"))


def test_what_is_not_finite_passes() -> None:
    close(hoad.value_and_grad(hoad.adopt(lambda x: math.exp(-x)))(math.inf)[0], 0.0)
    assert math.isnan(hoad.value_and_grad(hoad.adopt(lambda x: math.sin(x)))(math.nan)[0])


# Value of the parameter -> a value, by the distributions of SciPy that it is given.
AT_ZERO: dict[str, Callable[[Any, Any], Any]] = {
    "kappa4, h": lambda stats, h: stats.kappa4.pdf(0.5, h, 0.0),
    "kappa4, k": lambda stats, k: stats.kappa4.cdf(0.5, 0.1, k),
    "skewnorm": lambda stats, a: stats.skewnorm.logpdf(0.5, a),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_parameters_that_a_formula_is_for_have_a_derivative(name: str) -> None:
    """At zero SciPy computes without the parameter."""
    stats = pytest.importorskip("scipy.stats")

    def f(x: Any) -> Any:
        return AT_ZERO[name](stats, x)

    adopted = hoad.adopt(f)
    with pytest.raises(TracedValueError, match="another formula where a parameter has just this value"):
        hoad.grad(adopted)(0.0)
    assert hoad.jit(adopted)(0.0) == f(0.0)
    assert hoad.grad(adopted)(0.25) == pytest.approx((f(0.25 + 1e-5) - f(0.25 - 1e-5)) / 2e-5, rel=1e-6)


def test_places_may_be_anywhere() -> None:
    stats = pytest.importorskip("scipy.stats")
    assert hoad.grad(hoad.adopt(lambda x: stats.kappa4.logpdf(x, 0.0, 0.0)))(0.0) == 0.0
