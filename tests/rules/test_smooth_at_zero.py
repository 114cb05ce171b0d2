"""Functions made of |x|, norms and roots that are smooth at 0: their derivatives there are those of calculus.

Each row has f′, f″, f‴ and f⁗ at one number from pencil and paper; orders from which f has a kink there are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from rules.modes import pointwise, words

import hoad


class Row(NamedTuple):
    name: str
    f: Callable[[Any], Any]
    derivatives: list[float]


def huber(t: Any) -> Any:
    a = np.abs(t)
    return np.where(a <= 1.0, 0.5 * a**2, a - 0.5)


def size(t: Any) -> Any:
    """|z| of z = (3 + 4i) t."""
    return np.abs(t * (3.0 + 4.0j))


def length(t: Any) -> Any:
    """The length of (3t, 4t), item by item."""
    return np.linalg.norm(np.stack([3.0 * t, 4.0 * t]), axis=0)


def hypotenuse(t: Any) -> Any:
    return np.hypot(3.0 * t, 4.0 * t)


def matern(r: Any, c: float = 0.0) -> Any:
    """The Matérn kernel of order 3/2; with c = 1/3 that of order 5/2."""
    return (1.0 + r + c * r**2) * np.exp(-r)


SQUARE, QUARTIC = [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 24.0]
FIVE = [25.0 * d for d in SQUARE]

# In every mode, Taylor mode too.
ROWS = [
    Row("|t|**2", lambda t: np.abs(t) ** 2, SQUARE),
    Row("|t|**2.0", lambda t: np.abs(t) ** 2.0, SQUARE),
    Row("|t| |t|", lambda t: np.abs(t) * np.abs(t), SQUARE),
    Row("square |t|", lambda t: np.square(np.abs(t)), SQUARE),
    Row("power(|t|, 2)", lambda t: np.power(np.abs(t), 2), SQUARE),
    Row("power(|t|, 4)", lambda t: np.power(np.abs(t), 4.0), QUARTIC),
    Row("float_power(|t|, 2)", lambda t: np.float_power(np.abs(t), 2), SQUARE),
    Row("abs(t)**2", lambda t: abs(t) ** 2, SQUARE),
    Row("fabs**2", lambda t: np.fabs(t) ** 2, SQUARE),
    Row("|-t|**2", lambda t: np.abs(-t) ** 2, SQUARE),
    Row("(-|t|)**2", lambda t: (-np.abs(t)) ** 2, SQUARE),
    Row("|t| |-t|", lambda t: np.sqrt(np.abs(t) ** 2 * np.abs(-t) ** 2 + 1.0), [0.0, 0.0, 0.0, 12.0]),
    Row("(3 |t|)**2", lambda t: (3.0 * np.abs(t)) ** 2, [9.0 * d for d in SQUARE]),
    Row("(|t| / 2)**2", lambda t: (np.abs(t) / 2.0) ** 2, [0.25 * d for d in SQUARE]),
    Row("(|t| w / 2)**2", lambda t: (np.abs(t) * 3.0 / 2.0) ** 2, [2.25 * d for d in SQUARE]),
    Row("half |t| |t|", lambda t: 0.5 * np.abs(t) * np.abs(t), [0.5 * d for d in SQUARE]),
    Row("|t| (|t| 3)", lambda t: np.abs(t) * (np.abs(t) * 3.0), [3.0 * d for d in SQUARE]),
    Row("|t|**4", lambda t: np.abs(t) ** 4, QUARTIC),
    Row("|t|**6", lambda t: np.abs(t) ** 6, [0.0] * 4),
    Row("(|t|**2)**2", lambda t: (np.abs(t) ** 2) ** 2, QUARTIC),
    Row("|t**2|", lambda t: np.abs(t**2) + t**2 - np.abs(t) ** 2, [0.0]),
    Row("exp(-|t|**2)", lambda t: np.exp(-(np.abs(t) ** 2)), [0.0, -2.0, 0.0, 12.0]),
    Row("cos(|t|**2)", lambda t: np.cos(np.abs(t) ** 2), [0.0, 0.0, 0.0, -12.0]),
    Row("log1p(|t|**2)", lambda t: np.log1p(np.abs(t) ** 2), [0.0, 2.0, 0.0, -12.0]),
    Row("sqrt(1 + |t|**2)", lambda t: np.sqrt(1.0 + np.abs(t) ** 2), [0.0, 1.0, 0.0, -3.0]),
    Row("1 / (1 + |t|**2)", lambda t: 1.0 / (1.0 + np.abs(t) ** 2), [0.0, -2.0, 0.0, 24.0]),
    Row("|t|**2 e^t", lambda t: np.abs(t) ** 2 * np.exp(t), [0.0, 2.0, 6.0, 12.0]),
    Row("t |t|**2", lambda t: t * np.abs(t) ** 2, [0.0, 0.0, 6.0, 0.0]),
    Row("|t|**2 + t", lambda t: np.abs(t) ** 2 + t, [1.0, 2.0, 0.0, 0.0]),
    Row("|t|**2 - t**2", lambda t: np.abs(t) ** 2 - t**2, [0.0] * 4),
    Row("|sin t|**2", lambda t: np.abs(np.sin(t)) ** 2, [0.0, 2.0, 0.0, -8.0]),
    Row("|e^t - 1|**2", lambda t: np.abs(np.exp(t) - 1.0) ** 2, [0.0, 2.0, 6.0, 14.0]),
    Row("Huber", huber, [0.0, 1.0, 0.0, 0.0]),
    Row("hypot(3t, 4t)**2", lambda t: hypotenuse(t) ** 2, FIVE),
    Row("hypot hypot", lambda t: hypotenuse(t) * hypotenuse(t), FIVE),
    Row("square hypot", lambda t: np.square(hypotenuse(t)), FIVE),
    Row("hypot**4", lambda t: hypotenuse(t) ** 4, [625.0 * d for d in QUARTIC]),
    Row("hypot(t, t²)**2", lambda t: np.hypot(t, t**2) ** 2, [0.0, 2.0, 0.0, 24.0]),
    Row("half hypot**2", lambda t: 0.5 * hypotenuse(t) ** 2, [0.5 * d for d in FIVE]),
    Row("half hypot hypot", lambda t: 0.5 * hypotenuse(t) * hypotenuse(t), [0.5 * d for d in FIVE]),
    Row("(hypot / 5)**2", lambda t: (hypotenuse(t) / 5.0) ** 2, SQUARE),
    Row("exp(-hypot**2)", lambda t: np.exp(-(hypotenuse(t) ** 2 / 25.0)), [0.0, -2.0, 0.0, 12.0]),
    Row("|z|**2", lambda t: size(t) ** 2, FIVE),
    Row("|z| |z|", lambda t: size(t) * size(t), FIVE),
    Row("square |z|", lambda t: np.square(size(t)), FIVE),
    Row("|z|**4", lambda t: size(t) ** 4, [625.0 * d for d in QUARTIC]),
    Row("(|z| / 5)**2", lambda t: (size(t) / 5.0) ** 2, SQUARE),
    Row("norm**2", lambda t: length(t) ** 2, FIVE),
    Row("norm norm", lambda t: length(t) * length(t), FIVE),
    Row("square norm", lambda t: np.square(length(t)), FIVE),
    Row("norm**4", lambda t: length(t) ** 4, [625.0 * d for d in QUARTIC]),
    Row("2 norm**2", lambda t: (2.0 * length(t)) ** 2, [4.0 * d for d in FIVE]),
    Row("norm norm / 2", lambda t: 0.5 * length(t) * length(t), [0.5 * d for d in FIVE]),
    Row("log(1 + norm**2)", lambda t: np.log(1.0 + length(t) ** 2 / 25.0), [0.0, 2.0, 0.0, -12.0]),
    Row("sqrt(t²)**2", lambda t: np.sqrt(t**2) ** 2, SQUARE),
    Row("sqrt(t²) sqrt(t²)", lambda t: np.sqrt(t * t) * np.sqrt(t * t), SQUARE),
    Row("sqrt(9t² + 16t²)**2", lambda t: np.sqrt(9.0 * t**2 + 16.0 * t**2) ** 2, FIVE),
    Row("(t²)**0.5 **2", lambda t: ((t**2) ** 0.5) ** 2, SQUARE),
    Row("sqrt(t²)**4", lambda t: np.sqrt(t**2) ** 4, QUARTIC),
    Row("|t|**2 |t|**0.85", lambda t: np.abs(t) ** 2 * np.abs(t) ** 0.85, [0.0, 0.0]),
    Row("|t|**1.5 |t|**1.5", lambda t: np.abs(t) ** 1.5 * np.abs(t) ** 1.5, [0.0, 0.0]),
    Row("|t|**2.5 |t|**1.75", lambda t: np.abs(t) ** 2.5 * np.abs(t) ** 1.75, [0.0, 0.0, 0.0]),
    Row("|t|**2.5", lambda t: np.abs(t) ** 2.5, [0.0, 0.0]),
    Row("|t| t", lambda t: np.abs(t) * t, [0.0]),
    Row("|t|**3", lambda t: np.abs(t) ** 3, [0.0, 0.0]),
    Row("hypot**3", lambda t: hypotenuse(t) ** 3, [0.0, 0.0]),
    Row("norm**3", lambda t: length(t) ** 3, [0.0, 0.0]),
    Row("|t| log(1 + |t|)", lambda t: np.abs(t) * np.log1p(np.abs(t)), [0.0, 2.0]),
    Row("|t| - log(1 + |t|)", lambda t: np.abs(t) - np.log1p(np.abs(t)), [0.0, 1.0]),
    Row("cosh |t|", lambda t: np.cosh(np.abs(t)), [0.0, 1.0, 0.0, 1.0]),
    Row("cos |t|", lambda t: np.cos(np.abs(t)), [0.0, -1.0, 0.0, 1.0]),
    Row("|t| sin |t|", lambda t: np.abs(t) * np.sin(np.abs(t)), [0.0, 2.0, 0.0, -4.0]),
    Row("|t| tanh |t|", lambda t: np.abs(t) * np.tanh(np.abs(t)), [0.0, 2.0, 0.0, -8.0]),
    Row("sin(|t|)**2", lambda t: np.sin(np.abs(t)) ** 2, [0.0, 2.0, 0.0, -8.0]),
    Row("(1 + |t|) e^-|t|", lambda t: (1.0 + np.abs(t)) * np.exp(-np.abs(t)), [0.0, -1.0]),
    Row("Matern 5/2", lambda t: (1 + np.abs(t) + t**2 / 3) * np.exp(-np.abs(t)), [0.0, -1 / 3, 0.0, 1.0]),
    Row("|t| (|t| + t²)", lambda t: np.abs(t) * (np.abs(t) + t**2), [0.0, 2.0]),
    Row("|t|**2 / (1 + |t|)", lambda t: np.abs(t) ** 2 / (1.0 + np.abs(t)), [0.0, 2.0]),
    Row("e^|t| e^-|t|", lambda t: np.exp(np.abs(t)) * np.exp(-np.abs(t)), [0.0] * 4),
    Row("logcosh", lambda t: np.abs(t) + np.log1p(np.exp(-2.0 * np.abs(t))), [0.0, 1.0, 0.0, -2.0]),
    Row("cosh hypot", lambda t: np.cosh(hypotenuse(t)), [0.0, 25.0, 0.0, 625.0]),
    Row("cosh norm", lambda t: np.cosh(length(t)), [0.0, 25.0, 0.0, 625.0]),
    Row("cosh |z|", lambda t: np.cosh(size(t)), [0.0, 25.0, 0.0, 625.0]),
    Row("cos sqrt(t² + t²)", lambda t: np.cos(np.sqrt(t * t + t**2)), [0.0, -2.0, 0.0, 4.0]),
    Row("sinc norm", lambda t: np.sinc(length(t) / 5.0), [0.0, -(np.pi**2) / 3.0, 0.0, np.pi**4 / 5.0]),
    Row("hypot tanh hypot", lambda t: hypotenuse(t) * np.tanh(hypotenuse(t) / 25.0), [0.0, 2.0, 0.0, -8.0 / 25.0]),
    Row("Matern 3/2", lambda t: matern(hypotenuse(t) / 5.0), [0.0, -1.0]),
    Row("Matern 3/2 of a norm", lambda t: matern(length(t) / 5.0), [0.0, -1.0]),
    Row("Matern 3/2 of a root", lambda t: matern(np.sqrt((t / 3.0) ** 2) * 3.0), [0.0, -1.0]),
    Row("Matern 5/2 of a norm", lambda t: matern(length(t) / 5.0, 1.0 / 3.0), [0.0, -1.0 / 3.0, 0.0, 1.0]),
    Row("Wendland", lambda t: np.maximum(1.0 - length(t) / 5.0, 0.0) ** 4 * (0.8 * length(t) + 1.0), [0.0, -20.0]),
    Row("hypot(1, hypot)", lambda t: np.hypot(1.0, hypotenuse(t)), [0.0, 25.0, 0.0, -1875.0]),
    Row("|1 - norm|", lambda t: np.abs(1.0 - length(t)) * np.exp(length(t)), [0.0, -25.0]),
    Row("clip", lambda t: np.clip(1.0 - length(t), 0.0, None) ** 4 * (4.0 * length(t) + 1.0), [0.0, -500.0]),
    Row("log Matern + e^t", lambda t: np.log(matern(hypotenuse(t) / 5.0)) + np.exp(t), [1.0, 0.0]),
    Row("times e^t", lambda t: np.cosh(hypotenuse(t)) * np.exp(t), [1.0, 26.0, 76.0, 776.0]),
    Row("a factor inside", lambda t: (np.exp(t) * hypotenuse(t)) * np.sinh(hypotenuse(t)), [0.0, 50.0, 150.0, 2800.0]),
]

# Smooth by slopes alone: by sweeps, in all orders. Taylor mode takes the mean slope 0 of copysign, and is left out.
SWEPT = [
    Row("copysign(t, 1)**2", lambda t: np.copysign(t, 1.0) ** 2, SQUARE),
    Row("|t| copysign(t, 1)", lambda t: np.abs(t) * np.copysign(t, 1.0), SQUARE),
]


def check(row: Row, got: Any, order: int, how: str) -> None:
    want = row.derivatives[order - 1]
    assert np.allclose(got, want, rtol=1e-12, atol=1e-12), f"order {order} of {row.name} by {how} is {got}, not {want}"


@pytest.mark.parametrize("row", ROWS + SWEPT, ids=lambda row: row.name)
def test_by_sweeps(row: Row) -> None:
    """At 0 and at −0, by the same function; recordings for replays are made at 0 and at −0 in turn.

    The modes of a row are mapped and compiled in turn; the other half is in other rows.
    """
    ways = itertools.cycle(("vmap", "jit") if len(row.name) % 3 else ("jit", "vmap"))
    firsts = itertools.cycle((0.0, -0.0) if len(row.name) % 2 else (-0.0, 0.0))
    for order in range(1, len(row.derivatives) + 1):
        for word in words(order):
            f, first = pointwise(row.f, word, (0,) * order), next(firsts)
            for x in (0.0, -0.0):
                check(row, f(x), order, f"{word} at {x}")
            both = np.array([[first], [-first]])
            check(row, f(both), order, f"{word} at {both}")
            if next(ways) == "vmap":
                check(row, hoad.vmap(f)(both.ravel()), order, f"vmap of {word}")
                continue
            jitted = hoad.jit(f)
            for x in (first, -first):
                check(row, jitted(x), order, f"jit of {word} at {x}, first at {first}")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_by_series(row: Row) -> None:
    order = len(row.derivatives)
    for k in range(1, order + 1):
        check(row, hoad.derivative(row.f, k)(0.0), k, "derivative")
    series = hoad.taylor(row.f, 0.0, order)
    factorials = np.cumprod(np.arange(1.0, order + 1.0))
    assert np.allclose([series[k] for k in range(1, order + 1)], np.array(row.derivatives) / factorials, atol=1e-12)


@pytest.mark.parametrize("row", ROWS + SWEPT, ids=lambda row: row.name)
def test_recorded_once_and_used_elsewhere(row: Row) -> None:
    """A derivative recorded at 0 is right elsewhere, and one recorded elsewhere is right at 0; unsimplified as well."""
    first = hoad.record(hoad.derivative(row.f), 0.0)
    assert np.allclose(first(0.7), hoad.derivative(row.f)(0.7), rtol=1e-13)
    if len(row.derivatives) < 2:
        return
    for at in (0.7, 0.0):
        for simplify in (True, False):
            program = hoad.gradient(hoad.gradient(hoad.record(row.f, at), simplify=simplify), simplify=simplify)
            check(row, program(0.0), 2, f"programs, simplify={simplify}, recorded at {at}")


@pytest.mark.parametrize("row", ROWS + SWEPT, ids=lambda row: row.name)
def test_values_are_those_of_numpy(row: Row) -> None:
    for x in (0.0, -0.0, 0.3, -1.7, np.inf, np.nan):
        with np.errstate(all="ignore"):
            assert np.isclose(hoad.record(row.f, x)(x), row.f(np.float64(x)), rtol=1e-15, equal_nan=True)
            assert np.isclose(hoad.jit(row.f)(x), row.f(np.float64(x)), rtol=1e-15, equal_nan=True)


class Hessian(NamedTuple):
    name: str
    f: Callable[[Any], Any]
    x: list[float]
    matrix: Any


W = np.array([1.0, 2.0, 3.0])
EYE = np.eye(3)
HESSIANS = [
    Hessian("sum |x|**2", lambda x: np.sum(np.abs(x) ** 2), [0.0, 1.0, -2.0], 2 * EYE),
    Hessian("dot(|x|, |x|)", lambda x: np.dot(np.abs(x), np.abs(x)), [0.0, 1.0, -2.0], 2 * EYE),
    Hessian("vdot(|x|, |x|)", lambda x: np.vdot(np.abs(x), np.abs(x)), [0.0, 0.0, -2.0], 2 * EYE),
    Hessian("|x| @ |x|", lambda x: np.abs(x) @ np.abs(x), [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("einsum", lambda x: np.einsum("i,i", np.abs(x), np.abs(x)), [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("weighted", lambda x: np.sum((np.abs(x) * W) ** 2), [0.0, 1.0, 0.0], 2 * np.diag(W**2)),
    Hessian("|x_i|**2", lambda x: np.abs(x[0]) ** 2 + np.abs(x[1]) ** 2 + x[2] ** 2, [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("items of |x|", lambda x: sum(np.abs(x)[i] ** 2 for i in range(3)), [0.0, 0.0, 1.0], 2 * EYE),
    Hessian("slices of |x|", lambda x: np.sum(np.abs(x)[1:] ** 2) + x[0] ** 2, [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("norm**2", lambda x: np.linalg.norm(x) ** 2, [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("norm of rows", lambda x: np.sum(np.linalg.norm(x[:, None], axis=1) ** 2), [0.0, 0.0, 1.0], 2 * EYE),
    Hessian("norm, keepdims", lambda x: np.sum(np.linalg.norm(x, keepdims=True) ** 2), [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("norm(x, 2)", lambda x: np.linalg.norm(x, 2) ** 2, [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("Frobenius", lambda x: np.linalg.norm(np.outer(x, [1.0, 2.0])) ** 2, [0.0, 0.0, 0.0], 10 * EYE),
    Hessian("sqrt(x @ x)**2", lambda x: np.sqrt(x @ x) ** 2, [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("a distance", lambda x: 0.5 * np.linalg.norm(x - W) ** 2, [1.0, 2.0, 3.0], EYE),
    Hessian("norm norm", lambda x: np.linalg.norm(x) * np.linalg.norm(x), [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("hypot", lambda x: np.hypot(x[0], x[1]) ** 2 + np.abs(x[2]) ** 2, [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("|x + i y|", lambda x: np.abs(x[0] + 1j * x[1]) ** 2 + x[2] ** 2, [0.0, 0.0, 0.0], 2 * EYE),
    Hessian("sum |z|**2", lambda x: np.sum(np.abs(x * (1.0 + 1.0j)) ** 2), [0.0, 0.0, 1.0], 4 * EYE),
    Hessian("of sums", lambda x: np.abs(x[0] + x[1]) * np.log1p(np.abs(x[0] + x[1])), [0.0, 0.0, 1.0],
            [[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]]),
    Hessian("TOINTGOR", lambda x: np.sum(W * (np.abs(np.cumsum(x)) * np.log1p(np.abs(np.cumsum(x))))), [0.0, 0.0, 0.0],
            2 * np.tril(np.ones((3, 3))).T @ np.diag(W) @ np.tril(np.ones((3, 3)))),
    Hessian("Huber", lambda x: np.sum(huber(x)), [0.0, 0.5, 3.0], np.diag([1.0, 1.0, 0.0])),
    Hessian("cosh norm", lambda x: np.cosh(np.linalg.norm(x)), [0.0, 0.0, 0.0], EYE),
    Hessian("cosh sqrt(sum)", lambda x: np.cosh(np.sqrt(np.sum(x**2))), [0.0, 0.0, 0.0], EYE),
    Hessian("cosh sqrt(x @ x)", lambda x: np.cosh(np.sqrt(x @ x)), [0.0, 0.0, 0.0], EYE),
    Hessian("cosh hypot", lambda x: np.cosh(np.hypot(x[0], x[1])), [0.0, 0.0, 1.0], np.diag([1.0, 1.0, 0.0])),
    Hessian("cosh |z|", lambda x: np.cosh(np.abs(x[0] + 1j * x[1])), [0.0, 0.0, 1.0], np.diag([1.0, 1.0, 0.0])),
    Hessian("Matern 3/2", lambda x: matern(np.linalg.norm(x - W)), [1.0, 2.0, 3.0], -EYE),
    Hessian("Matern 5/2", lambda x: matern(np.linalg.norm(x - W), 1 / 3), [1.0, 2.0, 3.0], -EYE / 3),
    Hessian("scales", lambda x: matern(np.sqrt(np.sum(((x - W) / W) ** 2))), [1.0, 2.0, 3.0], -np.diag(W**-2.0)),
    Hessian("times x", lambda x: x[2] * np.cosh(np.linalg.norm(x[:2])), [0.0, 0.0, 3.0], np.diag([3.0, 3.0, 0.0])),
    Hessian("twice", lambda x: np.cosh(np.linalg.norm(x)) * np.cos(np.linalg.norm(2.0 * x)), [0.0] * 3, -3 * EYE),
    Hessian("in a norm", lambda x: np.cosh(np.hypot(np.cosh(np.linalg.norm(x)) - 1.0, x[0])), [0.0] * 3,
            np.diag([1.0, 0.0, 0.0])),
    Hessian("items", lambda x: (lambda y: y[0] * np.log1p(y[0]) + np.cosh(y[1]))(np.abs(x)), [0.0, 0.0, 1.0],
            np.diag([2.0, 1.0, 0.0])),
    Hessian("slices", lambda x: np.sum((lambda y: y[1:] * np.sin(y[1:]))(np.abs(x))), [0.0, 0.0, 0.0],
            np.diag([0.0, 2.0, 2.0])),
    # what has a kink keeps the mean of both sides
    Hessian("sum |x|", lambda x: np.sum(np.abs(x)), [0.0, 0.0, 1.0], 0 * EYE),
    Hessian("|x| y", lambda x: np.abs(x[0]) * x[1], [0.0, 2.0, 0.0], 0 * EYE),
    Hessian("|x| |y|", lambda x: np.abs(x[0]) * np.abs(x[1]), [0.0, 2.0, 0.0], 0 * EYE),
    Hessian("norm", np.linalg.norm, [0.0, 0.0, 0.0], 0 * EYE),
    Hessian("hypot", lambda x: np.hypot(x[0], x[1]), [0.0, 0.0, 0.0], 0 * EYE),
    Hessian("a spring", lambda x: (np.linalg.norm(x) - 1.0) ** 2, [0.0, 0.0, 0.0], 0 * EYE),
    Hessian("exp(-norm)", lambda x: np.exp(-np.linalg.norm(x)), [0.0, 0.0, 0.0], 0 * EYE),
]  # fmt: skip


@pytest.mark.parametrize("case", HESSIANS, ids=lambda case: case.name)
def test_hessians(case: Hessian) -> None:
    x, f = np.array(case.x), case.f
    ways = {
        "hessian": hoad.hessian(f),
        "jit": hoad.jit(hoad.hessian(f)),
        "jacobian of grad": hoad.jacobian(hoad.grad(f)),
        "grad of jvp": lambda x: np.stack([hoad.grad(lambda y, v=v: hoad.jvp(f, (y,), (v,))[1])(x) for v in EYE]),
        "jvp of jvp": lambda x: np.array(
            [[hoad.jvp(lambda y, u=u: hoad.jvp(f, (y,), (u,))[1], (x,), (v,))[1] for u in EYE] for v in EYE]
        ),
        "hvp": lambda x: np.stack([hoad.hvp(f)(x, v) for v in EYE]),
        "vmap": lambda x: hoad.vmap(hoad.hessian(f))(np.stack([x, x]))[1],
    }
    for name, way in ways.items():
        assert np.allclose(np.reshape(way(x), (3, 3)), case.matrix, rtol=1e-12, atol=1e-12), name


def scaled_by(k: float) -> Any:
    @hoad.primitive
    def scaled(x: Any) -> Any:
        return k * x

    hoad.defvjp(scaled, lambda g, p, x: (k * g,))
    return scaled


def test_operations_of_one_name_are_not_one() -> None:
    one, four = scaled_by(1.0), scaled_by(4.0)
    assert hoad.grad(lambda x: np.sqrt(one(x)) * np.sqrt(four(x)))(3.0) == pytest.approx(2.0, rel=1e-15)
    assert hoad.grad(lambda x: np.abs(one(x)) * np.abs(four(x)))(3.0) == pytest.approx(24.0, rel=1e-15)
    assert hoad.hessian(lambda x: np.abs(one(x)) * np.abs(four(x)))(3.0) == pytest.approx(8.0, rel=1e-15)
    assert hoad.grad(lambda x: one(x) ** 1.5 * four(x) ** 1.5)(1.0) == pytest.approx(24.0, rel=1e-15)


def test_scales_beyond_the_range_of_their_squares() -> None:
    single = np.float32
    x = np.array([3e20, 4e20], single)
    slope = hoad.grad(lambda x: (np.hypot(x[0], x[1]) / single(1e20)) ** 2)(x)
    np.testing.assert_allclose(slope, [6e-20, 8e-20], rtol=1e-6)
    x = np.array([1e24, 2e24], single)
    slope = hoad.grad(lambda x: np.sum((np.abs(x) / single(1e25)) ** 2))(x)
    np.testing.assert_allclose(slope, [2e-26, 4e-26], rtol=1e-6)
    assert hoad.grad(lambda x: (np.abs(x) * 1e200) ** 2)(1e-200) == pytest.approx(2e200, rel=1e-14)
    slopes = hoad.grad(lambda x: (np.abs(x[0]) / x[1]) ** 2)(np.array([1e200, 1e200]))
    np.testing.assert_allclose(slopes, [2e-200, -2e-200], rtol=1e-14)


def test_long_products_of_many_slopes_end() -> None:
    """Each value is used twice by the next: what looked through all of them would look 2⁶⁰ times."""

    def f(x: Any) -> Any:
        a = np.abs(x)
        y = z = a
        for k in range(60):
            y = a + (0.1 * y + (y * (0.2 + 0.01 * k)) * 3.1)
        for k in range(8):
            z = a * (0.3 + 0.01 * k) + z
        return y * z

    by_sweeps = hoad.derivative(hoad.derivative(f))(1.5)
    assert hoad.derivatives(f, 2)(1.5)[2] == pytest.approx(by_sweeps, rel=1e-12)
    assert hoad.derivative(f, 2)(1.5) == pytest.approx(by_sweeps, rel=1e-12)


@pytest.mark.parametrize("size", [np.linalg.norm, lambda x: np.hypot(x[0], x[1]), lambda x: np.sqrt(np.sum(x * x))])
def test_fourth_derivatives_of_a_norm(size: Callable[[Any], Any]) -> None:
    """Those of cosh r = 1 + r²/2 + r⁴/24 + ...: r⁴ has ∂ᵢ∂ⱼ∂ₖ∂ₗ = 8 (δᵢⱼδₖₗ + δᵢₖδⱼₗ + δᵢₗδⱼₖ)."""

    def f(x: Any) -> Any:
        return np.cosh(size(x))

    zero, e = np.zeros(2), np.eye(2)
    pairs = np.einsum("ij,kl->ijkl", e, e)
    want = (pairs + pairs.transpose(0, 2, 1, 3) + pairs.transpose(0, 3, 2, 1)) / 3.0
    nested = hoad.hessian(lambda x: np.ravel(hoad.hessian(f)(x)) @ np.array([1.0, 0.3, 0.3, 2.0]))
    for found in (nested(zero), hoad.jit(nested)(zero), hoad.vmap(nested)(np.zeros((3, 2)))[2]):
        np.testing.assert_allclose(found, np.einsum("ij,ijkl->kl", [[1.0, 0.3], [0.3, 2.0]], want), atol=1e-13)
    np.testing.assert_allclose(hoad.derivative_tensor(f, 4)(zero), want, atol=1e-13)
    assert hoad.biharmonic(f)(zero) == pytest.approx(8.0 / 3.0, rel=1e-13)
    along = hoad.taylor(lambda t: f(t * np.array([0.6, 0.8])), 0.0, 12)
    np.testing.assert_allclose(
        [along[k] for k in (2, 4, 10, 12)], 1.0 / np.array([2, 24, 3628800, 479001600]), rtol=1e-12
    )


def test_kernels_of_equal_points_and_their_parameters() -> None:
    """Of a₁ a₂ k(√3 |x - y| / l) with k(r) = (1 + r) e⁻ʳ: ∂²/∂x∂y = 3 a₁ a₂ / l² at x = y, where l and a are traced."""

    def total(x: Any, scale: Any, sizes: Any) -> Any:
        r = np.sqrt(3.0) * np.linalg.norm((x[:, None] - x[None]) / scale, axis=-1)
        return np.sum(np.outer(sizes, sizes) * matern(r))

    x, scale, sizes = np.array([[0.0, 1.0], [2.0, 1.0], [0.0, 1.0]]), 0.7, np.array([1.0, 2.0, 3.0])
    mixed = lambda scale, sizes: hoad.hessian(total)(x, scale, sizes)[0, :, 2, :]  # noqa: E731
    np.testing.assert_allclose(mixed(scale, sizes), 18.0 / scale**2 * np.eye(2), rtol=1e-13)
    by_scale, by_sizes = hoad.jacobian(mixed, (0, 1))(scale, sizes)
    np.testing.assert_allclose(by_scale, -36.0 / scale**3 * np.eye(2), rtol=1e-12)
    np.testing.assert_allclose(by_sizes[0, 0], np.array([18.0, 0.0, 6.0]) / scale**2, rtol=1e-12)
    found = hoad.grad(total, 2)(x, scale, sizes)
    kernel = matern(np.sqrt(3.0) * np.linalg.norm((x[:, None] - x[None]) / scale, axis=-1))
    np.testing.assert_allclose(found, 2.0 * kernel @ sizes, rtol=1e-13)


def test_functions_that_are_alike_are_told_apart() -> None:
    """Where it is looked for once for functions of one form: by constants, by equal parameters, by exponents."""
    zero = np.zeros(2)

    def by(a: float, b: float, n: float) -> Any:
        return hoad.hessian(lambda x, a, b: (1.0 + a * np.linalg.norm(x)) * np.exp(-(b * np.linalg.norm(x))) ** n)

    for _ in range(2):
        for a, b, n, want in ((2.0, 2.0, 1.0, -4.0), (3.0, 3.0, 1.0, -9.0), (2.0, 3.0, 1.0, 0.0), (0.0, 0.0, 1.0, 0.0)):
            np.testing.assert_allclose(by(a, b, n)(zero, a, b), want * np.eye(2), atol=1e-12)

    def powers(m: float, a: float) -> Any:
        return hoad.hessian(lambda x: a * np.cosh(np.linalg.norm(x)) ** m)(zero)

    for m, a in ((2.0, 1.0), (3.0, 1.0), (2.0, 5.0), (3.0, 1.0)):
        np.testing.assert_allclose(powers(m, a), m * a * np.eye(2), rtol=1e-13)


def test_functions_of_norms_in_loops_and_programs() -> None:
    def f(x: Any) -> Any:
        return np.cosh(np.linalg.norm(x))

    zero, eye = np.zeros(2), np.eye(2)
    ways = {
        "checkpoint": lambda x: hoad.checkpoint(f)(x),
        "jit": hoad.jit(f),
        "program": hoad.record(f, np.array([0.3, 0.4])),
        "scan": lambda x: hoad.scan(lambda c, k: (c + f(x * k), c), 0.0, np.array([0.6, 0.8]))[0],
        "vmap": lambda x: np.sum(hoad.vmap(f)(np.stack([0.6 * x, 0.8 * x]))),
        "a derivative inside": lambda x: 0.5 * f(x) + 0.25 * hoad.grad(f)(x) @ hoad.grad(f)(x),
    }
    for name, way in ways.items():
        np.testing.assert_allclose(hoad.hessian(way)(zero), eye, rtol=1e-13, err_msg=name)


def test_roots_of_what_is_negative_have_no_derivative() -> None:
    with np.errstate(invalid="ignore"):
        for f in (lambda x: np.sqrt(x) ** 2, lambda x: 3.0 * np.sqrt(x) * np.sqrt(x), lambda x: (x**0.5) ** 2):
            for order in range(1, 4):
                assert np.isnan(hoad.derivative(f, order)(-1.0)), order
