"""NumPy's functions that are constant almost everywhere, structural, or impossible; and those that select or count.

The last are differentiable in what they select, and in the weights of what they count.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from covered.rows import Kind, Row
from numpy.lib import recfunctions

V = np.array([0.5, -1.25, 2.0])
W = np.array([0.5, 2.0, -1.25, 0.75, 3.0, -0.25])
T = np.array([2.0, 0.5, 2.0, -1.0, 0.5])  # with items that are equal
Z = np.array([0.0, 0.5, 0.0, -1.25, 0.0])
M = np.array([[1.0, 5.0, 2.0], [7.0, -1.0, 0.5]])
N = np.array([[np.nan, 5.0, 2.0], [7.0, -1.0, np.nan]])
R = np.array([[1.0, 2.0], [2.0, 4.0]])
E = np.zeros((0, 3))
F32 = V.astype(np.float32)
EDGES = np.array([-2.0, 0.0, 0.75, 2.0])
TEXT = "1.5 2.5"
RECORDS = np.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)])

Asked = tuple[str, Callable[[Any], Any], Any]
"""(what is traced, and how; the call; the argument)"""


def since(version: str, *asked: Asked) -> tuple[Asked, ...]:
    """Calls that NumPy takes from a version on."""
    return asked if np.lib.NumpyVersion(np.__version__) >= f"{version}.0" else ()


def rows(kind: Kind, name: str, *asked: Asked, **facts: Any) -> list[Row]:
    return [Row(name, kind, f, x, argument, **facts) for argument, f, x in asked]


def _methods(u: np.ufunc) -> dict[str, Callable[[Any], Any]]:
    return {
        "reduce": lambda x: u.reduce(x, axis=1),
        "accumulate": lambda x: u.accumulate(x, axis=1),
        "reduceat": lambda x: u.reduceat(x, [0, 2, 1], axis=1),
    }


def _at(u: np.ufunc, y: Any, *places: Any) -> Any:
    u.at(y, *places)
    return y


def refused(name: str, note: str, f: Callable[[Any], Any], x: Any = V) -> list[Row]:
    return [Row(name, Kind.IMPOSSIBLE, f, x, note=note)]


def ints(x: Any, modulus: int = 5) -> Any:
    """Traced integers."""
    return np.remainder(np.floor(x * 4.0).astype(np.int64), modulus)


C, S, D = Kind.CONSTANT, Kind.STRUCTURAL, Kind.DIFFERENTIABLE

CONSTANT = [
    *rows(
        C,
        "numpy.argmax",
        ("a", np.argmax, V),
        ("a, axis=0", lambda x: np.argmax(x, axis=0), M),
        ("a, keepdims=True", lambda x: np.argmax(x, keepdims=True), M),
        ("a with ties", np.argmax, T),
        ("a of nan", np.argmax, N),
    ),
    *rows(C, "numpy.argmin", ("a", np.argmin, V), ("a, axis=-1", lambda x: np.argmin(x, axis=-1), M)),
    *rows(
        C,
        "numpy.nanargmax",
        ("a", np.nanargmax, N),
        ("a, axis=0", lambda x: np.nanargmax(x, axis=0), N),
        ("a, keepdims=True", lambda x: np.nanargmax(x, axis=1, keepdims=True), N),
        ("a of float32", np.nanargmax, N.astype(np.float32)),
    ),
    *rows(C, "numpy.nanargmin", ("a", np.nanargmin, N), ("a, axis=1", lambda x: np.nanargmin(x, axis=1), N)),
    *rows(C, "numpy.argsort", ("a", np.argsort, V), ("a, axis=None", lambda x: np.argsort(x, axis=None), M)),
    *rows(C, "numpy.argpartition", ("a", lambda x: np.argpartition(x, 1), V)),
    *rows(
        C,
        "numpy.searchsorted",
        ("v", lambda v: np.searchsorted(EDGES, v), V),
        ("a", lambda a: np.searchsorted(a, V, side="right"), EDGES),
    ),
    *rows(
        C,
        "numpy.digitize",
        ("x", lambda x: np.digitize(x, EDGES), V),
        ("x, right=True", lambda x: np.digitize(x, EDGES, right=True), V),
        ("x, falling bins", lambda x: np.digitize(x, EDGES[::-1]), M),
        ("bins", lambda b: np.digitize(V, b), EDGES),
        ("falling bins, right=True", lambda b: np.digitize(V, b, right=True), EDGES[::-1]),
        ("x of nan", lambda x: np.digitize(x, EDGES), N),
    ),
    *rows(
        C,
        "numpy.lexsort",
        ("keys", lambda x: np.lexsort((x, np.array([1, 0, 1, 0, 1]))), T),
        ("one of the keys is a list", lambda x: np.lexsort((x[::-1], [1, 0, 1, 0, 1])), T),
        ("a matrix", np.lexsort, M),
        ("a matrix, axis=0", lambda x: np.lexsort((x, -x), axis=0), M),
    ),
    *rows(
        C,
        "numpy.isclose",
        ("a", lambda x: np.isclose(x, [0.5, -1.25 + 1e-9, 2.1]), V),
        ("b", lambda x: np.isclose(0.5, x), V),
        ("rtol", lambda r: np.isclose(V, V + 0.1, rtol=r), 0.1),
        ("atol", lambda r: np.isclose(V, V + 0.1, atol=r), V),
        ("a, equal_nan=True", lambda x: np.isclose(x, N, equal_nan=True), N),
        ("a of float32", lambda x: np.isclose(x, 0.5), F32),
        ("a, an infinity", lambda x: np.isclose(x / 0.25, [np.inf, -np.inf, 8.0]), np.array([np.inf, np.inf, 2.0])),
        ("a number", lambda x: np.isclose(x, 2.0), 2.0),
    ),
    *rows(
        C,
        "numpy.allclose",
        ("a", lambda x: np.allclose(x, V), V),
        ("b", lambda x: np.allclose(V, x, atol=1e-3), V + 0.1),
        ("a, equal_nan=True", lambda x: np.allclose(x, N, equal_nan=True), N),
        ("of nothing", lambda x: np.allclose(x, E), E),
        ("a in a list", lambda x: np.allclose(x, [x[0], -1.25, 2.0]), V),
    ),
    *rows(
        C,
        "numpy.array_equal",
        ("a1", lambda x: np.array_equal(x, V), V),
        ("a2", lambda x: np.array_equal(V + 1.0, x), V),
        ("a1 of another shape", lambda x: np.array_equal(x, V[:2]), V),
        ("a1 of nan", lambda x: np.array_equal(x, N), N),
        ("a1, equal_nan=True", lambda x: np.array_equal(x, N, equal_nan=True), N),
    ),
    *rows(
        C,
        "numpy.array_equiv",
        ("a1", lambda x: np.array_equiv(x, 0.5), V),
        ("a2", lambda x: np.array_equiv([0.5, 0.5], x[:1]), V),
        ("shapes that do not fit", lambda x: np.array_equiv(x, [1.0, 2.0]), V),
    ),
    *rows(
        C,
        "numpy.isin",
        ("element", lambda x: np.isin(x, [2.0, 0.5]), M),
        ("element, invert=True", lambda x: np.isin(x, [2.0, 0.5], invert=True), M),
        ("element, assume_unique=True", lambda x: np.isin(x, [2.0, 0.5], assume_unique=True), V),
        ("test_elements", lambda x: np.isin(T, x), V),
        ("element of nan", lambda x: np.isin(x, [np.nan, 5.0]), N),
        ("a number", lambda x: np.isin(x, [2.0]), 2.0),
    ),
    *rows(C, "numpy.isposinf", ("x", np.isposinf, np.array([np.inf, -np.inf, np.nan, 1.0]))),
    *rows(C, "numpy.isneginf", ("x", np.isneginf, np.array([np.inf, -np.inf, np.nan, 1.0]))),
    *rows(C, "numpy.isreal", ("x", np.isreal, V), ("of complex numbers", lambda x: np.isreal(x + 1j * x**2), Z)),
    *rows(C, "numpy.iscomplex", ("x", np.iscomplex, V), ("of complex numbers", lambda x: np.iscomplex(x + 1j * x), Z)),
    *rows(
        C,
        "numpy.nonzero",
        ("a", lambda x: np.nonzero(x)[0], Z),
        ("a, a matrix", lambda x: np.stack(np.nonzero(x > 1.0)), M),
        ("a of nan", lambda x: np.stack(np.nonzero(x)), N),
        ("a backwards", lambda x: np.nonzero(x[::-2])[0], Z),
        ("nothing", lambda x: np.nonzero(x)[1], E),
        ("a number", lambda x: np.nonzero(np.atleast_1d(x))[0], 2.0),
    ),
    *rows(C, "numpy.ndarray.nonzero", ("", lambda x: x.nonzero()[0], Z)),
    *rows(C, "numpy.where", ("condition alone", lambda x: np.stack(np.where(x > 0.75)), M)),
    *rows(C, "numpy.flatnonzero", ("a", lambda x: np.flatnonzero(x < 1.0), M)),
    *rows(C, "numpy.argwhere", ("a", np.argwhere, Z), ("a matrix", lambda x: np.argwhere(x > 0.75), M)),
    *rows(C, "numpy.argwhere", ("a number", np.argwhere, 2.0)),
    *rows(
        C,
        "numpy.count_nonzero",
        ("a", np.count_nonzero, Z),
        ("a, axis=0", lambda x: np.count_nonzero(x > 0.75, axis=0), M),
        ("a, keepdims=True", lambda x: np.count_nonzero(x, axis=1, keepdims=True), M),
        ("of complex numbers", lambda x: np.count_nonzero(1j * x), Z),
        ("nothing", np.count_nonzero, E),
    ),
    *rows(
        C,
        "numpy.ravel_multi_index",
        ("multi_index", lambda x: np.ravel_multi_index((ints(x), ints(x, 3)), (5, 3)), W),
        ("multi_index, mode='wrap'", lambda x: np.ravel_multi_index((ints(x), ints(x)), (2, 3), mode="wrap"), W),
        ("multi_index, order='F'", lambda x: np.ravel_multi_index((ints(x), [0, 1, 2]), (5, 3), order="F"), V),
    ),
    *rows(
        C,
        "numpy.unravel_index",
        ("indices", lambda x: np.unravel_index(ints(x), (2, 3)), W),
        ("of a place", lambda x: np.unravel_index(np.argmax(x), x.shape), M),
        ("indices, order='F'", lambda x: np.unravel_index(ints(x), (2, 3), order="F"), W),
    ),
    *rows(
        C,
        "numpy.ix_",
        ("places", lambda x: np.ix_(np.argsort(x), [0, 1])[0], V),
        ("a mask", lambda x: np.ix_([2, 0], x > 0.0)[1], V),
    ),
    *rows(C, "numpy.bincount", ("x", lambda x: np.bincount(ints(x)), W)),
    *rows(C, "numpy.bincount", ("x, minlength=9", lambda x: np.bincount(ints(x), minlength=9), W)),
    *rows(C, "numpy.bincount", ("x, plain weights", lambda x: np.bincount(ints(x), np.arange(6.0)), W)),
    *rows(
        C,
        "numpy.histogram",
        ("a, edges that are given", lambda x: np.histogram(x, EDGES), W),
        ("a, range", lambda x: np.histogram(x, 3, (-1.0, 2.0)), W),
        ("a, range, density=True", lambda x: np.histogram(x, 3, (-1.0, 2.0), density=True), W),
        ("a of nan, range", lambda x: np.histogram(x, 3, (-1.0, 5.0)), N),
    ),
    *rows(C, "numpy.histogram2d", ("x, range", lambda x: np.histogram2d(x, W[::-1], 2, [[-2, 3], [-2, 3]]), W)),
    *rows(C, "numpy.histogramdd", ("sample, of given edges", lambda x: np.histogramdd(x, [EDGES, EDGES, EDGES]), M)),
    *rows(
        C,
        "numpy.linalg.matrix_rank",
        ("A", np.linalg.matrix_rank, R),
        ("A, a stack", lambda x: np.linalg.matrix_rank(np.stack([x, x + np.eye(2)])), R),
        ("A, hermitian=True", lambda x: np.linalg.matrix_rank(x, hermitian=True), R),
        ("A, a vector", np.linalg.matrix_rank, V),
        ("tol", lambda t: np.linalg.matrix_rank(np.diag([1.0, 1e-3]), t), 0.01),
        ("rtol", lambda t: np.linalg.matrix_rank(np.diag([1.0, 1e-3]), rtol=t), 0.01),
    ),
    *rows(C, "numpy.packbits", ("a", lambda x: np.packbits(x > 0.0), W), ("axis", lambda x: np.packbits(x > 1, 0), M)),
    *rows(C, "numpy.unpackbits", ("a", lambda x: np.unpackbits(ints(x).astype(np.uint8)), W)),
    *rows(C, "numpy.unpackbits", ("count=3", lambda x: np.unpackbits(ints(x).astype(np.uint8), count=3), W)),
    *[
        row
        for ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm, np.left_shift, np.right_shift)
        for row in rows(
            C,
            f"numpy.{ufunc.__name__}",
            ("x1", lambda x, f=ufunc: f(ints(x), 3), W),
            ("x2", lambda x, f=ufunc: f(np.arange(6, dtype=np.int32), ints(x).astype(np.int32)), W),
            ("both", lambda x, f=ufunc: f(ints(x)[:, None], ints(x, 3)), V),
        )
    ],
    *rows(C, "numpy.bitwise_and", ("booleans", lambda x: np.bitwise_and(x > 0.0, x < 1.0), W)),
    *rows(C, "numpy.invert", ("x", lambda x: np.invert(ints(x)), W), ("booleans", lambda x: np.invert(x > 0.0), W)),
    *rows(C, "numpy.bitwise_count", ("x", lambda x: np.bitwise_count(ints(x)), W)),
    *[
        row
        for ufunc in (np.gcd, np.lcm, np.left_shift, np.right_shift)
        for row in (
            *rows(C, f"numpy.{ufunc.__name__}.at", ("a", lambda x, f=ufunc: _at(f, ints(x), [0, 2, 2], 3), W)),
            *rows(
                C, f"numpy.{ufunc.__name__}.at", ("b", lambda x, f=ufunc: _at(f, ints(9.0 * W, 9), 1, ints(x)[0]), W)
            ),
            *rows(C, f"numpy.{ufunc.__name__}.outer", ("", lambda x, f=ufunc: f.outer(ints(x), ints(x, 3)), W)),
        )
    ],
    *rows(C, "numpy.bitwise_count.at", ("a", lambda x: _at(np.bitwise_count, ints(x), [0, 2, 3]), W)),
    *rows(C, "numpy.ldexp.reduce", ("", lambda x: np.ldexp.reduce(ints(x)), V), note="Of integers."),
    *rows(C, "numpy.signbit", ("x", np.signbit, Z)),
    *rows(C, "numpy.spacing", ("x", np.spacing, V)),
    *rows(C, "numpy.floor_divide", ("x1", lambda x: np.floor_divide(x, 0.3), V)),
    *rows(C, "numpy.floor_divide", ("x2", lambda x: np.floor_divide(7.1, x), V)),
    *rows(C, "numpy.heaviside", ("x1", lambda x: np.heaviside(x, 0.5), V)),
    *rows(C, "numpy.unique_inverse", ("x, inverse", lambda x: np.unique_inverse(x).inverse_indices, T)),
    *rows(C, "numpy.unique_counts", ("x, counts", lambda x: np.unique_counts(x).counts, T)),
    *rows(C, "numpy.ndarray.argpartition", ("", lambda x: x.argpartition(1), V)),
    *rows(C, "numpy.ndarray.argsort", ("", lambda x: x.argsort(), V)),
    *rows(C, "numpy.ndarray.argmax", ("", lambda x: x.argmax(axis=1), M)),
    *rows(C, "numpy.ndarray.argmin", ("", lambda x: x.argmin(), M)),
    *rows(C, "numpy.ndarray.searchsorted", ("", lambda x: x.searchsorted([0.1, 3.0]), EDGES)),
]

SELECTED = [
    *rows(
        D,
        "numpy.unique",
        ("ar", np.unique, W),
        ("ar, a matrix", np.unique, M[:, ::-1]),
        ("all results", lambda x: np.unique(x, True, True, True), W.reshape(2, 3)),
        ("axis=0", lambda x: np.unique(x, axis=0), np.array([[2.5, 1.0], [0.5, 3.0], [2.0, -1.0]])),
        ("axis=1, all results", lambda x: np.unique(x, True, True, True, axis=1), M),
        *since("2.3", ("sorted=False", lambda x: np.unique(x, sorted=False), W)),
        ("a number", np.unique, 2.0),
        analytic=False,
    ),
    *rows(D, "numpy.unique_values", ("x", np.unique_values, W), analytic=False),
    *rows(D, "numpy.unique_all", ("x", np.unique_all, W), analytic=False),
    *rows(D, "numpy.unique_counts", ("x", np.unique_counts, W), analytic=False),
    *rows(D, "numpy.unique_inverse", ("x", np.unique_inverse, W.reshape(3, 2)), analytic=False),
    *rows(D, "numpy.union1d", ("ar1", lambda x: np.union1d(x, [0.1, 7.0]), V), analytic=False),
    *rows(D, "numpy.union1d", ("ar2", lambda x: np.union1d(M, x), V + 0.1), analytic=False),
    *rows(D, "numpy.intersect1d", ("both", lambda x: np.intersect1d(x, x[::-1]), V), analytic=False),
    *rows(
        D, "numpy.intersect1d", ("indices", lambda x: np.intersect1d(x, 1.0 * x[:2], False, True), V), analytic=False
    ),
    *rows(
        D,
        "numpy.intersect1d",
        ("assume_unique", lambda x: np.intersect1d(x, x[:2], True, True), V),
        analytic=False,
    ),
    *rows(D, "numpy.setdiff1d", ("ar1", lambda x: np.setdiff1d(x, [7.0]), W), analytic=False),
    *rows(D, "numpy.setdiff1d", ("ar2", lambda x: np.setdiff1d(x[:4], x[2:], True), W), analytic=False),
    *rows(D, "numpy.setxor1d", ("ar1", lambda x: np.setxor1d(x, [7.0]), W), analytic=False),
    *rows(D, "numpy.setxor1d", ("both", lambda x: np.setxor1d(x[:4], x[2:], True), W), analytic=False),
    *rows(D, "numpy.sort_complex", ("a", lambda x: np.sort_complex(x).real, V), analytic=False),
    *rows(
        D,
        "numpy.sort_complex",
        ("a of complex numbers", lambda x: np.sort_complex(x + 1j * x**2).imag, V),
        analytic=False,
    ),
    *rows(
        D,
        "numpy.trim_zeros",
        ("filt", lambda x: np.trim_zeros(np.concatenate([[0.0, 0.0], x, [0.0]])), V),
        ("filt, trim='f'", lambda x: np.trim_zeros(np.concatenate([[0.0, 0.0], x, [0.0]]), "f"), V),
        ("filt, trim='B'", lambda x: np.trim_zeros(np.concatenate([[0.0, 0.0], x, [0.0]]), "B"), V),
        *since("2.2", ("filt, a matrix", lambda x: np.trim_zeros(np.pad(x, 1)), M)),
        *since("2.2", ("filt, axis=0", lambda x: np.trim_zeros(np.pad(x, 1), axis=0), M)),
    ),
    *rows(D, "numpy.real_if_close", ("a", np.real_if_close, V), analytic=False),
    *rows(D, "numpy.real_if_close", ("of complex numbers", lambda x: np.real_if_close(x + 0j * x), V), analytic=False),
    *rows(D, "numpy.real_if_close", ("of others", lambda x: np.real_if_close(x + 1j * x).real, V), analytic=False),
    *rows(D, "numpy.astype", ("x", lambda x: np.astype(x, np.complex128).real, V), analytic=False),
    *rows(D, "numpy.ndarray.tolist", ("", lambda x: x.tolist(), M), ("a number", lambda x: x[0].tolist(), V)),
    *rows(D, "numpy.ndarray.item", ("", lambda x: x.item(1, 2), M)),
    *rows(D, "numpy.ndarray.to_device", ("", lambda x: x.to_device("cpu"), V)),
    *rows(
        D,
        "numpy.ndarray.choose",
        ("choices", lambda x: np.argsort(x).choose(np.stack([x, 2.0 * x, x**2])), V),
        analytic=False,
    ),
    *rows(D, "numpy.ndarray.compress", ("", lambda x: x.compress([True, False, True]), V)),
    *rows(D, "numpy.ndarray.repeat", ("", lambda x: x.repeat(2), V)),
]


def in_place(write: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What an array holds after it was written to."""

    def f(x: Any) -> Any:
        y = x * 1.0
        write(y)
        return y

    return f


