"""The rows of scipy.linalg: calls by one traced argument, each with an equation that its result satisfies.

An equation is a function of the series of the argument and of the results, which gives pairs of series that are equal.
It is the oracle for the derivatives of orders 1 to 4, and needs nothing of hoad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import scipy.linalg as sl
from _scipy.power_series import Series, as_series, eye, of_function
from covered.rows import Kind, Row

from hoad.scipy import linalg

D, C, S, N = Kind.DIFFERENTIABLE, Kind.CONSTANT, Kind.STRUCTURAL, Kind.IMPOSSIBLE
Pairs = Iterator[tuple[Any, Any]]


@dataclass(frozen=True)
class Case(Row):
    """A row, with the equation of its results; without one, derivatives are held against differences."""

    equation: Callable[..., Any] | None = None
    single: bool = True  # whether SciPy, and so hoad, computes it in single precision


# The release whose names and options these are; an older one does not take all of them.
LATEST = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)
# Whether `cho_factor` keeps the other triangle: 1, or 0 from SciPy 1.18 on.
KEPT = sl.cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]))[0][1, 0]

A = np.array([[0.5, -1.25, 0.75], [1.5, 0.25, -0.5], [-0.75, 1.0, 1.25]])
B = np.array([[3.0, 0.5, -0.25], [0.75, 2.0, 0.5], [-0.5, 0.25, 4.0]])
E = np.array([[0.25, 1.0, -0.5], [0.75, -0.25, 0.5], [1.25, 0.5, -1.0]])
P = np.array([[4.0, 1.0, -0.5], [1.0, 3.0, 0.25], [-0.5, 0.25, 2.0]])  # positive definite
TALL = np.array([[1.0, 0.5, -0.25], [0.25, 2.0, 0.75], [-1.5, 0.5, 1.0], [0.75, -0.5, 1.25]])
WIDE = TALL.T.copy()
V, W = np.array([0.5, 0.75, 1.5]), np.array([2.0, 0.5, -0.25])
BAND = np.array([[0.0, 1.0, 2.0, 1.0], [5.0, 6.0, 7.0, 8.0], [1.0, 0.5, 0.25, 0.0]])
UPPER = np.array([[0.0, 1.0, 0.5, 0.25], [4.0, 5.0, 6.0, 7.5]])
LOWER = np.array([[4.0, 5.0, 6.0, 7.5], [1.0, 0.5, 0.25, 0.0]])
TURN = sl.expm(np.array([[0.0, 0.5, -0.25], [-0.5, 0.0, 0.75], [0.25, -0.75, 0.0]]))
SIGNED = TURN @ np.diag([1.5, -1.0, 2.5]) @ TURN.T + 0.1 * A  # eigenvalues apart from 0
COMPLEX = TURN @ np.diag([-1.5, 1.0, 2.5]) @ TURN.T + 0.1 * A  # with a root that is not real


def sym(x: Any) -> Any:
    return 0.5 * (x + x.T)


def positive(x: Any) -> Any:
    """A positive definite matrix of another."""
    return x @ x.T + P


def parts(*results: Any) -> list[Any]:
    """Real and imaginary parts."""
    return [part(x) for x in results for part in (np.real, np.imag)]


def joined(*pairs: Series) -> list[Series]:
    """Complex series from those of their parts."""
    return [re + im.each(lambda c: 1j * c) for re, im in zip(pairs[::2], pairs[1::2], strict=True)]


def affine(f: Callable[[Any], Any]) -> Callable[..., Pairs]:
    """The equation of an affine function, by SciPy's own."""

    def equation(x: Series, *found: Series) -> Pairs:
        plain, zero = f(x.c[0]), f(np.zeros_like(x.c[0]))
        for k, p in enumerate(found):
            at = [r[k] if isinstance(r, (tuple, list)) else r for r in (plain, zero, f(x.c[1]))]
            yield p, Series([at[0], at[2] - at[1], *(np.zeros_like(at[0]) for _ in range(3))])

    return equation


def function(f: Callable[[Any], Any]) -> Callable[..., Pairs]:
    """The equation of a function of matrices, by SciPy's value of it at one block matrix."""
    return lambda x, p: [(p, of_function(f, x))]


def band(x: Any, below: int, above: int) -> Any:
    """The matrix of diagonals."""
    n = x.shape[1]
    made = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if -above <= i - j <= below:
                made[i, j] = x[above + i - j, j]
    return made


def half(x: Any, lower: bool) -> Any:
    width = x.shape[0] - 1
    triangle = band(x, width, 0) if lower else band(x, 0, width)
    return triangle + triangle.T - np.diag(np.diag(triangle))


def solves(matrix: Callable[[Series], Any], b: Any) -> Callable[..., Pairs]:
    """matrix(x) p = b."""
    return lambda x, p: [(matrix(x) @ p, as_series(b))]


def pd(x: Series) -> Series:
    return x @ x.T + P


def orthonormal(q: Series) -> tuple[Series, Series]:
    return q.T @ q, as_series(eye(q))


def zero(x: Series) -> tuple[Series, Series]:
    return x, x.each(np.zeros_like)


def diagonal(s: Series) -> Series:
    return s.each(np.diag)


