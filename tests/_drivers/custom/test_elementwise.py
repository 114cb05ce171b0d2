"""Primitives that work element by element: operands of several shapes, and a rule written for numbers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from rules.modes import along, words
from rules.oracle import directional

import hoad

X = np.array([[0.3, -0.7, 1.1], [0.9, 0.2, -1.3]])

# Operands of every kind: equal shapes, a number, 0-d, rows and columns, more axes, lengths 1 and 0, views.
OPERANDS = {
    "equal shapes": (X, 1.5 + X[::-1] / 4),
    "a number": (X, 1.5),
    "a number first": (0.4, 1.5 + X / 4),
    "two numbers": (0.4, 1.5),
    "0-d": (np.array(0.4), 1.5 + X / 4),
    "0-d both": (np.array(0.4), np.array(1.5)),
    "a row": (X, np.array([1.5, 0.8, 2.0])),
    "a column": (X, np.array([[1.5], [0.8]])),
    "a row and a column": (X[0], np.array([[1.5], [0.8]])),
    "one more axis": (X, 1.5 + np.arange(12.0).reshape(2, 2, 3) / 9),
    "length 1": (X[:, :1], np.array([[1.5, 0.8, 2.0]])),
    "strided": (X[:, ::-2], np.array([1.5, 0.8, 2.0, 3.0])[1::2]),
    "transposed": (X.T, 1.5 + X.reshape(3, 2) / 4),
    "broadcast view": (X, np.broadcast_to(np.array([1.5, 0.8, 2.0]), (2, 3))),
    "empty": (np.zeros((0, 3)), np.array([1.5, 0.8, 2.0])),
}


@hoad.primitive(elementwise=True)
def bell(x: Any, width: Any) -> Any:
    """exp(-(x/w)²)."""
    return np.exp(-((x / width) ** 2))


hoad.defvjp(bell, lambda g, p, x, w: (-2 * g * p * x / w**2, 2 * g * p * x**2 / w**3))


def exact_bell(x: Any, width: Any) -> Any:
    u = x / width
    return np.vectorize(lambda item: mp.exp(-(item**2)), otypes=[object])(u) if np.size(u) else u


def like(x: Any, k: int) -> Any:
    made = np.cos(k + np.arange(np.size(x)).reshape(np.shape(x)))
    return made if isinstance(x, np.ndarray) else float(made)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("name", OPERANDS)
def test_every_mode_at_every_shape(name: str, order: int) -> None:
    operands = OPERANDS[name]
    shape = np.broadcast_shapes(*map(np.shape, operands))
    weights = np.sin(1 + np.arange(math.prod(shape))).reshape(shape)
    directions = [tuple(like(x, k + 2 * j) for j, x in enumerate(operands)) for k in range(order)]
    want = 0.0
    if math.prod(shape):
        want = float(np.sum(weights * directional(exact_bell, operands, directions)))
    for word in words(order):
        found = along(lambda x, w: np.sum(weights * bell(x, w)), word, directions)(*operands)
        assert found == pytest.approx(want, rel=1e-11, abs=1e-11), word


@pytest.mark.parametrize("name", OPERANDS)
def test_gradients_have_the_shapes_of_operands(name: str) -> None:
    """The gradient is that of the function with its operands repeated by hand, summed by hand."""
    operands = OPERANDS[name]
    shape = np.broadcast_shapes(*map(np.shape, operands))
    found = hoad.grad(lambda *xs: np.sum(bell(*xs) ** 2), argnums=(0, 1))(*operands)
    x, w = (np.broadcast_to(np.asarray(operand), shape) for operand in operands)
    slope = 2 * np.exp(-2 * (x / w) ** 2)
    for g, operand, full in zip(found, operands, (-2 * slope * x / w**2, 2 * slope * x**2 / w**3), strict=True):
        assert np.shape(g) == np.shape(operand)
        lead = len(shape) - np.ndim(operand)
        axes = (*range(lead), *(lead + d for d, n in enumerate(np.shape(operand)) if n == 1))
        np.testing.assert_allclose(g, np.sum(full, axis=axes).reshape(np.shape(operand)), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_of_every_operand(mode: str) -> None:
    x, w = np.array([0.3, -0.7, 1.1]), np.array([[1.5], [0.8]])
    by_x, by_w = hoad.jacobian(bell, argnums=(0, 1), mode=mode)(x, w)
    p = np.exp(-((x / w) ** 2))
    np.testing.assert_allclose(by_x, (-2 * p * x / w**2)[:, :, None] * np.eye(3), rtol=1e-14)
    want = np.zeros((2, 3, 2, 1))
    for i, j in itertools.product(range(2), range(3)):
        want[i, j, i, 0] = 2 * p[i, j] * x[j] ** 2 / w[i, 0] ** 3
    np.testing.assert_allclose(by_w, want, rtol=1e-14)


def test_several_results_and_parameters() -> None:
    @hoad.primitive(nout=2, elementwise=True)
    def polar(r: Any, angle: Any, scale: float) -> Any:
        return scale * r * np.cos(angle), scale * r * np.sin(angle)

    @hoad.defvjp(polar)
    def rule(g: Any, p: Any, r: Any, angle: Any, *, scale: float) -> Any:
        return (g[0] * p[0] + g[1] * p[1]) / r, g[1] * p[0] - g[0] * p[1]

    r, angle = 2.0, np.array([0.1, 0.7, 2.0])
    found = hoad.grad(lambda r, a: np.sum(polar(r, a, 3.0)[0] * polar(r, a, 3.0)[1]), argnums=(0, 1))(r, angle)
    assert found[0] == pytest.approx(float(np.sum(9 * r * np.sin(2 * angle))), rel=1e-14)
    np.testing.assert_allclose(found[1], 9 * r**2 * np.cos(2 * angle), rtol=1e-14)


def test_a_tangent_rule_for_numbers() -> None:
    """Where one operand moves alone, its tangent is smaller than the result."""
    made = hoad.primitive(
        lambda x, y: x * y,
        elementwise=True,
        jvp=lambda dots, p, x, y: (0 if dots[0] is None else dots[0] * y) + (0 if dots[1] is None else x * dots[1]),
    )
    hoad.defvjp(made, lambda g, p, x, y: (g * y, g * x))
    summed = hoad.primitive(lambda x, y: x + y, elementwise=True, jvp=lambda dots, p, x, y: dots[1])
    x, y = X, np.array([2.0, 3.0, 4.0])
    assert hoad.jvp(lambda y: made(x, y), (y,), (np.ones(3),))[1].tolist() == x.tolist()
    assert hoad.jvp(lambda y: summed(x, y), (y,), (y,))[1].tolist() == [y.tolist()] * 2


def test_integers_and_single_precision() -> None:
    product = hoad.primitive(np.multiply.__call__, elementwise=True)
    hoad.defvjp(product, lambda g, p, x, y: (g * y, g * x))
    assert hoad.grad(lambda x: np.sum(product(x, np.arange(3))))(2.0) == 3.0
    found = hoad.grad(lambda x: np.sum(product(x, np.ones((2, 1), np.float32))))(np.ones(3, np.float32))
    assert found.dtype == np.float32 and found.tolist() == [2.0, 2.0, 2.0]


def test_programs_replay_it() -> None:
    program = hoad.gradient(hoad.record(lambda x, w: np.sum(bell(x, w)), X, 1.5))
    by_x, by_w = program.evaluate(2 * X, 0.8)
    p = np.exp(-((2 * X / 0.8) ** 2))
    np.testing.assert_allclose(by_x, -4 * p * X / 0.8**2, rtol=1e-14)
    assert by_w == pytest.approx(float(np.sum(2 * p * 4 * X**2 / 0.8**3)), rel=1e-14)


def test_the_check_tries_shapes_that_broadcast() -> None:
    assert hoad.check.rule(bell).passed
    wrong = hoad.primitive(bell.__wrapped__, elementwise=True)
    hoad.defvjp(wrong, lambda g, p, x, w: (-2 * g * p * x / w**2, g * p * x**2 / w**3))
    assert not hoad.check.rule(wrong).passed


def test_without_it_the_rule_must_sum() -> None:
    plain = hoad.primitive(bell.__wrapped__)
    hoad.defvjp(plain, lambda g, p, x, w: (-2 * g * p * x / w**2, 2 * g * p * x**2 / w**3))
    with pytest.raises(hoad.RuleError, match=r"elementwise=True"):
        hoad.grad(lambda w: np.sum(plain(X, w)))(1.5)


def test_mistakes() -> None:
    with pytest.raises(hoad.ShapeError, match=r"shapes \(2, 3\) and \(2,\) do not broadcast"):
        hoad.grad(lambda w: np.sum(bell(X, w)))(np.ones(2))
    with pytest.raises(hoad.ArgumentError, match="Leave out shape"):
        hoad.primitive(np.sin, elementwise=True, shape=lambda x: x)
    total = hoad.primitive(lambda x: np.sum(x), elementwise=True)
    with pytest.raises(hoad.RuleError, match=r"gave shape \(\)"):
        hoad.vjp(total, X)