WRITTEN = [
    *rows(D, "numpy.ndarray.partition", ("", in_place(lambda y: y.partition(1)), V), analytic=False),
    *rows(D, "numpy.ndarray.sort", ("", in_place(lambda y: y.sort(0)), M), analytic=False),
    *rows(D, "numpy.ndarray.put", ("", in_place(lambda y: y.put([0, 2], y[1])), V)),
    *rows(D, "numpy.ndarray.fill", ("", in_place(lambda y: y.fill(2.0 * y[1])), V)),
]

COUNTED = [
    *rows(
        D,
        "numpy.bincount",
        ("weights", lambda w: np.bincount([2, 0, 2], w), V),
        ("weights, minlength=5", lambda w: np.bincount(np.array([2, 0, 2]), weights=w, minlength=5), V),
        ("both", lambda x: np.bincount(ints(x), weights=x**2), V + 0.1),
        analytic=False,
    ),
    *rows(
        D,
        "numpy.histogram",
        ("a", np.histogram, W),
        ("a, density=True", lambda x: np.histogram(x, 3, density=True), W),
        ("a, bins='sturges'", lambda x: np.histogram(x, "sturges"), W),
        ("weights", lambda w: np.histogram(W, 3, weights=w), W + 1.0),
        ("weights, edges that are given", lambda w: np.histogram(W, EDGES, weights=w), W + 1.0),
        ("weights, density=True", lambda w: np.histogram(W, 3, weights=w, density=True), W + 1.5),
        ("bins, density=True", lambda e: np.histogram(W, e, density=True), EDGES + 0.01),
        ("range", lambda x: np.histogram(x, 3, (x[2] - 0.01, x[1] + 0.01)), W),
        analytic=False,
    ),
    *rows(
        D,
        "numpy.histogram_bin_edges",
        ("a", np.histogram_bin_edges, W),
        ("a, bins='auto'", lambda x: np.histogram_bin_edges(x, "auto"), W),
        ("a number of times", lambda x: np.histogram_bin_edges(x, 3), V[:1]),
        ("range", lambda x: np.histogram_bin_edges(W, 4, (x[0], x[1])), np.array([-1.1, 2.2])),
        analytic=False,
    ),
    *rows(
        D,
        "numpy.histogram2d",
        ("x", lambda x: np.histogram2d(x, W[::-1], 3), W),
        ("y, density=True", lambda x: np.histogram2d(W[::-1], x, [2, 3], density=True), W),
        ("weights", lambda w: np.histogram2d(W, W[::-1], 2, weights=w), W),
        analytic=False,
    ),
    *rows(
        D,
        "numpy.histogramdd",
        ("sample", lambda x: np.histogramdd(x, 2), W.reshape(3, 2)),
        ("weights", lambda w: np.histogramdd((V, V[::-1]), 2, weights=w), V),
        analytic=False,
    ),
]