def pairs_of(a: Callable[[Series], Any], b: Any = None, kind: int = 1) -> Callable[..., Pairs]:
    """Of eigenvalues and vectors of a symmetric matrix, or of two."""

    def equation(x: Series, w: Series, v: Series) -> Pairs:
        m, n = as_series(a(x)), np.eye(len(v.c[0])) if b is None else b(x) if callable(b) else b
        n = as_series(n)
        if kind == 1:
            yield m @ v, n @ v @ diagonal(w)
        else:
            yield (m @ n @ v if kind == 2 else n @ m @ v), v @ diagonal(w)
        inner = v.T @ n @ v
        yield (inner, as_series(eye(inner))) if kind < 3 else (w * 0.0, w * 0.0)

    return equation


def values_of(a: Callable[[Series], Any]) -> Callable[..., Pairs]:
    """Of eigenvalues alone: the traces of three powers, for matrices of up to three rows (else as far as they go)."""

    def equation(x: Series, w: Series) -> Pairs:
        m = as_series(a(x))
        power, values = m, w
        for _ in range(4):
            yield values.each(np.sum), power.each(np.trace)
            power, values = power @ m, values * w

    return equation


def stationary(x: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = 0.0) -> Pairs:
    """The continuous Riccati equation of a series x, with r constant."""
    e = np.eye(3) if e is None else e
    gain = as_series(e).T @ x @ b + s
    inverse = r if isinstance(r, Series) else np.linalg.inv(r)
    yield zero(as_series(a).T @ x @ e + as_series(e).T @ x @ a - gain @ inverse @ gain.T + q)


def discrete(x: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = 0.0) -> Pairs:
    """The discrete one."""
    e = np.eye(3) if e is None else e
    b = as_series(b)
    gain = as_series(a).T @ x @ b + s
    inner = b.T @ x @ b + r
    # (inner)⁻¹ by Neumann's series, order by order
    first = np.linalg.inv(inner.c[0])
    inverse = Series([first, *(0.0 * first for _ in range(4))])
    for k in range(1, 5):
        inverse.c[k] = -first @ sum(inner.c[i] @ inverse.c[k - i] for i in range(1, k + 1))
    yield zero(as_series(a).T @ x @ a - as_series(e).T @ x @ e - gain @ inverse @ gain.T + q)


def inverted(x: Series) -> Series:
    first = np.linalg.inv(x.c[0])
    made = [first]
    for k in range(1, 5):
        made.append(-first @ sum(x.c[i] @ made[k - i] for i in range(1, k + 1)))
    return Series(made)


# ---- systems --------------------------------------------------------------------------------------------------------


