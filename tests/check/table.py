"""Functions at points where checks can err, with their derivatives term by term, and the slips of who writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad.check import TaylorReport, gradient, jacobian, taylor_test

Terms = Callable[[Any], list[Any]]


@dataclass(frozen=True)
class Case:
    """A function, the terms that its derivative is the sum of, and a point.

    `open` names the checks that may leave it undecided: there is no derivative, or rounding hides it.
    """

    name: str
    f: Callable[[Any], Any]
    terms: Terms
    x: Any
    open: frozenset[str] = frozenset()

    def derivative(self, *factors: float) -> Callable[[Any], Any]:
        """The sum of the terms, each with its factor; those without have 1."""

        def summed(x: Any) -> Any:
            terms = self.terms(x)
            scales = [*factors, *[1.0] * len(terms)]
            return sum(np.asarray(term) * scale for term, scale in zip(terms, scales, strict=False))

        return summed

    def mutations(self) -> Iterator[tuple[str, Callable[[Any], Any]]]:
        """1 % in the first coefficient, its sign, and the last term forgotten."""
        yield "1 %", self.derivative(1.01)
        yield "sign", self.derivative(-1.0)
        count = len(self.terms(self.x))
        yield "missing", self.derivative(*[1.0] * (count - 1), 0.0)


CHECKS = ("traced", "differences", "taylor")


def outcome(report: Any) -> str:
    """What a report says: passed, wrong or undecided."""
    found = report.findings if isinstance(report, TaylorReport) else report.entries
    wrong = not found or "wrong" in {each.verdict for each in found}
    return "passed" if report.passed else "wrong" if wrong else "undecided"


def verdict(case: Case, check: str, claim: Callable[[Any], Any]) -> str:
    """What a check says of a derivative."""
    if check == "taylor":
        return outcome(taylor_test(case.f, case.x, gradient=claim))
    compare = jacobian if np.ndim(case.f(case.x)) else gradient
    return outcome(compare(case.f if check == "traced" else untraceable(case.f), claim, case.x))


def untraceable(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """f as hoad cannot see into it."""

    def plain(x: Any) -> Any:
        if type(x) not in (float, np.ndarray, np.float64, np.float32):
            raise TypeError("not this function")
        return f(x)

    return plain


# ---- what the functions are made of ---------------------------------------------------------------------------------

A = np.array([[2.0, -1.0, 0.5], [0.3, 1.5, -0.7], [-0.4, 0.6, 3.0]])
X = np.array([[0.5, -1.2], [1.5, 0.3], [-0.7, 0.9], [0.2, 2.0]])
Y = np.array([1.0, -1.0, 1.0, -1.0])
RAMP = np.linspace(0.5, 1.5, 4)
UNEVEN = np.array([1e-6, 1.0, 1e6])
NOISE = np.random.default_rng(7)


def sigmoid(u: Any) -> Any:
    return 1 / (1 + np.exp(-u))


def softmax(x: Any) -> Any:
    e = np.exp(x - 2.0)
    return e / np.sum(e)


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_terms(x: Any) -> list[Any]:
    step, left, right = x[1:] - x[:-1] ** 2, np.zeros_like(x), np.zeros_like(x)
    left[:-1], right[1:] = -400 * x[:-1] * step - 2 * (1 - x[:-1]), 200 * step
    return [left, right]


def euler(x: Any) -> Any:
    """Ten steps of y' = -y² from y(0) = x."""
    y = x
    for _ in range(10):
        y = y - 0.1 * y * y
    return y


def euler_terms(x: Any) -> list[Any]:
    y, slope = x, 1.0
    for _ in range(10):
        slope, y = slope * (1 - 0.2 * y), y - 0.1 * y * y
    return [slope]


def one_hot(x: Any, k: int) -> Any:
    return np.where(np.arange(len(x)) == k, 1.0, 0.0)


def cofactors(a: Any) -> Any:
    return np.linalg.det(a) * np.linalg.inv(a).T


def root_slope(x: Any) -> Any:
    with np.errstate(divide="ignore"):
        return 0.5 / np.sqrt(x)