MADE = [
    *rows(
        D,
        "numpy.linspace",
        ("start", lambda x: np.linspace(x, 3.0, 5), 0.7),
        ("stop", lambda x: np.linspace(0, x, 4), V),
        ("both, endpoint=False", lambda x: np.linspace(x[0], x[1], 5, endpoint=False), V),
        ("both, retstep=True", lambda x: np.linspace(x, x[::-1] + 1.0, 4, retstep=True), V),
        ("start, axis=1", lambda x: np.linspace(x, 7.0, 3, axis=1), M),
        ("one", lambda x: np.linspace(x, 3.0, 1), 0.7),
        ("none", lambda x: np.linspace(x, 3.0, 0), 0.7),
        ("of complex numbers", lambda x: np.linspace(1j * x, 3.0, 4).imag, 0.7),
        analytic=False,
    ),
    *rows(C, "numpy.linspace", ("stop, dtype=int", lambda x: np.linspace(0, x, 4, dtype=int), 7.5)),
    *rows(
        D,
        "numpy.logspace",
        ("start", lambda x: np.logspace(x, 2.0, 4), 0.3),
        ("stop", lambda x: np.logspace(0.0, x, 4, endpoint=False), V),
        ("base", lambda x: np.logspace(0.0, 2.0, 4, base=x), 2.5),
        ("bases", lambda x: np.logspace(0.0, 2.0, 4, base=x, axis=-1), V + 3.0),
        exact=False,
    ),
    *rows(
        D,
        "numpy.geomspace",
        ("start", lambda x: np.geomspace(x, 20.0, 5), 0.3),
        ("stop", lambda x: np.geomspace(1.0, x, 5, endpoint=False), 7.0),
        ("both, below zero", lambda x: np.geomspace(-x[0], -x[1], 4), V**2),
        ("start, axis=1", lambda x: np.geomspace(x, 20.0, 3, axis=1), M**2),
        ("one", lambda x: np.geomspace(x, 3.0, 1), 0.7),
        exact=False,
        analytic=False,
    ),
    *rows(
        D,
        "numpy.arange",
        ("stop, like=", lambda x: np.arange(x[2], like=x), V + 0.1),
        ("start, like=", lambda x: np.arange(x[1], 2, 0.7, like=x), V),
        ("step, like=", lambda x: np.arange(0.1, 1.8, x[0], like=x), V),
        ("stop, dtype=float, like=", lambda x: np.arange(0, x[2], dtype=float, like=x), V + 0.1),
        analytic=False,
    ),
    *rows(D, "numpy.full", ("fill_value, like=", lambda x: np.full((2, 3), x, like=x), V)),
    *rows(D, "numpy.full", ("fill_value, a number", lambda x: np.full(3, x[0]), V), analytic=False),
    *rows(D, "numpy.full_like", ("fill_value", lambda x: np.full_like(x, x[1]), V)),
    *rows(D, "numpy.array", ("like=", lambda x: np.array([x[0], 1.0], like=x), V)),
    *rows(D, "numpy.asarray", ("like=", lambda x: np.asarray([x, x], like=x), V)),
    *rows(D, "numpy.asanyarray", ("like=", lambda x: np.asanyarray(x, like=x), V)),
    *rows(D, "numpy.ascontiguousarray", ("like=", lambda x: np.ascontiguousarray(x.T, like=x), M)),
    *rows(D, "numpy.asfortranarray", ("like=", lambda x: np.asfortranarray(x, like=x), M)),
    *rows(D, "numpy.require", ("like=", lambda x: np.require(x, None, "C", like=x), M)),
    *rows(
        D,
        "numpy.fromiter",
        ("like=", lambda x: np.fromiter((y * y for y in x), float, like=x), V),
        ("count=2, like=", lambda x: np.fromiter((y * y for y in x), float, 2, like=x), V),
        analytic=False,
    ),
    *rows(D, "numpy.fromfunction", ("function", lambda x: np.fromfunction(lambda i, j: i * x + j, (3, 3)), V)),
    *rows(D, "numpy.fromfunction", ("like=", lambda x: np.fromfunction(lambda i: i * x, (3,), like=x), V)),
    *[
        row
        for function, given in (
            (np.eye, 2),
            (np.identity, 2),
            (np.tri, 2),
            (np.ones, 2),
            (np.zeros, 2),
            (np.frombuffer, np.arange(2.0).tobytes()),
        )
        for row in rows(S, f"numpy.{function.__name__}", ("like=", lambda x, f=function, n=given: f(n, like=x), V))
    ],
    *rows(S, "numpy.empty", ("like=", lambda x: np.array(np.empty(3, like=x).shape), V)),
    *rows(S, "numpy.fromstring", ("like=", lambda x: np.fromstring(TEXT, sep=" ", like=x), V)),
    *rows(S, "numpy.loadtxt", ("like=", lambda x: np.loadtxt(io.StringIO(TEXT), like=x), V)),
    *rows(S, "numpy.genfromtxt", ("like=", lambda x: np.genfromtxt(io.StringIO(TEXT), like=x), V)),
    *rows(
        D,
        "numpy.copysign",
        ("x1", lambda x: np.copysign(x, -1.0), V),
        ("both", lambda x: np.copysign(x, x[::-1]), V),
        analytic=False,
    ),
    *rows(D, "numpy.nextafter", ("x1", lambda x: np.nextafter(x, 9.0), V), analytic=False),
    *rows(D, "numpy.frexp", ("x", np.frexp, V + 0.1), analytic=False),
    *rows(D, "numpy.ldexp", ("x1", lambda x: np.ldexp(x, 3), V), analytic=False),
    *rows(D, "numpy.ldexp.at", ("a", lambda x: _at(np.ldexp, 2.0 * x, [0, 1, 1], [2, -1, 3]), V), analytic=False),
    *rows(D, "numpy.modf", ("x", np.modf, V + 0.1), analytic=False),
    *rows(D, "numpy.divmod", ("x1", lambda x: np.divmod(x, 0.3), V), analytic=False),
    *rows(D, "numpy.remainder", ("x2", lambda x: np.remainder(7.1, x), V), analytic=False),
    *rows(D, "numpy.fmod", ("x1", lambda x: np.fmod(x, 0.3), V), analytic=False),
]