def _systems() -> Iterator[Case]:
    def solve(x: Any, b: Any = V, **options: Any) -> Any:
        return linalg.solve(x, b, **options)

    yield Case("solve", D, solve, B, equation=solves(lambda x: x, V))
    yield Case("solve", D, lambda x: linalg.solve(B, x), WIDE, "b", equation=affine(lambda x: sl.solve(B, x)))
    yield Case(
        "solve", D, lambda x: solve(positive(x), WIDE, assume_a="pos"), A, "assume_a='pos'", equation=solves(pd, WIDE)
    )
    yield Case(
        "solve",
        D,
        lambda x: solve(sym(x), assume_a="sym", lower=True),
        B,
        "assume_a='sym'",
        equation=solves(sym, V),
    )
    structures: dict[str, Callable[[Any], Any]] = {
        "upper triangular": np.triu,
        "lower triangular": np.tril,
        "diagonal": lambda x: np.diag(np.diag(x)),
        "tridiagonal": lambda x: np.tril(np.triu(x, -1), 1),
        "banded": lambda x: x,
    }
    for name, read in structures.items():
        yield Case(
            "solve",
            D,
            lambda x, name=name: solve(x, assume_a=name),
            B,
            f"assume_a={name!r}",
            equation=solves(lambda x, read=read: x.each(read), V),
        )
    yield Case("solve", D, lambda x: solve(x, transposed=True), B, "transposed=True", equation=solves(lambda x: x.T, V))
    yield Case("inv", D, linalg.inv, B, equation=lambda x, p: [(x @ p, as_series(np.eye(3)))])
    yield Case(
        "inv",
        D,
        lambda x: linalg.inv(positive(x), assume_a="pos"),
        A,
        "assume_a='pos'",
        equation=lambda x, p: [(pd(x) @ p, as_series(np.eye(3)))],
    )
    yield Case("det", D, linalg.det, A, equation=lambda x, p: [(p, _determinant(x))])
    yield Case("norm", D, linalg.norm, A, equation=lambda x, p: [(p * p, (x * x).each(np.sum))])
    yield Case("norm", D, lambda x: linalg.norm(x, 1), A, "ord=1")
    yield Case("norm", D, lambda x: linalg.norm(x, 2), A, "ord=2")
    yield Case("norm", D, lambda x: linalg.norm(x, "nuc"), A, "ord='nuc'")
    yield Case(
        "norm",
        D,
        lambda x: linalg.norm(x, axis=1),
        A,
        "axis",
        equation=lambda x, p: [(p * p, (x * x).each(lambda c: np.sum(c, 1)))],
    )
    for trans in (0, "T", 2):
        for lower in (False, True):
            unit = lower == bool(trans)

            def read(c: Any, trans: Any = trans, lower: bool = lower, unit: bool = unit) -> Any:
                c = np.tril(c, -unit) if lower else np.triu(c, int(unit))
                return c.T if trans else c

            yield Case(
                "solve_triangular",
                D,
                lambda x, t=trans, lo=lower, u=unit: linalg.solve_triangular(x, V, trans=t, lower=lo, unit_diagonal=u),
                B,
                f"trans={trans!r}, lower={lower}",
                equation=solves(lambda x, read=read, unit=unit: x.each(read) + unit * np.eye(3), V),
            )
    yield Case(
        "solve_triangular",
        D,
        lambda x: linalg.solve_triangular(B, x),
        WIDE,
        "b",
        equation=affine(lambda x: sl.solve_triangular(B, x)),
    )
    yield Case(
        "solve_banded",
        D,
        lambda x: linalg.solve_banded((1, 1), x, TALL),
        BAND,
        "ab",
        equation=solves(lambda x: x.each(lambda c: band(c, 1, 1)), TALL),
    )
    yield Case(
        "solve_banded",
        D,
        lambda x: linalg.solve_banded((0, 2), x, W),
        BAND[::-1, 1:].copy(),
        "l_and_u",
        equation=solves(lambda x: x.each(lambda c: band(c, 0, 2)), W),
    )
    yield Case(
        "solve_banded",
        D,
        lambda x: linalg.solve_banded((1, 1), BAND, x),
        TALL,
        "b",
        equation=affine(lambda x: sl.solve_banded((1, 1), BAND, x)),
    )
    for lower, x in ((False, UPPER), (True, LOWER)):
        yield Case(
            "solveh_banded",
            D,
            lambda x, lower=lower: linalg.solveh_banded(x, TALL, lower=lower),
            x,
            f"ab, lower={lower}",
            equation=solves(lambda x, lower=lower: x.each(lambda c: half(c, lower)), TALL),
        )
    yield Case(
        "solve_toeplitz",
        D,
        lambda x: linalg.solve_toeplitz(x, V),
        W,
        "c_or_cr",
        equation=solves(lambda x: x.each(sl.toeplitz), V),
    )
    yield Case(
        "solve_toeplitz",
        D,
        lambda x: linalg.solve_toeplitz((W, x), WIDE),
        W,
        "c_or_cr, a row",
        equation=solves(lambda x: x.each(lambda r: sl.toeplitz(W if r is x.c[0] else 0.0 * r, r)), WIDE),
    )
    yield Case(
        "matmul_toeplitz",
        D,
        lambda x: linalg.matmul_toeplitz((x, W[:2]), WIDE[:2]),
        W,
        "c_or_cr",
        equation=affine(lambda x: sl.matmul_toeplitz((x, W[:2]), WIDE[:2])),
    )
    yield Case(
        "matmul_toeplitz",
        D,
        lambda x: linalg.matmul_toeplitz(W, x),
        V,
        "x",
        equation=affine(lambda x: sl.matmul_toeplitz(W, x)),
    )
    yield Case(
        "solve_circulant",
        D,
        lambda x: linalg.solve_circulant(x, V),
        W,
        "c",
        equation=solves(lambda x: x.each(sl.circulant), V),
        single=False,
    )
    yield Case(
        "solve_circulant",
        D,
        lambda x: linalg.solve_circulant(W, x, outaxis=-1),
        WIDE,
        "b",
        equation=affine(lambda x: sl.solve_circulant(W, x, outaxis=-1)),
        single=False,
    )


def _determinant(x: Series) -> Series:
    a, b, c = (x[k] for k in range(3))

    def minor(i: int, j: int) -> Series:
        return b[i] * c[j] - b[j] * c[i]

    return a[0] * minor(1, 2) - a[1] * minor(0, 2) + a[2] * minor(0, 1)


# ---- least squares --------------------------------------------------------------------------------------------------


def _inverses(a: Series, p: Series) -> Pairs:
    """The four equations of Moore and Penrose."""
    yield from [(a @ p @ a, a), (p @ a @ p, p), (a @ p, (a @ p).T), (p @ a, (p @ a).T)]


def _least_squares() -> Iterator[Case]:
    yield Case("pinv", D, linalg.pinv, TALL, equation=_inverses)
    yield Case("pinv", D, lambda x: linalg.pinv(x, atol=1e-3, return_rank=True), WIDE, "atol, return_rank")
    yield Case("pinvh", D, lambda x: linalg.pinvh(sym(x)), SIGNED, equation=lambda x, p: [(sym(x) @ p, np.eye(3))])
    yield Case(
        "lstsq",
        D,
        lambda x: linalg.lstsq(x, BAND[1])[:2],
        TALL,
        equation=lambda x, p, r: [
            (x.T @ (x @ p - BAND[1]), np.zeros(3)),
            (((x @ p - BAND[1]) * (x @ p - BAND[1])).each(np.sum), r),
        ],
    )
    yield Case(
        "lstsq",
        D,
        lambda x: linalg.lstsq(x, V)[0],
        WIDE,
        "a, of more columns than rows",
        equation=lambda x, p: [(x @ p, V), (p, x.T @ inverted(x @ x.T) @ V)],
    )
    yield Case(
        "lstsq",
        D,
        lambda x: linalg.lstsq(TALL, x, lapack_driver="gelsy"),
        BAND[1],
        "b",
    )


# ---- factors --------------------------------------------------------------------------------------------------------


