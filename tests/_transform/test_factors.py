"""Determinants and factors of matrices along curves: beside mpmath at hundreds of digits, and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from rules import oracle

import hoad
from hoad._transform import taylor_arithmetic as series
from hoad._transform.expansion import Expansion, expand, series_of, tangents_of

ORDER = 12
RNG = np.random.default_rng(25)

Function = Callable[..., Any]


def symmetric(a: np.ndarray) -> np.ndarray:
    return 0.5 * (a + np.swapaxes(a, -1, -2))


SQUARE = np.array([[2.0, -0.5, 0.3], [0.4, 1.5, 0.7], [-0.6, 0.2, -1.1]])
TALL = np.concatenate([SQUARE, [[0.9, -0.8, 0.1]]])
POSITIVE = np.array([[2.0, 0.5, -0.3], [0.5, 3.1, 0.4], [-0.3, 0.4, 4.3]])
SQUARE_CURVE = 0.3 * RNG.uniform(-1.0, 1.0, (3, 3, 3))
TALL_CURVE = 0.3 * RNG.uniform(-1.0, 1.0, (3, 4, 3))
POSITIVE_CURVE = symmetric(SQUARE_CURVE)


def flat(*factors: Any) -> Any:
    return np.concatenate([np.ravel(x) for x in factors])


def items(*factors: Any) -> np.ndarray:
    """The items of factors that mpmath has found, one behind the other."""
    return np.array([x for factor in factors for x in factor], dtype=object)


def turned(columns: Any, like: np.ndarray) -> list[Any]:
    """1 or -1 for each column, which turns it as NumPy's."""
    sizes = [sum(columns[i, j] * like[i, j] for i in range(columns.rows)) for j in range(columns.cols)]
    return [mp.sign(size) for size in sizes]


def exact_eigh(a: Any) -> np.ndarray:
    w, v = mp.eigsy(a)
    return items(w, v * mp.diag(turned(v, np.linalg.eigh(POSITIVE)[1])))


def exact_svd(a: Any) -> np.ndarray:
    u, s, v = mp.svd_r(a, full_matrices=False)
    signs = mp.diag(turned(u, np.linalg.svd(TALL, full_matrices=False)[0]))
    return items(u * signs, s, signs * v)


def exact_qr(a: Any) -> np.ndarray:
    q, r = mp.qr(a, mode="skinny")
    signs = mp.diag(turned(q, np.linalg.qr(TALL)[0]))
    return items(q * signs, signs * r)


MATRIX = np.array([[2.0, 0.5], [-0.3, 1.0]])
RIGHT = np.array([[0.5], [-1.0], [0.3], [0.8]])

# name: (function, the same in mpmath, point, curve)
CASES: dict[str, tuple[Function, Function, np.ndarray, np.ndarray]] = {
    "det": (lambda a: flat(np.linalg.det(a)), lambda a: items([mp.det(a)]), SQUARE, SQUARE_CURVE),
    "slogdet": (
        lambda a: flat(np.linalg.slogdet(a)[1]),
        lambda a: items([mp.log(abs(mp.det(a)))]),
        SQUARE,
        SQUARE_CURVE,
    ),
    "cholesky": (
        lambda a: flat(np.linalg.cholesky(a)),
        lambda a: items(mp.cholesky(a)),
        POSITIVE,
        POSITIVE_CURVE,
    ),
    "eigh": (lambda a: flat(*np.linalg.eigh(a)), exact_eigh, POSITIVE, POSITIVE_CURVE),
    "eigvalsh": (
        lambda a: flat(np.linalg.eigvalsh(a)),
        lambda a: items(mp.eigsy(a, eigvals_only=True)),
        POSITIVE,
        POSITIVE_CURVE,
    ),
    "svd": (lambda a: flat(*np.linalg.svd(a, full_matrices=False)), exact_svd, TALL, TALL_CURVE),
    "qr": (lambda a: flat(*np.linalg.qr(a)), exact_qr, TALL, TALL_CURVE),
    "pinv": (
        lambda a: flat(np.linalg.pinv(a)),
        lambda a: items(mp.inverse(a.T * a) * a.T),
        TALL,
        TALL_CURVE,
    ),
    "lstsq": (
        lambda a: flat(np.linalg.lstsq(a, RIGHT, rcond=None)[0]),
        lambda a: items(mp.inverse(a.T * a) * a.T * mp.matrix(oracle.exact(RIGHT).tolist())),
        TALL,
        TALL_CURVE,
    ),
}
cases = pytest.mark.parametrize("name", list(CASES))