def case(name: str, f: Callable[[Any], Any], terms: Terms, x: Any, *open: str) -> Case:
    return Case(name, f, terms, x, frozenset(open))


SMOOTH = [
    case("exp", np.exp, lambda x: [np.exp(x)], 0.5),
    case("polynomial", lambda x: x**5 - 3 * x**2 + x, lambda x: [5 * x**4, -6 * x, 1.0], 1.2),
    case(
        "quotient",
        lambda x: (1 + x) / (2 + x * x),
        lambda x: [1 / (2 + x * x), -2 * x * (1 + x) / (2 + x * x) ** 2],
        0.3,
    ),
    case("linear", lambda x: 3 * x, lambda x: [1.0, 2.0], 2.0),
    case("tanh, flat", np.tanh, lambda x: [1 / np.cosh(x) ** 2], 5.0),
    case("power", lambda x: x**0.1, lambda x: [0.1 * x**-0.9], 1e-5),
    case("nearly flat", lambda x: np.exp(-1 / x), lambda x: [np.exp(-1 / x) / x**2], 0.1),
    case("iterated log", lambda x: np.log(np.log(x)), lambda x: [1 / (x * np.log(x))], 3.0),
    case("an inflection", np.sin, lambda x: [np.cos(x)], np.pi),
    case("a minimum", lambda x: np.cos(x) + 0.1 * x, lambda x: [-np.sin(x), 0.1], 3.0416),
    case("Euler steps", euler, euler_terms, 0.8),
]

SCALED = [
    case("log, small", np.log, lambda x: [1 / x], 1e-8),
    case("log, large", np.log, lambda x: [1 / x], 1e8),
    case("sqrt, small", np.sqrt, lambda x: [0.5 / np.sqrt(x)], 1e-8),
    case("3/2, small", lambda x: x**1.5, lambda x: [1.5 * np.sqrt(x)], 1e-8),
    case("tiny values", lambda x: 1e-200 * np.sin(x), lambda x: [1e-200 * np.cos(x)], 0.7),
    case("huge values", np.cosh, lambda x: [np.sinh(x)], 300.0),
    case("a far tail", np.exp, lambda x: [np.exp(x)], -300.0),
    case("an offset", lambda x: 1e8 + x * x, lambda x: [2 * x], 3.0),
    case("cancelling", lambda x: 1 - np.cos(x), lambda x: [np.sin(x)], 1e-3),
    case("softplus", lambda x: np.log1p(np.exp(x)), lambda x: [sigmoid(x)], 30.0),
    case("sigmoid", sigmoid, lambda x: [sigmoid(x) * (1 - sigmoid(x))], -20.0),
    case(
        "narrow", lambda x: np.exp(-0.5 * (x / 1e-3) ** 2), lambda x: [-x / 1e-6 * np.exp(-0.5 * (x / 1e-3) ** 2)], 5e-4
    ),
    case("steep", lambda x: np.arctan(1e5 * x), lambda x: [1e5 / (1 + (1e5 * x) ** 2)], 1e-5),
    case("sixteen powers", lambda x: np.sum(np.log(x)), lambda x: [1 / x], np.array([1e-8, 1.0, 1e8])),
    case(
        "uneven weights",
        lambda x: np.sum(UNEVEN * x**2),
        lambda x: [2 * UNEVEN * x],
        np.array([0.7, -1.3, 0.4]),
        "differences",
    ),
    case("uneven point", lambda x: np.sum(x**2), lambda x: [x, x], np.array([1e-4, 1.0, 1e4])),
]

OSCILLATING = [
    case("fast sine", lambda x: np.sin(1e3 * x), lambda x: [1e3 * np.cos(1e3 * x)], 0.3),
    case("far sine", np.sin, lambda x: [np.cos(x)], 1e4),
    case("chirp", lambda x: np.sin(1 / x), lambda x: [-np.cos(1 / x) / x**2], 0.02),
    case("sinc", lambda x: np.sin(x) / x, lambda x: [np.cos(x) / x, -np.sin(x) / x**2], 2.5),
    case(
        "beats",
        lambda x: np.sin(50 * x) * np.sin(53 * x),
        lambda x: [50 * np.cos(50 * x) * np.sin(53 * x), 53 * np.sin(50 * x) * np.cos(53 * x)],
        0.37,
    ),
]