def _lower(x: Series) -> tuple[Series, Series]:
    return zero(x.each(lambda c: np.triu(c, 1)))


def _triangular_factors(x: Series, order: Any, l_: Series, u: Series) -> Pairs:
    yield l_ @ u, x[order]
    yield _lower(l_)
    yield l_.each(np.diag), np.ones(min(l_.c[0].shape))
    yield _lower(u.T)


def _order(x: Series) -> Any:
    """The rows of a matrix in the order of L U."""
    return np.argsort(sl.lu(x.c[0], p_indices=True)[0])


def _packed(x: Series, lu: Series) -> Pairs:
    k = min(x.c[0].shape)
    lower = lu.each(lambda c: np.tril(c[:, :k], -1)) + np.eye(len(x.c[0]), k)
    yield lower @ lu.each(lambda c: np.triu(c[:k])), x[_order(x)]


def _qr(x: Series, q: Series, r: Series) -> Pairs:
    yield q @ r, x
    yield orthonormal(q)
    yield _lower(r.T)


def _singular(x: Series, u: Series, s: Series, vh: Series) -> Pairs:
    yield u @ diagonal(s) @ vh, x
    yield orthonormal(u)
    yield orthonormal(vh.T)


def _further(x: Any) -> Any:
    """The projection on the further vectors."""
    u, s, vh = linalg.svd(x)
    rest = u[:, s.shape[0] :] if x.shape[0] > x.shape[1] else vh[s.shape[0] :].T
    return rest @ rest.T


def _complement(x: Series, p: Series) -> Pairs:
    yield zero(p @ x if x.c[0].shape[0] > x.c[0].shape[1] else x @ p)
    yield p @ p, p
    yield p, p.T