def exact_series(f: Function, coefficients: list[np.ndarray], order: int) -> np.ndarray:
    """The coefficients of f along Σ cₖ tᵏ, as mpf."""
    given = [oracle.exact(c) for c in coefficients]

    def along(t: Any) -> np.ndarray:
        return f(mp.matrix(sum(c * t**k for k, c in enumerate(given)).tolist()))

    return np.stack(oracle.taylor(along, order))


def near(got: Any, want: Any, tolerance: float) -> None:
    """Beside the largest item of each order, and of those below."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    size = np.maximum.accumulate(abs(want).reshape(len(want), -1).max(axis=1, initial=0.0)) + 1e-300
    error = abs(got - want).reshape(len(want), -1).max(axis=1, initial=0.0)
    assert np.all(error <= tolerance * size), f"{got}\nnot\n{want}\nerrors {error / size}"


def closes(expansion: Expansion) -> bool:
    """Whether what was recorded has a Taylor arithmetic, with no tangents of tangents."""
    callee = expansion.callee
    return series_of(callee._program(), *callee._key) is not None


def by_tangents(f: Function, points: list[Any], curves: list[Any], order: int) -> Any:
    """The same coefficients by tangents of tangents."""
    expansion = Expansion(f, points, curves, order)
    program = tangents_of(expansion.program, expansion.callee._given, order)
    return expansion.parts.filled(program._run(expansion.values))


# ---- values ---------------------------------------------------------------------------------------------------------


@cases
def test_beside_mpmath(name: str) -> None:
    f, exact, point, curve = CASES[name]
    want = exact_series(exact, [point, *curve], ORDER)
    assert closes(Expansion(f, [point], [curve], ORDER))
    near(expand(f, [point], [curve], ORDER), oracle.as_floats(want), 1e-13)


@cases
def test_gradients_beside_mpmath(name: str) -> None:
    """The derivative of the coefficients by the point and by the curve, along a direction."""
    f, exact, point, curve = CASES[name]
    order = 6
    rng = np.random.default_rng(3)
    turn = [rng.uniform(-1.0, 1.0, point.shape) for _ in range(4)]
    turn = [symmetric(x) for x in turn] if point is POSITIVE else turn
    step = mp.mpf(10) ** -100
    with mp.workdps(1000):
        lines = [
            [oracle.exact(c) + sign * step * oracle.exact(v) for c, v in zip([point, *curve], turn, strict=True)]
            for sign in (1, -1)
        ]
        above, below = (
            np.stack(
                oracle.taylor(
                    lambda t, line=line: exact(mp.matrix(sum(c * t**k for k, c in enumerate(line)).tolist())), order
                )
            )
            for line in lines
        )
        want = oracle.as_floats((above - below) / (2 * step))
    weights = rng.uniform(-1.0, 1.0, want.shape)

    def total(a: Any, c: Any) -> Any:
        return np.sum(weights * expand(f, [a], [c], order))

    by_point, by_curve = hoad.grad(total, argnums=(0, 1))(point, curve)
    got = np.sum(by_point * turn[0]) + np.sum(by_curve * np.stack(turn[1:]))
    np.testing.assert_allclose(got, np.sum(weights * want), rtol=1e-11)
    _, forward = hoad.jvp(lambda a, c: expand(f, [a], [c], order), (point, curve), (turn[0], np.stack(turn[1:])))
    near(forward, want, 1e-11)


# ---- factors are put together again ---------------------------------------------------------------------------------


def times(x: Any, y: Any) -> np.ndarray:
    """The product of two series of matrices."""
    return np.stack([sum(x[j] @ y[k - j] for j in range(k + 1)) for k in range(len(x))])


def transposed(x: Any) -> np.ndarray:
    return np.swapaxes(x, -1, -2)


def constant(a: np.ndarray) -> np.ndarray:
    return np.concatenate([a[None], np.zeros((ORDER, *a.shape))])


def padded(point: np.ndarray, curve: np.ndarray) -> np.ndarray:
    return np.concatenate([point[None], curve, np.zeros((ORDER - len(curve), *point.shape))])


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("stack", [(), (3,), (2, 2)])
def test_identities(n: int, stack: tuple[int, ...]) -> None:
    rng = np.random.default_rng(n)
    a = rng.uniform(-1.0, 1.0, (*stack, n, n)) + 2.0 * np.diag(np.arange(1.0, n + 1))
    tall = rng.uniform(-1.0, 1.0, (*stack, n + 2, n))
    positive = symmetric(a) + 3.0 * np.eye(n)
    curve = 0.1 * rng.uniform(-1.0, 1.0, (2, *stack, n, n))
    tall_curve = 0.1 * rng.uniform(-1.0, 1.0, (2, *stack, n + 2, n))
    eye = np.broadcast_to(np.eye(n), a.shape)
    given, symmetrical = padded(tall, tall_curve), padded(positive, symmetric(curve))
    lower = expand(np.linalg.cholesky, [positive], [symmetric(curve)], ORDER)
    near(times(lower, transposed(lower)), symmetrical, 1e-13)
    assert np.all(np.triu(lower, 1) == 0.0)
    w, v = expand(lambda a: tuple(np.linalg.eigh(a)), [positive], [symmetric(curve)], ORDER)
    near(times(times(v, w[..., None] * np.eye(n)), transposed(v)), symmetrical, 1e-11)
    near(times(transposed(v), v), constant(eye), 1e-11)
    q, r = expand(lambda a: tuple(np.linalg.qr(a)), [tall], [tall_curve], ORDER)
    near(times(q, r), given, 1e-11)
    near(times(transposed(q), q), constant(eye), 1e-10)
    u, s, vh = expand(lambda a: tuple(np.linalg.svd(a, full_matrices=False)), [tall], [tall_curve], ORDER)
    near(times(times(u, s[..., None] * np.eye(n)), vh), given, 1e-8)
    p = expand(np.linalg.pinv, [tall], [tall_curve], ORDER)
    near(times(p, given), constant(eye), 1e-10)
    logarithm = expand(lambda a: np.linalg.slogdet(a)[1], [positive], [symmetric(curve)], ORDER)
    near(
        logarithm,
        2.0
        * expand(
            lambda a: np.sum(np.log(_diagonal(np.linalg.cholesky(a))), axis=-1), [positive], [symmetric(curve)], ORDER
        ),
        1e-12,
    )
    near(expand(np.linalg.det, [a], [curve], ORDER), expand(_expanded_det, [a], [curve], ORDER), 1e-11)


def _diagonal(a: Any) -> Any:
    return np.diagonal(a, axis1=-2, axis2=-1)


def _expanded_det(a: Any) -> Any:
    """By the first row."""
    n = a.shape[-1]
    if n == 1:
        return a[..., 0, 0]
    rest = a[..., 1:, :]
    minors = [np.concatenate([rest[..., :j], rest[..., j + 1 :]], axis=-1) for j in range(n)]
    return sum((-1.0) ** j * a[..., 0, j] * _expanded_det(minors[j]) for j in range(n))


@pytest.mark.parametrize("f", [np.linalg.det, np.linalg.cholesky, np.linalg.eigvalsh])
def test_empty_matrices(f: Function) -> None:
    got = expand(f, [np.zeros((2, 0, 0))], [np.zeros((1, 2, 0, 0))], 3)
    value = f(np.zeros((2, 0, 0)))
    np.testing.assert_array_equal(got, np.stack([value] + [np.zeros_like(value)] * 3))


# ---- within other things --------------------------------------------------------------------------------------------


def composed(a: Any) -> Any:
    """Factors of what is made of factors."""
    w, v = np.linalg.eigh(a @ a.T + np.eye(3))
    lower = np.linalg.cholesky((v * np.exp(0.1 * w)) @ v.T)
    return np.linalg.slogdet(lower @ np.diag(w) + a)[1] * np.sin(np.trace(lower))


def test_of_factors() -> None:
    got = expand(composed, [SQUARE], [SQUARE_CURVE], 4)
    near(got, by_tangents(composed, [SQUARE], [SQUARE_CURVE], 4), 1e-12)
    assert closes(Expansion(composed, [SQUARE], [SQUARE_CURVE], 4))


def test_of_many_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    """How far rules may grow a program depends on what it has."""
    monkeypatch.setattr(series, "MOST_NODES", 0)
    f, _, point, curve = CASES["svd"]
    assert closes(Expansion(f, [point], [curve], 5))


@cases
def test_jit_and_vmap(name: str) -> None:
    f, _, point, curve = CASES[name]
    points = np.stack([point, point + 0.1 * point, 1.3 * point])
    want = np.stack([expand(f, [x], [curve], 4) for x in points])

    def coefficients(x: Any) -> Any:
        return expand(f, [x], [curve], 4)

    fast = hoad.jit(coefficients)
    for x, w in zip(points, want, strict=True):
        near(fast(x), w, 1e-13)
    near(np.swapaxes(hoad.vmap(coefficients)(points), 0, 1), np.swapaxes(want, 0, 1), 1e-12)
    lanes = np.stack([curve, -curve, 0.5 * curve], axis=1)
    wide = expand(f, [point], [lanes], 4, 3)
    for k, scale in enumerate((1.0, -1.0, 0.5)):
        near(wide[:, k], expand(f, [point], [scale * curve], 4), 1e-12)


# ---- users' operations on arrays ------------------------------------------------------------------------------------


@hoad.primitive(vjp=lambda g, p, x: (p * (g - np.sum(p * g)),))
def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@hoad.primitive(vjp=lambda g, p, x: (g[1] * np.cos(x),), jvp=lambda dots, p, x: (None, dots[0] * np.cos(x)), nout=2)
def counted_sine(x: Any) -> Any:
    return np.int64(np.size(x)), np.sin(x)


@hoad.primitive(vjp=lambda g, p, x, y: (circulant(g, y), circulant(g, x)), linear=(0, 1))
def circulant(x: Any, y: Any) -> Any:
    """x and y convolved around the corner, of two items each."""
    return np.array([x[0] * y[0] + x[1] * y[1], x[0] * y[1] + x[1] * y[0]])


def _solution_rule(g: Any, p: Any, a: Any, b: Any) -> Any:
    adjoint = solution(a.T, g)
    return -adjoint[:, None] * p[None, :], adjoint


@hoad.primitive(vjp=_solution_rule, linear=(1,), shape=lambda a, b: b)
def solution(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


def normalised(x: Any) -> Any:
    return np.exp(x) / np.sum(np.exp(x))


def matrix_of(x: Any) -> Any:
    return np.stack([np.stack([2.0 + x[0], x[1]]), np.stack([x[1], 3.0 + x[0] * x[1]])])


@pytest.mark.parametrize(
    ("f", "g", "closes"),
    [
        pytest.param(softmax, normalised, True, id="a rule"),
        pytest.param(
            lambda x: counted_sine(x)[1] * counted_sine(x)[0], lambda x: 2 * np.sin(x), True, id="an integer beside"
        ),
        pytest.param(lambda x: circulant(x, x), lambda x: np.stack([x @ x, 2.0 * x[0] * x[1]]), True, id="bilinear"),
        pytest.param(lambda x: circulant(np.ones(2), x), lambda x: np.sum(x) * np.ones(2), True, id="linear"),
        pytest.param(
            lambda x: solution(MATRIX, x), lambda x: np.linalg.solve(MATRIX, x), True, id="linear in what moves"
        ),
        pytest.param(
            lambda x: solution(matrix_of(x), x),
            lambda x: np.linalg.solve(matrix_of(x), x),
            False,
            id="a rule of rates of rates",
        ),
    ],
)
def test_users_operations(f: Function, g: Function, closes: bool) -> None:
    order = ORDER if closes else 5
    x, curve = np.array([0.3, -0.5]), np.array([[0.4, 0.2], [0.1, -0.3]])
    assert (Expansion(f, [x], [curve], order).callee._native() is not None) is closes
    near(expand(f, [x], [curve], order), expand(g, [x], [curve], order), 1e-13)
    got, want = (hoad.grad(lambda x, h=h: np.sum(np.sin(expand(h, [x], [curve], 3))))(x) for h in (f, g))
    np.testing.assert_allclose(got, want, rtol=1e-11)


def test_matrices_that_stay() -> None:
    """What does not move along the curve has no rates."""

    def f(x: Any) -> Any:
        return np.linalg.det(SQUARE) * np.sin(x) + np.linalg.lstsq(TALL, x * RIGHT, rcond=None)[0][0, 0]

    got = expand(f, [0.3], [np.ones(1)], 5)
    k = np.arange(6)
    want = np.linalg.det(SQUARE) * np.sin(0.3 + k * np.pi / 2) / np.cumprod([1.0, *k[1:]])
    want[:2] += np.linalg.lstsq(TALL, RIGHT, rcond=None)[0][0, 0] * np.array([0.3, 1.0])
    np.testing.assert_allclose(got, want, rtol=1e-13)


def test_right_sides_that_are_broadcast() -> None:
    stack = np.stack([SQUARE, SQUARE.T])
    curve = np.stack([SQUARE_CURVE, 0.5 * SQUARE_CURVE], axis=1)
    for f in (lambda a: np.linalg.solve(a, RIGHT[:3]), lambda a: np.linalg.solve(SQUARE, a)):
        assert Expansion(f, [stack], [curve], 4).callee._native() is not None
        got = expand(f, [stack], [curve], ORDER)
        for k in range(2):
            near(got[:, k], expand(f, [stack[k]], [curve[:, k]], ORDER), 1e-13)


def test_differential_equations() -> None:
    """Rates within the right side of a differential equation: y' = y² - t² + t², and y = 1 / (2 - t)."""

    def slope(t: Any, y: Any) -> Any:
        return np.linalg.det(np.stack([np.stack([y, t]), np.stack([t, y])])) + t * t

    times = np.array([0.0, 0.75])
    np.testing.assert_allclose(hoad.ode.taylor_integrate(slope, 0.5, times), [0.5, 0.8], rtol=1e-12)
    by_start = hoad.grad(lambda y: hoad.ode.taylor_integrate(slope, y, times)[1])(0.5)
    np.testing.assert_allclose(by_start, 2.56, rtol=1e-11)