STRUCTURAL = [
    *rows(S, "numpy.ndim", ("a", np.ndim, V)),
    *rows(S, "numpy.shape", ("a", lambda x: np.array(np.shape(x)), M)),
    *rows(S, "numpy.size", ("a", lambda x: np.size(x, 1), M)),
    *rows(S, "numpy.result_type", ("", lambda x: np.zeros(1, np.result_type(x, np.float32(1))), F32)),
    *rows(S, "numpy.result_type", ("a number of Python", lambda x: np.zeros(1, np.result_type(x, F32)), 2.0)),
    *rows(S, "numpy.can_cast", ("from_", lambda x: np.can_cast(x, np.float32), V)),
    *rows(S, "numpy.common_type", ("", lambda x: np.zeros(1, np.common_type(x, np.ones(1, complex))), F32)),
    *rows(S, "numpy.min_scalar_type", ("a", lambda x: np.zeros(1, np.min_scalar_type(x)), F32)),
    *rows(S, "numpy.einsum_path", ("", lambda x: len(np.einsum_path("ij,jk,kl->il", x, x.T, x)[0]), M)),
    *rows(S, "numpy.diag_indices_from", ("arr", lambda x: np.stack(np.diag_indices_from(x)), R)),
    *rows(S, "numpy.tril_indices_from", ("arr", lambda x: np.stack(np.tril_indices_from(x, 1)), M)),
    *rows(S, "numpy.triu_indices_from", ("arr", lambda x: np.stack(np.triu_indices_from(x)), M)),
    *rows(
        S,
        "numpy.shares_memory",
        ("views", lambda x: np.shares_memory(x[::2], x[2:]), W),
        ("views apart", lambda x: np.shares_memory(x[::2], x[1::2]), W),
        ("a copy", lambda x: np.shares_memory(x.copy(), x), W),
    ),
    *rows(
        S,
        "numpy.may_share_memory",
        ("views apart", lambda x: np.may_share_memory(x[::2], x[1::2]), W),
        ("halves", lambda x: np.may_share_memory(x[:3], x[3:]), W),
        ("gathered", lambda x: np.may_share_memory(x[[0, 1]], x), W),
    ),
    *rows(S, "numpy.ndarray.nbytes", ("", lambda x: x.nbytes, F32)),
    *rows(S, "numpy.ndarray.itemsize", ("", lambda x: x.itemsize, F32)),
    *rows(S, "numpy.ndarray.device", ("", lambda x: len(x.device), F32)),
    *rows(
        D,
        "numpy.ndarray.__array_namespace__",
        ("", lambda x: x.__array_namespace__(api_version="2022.12").sin(x), V),
    ),
    *rows(S, "numpy.isscalar", ("element", lambda x: np.isscalar(x[0]) and not np.isscalar(x), V)),
    *rows(S, "numpy.iterable", ("y", lambda x: np.iterable(x) and not np.iterable(x[0]), V)),
    *rows(S, "numpy.isrealobj", ("x", np.isrealobj, V)),
    *rows(S, "numpy.iscomplexobj", ("x", np.iscomplexobj, V)),
]