def _factors() -> Iterator[Case]:
    yield Case(
        "cholesky",
        D,
        lambda x: linalg.cholesky(positive(x)),
        A,
        equation=lambda x, p: [(p.T @ p, pd(x)), _lower(p.T)],
    )
    yield Case(
        "cholesky",
        D,
        lambda x: linalg.cholesky(positive(x), lower=True),
        A,
        "lower=True",
        equation=lambda x, p: [(p @ p.T, pd(x)), _lower(p)],
    )
    yield Case(
        "cho_factor",
        D,
        lambda x: linalg.cho_factor(positive(x), lower=True)[0],
        A,
        equation=lambda x, p: [
            (p.each(np.tril) @ p.each(np.tril).T, pd(x)),
            (p.each(lambda c: np.triu(c, 1)), pd(x).each(lambda c: np.triu(c, 1) * KEPT)),
        ],
    )
    for lower, read in ((False, np.triu), (True, np.tril)):
        yield Case(
            "cho_solve",
            D,
            lambda x, lower=lower: linalg.cho_solve((x, lower), WIDE),
            B,
            f"c_and_lower, lower={lower}",
            equation=solves(lambda x, lo=lower, f=read: _gram(x.each(f), lo), WIDE),
        )
        yield Case(
            "cholesky_banded",
            D,
            lambda x, lower=lower: linalg.cholesky_banded(x, lower=lower),
            LOWER if lower else UPPER,
            f"lower={lower}",
            equation=lambda x, p, lo=lower: [
                (_gram(p.each(lambda c: band(c, *((1, 0) if lo else (0, 1)))), lo), x.each(lambda c: half(c, lo)))
            ],
        )
        yield Case(
            "cho_solve_banded",
            D,
            lambda x, lower=lower: linalg.cho_solve_banded((x, lower), TALL),
            LOWER if lower else UPPER,
            f"cb_and_lower, lower={lower}",
            equation=solves(
                lambda x, lo=lower: _gram(x.each(lambda c: band(c, *((1, 0) if lo else (0, 1)))), lo), TALL
            ),
        )
    yield Case(
        "cho_solve",
        D,
        lambda x: linalg.cho_solve((B, True), x),
        V,
        "b",
        equation=affine(lambda x: sl.cho_solve((B, True), x)),
    )
    yield Case(
        "lu",
        D,
        linalg.lu,
        A,
        equation=lambda x, p, l_, u: [(p, p.c[0]), *_triangular_factors(x, _order(x), l_, u)],
    )
    for shape, x in (("more rows", TALL), ("more columns", WIDE)):
        yield Case(
            "lu",
            D,
            lambda x: linalg.lu(x, p_indices=True),
            x,
            f"p_indices=True, {shape}",
            equation=lambda x, l_, u: _triangular_factors(x, _order(x), l_, u),
        )
        yield Case("lu_factor", D, linalg.lu_factor, x, shape, equation=_packed)
    yield Case("lu_factor", D, linalg.lu_factor, A, equation=_packed)
    yield Case(
        "lu", D, lambda x: linalg.lu(x, permute_l=True), A, "permute_l=True", equation=lambda x, l_, u: [(l_ @ u, x)]
    )
    for trans in (0, 1, 2):
        yield Case(
            "lu_solve",
            D,
            lambda x, t=trans: linalg.lu_solve(linalg.lu_factor(x), WIDE, trans=t),
            A,
            f"lu_and_piv, trans={trans}",
            equation=solves(lambda x, t=trans: x.T if t else x, WIDE),
        )
    yield Case(
        "lu_solve",
        D,
        lambda x: linalg.lu_solve(sl.lu_factor(A), x),
        V,
        "b",
        equation=affine(lambda x: sl.lu_solve(sl.lu_factor(A), x)),
    )
    yield Case("qr", D, linalg.qr, A, equation=_qr)
    yield Case("qr", D, linalg.qr, TALL, "mode='full'", equation=_qr)
    yield Case("qr", D, lambda x: linalg.qr(x, mode="economic"), TALL, "mode='economic'", equation=_qr)
    yield Case(
        "qr",
        D,
        lambda x: linalg.qr(x, mode="r"),
        TALL,
        "mode='r'",
        equation=lambda x, r: [(r.T @ r, x.T @ x), _lower(r.T)],
    )
    yield Case(
        "qr",
        D,
        lambda x: linalg.qr(x, mode="economic", pivoting=True),
        TALL,
        "pivoting=True",
        equation=lambda x, q, r: _qr(x[:, sl.qr(x.c[0], pivoting=True)[2]], q, r),
    )
    yield Case("qr", N, lambda x: linalg.qr(x, mode="raw"), A, "mode='raw'", note="Its reflections are LAPACK's own.")
    yield Case(
        "qr_multiply",
        D,
        lambda x: linalg.qr_multiply(x, WIDE),
        TALL,
        equation=lambda x, p, r: [(p @ r, WIDE @ x), (r.T @ r, x.T @ x)],
    )
    yield Case(
        "qr_multiply",
        D,
        lambda x: linalg.qr_multiply(TALL, x, mode="left")[0],
        V,
        "c, mode='left'",
        equation=affine(lambda x: sl.qr_multiply(TALL, x, mode="left")[0]),
    )
    for mode, x in (("full", WIDE), ("economic", WIDE), ("full", TALL)):
        yield Case(
            "rq",
            D,
            lambda x, mode=mode: linalg.rq(x, mode=mode),
            x,
            f"mode={mode!r}, shape {x.shape}",
            equation=lambda x, r, q: [(r @ q, x), orthonormal(q.T), _lower(r[-min(r.c[0].shape) :].T[-3:])],
        )
    yield Case("svd", D, linalg.svd, A, equation=_singular)
    yield Case("svd", D, lambda x: linalg.svd(x, full_matrices=False), TALL, "full_matrices=False", equation=_singular)
    for x in (TALL, WIDE):
        yield Case(
            "svd",
            D,
            _further,
            x,
            f"full_matrices=True, shape {x.shape}",
            note="What depends on the further vectors one by one has no derivative.",
            equation=_complement,
        )
    yield Case("svdvals", D, linalg.svdvals, TALL, equation=lambda x, s: values_of(lambda x: x.T @ x)(x, s * s))
    yield Case("orth", D, linalg.orth, TALL, equation=_basis)
    for side, x in (("right", TALL), ("left", WIDE)):
        yield Case(
            "polar",
            D,
            lambda x, side=side: linalg.polar(x, side=side),
            x,
            f"side={side!r}",
            equation=lambda x, u, p, side=side: [
                (u @ p if side == "right" else p @ u, x),
                (p, p.T),
                orthonormal(u if side == "right" else u.T),
            ],
        )
    yield Case(
        "orthogonal_procrustes",
        D,
        lambda x: linalg.orthogonal_procrustes(x, TALL),
        TALL + 0.5 * np.eye(4, 3),
        equation=lambda x, r, s: [
            orthonormal(r),
            (r.T @ x.T @ TALL, (r.T @ x.T @ TALL).T),
            ((r.T @ x.T @ TALL).each(np.trace), s),
        ],
    )
    yield Case("subspace_angles", D, lambda x: linalg.subspace_angles(x, TALL[:, :2]), TALL[::-1, 1:].copy())
    yield Case(
        "hessenberg",
        D,
        lambda x: linalg.hessenberg(x, calc_q=True),
        np.pad(A, [(0, 1), (0, 1)], mode="reflect") + np.diag([1.0, 2.0, 3.0, 4.0]),
        equation=lambda x, h, q: [
            (q @ h @ q.T, x),
            orthonormal(q),
            zero(h.each(lambda c: np.tril(c, -2))),
        ],
    )
    yield Case(
        "matrix_balance",
        D,
        linalg.matrix_balance,
        np.array([[1.0, 100.0, 1e4], [0.11, 1.0, 10.0], [1.1e-2, 0.1, 1.0]]),
        equation=lambda x, b, t: [(t @ b, x @ t), (t, t.c[0])],
        note="The matrix T has derivative 0.",
    )


def _gram(c: Series, lower: bool) -> Series:
    return c @ c.T if lower else c.T @ c


def _basis(x: Series, q: Series) -> Pairs:
    yield orthonormal(q)
    yield q @ q.T @ x, x
    inner = q.T @ x @ x.T @ q
    yield zero(inner - inner.each(lambda c: np.diag(np.diag(c))))


# ---- eigenvalues ----------------------------------------------------------------------------------------------------


def _general(x: Series, w_re: Series, w_im: Series, v_re: Series, v_im: Series) -> Pairs:
    w, v = joined(w_re, w_im, v_re, v_im)
    yield x @ v, v * w[None]
    yield (v_re * v_re + v_im * v_im).each(lambda c: np.sum(c, 0)), np.ones(3)


