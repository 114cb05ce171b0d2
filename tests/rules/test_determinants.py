"""Determinants of matrices of any rank: derivatives to order 4, beside rational arithmetic on the matrices as given."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import hoad
from hoad._ops.adjugates import mixed_adjugate

Function = Callable[[Any], Any]
Polynomial = list[int]  # coefficients of 1, t, ...

ORDER = 4
DET = np.linalg.det


# ---- the truth ------------------------------------------------------------------------------------------------------


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    return [sum(a[j] * b[k - j] for j in range(k + 1)) for k in range(ORDER + 1)]


def exact_det(*curve: np.ndarray) -> list[Fraction]:
    """The coefficients of det(A + t D + ...), by Laplace's expansion with minors kept by their columns.

    Floats are integers over a power of 2, and integers are many times as fast as fractions.
    """
    n = len(curve[0])
    zeros = [0] * (ORDER + 1 - len(curve))
    scale = max((float(x).as_integer_ratio()[1] for c in curve for x in c.flat), default=1)
    entries = [[[int(Fraction(float(c[i, j])) * scale) for c in curve] + zeros for j in range(n)] for i in range(n)]
    minors: dict[tuple[int, ...], Polynomial] = {(): [1, *[0] * ORDER]}
    for i in range(n):
        above, minors = minors, {}
        for chosen in itertools.combinations(range(n), i + 1):
            terms = [
                [(-1) ** (i + k) * c for c in _times(entries[i][j], above[chosen[:k] + chosen[k + 1 :]])]
                for k, j in enumerate(chosen)
            ]
            minors[chosen] = [sum(c) for c in zip(*terms, strict=True)]
    return [Fraction(c, scale**n) for c in minors[tuple(range(n))]]


def exact_derivatives(*curve: np.ndarray) -> np.ndarray:
    return np.array([float(math.factorial(k) * c) for k, c in enumerate(exact_det(*curve))])


def exact_gradients(*curve: np.ndarray) -> np.ndarray:
    """The derivatives along a curve of the gradient of det, entry by entry the determinant of what is left."""
    n = len(curve[0])
    found = np.zeros((ORDER + 1, n, n))
    for i, j in np.ndindex(n, n):
        left = [np.delete(np.delete(c, i, axis=0), j, axis=1) for c in curve]
        found[:, i, j] = (-1) ** (i + j) * exact_derivatives(*left)
    return found


def largest(*curve: np.ndarray) -> np.ndarray:
    """What the derivatives could be, by the norms alone: those of (|A| + t |D| + ...)ⁿ."""
    norms = [np.linalg.norm(c, 2) for c in curve]
    power = np.polynomial.Polynomial(norms) ** len(curve[0])
    return np.array([math.factorial(k) * c for k, c in enumerate([*power.coef, *[0.0] * ORDER][: ORDER + 1])])


# ---- modes ----------------------------------------------------------------------------------------------------------


def _repeated(step: Callable[[Function], Function], k: int, f: Function) -> Function:
    return functools.reduce(lambda g, _: step(g), range(k), f)


def _forward(f: Function) -> Function:
    return lambda t: hoad.jvp(f, (t,), (1.0,))[1]


def _coefficient(f: Function, k: int) -> Function:
    return lambda t: math.factorial(k) * hoad.taylor(f, t, k).coefficients[k]


WAYS: dict[str, Callable[[Function, int], Function]] = {
    "reverse": lambda f, k: _repeated(hoad.grad, k, f),
    "forward": lambda f, k: _repeated(_forward, k, f),
    "forward over reverse": lambda f, k: _repeated(_forward, k - 1, hoad.grad(f)),
    "reverse over forward": lambda f, k: _repeated(hoad.grad, k - 1, _forward(f)),
    "derivative": hoad.derivative,
    "taylor": _coefficient,
    "taylor of reverse": lambda f, k: _coefficient(hoad.grad(f), k - 1),
    "taylor of reverse twice": lambda f, k: _coefficient(_repeated(hoad.grad, min(k, 2), f), max(k - 2, 0)),
    "jit of reverse": lambda f, k: hoad.jit(_repeated(hoad.grad, k, f)),
    "jit of forward": lambda f, k: hoad.jit(_repeated(_forward, k, f)),
    "jit of derivative": lambda f, k: hoad.jit(hoad.derivative(f, k)),
}


# ---- matrices -------------------------------------------------------------------------------------------------------


def rounded(rng: np.random.Generator, n: int, defect: int) -> np.ndarray:
    """Of a product of factors with fewer columns: rounding leaves something of the zeros."""
    return rng.normal(size=(n, n - defect)) @ rng.normal(size=(n - defect, n))


def with_zeros(rng: np.random.Generator, n: int, defect: int) -> np.ndarray:
    a = rng.normal(size=(n, n))
    a[rng.permutation(n)[:defect]] = 0.0
    return a


def graded(rng: np.random.Generator, sizes: Any) -> np.ndarray:
    left, right = (np.linalg.qr(rng.normal(size=(len(sizes), len(sizes))))[0] for _ in range(2))
    return left @ np.diag(sizes) @ right


@functools.cache
def defective(
    make: Callable[..., np.ndarray], n: int, defect: int
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """A curve through a matrix of this defect, its derivatives, and what they could be; all ways share them."""
    rng = np.random.default_rng(10 * n + defect)
    curve = make(rng, n, defect), *rng.normal(size=(2, n, n))
    return curve, exact_derivatives(*curve), largest(*curve)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [rounded, with_zeros])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
def test_of_any_rank(n: int, make: Callable[..., np.ndarray], way: str) -> None:
    for defect in range(min(n, 3) + 1):
        curve, want, size = defective(make, n, defect)
        for k in range(1, ORDER + 1):
            got = WAYS[way](lambda t, curve=curve: DET(curve[0] + t * curve[1] + t * t * curve[2]), k)(0.0)
            assert abs(got - want[k]) <= 1e-14 * size[k], (defect, k)
            if k >= defect and k <= 2 * n:
                assert got == pytest.approx(want[k], rel=1e-11), (defect, k)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("condition", [1e4, 1e10, 1e14, 1e17])
def test_of_large_condition(condition: float, way: str) -> None:
    n = 6
    for sizes in (np.geomspace(1.0, 1.0 / condition, n), np.append(np.ones(n - 1), 1.0 / condition)):
        rng = np.random.default_rng(n)
        curve = graded(rng, sizes), *rng.normal(size=(2, n, n))
        want, size = exact_derivatives(*curve), largest(*curve)
        for k in range(1, ORDER + 1):
            got = WAYS[way](lambda t, curve=curve: DET(curve[0] + t * curve[1] + t * t * curve[2]), k)(0.0)
            assert abs(got - want[k]) <= 1e-15 * size[k], (sizes, k)


def test_of_very_low_rank() -> None:
    """Where more singular values are 0 than directions could make up for, the derivative is 0 but for rounding."""
    rng = np.random.default_rng(0)
    for a in (rounded(rng, 7, 6), rounded(rng, 7, 5), with_zeros(rng, 7, 5), np.zeros((7, 7))):
        d = rng.normal(size=(7, 7))
        want, size = exact_derivatives(a, d), largest(a, d)
        for k in range(1, 4):
            got = _repeated(hoad.grad, k, lambda t, a=a, d=d: DET(a + t * d))(0.0)
            assert abs(got - want[k]) <= 1e-15 * size[k]


@pytest.mark.parametrize("exponent", [-80, 60])
@pytest.mark.parametrize("defect", [0, 1])
def test_the_scale_does_not_matter(exponent: int, defect: int) -> None:
    rng = np.random.default_rng(5)
    a, d = rounded(rng, 5, defect) * 10.0**exponent, rng.normal(size=(5, 5))
    want = exact_derivatives(a, d)
    for k in range(1, ORDER + 1):
        assert _repeated(hoad.grad, k, lambda t: DET(a + t * d))(0.0) == pytest.approx(want[k], rel=1e-11)
        along = _repeated(_forward, k, lambda t: DET(a + t * 1e50 * d))(0.0)
        assert along == pytest.approx(want[k] * 1e50**k, rel=1e-11)


# ---- of matrices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("defect", [0, 1, 2, 3])
@pytest.mark.parametrize("jit", [False, True])
def test_gradients_along_curves(defect: int, jit: bool) -> None:
    rng = np.random.default_rng(defect)
    a, d = rounded(rng, 5, defect), rng.normal(size=(5, 5))
    want, size = exact_gradients(a, d), largest(a, d)
    gradient = hoad.grad(DET)

    def products(a: Any) -> list[Any]:
        found, f = [gradient(a)], gradient
        for _ in range(3):
            f = functools.partial(lambda f, a: hoad.jvp(f, (a,), (d,))[1], f)
            found.append(f(a))
        return found

    for k, got in enumerate((hoad.jit(products) if jit else products)(a)):
        np.testing.assert_allclose(got, want[k], rtol=0, atol=1e-14 * size[k])
    hessian = (hoad.jit(hoad.hessian(DET)) if jit else hoad.hessian(DET))(a)
    np.testing.assert_allclose(np.einsum("ijkl,kl", hessian, d), want[1], rtol=0, atol=1e-14 * size[1])
    third = hoad.jacobian(hoad.hessian(DET))(a)
    np.testing.assert_allclose(np.einsum("ijklmn,kl,mn", third, d, d), want[2], rtol=0, atol=1e-14 * size[2])


def test_stacks() -> None:
    """Of several ranks, in one array and by vmap."""
    rng = np.random.default_rng(3)
    a = np.stack([rounded(rng, 4, defect) for defect in (0, 1, 2, 3)])
    d = rng.normal(size=a.shape)
    want = np.array([exact_derivatives(*pair) for pair in zip(a, d, strict=True)])
    size = np.array([largest(*pair) for pair in zip(a, d, strict=True)])
    for k in range(1, ORDER + 1):
        along = _repeated(_forward, k, lambda t: DET(a + t * d))
        mapped = hoad.vmap(lambda a, d, k=k: _repeated(hoad.grad, k, lambda t: DET(a + t * d))(0.0))
        for got in (along(0.0), hoad.jit(along)(0.0), mapped(a, d), hoad.jit(mapped)(a, d)):
            assert (abs(got - want[:, k]) <= 1e-14 * size[:, k]).all()


def test_complex_matrices() -> None:
    """By the real and imaginary parts of the coefficients of det(A + t D), with A = B C of rank n - 1 or n - 2."""
    n = 4
    for defect in (1, 2):
        rng = np.random.default_rng(defect)
        parts = rng.integers(-3, 4, (2, 2, n, n))
        parts[0, :, n - defect :] = 0
        parts[0, :, 0, 0] = 1
        a, d = parts[:, 0] + 1j * parts[:, 1]
        turn = np.linalg.qr(rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)))[0]
        phase = DET(turn)
        points = np.arange(n + 1)  # small whole numbers: nearly no rounding
        values = [phase * np.round(DET(a + t * d)) for t in points]
        coefficients = np.linalg.solve(np.vander(points, increasing=True), values)
        for k in range(1, ORDER + 1):
            along = _repeated(_forward, k, lambda t: DET(turn @ a + t * (turn @ d)))
            for f in (along, hoad.jit(along)):
                assert f(0.0) == pytest.approx(math.factorial(k) * coefficients[k], rel=1e-10, abs=1e-10)


def test_single_precision() -> None:
    rng = np.random.default_rng(1)
    a, d = rounded(rng, 5, 1).astype(np.float32), rng.normal(size=(5, 5)).astype(np.float32)
    want, size = exact_derivatives(a, d), largest(a, d)
    gradient = _repeated(hoad.grad, 1, DET)
    for k in range(1, 4):
        got = np.sum(d * gradient(a))
        assert got.dtype == np.float32
        assert abs(got - want[k]) <= 1e-6 * size[k]
        gradient = functools.partial(lambda f, a: hoad.jvp(f, (a,), (d,))[1], gradient)


def test_beyond_the_degree() -> None:
    """det is a polynomial of degree n in the entries."""
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_array_equal(hoad.jacobian(hoad.hessian(DET))(a), np.zeros((2,) * 6))
    assert hoad.grad(hoad.grad(lambda t: DET(np.reshape(t, (1, 1)))))(2.0) == 0.0
    assert hoad.grad(lambda t: t * DET(np.zeros((0, 0))))(2.0) == 1.0


# ---- matrices that are not finite -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
def test_nan_where_the_matrix_is_not_finite(entry: float, way: str) -> None:
    """LAPACK does not come back from an infinity: no derivative may ask it for singular values of one."""
    a, d, e = np.random.default_rng(0).normal(size=(3, 4, 4))
    a[2, 1] = entry
    for k in range(1, 4):
        assert np.isnan(WAYS[way](lambda t: DET(a + t * d + t * t * e), k)(0.0)), k


@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("jit")])
@pytest.mark.parametrize("entry", [np.nan, np.inf])
@pytest.mark.parametrize("jit", [False, True])
def test_the_other_lanes_stay_as_they_are(jit: bool, entry: float, way: str) -> None:
    a = np.random.default_rng(2).normal(size=(4, 5, 5))
    d, e = np.random.default_rng(1).normal(size=(2, 5, 5))
    finite = [0, 2, 3]
    a[1, 3, 3] = entry
    want = np.array([exact_derivatives(a[i], d, e) for i in finite])
    size = np.array([largest(a[i], d, e) for i in finite])
    for k in range(1, ORDER + 1):
        mapped = hoad.vmap(lambda a, k=k: WAYS[way](lambda t: DET(a + t * d + t * t * e), k)(0.0))
        got = (hoad.jit(mapped) if jit else mapped)(a)
        assert np.isnan(got[1]), k
        assert (abs(got[finite] - want[:, k]) <= 1e-14 * size[:, k]).all(), k


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_nan_in_one_matrix_of_a_stack(entry: float) -> None:
    rng = np.random.default_rng(4)
    a, d = rng.normal(size=(2, 3, 4, 4))
    a[1, 0, 0] = entry
    got = np.stack(
        [hoad.grad(lambda a: np.sum(DET(a)))(a), hoad.jvp(hoad.grad(lambda a: np.sum(DET(a))), (a,), (d,))[1]]
    )
    assert np.isnan(got[:, 1]).all()
    for i in (0, 2):
        np.testing.assert_allclose(got[:, i], exact_gradients(a[i], d[i])[:2], rtol=0, atol=1e-13)
    hessians = hoad.vmap(hoad.hessian(DET))(a)
    assert np.isnan(hessians[1]).all()
    for i in (0, 2):
        along = np.einsum("ijkl,kl", hessians[i], d[i])
        np.testing.assert_allclose(along, exact_gradients(a[i], d[i])[1], rtol=0, atol=1e-13)


@pytest.mark.parametrize("entry", [np.nan, np.inf, complex(0.0, np.inf)])
def test_complex_matrices_that_are_not_finite(entry: complex) -> None:
    rng = np.random.default_rng(6)
    a, d = rng.normal(size=(2, 2, 4, 4)) + 1j * rng.normal(size=(2, 2, 4, 4))
    alone = [_repeated(_forward, k, lambda t: DET(a[1] + t * d[1]))(0.0) for k in range(1, 4)]
    a[0, 1, 1] = entry
    for k in range(1, 4):
        along = _repeated(_forward, k, lambda t: DET(a + t * d))
        for got in (along(0.0), hoad.jit(along)(0.0)):
            assert np.isnan(got[0])
            assert got[1] == pytest.approx(alone[k - 1], rel=1e-12)


def test_singular_values_asked_for_are_those_of_numpy() -> None:
    """Only those that a determinant asks for are nan; np.linalg.svd fails as it does in NumPy."""
    a = np.full((4, 4), np.nan)
    for f in (np.linalg.svdvals, hoad.jit(np.linalg.svdvals), hoad.jacobian(np.linalg.svdvals)):
        with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
            f(a)


# ---- products that leave the range before they are whole ------------------------------------------------------------


def _ordered(sizes: list[float], dtype: type) -> np.ndarray:
    """Signed sizes at the places of a permutation, so that no rounding hides the small ones."""
    rng = np.random.default_rng(len(sizes))
    return (np.diag(rng.choice([-1.0, 1.0], len(sizes)) * sizes)[rng.permutation(len(sizes))]).astype(dtype)


def _rounded(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


RANGES: list[tuple[list[float], type]] = [
    ([1e20, 1e20, 1e-20, 1e-20], np.float32),
    ([1e30, 1.0, 1e-30, 1e-30, 1.0], np.float32),
    ([1e160, 1e160, 1e-200, 1e-200], np.float64),
    ([1e200, 1.0, 1e-200, 1e-200], np.float64),
    ([1e160, 1e160, 1e-120, 1e-120, 1.0, 1.0], np.float64),
    ([1e150, 1e150, 1e100, 1e-120, 1e-120], np.float64),
    ([1e-100, 1e-100, 1e-100, 1e-100, 1e90], np.float64),
    ([1e200, 1e180, 0.0, 0.0, 1e-100], np.float64),
    ([1e200, 1e200, 1e-200, 0.0], np.float64),
]


@pytest.mark.parametrize(("sizes", "dtype"), RANGES)
def test_partial_products_do_not_leave_the_range(sizes: list[float], dtype: type) -> None:
    """An entry is infinite where it is itself, and does not make nan of the others."""
    a = _ordered(sizes, dtype)
    n, limits = len(sizes), np.finfo(dtype)
    exact = [[Fraction(float(x)) for x in row] for row in a]

    def minor(rows: set[int], columns: set[int]) -> Fraction:
        """Of a matrix with one entry a row at most: the product of these, with the sign of the permutation."""
        left = [r for r in range(n) if r not in rows]
        at = [[c for c in range(n) if c not in columns and exact[r][c]] for r in left]
        if not all(at):
            return Fraction(0)
        order = [c for (c,) in at]
        inverted = sum(x > y for x, y in itertools.combinations(order, 2))
        return (-1) ** inverted * math.prod(exact[r][c] for r, c in zip(left, order, strict=True))

    def close(got: float, want: Fraction) -> bool:
        nearest = _rounded(want)
        if abs(nearest) > float(limits.max):
            return bool(np.isinf(got) and (got > 0) == (want > 0))
        return bool(abs(got - nearest) <= 100.0 * float(limits.eps) * abs(nearest) + float(limits.tiny))

    with np.errstate(over="ignore"):
        gradient, hessian = hoad.grad(DET)(a), hoad.hessian(DET)(a)
    for i, j in np.ndindex(n, n):
        assert close(float(gradient[i, j]), (-1) ** (i + j) * minor({i}, {j})), (i, j)
        for k, m in np.ndindex(n, n):
            sign = (-1) ** (i + j + k + m + (k > i) + (m > j))
            want = sign * minor({i, k}, {j, m}) if k != i and m != j else Fraction(0)
            assert close(float(hessian[i, j, k, m]), want), (i, j, k, m)


def test_the_scale_of_one_lane_is_not_that_of_the_others() -> None:
    a = np.stack([_ordered([1e160, 1e160, 1e-200, 1e-200], np.float64), np.eye(4), np.eye(4) * 1e-90])
    with np.errstate(over="ignore"):
        got, pairs = hoad.vmap(hoad.grad(DET))(a), hoad.vmap(hoad.hessian(DET))(a)
    np.testing.assert_allclose(np.sort(abs(got[0]).max(axis=0)), [1e-240, 1e-240, 1e120, 1e120], rtol=1e-13)
    np.testing.assert_allclose(got[1:], a[1:] ** 3, rtol=1e-13)
    np.testing.assert_allclose(pairs[1:, 0, 0, 1, 1], [1.0, 1e-180], rtol=1e-13)


def _kahan(n: int) -> np.ndarray:
    """Of which elimination does not show how small the last singular value is."""
    c = 0.285
    return np.diag(math.sqrt(1 - c * c) ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1))


ELIMINATED: dict[str, Callable[[int], np.ndarray]] = {
    "Kahan": _kahan,
    "Wilkinson": lambda n: np.eye(n) - np.tril(np.ones((n, n)), -1) + np.pad(np.ones((n - 1, 1)), ((0, 1), (n - 1, 0))),
    "Hilbert": lambda n: 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1.0),
    "Vandermonde": lambda n: np.vander(np.linspace(-1.0, 2.0, n)),
    "Hadamard": lambda n: np.where(
        np.array([[(i & j).bit_count() % 2 for j in range(n)] for i in range(n)]), -1.0, 1.0
    ),
    "rank n - 2": lambda n: np.random.default_rng(n).normal(size=(n, n - 2)) @ np.ones((n - 2, n)),
    "graded rows": lambda n: np.random.default_rng(n).normal(size=(n, n)) * np.geomspace(1.0, 1e-60, n)[:, None],
    "graded columns": lambda n: np.random.default_rng(n).normal(size=(n, n)) * np.geomspace(1e50, 1e-5, n),
}


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("n", [4, 5, 8])
@pytest.mark.parametrize("name", ELIMINATED)
def test_gradients_are_those_of_a_matrix_nearby(name: str, n: int, kind: type) -> None:
    """The error is at most what rounding of the matrix makes: ε |A| times the second derivatives, by their norms."""
    a = ELIMINATED[name](n)
    want = exact_gradients(a)[0]
    got = hoad.grad(lambda x: DET(x).real)(a.astype(kind)) if kind is complex else hoad.grad(DET)(a)
    s = np.linalg.svd(a, compute_uv=False)
    size = np.prod(s[: n - 2]) * s[0]
    assert np.max(abs(got - want)) <= 30 * n * np.finfo(float).eps * size


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_many(dtype: type) -> None:
    """Of which those of mantissas alone would leave the range of single precision."""
    n, c = 300, float(dtype(1.02))
    gradient, ones = hoad.grad(DET), np.eye(n, dtype=dtype)
    a, tolerance = (c * ones).astype(dtype), 2 * n * np.finfo(dtype).eps
    along = hoad.jvp(gradient, (a,), (ones,))[1]
    np.testing.assert_allclose(np.diag(gradient(a)), c ** (n - 1), rtol=tolerance)
    np.testing.assert_allclose(np.diag(along), (n - 1) * c ** (n - 2), rtol=tolerance)


def test_products_of_many_of_different_sizes() -> None:
    """For singular values as they are: LAPACK has small ones of a large matrix only beside the largest."""
    n = 300
    sizes, ones = np.geomspace(1e10, 1e-10, n), np.eye(n)
    rest = [mp.fprod([mp.mpf(s) for s in np.delete(sizes, i)]) for i in range(n)]
    want = [float(sum(rest[i] / mp.mpf(s) for j, s in enumerate(sizes) if j != i)) for i in range(n)]
    tolerance = n * np.finfo(np.float64).eps
    np.testing.assert_allclose(np.diag(mixed_adjugate(ones, sizes, ones, ())), np.array(rest, float), rtol=tolerance)
    np.testing.assert_allclose(np.diag(mixed_adjugate(ones, sizes, ones, (ones,))), want, rtol=tolerance)