TO_FILE = "It writes numbers to a file, which no derivative follows."
IN_MEMORY = "How an array lies in memory is not known before the recording is run."
NO_MEMORY = "An array has no memory before the recording is run."
OF_SUBCLASSES = "It is for subclasses of ndarray."
AS_BYTES = "An array has no bytes before the recording is run."
AS_TEXT = "Text has no derivative."
OF_DATES = "Dates have no derivative."
OF_RECORDS = "Fields of records are no traced numbers."
OF_WHOLE_NUMBERS = "It is for whole numbers alone."
PLAIN_NUMBERS = "Plain numbers would be cut off from the derivative."
RECORD_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "apply_along_fields": lambda x: recfunctions.apply_along_fields(np.mean, x),
    "assign_fields_by_name": lambda x: recfunctions.assign_fields_by_name(RECORDS, x),
    "drop_fields": lambda x: recfunctions.drop_fields(x, "a"),
    "find_duplicates": recfunctions.find_duplicates,
    "join_by": lambda x: recfunctions.join_by("a", RECORDS, x),
    "merge_arrays": lambda x: recfunctions.merge_arrays((RECORDS, x)),
    "rec_append_fields": lambda x: recfunctions.rec_append_fields(RECORDS, "c", x),
    "rec_drop_fields": lambda x: recfunctions.rec_drop_fields(x, "a"),
    "rec_join": lambda x: recfunctions.rec_join("a", RECORDS, x),
    "recursive_fill_fields": lambda x: recfunctions.recursive_fill_fields(x, RECORDS),
    "rename_fields": lambda x: recfunctions.rename_fields(x, {"a": "b"}),
    "repack_fields": recfunctions.repack_fields,
    "require_fields": lambda x: recfunctions.require_fields(x, RECORDS.dtype),
    "stack_arrays": lambda x: recfunctions.stack_arrays((RECORDS, x)),
    "structured_to_unstructured": recfunctions.structured_to_unstructured,
}