def _eigenvalues() -> Iterator[Case]:
    yield Case("eig", D, lambda x: parts(*linalg.eig(x)), A, "a, complex eigenvalues", equation=_general, single=False)
    yield Case("eig", D, lambda x: parts(*linalg.eig(x)), B, "a, real eigenvalues", equation=_general)
    yield Case(
        "eig", N, lambda x: linalg.eig(x, P), A, "b", note="SciPy's vectors of two matrices have phases of their own."
    )
    yield Case(
        "eigvals",
        D,
        lambda x: parts(linalg.eigvals(x)),
        A,
        equation=lambda x, re, im: values_of(lambda x: x)(x, *joined(re, im)),
    )
    yield Case(
        "eigvals",
        D,
        lambda x: parts(linalg.eigvals(E, x)),
        B,
        "b",
        equation=lambda x, re, im: values_of(lambda x: inverted(x) @ E)(x, *joined(re, im)),
    )
    yield Case("eigh", D, lambda x: linalg.eigh(sym(x)), A, equation=pairs_of(sym))
    yield Case("eigh", D, lambda x: linalg.eigh(sym(x), lower=False), A, "lower=False", equation=pairs_of(sym))
    for kind in (1, 2, 3):
        yield Case(
            "eigh",
            D,
            lambda x, kind=kind: linalg.eigh(sym(x), P, type=kind),
            A,
            f"a, b, type={kind}",
            equation=pairs_of(sym, P, kind),
        )
    yield Case(
        "eigh",
        D,
        lambda x: linalg.eigh(sym(A), positive(x)),
        E,
        "b",
        equation=pairs_of(lambda x: sym(A), pd),
    )
    yield Case(
        "eigh", D, lambda x: linalg.eigh(sym(x), subset_by_index=[1, 2]), A, "subset_by_index", equation=_some_pairs
    )
    yield Case(
        "eigh", D, lambda x: linalg.eigh(sym(x), subset_by_value=[0.0, 9.0]), A, "subset_by_value", equation=_some_pairs
    )
    yield Case("eigvalsh", D, lambda x: linalg.eigvalsh(sym(x)), A, equation=values_of(sym))
    yield Case(
        "eigvalsh",
        D,
        lambda x: linalg.eigvalsh(sym(x), P, subset_by_index=[0, 1]),
        A,
        "b, subset_by_index",
    )
    for lower, x in ((False, UPPER), (True, LOWER)):
        matrix = _half_of(lower)
        yield Case(
            "eig_banded",
            D,
            lambda x, lower=lower: linalg.eig_banded(x, lower=lower),
            x,
            f"lower={lower}",
            equation=pairs_of(matrix),
        )
    yield Case(
        "eig_banded",
        D,
        lambda x: linalg.eig_banded(x, select="i", select_range=(0, 1)),
        UPPER,
        "select='i'",
        equation=lambda x, w, v: [(_half_of(False)(x) @ v, v @ diagonal(w)), orthonormal(v)],
    )
    yield Case("eigvals_banded", D, linalg.eigvals_banded, UPPER, equation=values_of(_half_of(False)))
    d = np.array([1.0, 2.0, 4.0, 3.0])
    yield Case(
        "eigh_tridiagonal",
        D,
        lambda x: linalg.eigh_tridiagonal(x, V),
        d,
        "d",
        equation=pairs_of(lambda x: x.each(np.diag) + np.diag(V, 1) + np.diag(V, -1)),
    )
    yield Case(
        "eigh_tridiagonal",
        D,
        lambda x: linalg.eigh_tridiagonal(d, x, select="v", select_range=(1.5, 9.0)),
        V,
        "e, select='v'",
        equation=lambda x, w, v: [((_beside(x) + np.diag(d)) @ v, v @ diagonal(w)), orthonormal(v)],
    )
    yield Case(
        "eigvalsh_tridiagonal",
        D,
        lambda x: linalg.eigvalsh_tridiagonal(d, x),
        V,
        "e",
        equation=values_of(lambda x: _beside(x) + np.diag(d)),
    )
    yield Case(
        "cdf2rdf",
        D,
        lambda x: linalg.cdf2rdf(*linalg.eig(x)),
        A,
        "w, v",
        single=False,
        equation=lambda x, w, v: [(x @ v, v @ w), (w[0, 0], w[1, 1]), (w[0, 1], -w[1, 0])],
    )


def _some_pairs(x: Series, w: Series, v: Series) -> Pairs:
    yield sym(x) @ v, v @ diagonal(w)
    yield orthonormal(v)


def _half_of(lower: bool) -> Callable[[Series], Series]:
    return lambda x: x.each(lambda c: half(c, lower))


def _beside(x: Series) -> Series:
    return x.each(lambda c: np.diag(c, 1) + np.diag(c, -1))


# ---- functions ------------------------------------------------------------------------------------------------------