POLES = [
    case("pole at 1e-3", lambda x: 1 / (x - 1), lambda x: [-1 / (x - 1) ** 2], 1.001),
    case("pole at 1e-6", lambda x: 1 / (x - 1), lambda x: [-1 / (x - 1) ** 2], 1 - 1e-6),
    case("tangent", np.tan, lambda x: [1 / np.cos(x) ** 2], np.pi / 2 - 1e-2),
    case("log at 1e-4", lambda x: np.log(abs(x - 1)), lambda x: [1 / (x - 1)], 1 + 1e-4),
    case("reciprocal", lambda x: 1 / x, lambda x: [-1 / x**2], 1e-6),
    case(
        "two poles",
        lambda x: 1 / (x - 1) + 1 / (x - 1.001),
        lambda x: [-1 / (x - 1) ** 2, -1 / (x - 1.001) ** 2],
        1.0002,
    ),
]

PIECEWISE = [
    case("a kink nearby", lambda x: abs(x - 1) + x**2, lambda x: [2 * x, np.sign(x - 1)], 1.0001),
    case("relu squared", lambda x: np.maximum(x, 0.0) ** 2, lambda x: [2 * max(x, 0.0)], 1e-3),
    case("two formulas", lambda x: np.where(x > 0, x**2, -np.sin(x)), lambda x: [2 * x if x > 0 else -np.cos(x)], -0.5),
    case("a jump nearby", lambda x: np.floor(x) + x**2, lambda x: [2 * x], 2.001),
    case("stairs", lambda x: np.floor(x) + 0.01 * x, lambda x: [0.01], 2.5),
    case(
        "the largest",
        lambda x: np.max(x) * x[1],
        lambda x: [x[1] * one_hot(x, 2), np.max(x) * one_hot(x, 1)],
        np.array([1.0, 0.9, 1.1]),
    ),
    case(
        "clipped",
        lambda x: np.sum(np.clip(x, -1, 1) * x),
        lambda x: [np.clip(x, -1, 1), np.where(abs(x) < 1, x, 0)],
        np.array([0.3, -2.0, 0.99]),
    ),
]

NOISY = [
    case("noise of 1e-10", lambda x: np.sin(x) + 1e-10 * NOISE.standard_normal(), lambda x: [np.cos(x)], 1.0),
    case(
        "noise in a vector",
        lambda x: np.sum(x**3) + 1e-10 * NOISE.standard_normal(),
        lambda x: [x**2, 2 * x**2],
        np.array([0.5, -1.5]),
    ),
    case("float32", lambda x: np.sum(np.sin(x)), lambda x: [np.cos(x)], np.array([0.5, 1.5], np.float32)),
    case(
        "float32, scaled",
        lambda x: np.sum(x**2 * np.exp(-x)),
        lambda x: [2 * x * np.exp(-x), -(x**2) * np.exp(-x)],
        np.array([1e-2, 1.0, 10.0], np.float32),
    ),
]