def test_differential_equations_without_a_value() -> None:
    """A determinant of rank 0, of whose series nothing is known; a factor that ends at t = 1/2."""

    def of_singular(t: Any, y: Any) -> Any:
        return np.linalg.det(y * np.eye(4))

    def root(t: Any, y: Any) -> Any:
        return 0.0 * np.linalg.cholesky(np.stack([np.stack([1.0 - y, y]), np.stack([y, 1.0 - y])]))[1, 1] + 1.0

    with pytest.raises(hoad.ArgumentError, match="rhs is singular there"):
        hoad.ode.taylor_integrate(of_singular, 0.0, np.array([0.0, 1.0]))
    np.testing.assert_allclose(hoad.ode.taylor_integrate(root, 0.0, np.array([0.0, 0.25])), [0.0, 0.25])
    with pytest.raises(hoad.ArgumentError, match="too short"):
        hoad.ode.taylor_integrate(root, 0.0, np.array([0.0, 1.0]))


# ---- where there is no derivative -----------------------------------------------------------------------------------


def test_equal_eigenvalues() -> None:
    """As sweeps have it: the vectors, and what depends on them, are nan."""
    a = np.diag([1.0, 1.0, 3.0])
    functions = [
        np.linalg.eigvalsh,
        lambda a: flat(*np.linalg.eigh(a)),
        lambda a: np.linalg.eigh(a)[1][:, 2],  # which is of no pair: its slope is known
        lambda a: np.linalg.eigh(a)[0][2],
        lambda a: np.linalg.svd(a)[0][:, 0],
        lambda a: np.linalg.norm(a, 2),
    ]
    for f in functions:
        got = expand(f, [a], [POSITIVE_CURVE], 3)
        want = by_tangents(f, [a], [POSITIVE_CURVE], 3)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
        assert not np.isnan(got[:2]).all()


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (4, 4), (2, 3, 3), (2, 5, 5)])
@pytest.mark.parametrize("singular", [False, True])
def test_determinants_of_singular_matrices(shape: tuple[int, ...], singular: bool) -> None:
    """Of rank n - 1, beside an expansion by rows, with the gradients, which are made of cofactors."""
    rng = np.random.default_rng(shape[-1])
    point, curve = rng.uniform(-1.0, 1.0, shape), 0.3 * rng.uniform(-1.0, 1.0, (2, *shape))
    if singular:
        point[..., -1, :] = 2.0 * point[..., 0, :] if shape[-1] > 1 else 0.0
    assert Expansion(np.linalg.det, [point], [curve], ORDER).callee._native() is not None
    got, want = (expand(f, [point], [curve], ORDER) for f in (np.linalg.det, _expanded_det))
    np.testing.assert_allclose(got[0], want[0], atol=1e-15)
    near(got[1:], want[1:], 1e-13)

    def total(f: Function) -> Function:
        return lambda a, c: np.sum(np.sin(expand(f, [a], [c], 4)))

    for k in (0, 1):
        got, want = (hoad.grad(total(f), argnums=k)(point, curve) for f in (np.linalg.det, _expanded_det))
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


