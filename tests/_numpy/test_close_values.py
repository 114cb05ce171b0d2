"""Functions of matrices whose eigenvalues or singular values are close, where terms cancel, and their Taylor series.

Beside the same functions as polynomials of the matrix, which know no eigenvalues, and differences of mpmath's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.test_spectra import mixed, symmetric
from mpmath import mp
from rules.modes import along, some_words, words

import hoad

Function = Callable[[Any], Any]
RNG = np.random.default_rng(5)
Q = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
DIRECTIONS = [symmetric(RNG.normal(size=(3, 3))) for _ in range(4)]
W = RNG.normal(size=(3, 3))
E = DIRECTIONS[0]
TERMS = 16


def turned(*w: float) -> np.ndarray:
    return symmetric(Q * np.array(w) @ Q.T)


@functools.cache
def coefficients_of(exact: Function, centre: float) -> list[float]:
    with mp.workdps(40):
        return [float(c) for c in mp.taylor(exact, centre, TERMS)]


def power_series(coefficients: list[float], a: Any, centre: float) -> Any:
    """f(A) for A about a multiple of I."""
    moved = a - centre * np.eye(3)
    found = coefficients[-1] * np.eye(3)
    for c in coefficients[-2::-1]:
        found = moved @ found + c * np.eye(3)
    return found


TENTH = np.poly(np.ones(10)) * 1e-6

# name: where, f, the same by mpmath: the value, the slope or the second derivative there is 0 by cancellation
CANCELLING: dict[str, tuple[float, Function, Function]] = {
    "Stein": (1.0, lambda w: w - np.log(w), lambda w: w - mp.log(w)),
    "cubic": (1.0, lambda w: w**3 - 3.0 * w, lambda w: w**3 - 3 * w),
    "with inverse": (1.0, lambda w: w + 1.0 / w, lambda w: w + 1 / w),
    "Lorentz": (1.0, lambda w: w / (1.0 + w**2), lambda w: w / (1 + w**2)),
    "square": (1.0, lambda w: w**2 - 2.0 * w + 1.0, lambda w: (w - 1) ** 2),
    "log of square": (1.0, lambda w: np.log(1.0 + w**2), lambda w: mp.log(1 + w**2)),
    "Gauss": (1.0, lambda w: np.exp(-(w**2) / 2.0), lambda w: mp.exp(-(w**2) / 2)),
    "zero": (1.0, lambda w: 1.0 / (1.0 + w) - 0.5, lambda w: 1 / (1 + w) - mp.mpf(0.5)),
    "Bures": (1.0, lambda w: (np.sqrt(w) - 1.0) ** 2, lambda w: (mp.sqrt(w) - 1) ** 2),
    "Bures by terms": (1.0, lambda w: w - 2.0 * np.sqrt(w) + 1.0, lambda w: (mp.sqrt(w) - 1) ** 2),
    "entropy": (1.0, lambda w: w * np.log(w) - w + 1.0, lambda w: w * mp.log(w) - w + 1),
    "beside 1": (1e-5, lambda w: np.sqrt(1.0 + w**2) - 1.0, lambda w: mp.sqrt(1 + w**2) - 1),
    "shifted": (1e-5, lambda w: (1.0 + w) ** 2 - 1.0 - 2.0 * w, lambda w: w * w),
    "far off": (1.0, lambda w: (w + 1e6) - 1e6 - w + w**2, lambda w: w * w),
    "tenth power": (1.0, lambda w: np.polyval(TENTH, w), lambda w: (w - 1) ** 10 / 10**6),
    "of 0": (0.0, lambda w: np.cos(w) - 1.0, lambda w: mp.cos(w) - 1),
}
GAPS = [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", list(CANCELLING))
def test_where_terms_cancel(name: str, gap: float) -> None:
    centre, f, exact = CANCELLING[name]
    a = turned(*(centre + np.array([0.0, gap, -gap]) * (centre or 1.0)))
    coefficients = coefficients_of(exact, centre)
    functions: list[tuple[Function, Function]] = [
        (lambda a: np.sum(f(np.linalg.eigvalsh(a))), np.trace),
        (lambda a: (lambda w, v: np.sum((v * f(w)) @ v.T * W))(*np.linalg.eigh(a)), lambda m: np.sum(m * W)),
    ]
    for order in range(1, 5):
        directions = [(e,) for e in DIRECTIONS[:order]]
        matrix = along(lambda a: power_series(coefficients, a, centre), "f" * order, directions)(a)
        for of, what in functions:
            want = what(matrix)
            for word in some_words(order, f"{name} {gap}"):
                got = along(of, word, directions)(a)
                assert got == pytest.approx(want, rel=1e-11, abs=2e-12), (order, word)


def test_where_terms_cancel_for_singular_values() -> None:
    """Σ log(1 + s²) = log det(1 + Aᵀ A), at s = 1, where its second derivative is 0."""
    for gap in GAPS:
        a = Q * np.array([1.0, 1.0 + gap, 1.0 - gap]) @ np.linalg.qr(W)[0]
        for order in range(1, 5):
            directions = [(RNG.normal(size=(3, 3)),) for _ in range(order)]
            want = along(lambda a: np.linalg.slogdet(np.eye(3) + a.T @ a)[1], "f" * order, directions)(a)
            for word in words(order):
                got = along(lambda a: np.sum(np.log(1.0 + np.linalg.svdvals(a) ** 2)), word, directions)(a)
                assert got == pytest.approx(want, rel=1e-11, abs=1e-12), (gap, order, word)


# Functions that are not one analytic function on either side of the gap between 1 - 1e-6 and 1 + 1e-6.
BRANCHES: dict[str, tuple[Function, Function]] = {
    "weights": (lambda w: w * np.array([1.0, 2.0, 3.0]), lambda w: [x * (k + 1) for k, x in enumerate(w)]),
    "close weights": (
        lambda w: w * (1.0 + np.array([0.0, 1e-7, 1.0])),
        lambda w: [x * (1 + mp.mpf(y)) for x, y in zip(w, (0.0, 1e-7, 1.0), strict=True)],
    ),
    "step": (lambda w: w + np.where(w > 1.0, 1.0, 0.0), lambda w: [x + (x > 1) for x in w]),
    "kink": (lambda w: np.sqrt((w - 1.0) ** 2), lambda w: [abs(x - 1) for x in w]),
    "cubes": (lambda w: np.where(w > 1.0, (w - 1.0) ** 3, 0.0), lambda w: [max(x - 1, 0) ** 3 for x in w]),
}


@pytest.mark.parametrize("name", list(BRANCHES))
def test_branches(name: str) -> None:
    f, exact = BRANCHES[name]
    a = turned(1.0 - 1e-6, 1.0 + 1e-6, 3.0)
    for order in (1, 2):
        directions = DIRECTIONS[:order]
        want = mixed(lambda a: mp.fsum(exact(sorted(mp.eigsy(a, eigvals_only=True)))), a, directions)
        for word in words(order):
            got = along(lambda a: np.sum(f(np.linalg.eigvalsh(a))), word, [(e,) for e in directions])(a)
            assert got == pytest.approx(want, rel=1e-7, abs=1e-9), (order, word)


# ---- Taylor series --------------------------------------------------------------------------------------------------


def derivatives(f: Function, a: np.ndarray, e: np.ndarray, order: int) -> np.ndarray:
    return np.array(hoad.derivatives(lambda t: f(a + t * e), order)(0.0))


def with_cubes(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum((u * (s + s**3)) @ vh * np.arange(1.0, 1.0 + a.size).reshape(a.shape))


def with_cubes_by_products(a: Any) -> Any:
    return np.sum((a + a @ a.T @ a) * np.arange(1.0, 1.0 + a.size).reshape(a.shape))


@pytest.mark.parametrize("s", [(1.0, 0.0), (1.0, 1e-17), (1.0, 1e-9), (1.0, 1e-4), (1.0, 1.0), (0.0, 0.0), (2.0, 1.0)])
@pytest.mark.parametrize("shape", [(3, 2), (2, 4), (2, 2)])
def test_series_of_oblong_matrices(shape: tuple[int, int], s: tuple[float, float]) -> None:
    left, right = (np.linalg.qr(RNG.normal(size=(n, n)))[0] for n in shape)
    a, e = left[:, :2] * np.array(s) @ right[:2], RNG.normal(size=shape)
    for order in range(1, 5):
        want = derivatives(with_cubes_by_products, a, e, order)
        np.testing.assert_allclose(derivatives(with_cubes, a, e, order), want, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(hoad.laplacian(with_cubes)(a), hoad.laplacian(with_cubes_by_products)(a), rtol=1e-11)


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-7, 1e-3, 0.5])
def test_series_of_hermitian_matrices(gap: float) -> None:
    e = np.array([[1.0, 0.5 + 1j], [0.5 - 1j, 2.0]])
    b = np.diag([1.0, 1.0 + gap]) + 0j
    with mp.workdps(60):
        want = [
            float(mp.re(c) * mp.factorial(k))
            for k, c in enumerate(
                mp.taylor(lambda t: mp.fsum(mp.exp(w) for w in mp.eighe(mp.matrix(b) + t * mp.matrix(e), True)), 0, 4)
            )
        ]
    for order in range(1, 5):
        got = derivatives(lambda a: np.sum(np.exp(np.linalg.eigvalsh(a))), b, e, order)
        np.testing.assert_allclose(got, want[: order + 1], rtol=1e-11)


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-4])
def test_high_orders_of_series(gap: float) -> None:
    """Where rounding leaves nothing of a coefficient, it is nan."""
    a = turned(2.0, 1.0, 1.0 + gap)

    def sixth(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum((v * w**6) @ v.T * W)

    want = derivatives(lambda a: np.sum(np.linalg.matrix_power(a, 6) * W), a, E, 6)
    np.testing.assert_allclose(derivatives(sixth, a, E, 6), want, rtol=1e-10)
    assert np.isnan(derivatives(sixth, a, E, 8)[8])


@pytest.mark.parametrize("gap", [0.0, 1e-9, 0.5])
def test_series_of_branches(gap: float) -> None:
    a = turned(2.0, 1.0, 1.0 + gap)

    def cube(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum((v * w**3) @ v.T * W) if w[0] > 0.0 else w[0]

    want = derivatives(lambda a: np.sum(a @ a @ a * W), a, E, 4)
    for order in range(1, 5):
        np.testing.assert_allclose(derivatives(cube, a, E, order), want[: order + 1], rtol=1e-11, atol=1e-9)
    lower = a - 3.0 * np.eye(3)
    assert derivatives(cube, lower, E, 1)[0] == pytest.approx(np.linalg.eigvalsh(lower)[0], rel=1e-13)


def test_laplacians_of_one_number() -> None:
    def f(p: Any) -> Any:
        return np.sum(np.log(np.linalg.eigvalsh(np.eye(3) + p[0] * E)))

    assert hoad.laplacian(f)(np.zeros(1)) == pytest.approx(-np.sum(E * E), rel=1e-13)


def test_small_matrices() -> None:
    """Of order 1e-30, for which coefficients of high order overflow."""
    for order, want in enumerate((-np.sum(E * E), 2.0 * np.trace(E @ E @ E)), start=2):
        for word in words(order):
            got = along(
                lambda t: np.sum(np.log(np.linalg.eigvalsh(1e-30 * (np.eye(3) + t * E)))), word, order * [(1.0,)]
            )(0.0)
            assert got == pytest.approx(want, rel=1e-12)


# ---- other orders ---------------------------------------------------------------------------------------------------


def by_index(index: Any) -> Function:
    return lambda wv: (wv[0][index], wv[1][:, index])


def by_argsort(wv: Any) -> Any:
    order = np.argsort(wv[0])[::-1]
    return wv[0][order], wv[1][:, order]


ORDERS: dict[str, Function] = {
    "reversed": lambda wv: (wv[0][::-1], wv[1][:, ::-1]),
    "flipped": lambda wv: (np.flip(wv[0]), np.fliplr(wv[1])),
    "dots": lambda wv: (wv[0][..., ::-1], wv[1][..., ::-1]),
    "by a list": by_index([2, 0, 1]),
    "by an array": by_index(np.array([1, 2, 0])),
    "twice": lambda wv: by_index([2, 0, 1])(by_index([1, 0, 2])(wv)),
    "by argsort": by_argsort,
    "by values": lambda wv: (lambda order: (wv[0][order], wv[1][:, order]))(np.argsort(-wv[0])),
}
Y = RNG.normal(size=3)
IN_ORDER: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "matrix": (lambda w, v: np.sum((v * w**3) @ v.T * W), lambda a: np.sum(a @ a @ a * W)),
    "diag": (lambda w, v: np.sum(v @ np.diag(w**3) @ v.T * W), lambda a: np.sum(a @ a @ a * W)),
    "solution": (lambda w, v: W[0] @ (v @ ((v.T @ Y) / w)), lambda a: W[0] @ np.linalg.solve(a, Y)),
    "likelihood": (
        lambda w, v: np.sum(np.log(w)) + np.sum((v.T @ Y) ** 2 / w),
        lambda a: np.linalg.slogdet(a)[1] + Y @ np.linalg.solve(a, Y),
    ),
    "sum": (lambda w, v: np.sum(w**3), lambda a: np.trace(a @ a @ a)),
    "product": (lambda w, v: np.prod(w), np.linalg.det),
    "identity": (lambda w, v: np.sum((v * np.ones(3)) @ v.T * W), lambda a: np.sum(W * np.eye(3))),
}


@pytest.mark.parametrize("name", list(IN_ORDER))
@pytest.mark.parametrize("order", list(ORDERS))
def test_other_orders(order: str, name: str) -> None:
    f, exact = IN_ORDER[name]
    for gap in (0.0, 1e-9, 0.7):
        a = turned(1.0, 1.0 + gap, 2.5)
        for k in range(1, 4):
            directions = [(e,) for e in DIRECTIONS[:k]]
            want = along(exact, "f" * k, directions)(a) if name != "identity" else 0.0
            for word in words(k):
                got = along(lambda a: f(*ORDERS[order](np.linalg.eigh(a))), word, directions)(a)
                assert got == pytest.approx(want, rel=1e-11, abs=1e-12), (gap, k, word)


def test_other_orders_of_singular_values() -> None:
    def f(a: Any) -> Any:
        return np.sum(np.log(1.0 + np.linalg.svdvals(a)[..., ::-1] ** 2))

    stack = np.stack([Q * np.array([1.0, 1.0 + gap, 0.5]) @ np.linalg.qr(W)[0] for gap in (0.0, 1e-9, 0.3)])
    want = np.stack([hoad.hessian(lambda a: np.linalg.slogdet(np.eye(3) + a.T @ a)[1])(a) for a in stack])
    np.testing.assert_allclose(hoad.vmap(hoad.hessian(f))(stack), want, atol=1e-12)
    whole = hoad.hessian(f)(stack)
    for k in range(3):
        np.testing.assert_allclose(whole[k, :, :, k], want[k], atol=1e-12)


def test_weights_in_another_order() -> None:
    """What differs between items goes with the values, not with their places."""
    a, b, e = turned(1.0, 1.7, 2.5), np.array([1.0, -2.0, 0.5]), [(x,) for x in DIRECTIONS[:2]]

    def f(wv: Any, b: Any) -> Any:
        return np.sum((wv[1] * (b * np.log(wv[0] + b**2))) @ wv[1].T * W) + np.sum(wv[0] ** 3 * b)

    for order, weights in (("reversed", b[::-1]), ("by a list", b[[1, 2, 0]]), ("by argsort", b[::-1])):
        for word in words(2):
            want = along(lambda a, weights=weights: f(np.linalg.eigh(a), weights), word, e)(a)
            got = along(lambda a, order=order: f(ORDERS[order](np.linalg.eigh(a)), b), word, e)(a)
            assert got == pytest.approx(want, rel=1e-12), (order, word)