def _set_state(x: Any) -> None:
    x.__setstate__(np.zeros(3).__reduce__()[2])


DAY = np.array(["2020-01-01"], dtype="M8[D]")

IMPOSSIBLE = [
    *refused("numpy.save", TO_FILE, lambda x: np.save(io.BytesIO(), x)),
    *refused("numpy.savez", TO_FILE, lambda x: np.savez(io.BytesIO(), x)),
    *refused("numpy.savez_compressed", TO_FILE, lambda x: np.savez_compressed(io.BytesIO(), x=x)),
    *refused("numpy.savetxt", TO_FILE, lambda x: np.savetxt(io.StringIO(), x)),
    *refused("numpy.ndarray.tofile", TO_FILE, lambda x: x.tofile("x")),
    *refused("numpy.ndarray.dump", TO_FILE, lambda x: x.dump("x")),
    *refused("numpy.ndarray.dumps", AS_BYTES, lambda x: x.dumps()),
    *refused("numpy.ndarray.tobytes", AS_BYTES, lambda x: x.tobytes()),
    *refused("numpy.ndarray.data", AS_BYTES, lambda x: x.data),
    *refused("numpy.ndarray.ctypes", AS_BYTES, lambda x: x.ctypes),
    *refused("numpy.ndarray.flags", IN_MEMORY, lambda x: x.flags),
    *refused("numpy.ndarray.strides", IN_MEMORY, lambda x: x.strides),
    *refused("numpy.ndarray.base", IN_MEMORY, lambda x: x.base),
    *refused("numpy.ndarray.view", IN_MEMORY, lambda x: x.view(np.int64)),
    *refused("numpy.ndarray.byteswap", IN_MEMORY, lambda x: x.byteswap()),
    *refused("numpy.ndarray.setflags", IN_MEMORY, lambda x: x.setflags(write=True)),
    *refused("numpy.ndarray.getfield", IN_MEMORY, lambda x: x.getfield(np.int32)),
    *refused("numpy.ndarray.setfield", IN_MEMORY, lambda x: x.setfield(1, np.int32)),
    *refused("numpy.ndarray.resize", IN_MEMORY, lambda x: x.resize(2)),
    *refused("numpy.from_dlpack", NO_MEMORY, np.from_dlpack),
    *refused("numpy.ndarray.__dlpack__", NO_MEMORY, lambda x: x.__dlpack__()),
    *refused("numpy.ndarray.__dlpack_device__", NO_MEMORY, lambda x: x.__dlpack_device__()),
    *refused("numpy.ndarray.__array_interface__", NO_MEMORY, lambda x: x.__array_interface__),
    *refused("numpy.ndarray.__array_struct__", NO_MEMORY, lambda x: x.__array_struct__),
    *refused("numpy.ndarray.__array_finalize__", OF_SUBCLASSES, lambda x: x.__array_finalize__(x)),
    *refused("numpy.ndarray.__array_wrap__", OF_SUBCLASSES, lambda x: x.__array_wrap__(np.sin(x))),
    *refused("numpy.ndarray.__setstate__", "An array is made by recording, not of a pickle.", _set_state),
    *refused("numpy.array2string", AS_TEXT, np.array2string),
    *refused("numpy.array_repr", AS_TEXT, np.array_repr),
    *refused("numpy.array_str", AS_TEXT, np.array_str),
    *refused("numpy.min_scalar_type", "It depends on how large the number is.", lambda x: np.min_scalar_type(x[0])),
    *refused("numpy.busday_count", OF_DATES, lambda x: np.busday_count(x, x)),
    *refused("numpy.busday_offset", OF_DATES, lambda x: np.busday_offset(DAY, x)),
    *refused("numpy.is_busday", OF_DATES, lambda x: np.is_busday(x)),
    *refused("numpy.datetime_as_string", OF_DATES, lambda x: np.datetime_as_string(x)),
    *refused("numpy.isnat", OF_DATES, np.isnat),
    *refused("numpy.lib.recfunctions.append_fields", OF_RECORDS, lambda x: recfunctions.append_fields(RECORDS, "c", x)),
    *refused("numpy.lib.recfunctions.unstructured_to_structured", OF_RECORDS, recfunctions.unstructured_to_structured),
    *[row for name, f in RECORD_FUNCTIONS.items() for row in refused(f"numpy.lib.recfunctions.{name}", OF_RECORDS, f)],
    *[
        row
        for u in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm, np.left_shift, np.right_shift)
        for method in ("reduce", "accumulate", "reduceat")
        for row in refused(f"numpy.{u.__name__}.{method}", OF_WHOLE_NUMBERS, _methods(u)[method], M)
    ],
    *refused("numpy.ndarray.__array__", PLAIN_NUMBERS, lambda x: x.__array__()),
    *refused("numpy.ndarray.__float__", PLAIN_NUMBERS, lambda x: x[:1].__float__()),
    *refused("numpy.ndarray.__int__", PLAIN_NUMBERS, lambda x: x[:1].__int__()),
    *refused("numpy.ndarray.__complex__", PLAIN_NUMBERS, lambda x: x[:1].__complex__()),
]

ROWS = [
    *CONSTANT,
    *SELECTED,
    *WRITTEN,
    *COUNTED,
    *MADE,
    *STRUCTURAL,
    *IMPOSSIBLE,
    *rows(C, "numpy.fix", ("", np.fix, V)),
    *[
        Row(
            f"numpy.{name}.{method}",
            C
            if name.startswith("logical") or (method == "reduce" and name != "nextafter")
            else D,  # with the first item
            f,
            M + 0.3,
            analytic=False,
        )
        for name in ("floor_divide", "heaviside", "logical_and", "logical_or", "logical_xor", "nextafter")
        for method, f in _methods(getattr(np, name)).items()
        if method != "reduce" or not name.startswith(("logical_and", "logical_or"))
    ],
]