def test_singular_matrices() -> None:
    """What had a value at first meets a singular matrix in a replay."""
    fast = hoad.jit(lambda a: expand(np.linalg.det, [a], [np.ones((1, 4, 4))], 3))
    fast(np.eye(4))
    np.testing.assert_allclose(fast(np.diag([1.0, 0.0, 3.0, 2.0])), [0.0, 6.0, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(fast(np.diag([1.0, 0.0, 0.0, 2.0])), np.zeros(4), atol=1e-15)  # of rank 2
    assert np.isnan(fast(np.zeros((4, 4)))[1:]).all()
    powers = expand(np.linalg.det, [np.zeros((3, 3))], [np.eye(3)[None]], 4)  # written out, of any rank
    np.testing.assert_array_equal(powers, [0.0, 0.0, 0.0, 1.0, 0.0])
    expansion = Expansion(np.linalg.inv, [np.eye(2)], [np.ones((1, 2, 2))], 3)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        expansion.callee._run((np.ones((2, 2, 2)),))


def test_not_positive() -> None:
    expansion = Expansion(np.linalg.cholesky, [np.eye(2)], [np.ones((1, 2, 2))], 3)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        expansion.callee._run((np.stack([-np.eye(2), np.eye(2)]),))


@pytest.mark.parametrize("n", [4, 5, 7])
@pytest.mark.parametrize("defect", [0, 1, 2, 3])
def test_determinants_of_matrices_of_any_rank(n: int, defect: int) -> None:
    """det(A + t B) begins with t^defect; the smallest three singular values stand apart in its series."""
    rng = np.random.default_rng(10 * n + defect)
    a, b = rng.normal(size=(n, n - defect)) @ rng.normal(size=(n - defect, n)), rng.normal(size=(n, n))

    def coefficients(a: Any) -> Any:
        return hoad.taylor(lambda t: np.linalg.det(a + t * b), 0.0, 8).coefficients

    def exactly(h: Any, order: int) -> Any:
        moved = mp.matrix(a.tolist())
        moved[1, 2] += h
        return mp.taylor(lambda t: mp.det(moved + t * mp.matrix(b.tolist())), 0, order)

    with mp.workdps(60):
        exact = np.array([float(c) for c in exactly(0, 8)])
        slope = float(mp.diff(lambda h: exactly(h, defect + 1)[defect + 1], 0))
    for derive in (coefficients, hoad.jit(coefficients)):
        np.testing.assert_allclose(derive(a), exact, rtol=0, atol=1e-13 * np.max(np.abs(exact)))
    gradient = hoad.grad(lambda a: coefficients(a)[defect + 1])(a)
    size = max(np.max(np.abs(gradient)), np.max(np.abs(exact)))  # the gradient of the last coefficient is 0
    np.testing.assert_allclose(gradient[1, 2], slope, rtol=0, atol=1e-13 * size)


def test_a_determinant_of_too_low_a_rank_is_told() -> None:
    for a in (np.zeros((4, 4)), np.outer(np.ones(6), np.arange(6.0))):
        with pytest.raises(hoad.DomainError, match=r"highest order that is finite is 0"):
            hoad.taylor(lambda t, a=a: np.linalg.det(a + t * np.eye(len(a))), 0.0, 3)