def _functions() -> Iterator[Case]:
    yield Case("expm", D, linalg.expm, A, equation=function(sl.expm))
    yield Case("expm", D, linalg.expm, 3.0 * A, "A, a large one", equation=function(sl.expm))
    yield Case("expm", D, linalg.expm, np.stack([A, B]), "A, a stack")
    for name in ("cosm", "sinm", "coshm", "sinhm"):
        yield Case(name, D, getattr(linalg, name), A, equation=function(getattr(sl, name)))
    for name in ("tanm", "tanhm"):
        yield Case(name, D, getattr(linalg, name), 0.5 * A, equation=function(getattr(sl, name)))
    yield Case("logm", D, linalg.logm, B, equation=function(sl.logm), single=False)
    yield Case("sqrtm", D, linalg.sqrtm, B, equation=lambda x, p: [(p @ p, x)])
    yield Case(
        "sqrtm",
        D,
        lambda x: parts(linalg.sqrtm(x)),
        COMPLEX,
        "A, with a complex root",
        equation=lambda x, re, im: [(re @ re - im @ im, x), zero(re @ im + im @ re)],
    )
    yield Case(
        "fractional_matrix_power",
        D,
        lambda x: linalg.fractional_matrix_power(x, 0.5),
        B,
        equation=lambda x, p: [(p @ p, x)],
        single=False,
    )
    yield Case(
        "fractional_matrix_power",
        D,
        lambda x: linalg.fractional_matrix_power(x, -2),
        B,
        "A, t whole",
        equation=lambda x, p: [(p @ x @ x, np.eye(3))],
    )
    yield Case(
        "fractional_matrix_power",
        D,
        lambda t: linalg.fractional_matrix_power(B, t),
        np.array(0.25),
        "t",
        single=False,
    )
    yield Case("signm", D, linalg.signm, SIGNED, equation=lambda x, p: [(p @ p, np.eye(3)), (p @ x, x @ p)])
    yield Case(
        "funm",
        D,
        lambda x: linalg.funm(x, np.exp),
        SIGNED,
        equation=function(sl.expm),
        note="The function is called with traced eigenvalues.",
    )
    yield Case("expm_frechet", D, lambda x: linalg.expm_frechet(x, E), A, "A", equation=_frechet)
    yield Case(
        "expm_frechet",
        D,
        lambda x: linalg.expm_frechet(A, x, compute_expm=False),
        E,
        "E",
        equation=affine(lambda x: sl.expm_frechet(A, x, compute_expm=False)),
    )
    yield Case("expm_cond", D, linalg.expm_cond, A[:2, :2].copy())


def _frechet(x: Series, p: Series, along: Series) -> Pairs:
    whole = x.each(lambda c: np.kron(np.eye(2), c)) + np.kron(np.eye(2, k=1), E)
    found = of_function(sl.expm, whole)
    yield p, found[:3, :3]
    yield along, found[:3, 3:]


# ---- equations ------------------------------------------------------------------------------------------------------


def _equations() -> Iterator[Case]:
    yield Case(
        "solve_sylvester",
        D,
        lambda x: linalg.solve_sylvester(x, P, E),
        B,
        "a",
        equation=lambda x, p: [(x @ p + p @ P, E)],
    )
    yield Case(
        "solve_sylvester",
        D,
        lambda x: linalg.solve_sylvester(B, x, E),
        P,
        "b",
        equation=lambda x, p: [(B @ p + p @ x, E)],
    )
    yield Case(
        "solve_sylvester",
        D,
        lambda x: linalg.solve_sylvester(B, P, x),
        E,
        "q",
        equation=affine(lambda x: sl.solve_sylvester(B, P, x)),
    )
    for name in ("solve_continuous_lyapunov", "solve_lyapunov"):
        yield Case(
            name, D, lambda x, name=name: getattr(linalg, name)(x, E), B, equation=lambda x, p: [(x @ p + p @ x.T, E)]
        )
    for method in ("direct", "bilinear"):
        yield Case(
            "solve_discrete_lyapunov",
            D,
            lambda x, method=method: linalg.solve_discrete_lyapunov(x, E, method=method),
            0.5 * A,
            f"a, method={method!r}",
            equation=lambda x, p: [(x @ p @ x.T + E, p)],
        )
    for name, residual in (("solve_continuous_are", stationary), ("solve_discrete_are", discrete)):
        f, b, r = getattr(linalg, name), E[:, :2].copy(), np.array([[2.0, 0.25], [0.25, 1.0]])
        yield Case(name, D, lambda x, f=f, b=b, r=r: f(x, b, P, r), A, "a", equation=_of(residual, 0, b, r))
        yield Case(name, D, lambda x, f=f, r=r: f(A, x, P, r), b, "b", equation=_of(residual, 1, b, r))
        yield Case(name, D, lambda x, f=f, b=b, r=r: f(A, b, sym(x), r), P, "q", equation=_of(residual, 2, b, r))
        yield Case(name, D, lambda x, f=f, b=b: f(A, b, P, sym(x)), r, "r", equation=_of(residual, 3, b, r))
        yield Case(name, D, lambda x, f=f, b=b, r=r: f(A, b, P, r, e=x), B, "e", equation=_of(residual, 4, b, r))
        yield Case(
            name, D, lambda x, f=f, b=b, r=r: f(A, b, P, r, s=x), 0.125 * b, "s", equation=_of(residual, 5, b, r)
        )


def _of(residual: Callable[..., Pairs], k: int, b: Any, r: Any) -> Callable[..., Pairs]:
    """A Riccati equation with a series for its k-th matrix."""

    def equation(x: Series, p: Series) -> Pairs:
        given: list[Any] = [A, b, P, r, np.eye(3), 0.0 * b]
        given[k] = sym(x) if k in (2, 3) else x
        if residual is stationary and k == 3:
            given[k] = inverted(given[k])
        yield from residual(p, *given)
        yield p, p.T

    return equation