ARRAYS = [
    case("Rosenbrock", rosenbrock, rosenbrock_terms, np.array([-1.2, 1.0, 0.7])),
    case("quadratic form", lambda x: x @ A @ x, lambda x: [A @ x, A.T @ x], np.array([0.5, -1.0, 2.0])),
    case(
        "logistic loss",
        lambda w: np.sum(np.log1p(np.exp(-Y * (X @ w)))),
        lambda w: [-X.T @ (Y * sigmoid(-Y * (X @ w)))],
        np.array([0.4, -0.6]),
    ),
    case("norm", lambda x: np.sqrt(np.sum(x**2)), lambda x: [x / np.sqrt(np.sum(x**2))], np.array([3.0, 4.0, 12.0])),
    case(
        "cross entropy",
        lambda x: np.log(np.sum(np.exp(x))) - x[0],
        lambda x: [softmax(x), -one_hot(x, 0)],
        np.array([1.0, 2.0, 0.5]),
    ),
    case("product", np.prod, lambda x: [np.prod(x) / x], np.array([0.5, 2.0, -3.0, 1.5])),
    case(
        "broadcast", lambda b: np.sum((A + b) ** 2), lambda b: [2 * np.sum(A, axis=0), 6 * b], np.array([0.1, 0.2, 0.3])
    ),
    case("determinant", np.linalg.det, lambda a: [cofactors(a)], A),
    case("log-determinant", lambda a: np.linalg.slogdet(a)[1], lambda a: [np.linalg.inv(a).T], A),
    case("trace", lambda x: np.trace(A @ x @ x.T), lambda x: [A @ x, A.T @ x], np.arange(6.0).reshape(3, 2) / 4 - 0.3),
    case("two hundred", lambda x: np.sum(x**4), lambda x: [x**3, 3 * x**3], np.linspace(0.5, 1.5, 200)),
]

VECTORS = [
    case(
        "two results",
        lambda x: np.stack([x[0] * x[1], np.sin(x[0])]),
        lambda x: [np.array([[x[1], 0], [np.cos(x[0]), 0]]), np.array([[0, x[0]], [0, 0]])],
        np.array([0.3, 1.1]),
    ),
    case(
        "softmax",
        softmax,
        lambda x: [np.diag(softmax(x)), -np.outer(softmax(x), softmax(x))],
        np.array([1.0, 2.0, 0.5]),
    ),
    case("matrix times vector", lambda x: A @ x, lambda x: [A], np.array([0.5, -1.0, 2.0])),
    case("item by item", np.sin, lambda x: [np.diag(np.cos(x))], RAMP),
    case(
        "polar",
        lambda p: np.stack([p[0] * np.cos(p[1]), p[0] * np.sin(p[1])]),
        lambda p: [
            np.array([[np.cos(p[1]), 0], [np.sin(p[1]), 0]]),
            p[0] * np.array([[0, -np.sin(p[1])], [0, np.cos(p[1])]]),
        ],
        np.array([2.0, 0.6]),
    ),
    case(
        "normalised",
        lambda x: x / np.sqrt(x @ x),
        lambda x: [np.eye(3) / np.sqrt(x @ x), -np.outer(x, x) / np.sqrt(x @ x) ** 3],
        np.array([1.0, 2.0, 2.0]),
    ),
    case(
        "results of all sizes",
        lambda x: np.stack([1e-8 * np.exp(x), 1e8 * np.sin(x)]),
        lambda x: [np.array([1e-8 * np.exp(x), 0]), np.array([0, 1e8 * np.cos(x)])],
        0.4,
    ),
]

# Where there is no derivative, or no telling.
OPEN = [
    case("kink", abs, lambda x: [0.7], 0.0, *CHECKS),
    case("relu at 0", lambda x: np.maximum(x, 0.0), lambda x: [1.0], 0.0, *CHECKS),
    case("jump", lambda x: np.floor(x) + x, lambda x: [1.0], 2.0, *CHECKS),
    case("cusp", lambda x: np.sqrt(abs(x)), lambda x: [1.0], 0.0, *CHECKS),
    case("edge", np.sqrt, lambda x: [root_slope(x)], 0.0, *CHECKS),
    case(
        "noise of 0.1",
        lambda x: np.sin(x) + 0.1 * NOISE.standard_normal(),
        lambda x: [np.cos(x)],
        1.0,
        "differences",
        "taylor",
    ),
    case("buried", lambda x: 1e16 + np.sin(x) + x, lambda x: [np.cos(x), 1.0], 1.0, "differences", "taylor"),
    case("pole at 1e-12", lambda x: 1 / (x - 1), lambda x: [-1 / (x - 1) ** 2], 1 + 1e-12, "differences", "taylor"),
]

TABLE = [*SMOOTH, *SCALED, *OSCILLATING, *POLES, *PIECEWISE, *NOISY, *ARRAYS, *VECTORS, *OPEN]