# ---- matrices with a pattern ----------------------------------------------------------------------------------------


def _special() -> Iterator[Case]:
    def linear(name: str, f: Callable[[Any, Any], Any], x: Any, argument: str = "") -> Case:
        return Case(name, D, lambda x: f(linalg, x), x, argument, equation=affine(lambda x: f(sl, x)))

    yield linear("block_diag", lambda m, x: m.block_diag(x, 2.0, TALL, 3.0 * x), A)
    yield linear("toeplitz", lambda m, x: m.toeplitz(x), V)
    yield linear("toeplitz", lambda m, x: m.toeplitz(W, x), V[:2], "r")
    yield linear("hankel", lambda m, x: m.hankel(x), V)
    yield linear("hankel", lambda m, x: m.hankel(W, x), V, "r")
    yield linear("circulant", lambda m, x: m.circulant(x), V)
    yield linear("leslie", lambda m, x: m.leslie(x, W[:2]), V)
    yield linear("leslie", lambda m, x: m.leslie(V, x), W[:2], "s")
    yield linear("diagsvd", lambda m, x: m.diagsvd(x, 3, 5), V)
    yield linear("khatri_rao", lambda m, x: m.khatri_rao(x, TALL), A)
    if not LATEST:
        yield linear("kron", lambda m, x: m.kron(x, TALL), A)
    for mode in ("full", "valid", "same"):
        yield linear("convolution_matrix", lambda m, x, k=mode: m.convolution_matrix(x, 2, k), V, f"a, mode={mode!r}")
    yield Case(
        "fiedler",
        D,
        linalg.fiedler,
        V,
        equation=lambda x, p: [(p, x.each(lambda c: (c[:, None] - c) * np.sign(V[:, None] - V)))],
    )
    polynomial = np.array([2.0, 1.0, 3.0, -4.0, 5.0])
    for name in ("companion", "fiedler_companion"):
        yield Case(name, D, getattr(linalg, name), polynomial, equation=_companion(getattr(sl, name)))


def _companion(f: Callable[[Any], Any]) -> Callable[..., Pairs]:
    """An affine function of a[1:] / a[0]."""

    def equation(x: Series, p: Series) -> Pairs:
        first = x[0].each(lambda c: np.reshape(c, (1, 1)))
        ratio = x * inverted(first).each(np.ravel)
        yield p, ratio.each(lambda c: f(np.concatenate([[1.0], c[1:]]))) - _ones(f, p)

    return equation


def _ones(f: Callable[[Any], Any], p: Series) -> Series:
    """What f adds to each coefficient but the first."""
    one = f(np.eye(1, 5)[0])
    return Series([0.0 * one, *(one for _ in range(4))])


# ---- the rest -------------------------------------------------------------------------------------------------------


def _others() -> Iterator[Case]:
    yield Case("bandwidth", C, linalg.bandwidth, np.triu(A, -1))
    yield Case("issymmetric", C, linalg.issymmetric, P)
    yield Case("ishermitian", C, linalg.ishermitian, A)
    pair = sl.qr(A)
    refused: dict[str, tuple[Callable[[Any], Any], str]] = {
        "null_space": (linalg.null_space, "A matrix does not determine the basis of its null space."),
        "schur": (linalg.schur, "It depends on an order of eigenvalues and on phases."),
        "rsf2csf": (lambda x: linalg.rsf2csf(*sl.schur(A)) and linalg.rsf2csf(x, x), "As `schur`."),
        "qz": (lambda x: linalg.qz(x, P), "As `schur`."),
        "ordqz": (lambda x: linalg.ordqz(x, P), "As `schur`."),
        "cossin": (lambda x: linalg.cossin(x, 1, 1), "The blocks do not determine all of the vectors."),
        "ldl": (linalg.ldl, "Which blocks have one row depends on values."),
        "qr_delete": (lambda x: linalg.qr_delete(x, pair[1], 0), "SciPy chooses the signs as it goes."),
        "qr_insert": (lambda x: linalg.qr_insert(*pair, x[0], 0), "SciPy chooses the signs as it goes."),
        "qr_update": (lambda x: linalg.qr_update(*pair, x[0], V), "SciPy chooses the signs as it goes."),
        "clarkson_woodruff_transform": (
            lambda x: linalg.clarkson_woodruff_transform(x, 2, 0),
            "It draws a random matrix at each call.",
        ),
    }
    for name, (f, reason) in refused.items():
        yield Case(name, N, f, A, note=reason)


# Of sizes alone, or of no numbers: SciPy's own functions.
CONSTANTS = """
dft find_best_blas_type get_blas_funcs get_lapack_funcs hadamard helmert hilbert invhilbert invpascal pascal
""".split()


def _is_taken(row: Case) -> bool:
    if LATEST or row.kind is N:
        return True
    try:
        row.f(row.x)
    except (AttributeError, TypeError, ValueError):
        return False
    return True


_ALL: list[Case] = [
    *_systems(),
    *_least_squares(),
    *_factors(),
    *_eigenvalues(),
    *_functions(),
    *_equations(),
    *_special(),
    *_others(),
]
ROWS = list(filter(_is_taken, _ALL))
