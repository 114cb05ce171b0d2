"""NumPy's functions that have derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from _numpy.by_pairs import right
from covered.rows import Kind, Row
from numpy.lib.stride_tricks import sliding_window_view

V = np.array([0.5, -1.25, 2.0])
P = np.array([0.7, 1.3, 2.1, 0.4])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
PM = np.array([[0.5, 1.0, 2.0], [1.5, 0.25, 0.75]])
MORE = np.array([[0.0, -0.57, -1.81], [1.2, 0.36, -0.41]])
L = np.array([0.5, -1.25, 2.0, 0.75, -0.3, 1.1])
HOLES = np.array([[0.5, np.nan, 2.0], [1.5, 0.25, np.nan], [0.1, 0.2, 0.7]])
SOME = np.array([[True, False, True], [True, True, False]])
SQUARE = np.array([[2.0, -0.3, 0.5], [0.4, 1.0, -0.6], [-0.2, 0.7, -1.5]])  # of real eigenvalues
TURNED = np.array([[0.6, -1.1, 0.2], [0.9, 0.4, -0.5], [0.3, 0.1, -1.2]])  # of which a pair is complex
TIMES, SIGNAL = np.array([-1.0, -0.4, 0.1, 0.5, 0.9, 1.6]), np.array([0.3, -0.2, 0.5, 1.1, 0.4, 2.0])

D = Kind.DIFFERENTIABLE
Function = Callable[[Any], Any]


def of(name: str, cases: dict[str, tuple[Function, Any]], **facts: Any) -> Iterator[Row]:
    """Rows of one function, by what is traced or asked."""
    for argument, (f, x) in cases.items():
        yield Row(f"numpy.{name}", D, f, x, argument, **facts)


def of_ufunc(name: str, x: Any, reduces: bool = True, **facts: Any) -> Iterator[Row]:
    """Rows of the methods of a ufunc of two operands."""
    u = right(name)
    cases: dict[str, Function] = {
        "reduce": lambda x: u.reduce(x, axis=1),
        "reduce, keepdims": lambda x: u.reduce(x, axis=0, keepdims=True),
        "reduce, initial": lambda x: u.reduce(x, axis=1, initial=0.3),
        "reduce, where": lambda x: u.reduce(x, axis=1, initial=0.3, where=SOME),
        "accumulate": lambda x: u.accumulate(x, axis=1),
        "reduceat": lambda x: u.reduceat(x, [0, 2, 1], axis=1),
        "outer": lambda x: u.outer(x[0], x[1, :2]),
    }
    for case, f in cases.items():
        method, _, option = case.partition(", ")
        yield Row(f"numpy.{name}.{method}", D, f, x, option, **facts)


def _at(ufunc: Any, x: Any) -> Any:
    y = x**2
    ufunc.at(y, [0, 2, 0], x)
    return y


def _parts(f: Function) -> Function:
    """The real and imaginary parts of all results."""

    def parts(x: Any) -> Any:
        found = f(x)
        return [part(y) for y in (found if isinstance(found, tuple) else (found,)) for part in (np.real, np.imag)]

    return parts


ROWS = [
    Row("numpy.cumsum", D, np.cumsum, V),
    Row("numpy.convolve", D, lambda x: np.convolve(x, [1.0, 2.0]), V),
    # ---- methods of ufuncs, and their options
    *of_ufunc("add", M, exact=False),
    *of_ufunc("subtract", M),
    *of_ufunc("multiply", M, exact=False),
    *of_ufunc("divide", M),
    *of_ufunc("logaddexp", M, analytic=False),
    *of_ufunc("logaddexp2", M, analytic=False),
    *of_ufunc("power", PM, exact=False),
    *of_ufunc("float_power", PM, exact=False),
    *[row for name in ("maximum", "minimum", "fmax", "fmin", "hypot") for row in of_ufunc(name, M, analytic=False)],
    *of_ufunc("arctan2", M, analytic=False, exact=False),
    *[row for name in ("fmod", "remainder") for row in of_ufunc(name, PM + MORE, analytic=False)],
    *of_ufunc("copysign", M, analytic=False),
    Row("numpy.add.at", D, lambda x: _at(np.add, x), V),
    Row("numpy.multiply.at", D, lambda x: _at(np.multiply, x), V),
    *of(
        "exp",
        {
            "dtype=": (lambda x: np.exp(x, dtype=np.float64), V),
            "out=": (lambda x: np.exp(x, out=np.zeros(3, like=x)), V),
            "out=, where=": (lambda x: np.exp(x, out=np.ones(3, like=x), where=V > 0), V),
        },
        analytic=False,
    ),
    *of(
        "sum",
        {
            "where=": (lambda x: np.sum(x, where=SOME), M),
            "initial=": (lambda x: np.sum(x, axis=1, initial=0.5), M),
            "axes, keepdims": (lambda x: np.sum(x, axis=(0, 1), keepdims=True, where=SOME), M),
        },
        exact=False,
    ),
    *of(
        "prod",
        {
            "where=": (lambda x: np.prod(x, axis=1, where=SOME), M),
            "initial=": (lambda x: np.prod(x, axis=0, initial=1.5), M),
        },
        exact=False,
    ),
    *of("mean", {"where=": (lambda x: np.mean(x, axis=1, where=SOME), M)}, exact=False),
    *of(
        "max",
        {
            "initial=": (lambda x: np.max(x, axis=1, initial=1.7), M),
            "where=": (lambda x: np.max(x, axis=0, initial=-5.0, where=SOME), M),
        },
        analytic=False,
    ),
    *of("min", {"where=": (lambda x: np.min(x, axis=0, initial=5.0, where=SOME), M)}, analytic=False),
    # ---- statistics
    *of("nansum", {"where=, initial=": (lambda x: np.nansum(x, axis=1, where=SOME, initial=2.0), M)}, exact=False),
    *of("nanprod", {"where=": (lambda x: np.nanprod(x, axis=1, where=SOME), M)}, exact=False),
    *of("nanmean", {"where=": (lambda x: np.nanmean(x, axis=1, where=SOME), M)}, exact=False),
    *of("nanvar", {"where=": (lambda x: np.nanvar(x, axis=1, where=SOME), M)}, exact=False, analytic=False),
    *of("nanstd", {"where=": (lambda x: np.nanstd(x, axis=1, where=SOME), M)}, exact=False, analytic=False),
    *of("nanmax", {"where=": (lambda x: np.nanmax(x, axis=1, where=SOME, initial=0.0), M)}, analytic=False),
    *of("nanmin", {"where=": (lambda x: np.nanmin(x, axis=1, where=SOME, initial=0.0), M)}, analytic=False),
    *of(
        "cov",
        {
            "fweights": (lambda x: np.cov(x, fweights=[1, 2, 3]), M),
            "aweights": (lambda x: np.cov(x, aweights=[0.5, 1.5, 0.7]), M),
            "both weights": (lambda x: np.cov(x, fweights=[1, 2, 3], aweights=[0.5, 1.5, 0.7], ddof=1), M),
            "aweights, traced": (lambda x: np.cov(M, aweights=x, bias=True), PM[0]),
            "dtype": (lambda x: np.cov(x, dtype=np.float64), M),
        },
        analytic=False,
        exact=False,
    ),
    *of(
        "corrcoef",
        {"": (np.corrcoef, np.vstack([M, V])), "two": (lambda x: np.corrcoef(x, [1.0, 3.0, 2.0]), V)},
        analytic=False,
        exact=False,
    ),
    *of(
        "quantile",
        {
            **{
                method: (lambda x, m=method: np.quantile(x, [0.1, 0.37, 0.5, 0.8, 0.95], method=m), L)
                for method in ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "linear", "hazen")
            },
            "weights": (lambda x: np.quantile(x, [0.3, 0.8], weights=[1, 2, 1, 1, 3, 1], method="inverted_cdf"), L),
            "a, axis": (lambda x: np.quantile(x, 0.3, axis=1), M),
            "q": (lambda q: np.quantile(L, q), np.array([0.13, 0.5, 0.92])),
            "q, weibull": (lambda q: np.quantile(L, q, method="weibull"), np.array([0.2, 0.5, 0.8])),
            "a and q": (lambda x: np.quantile(x, x[0] * 0.3), L),
        },
        analytic=False,
    ),
    *of(
        "percentile",
        {
            "q": (lambda q: np.percentile(L, q), np.array([13.0, 51.0, 92.0])),
            "weights": (lambda x: np.percentile(x, 40, weights=[1, 2, 1, 1, 3, 1], method="inverted_cdf"), L),
        },
        analytic=False,
    ),
    *of("median", {"even": (np.median, L), "axis": (lambda x: np.median(x, axis=1), M)}, analytic=False),
    *of(
        "nanmedian",
        {"": (lambda x: np.nanmedian(x * HOLES), L[:3]), "axis": (lambda x: np.nanmedian(x * HOLES, axis=1), L[:3])},
        analytic=False,
    ),
    *of(
        "nanquantile",
        {
            "": (lambda x: np.nanquantile(x * HOLES, 0.3, axis=1), L[:3]),
            "several": (lambda x: np.nanquantile(x * HOLES, [0.3, 0.7], axis=0, keepdims=True), L[:3]),
            "q": (lambda q: np.nanquantile(HOLES, q, axis=1), np.array([0.3, 0.55])),
        },
        analytic=False,
    ),
    *of("nanpercentile", {"": (lambda x: np.nanpercentile(x * HOLES, 30, axis=1), L[:3])}, analytic=False),
    # ---- parts of arrays
    *of(
        "apply_along_axis",
        {
            "": (lambda x: np.apply_along_axis(lambda row: np.sum(row**2), 1, x), M),
            "lines": (lambda x: np.apply_along_axis(np.cumprod, 0, x), M),
            "matrices": (lambda x: np.apply_along_axis(lambda c: c[:, None] * c[::-1], 0, x), M),
        },
    ),
    *of("apply_over_axes", {"": (lambda x: np.apply_over_axes(np.sum, x**2, [0, 1]), M)}, exact=False),
    *of(
        "piecewise",
        {
            "": (lambda x: np.piecewise(x, [x < 0, x > 1], [np.sin, np.exp, lambda y: y**2]), V),
            "plain conditions": (lambda x: np.piecewise(x, [V < 0, V >= 0], [lambda y: y * np.sum(y), 3.0]), V),
            "one condition": (lambda x: np.piecewise(x, x < 0, [np.sin, np.cos]), V),
        },
        analytic=False,
    ),
    *of(
        "insert",
        {
            "": (lambda x: np.insert(x, 1, 5.0), V),
            "values": (lambda x: np.insert(M, [1, 1, 2], x, axis=1), np.array([[1.0, 2.0, 3.0], [0.5, 0.6, 0.7]])),
            "axis": (lambda x: np.insert(x, slice(0, 2), x[:, :1], axis=1), M),
        },
        analytic=False,
    ),
    *of("append", {"": (lambda x: np.append(x, x[:1] ** 2), V)}),
    *of("delete", {"": (lambda x: np.delete(x, 1), V)}),
    *of(
        "lib.stride_tricks.sliding_window_view",
        {
            "": (lambda x: sliding_window_view(x, 3), L),
            "axes": (lambda x: sliding_window_view(x, (2, 2)) ** 2, M),
            "one axis": (lambda x: sliding_window_view(x, 2, axis=1), M),
        },
    ),
    *of("partition", {"": (lambda x: np.partition(x, 2), np.sort(L)[[1, 0, 2, 3, 5, 4]])}, analytic=False),
    # ---- of one number
    *of("i0", {"": (np.i0, np.array([0.5, -1.25, 2.0, 9.5]))}, analytic=False),
    *of(
        "unwrap",
        {"": (np.unwrap, 4 * L), "period": (lambda x: np.unwrap(x, period=2.3, axis=0), M)},
        analytic=False,
        exact=False,
    ),
    # ---- polynomials
    *of(
        "poly",
        {"": (np.poly, V), "of a matrix": (np.poly, SQUARE), "of a pair": (np.poly, TURNED)},
        analytic=False,
        exact=False,
    ),
    *of(
        "polyval",
        {
            "p": (lambda p: np.polyval(p, 0.7), P),
            "x": (lambda x: np.polyval(P, x), M),
            "both": (lambda x: np.polyval(x, x), V),
        },
    ),
    *of("polyadd", {"": (lambda p: np.polyadd(p, V), P), "second": (lambda p: np.polyadd(V, p), V)}),
    *of("polysub", {"": (lambda p: np.polysub(p, V), P), "second": (lambda p: np.polysub(P, p), V)}),
    *of("polymul", {"": (lambda p: np.polymul(p, V), P), "both": (lambda p: np.polymul(p, p), V)}, exact=False),
    *of("polyder", {"": (np.polyder, P), "twice": (lambda p: np.polyder(p, 2), P)}),
    *of(
        "polyint",
        {"": (np.polyint, P), "k": (lambda k: np.polyint(k, 3, k), V), "twice": (lambda p: np.polyint(p, 2, 0.5), P)},
    ),
    *of(
        "polydiv",
        {"u": (lambda u: np.polydiv(u, [2.0, 0.3]), P), "v": (lambda v: np.polydiv(P, v), np.array([2.0, 0.3]))},
        exact=False,
    ),
    *of(
        "polyfit",
        {
            "y": (lambda y: np.polyfit(TIMES, y, 2), SIGNAL),
            "x": (lambda x: np.polyfit(x, SIGNAL, 2), TIMES),
            "w": (lambda w: np.polyfit(TIMES, SIGNAL, 2, w=w), 1.0 + 0.3 * SIGNAL),
            "y, cov": (lambda y: np.polyfit(TIMES, y, 2, cov=True), SIGNAL),
            "x, cov, unscaled": (lambda x: np.polyfit(x, SIGNAL, 1, cov="unscaled"), TIMES),
            "y of columns": (lambda y: np.polyfit(TIMES[:3], y, 1), SQUARE),
        },
        analytic=False,
        exact=False,
    ),
    *of("roots", {"": (np.roots, np.poly([1.0, -0.5, 2.0]))}, analytic=False, exact=False),
    *of("roots", {"of a pair": (_parts(np.roots), np.array([1.0, 0.2, 2.0, 0.3]))}, analytic=False, exact=False),
    *of("vander", {"": (lambda x: np.vander(x, 4), V)}, exact=False),
    # ---- real or complex by values
    *[
        row
        for name, argument, f, x in (
            ("sqrt", "", lambda x: np.real(np.emath.sqrt(x)) + np.imag(np.emath.sqrt(x)), V),
            ("sqrt", "real", np.emath.sqrt, PM),
            ("log", "", lambda x: np.real(np.emath.log(x)), V),
            ("log2", "", lambda x: np.real(np.emath.log2(x)), V),
            ("log10", "", lambda x: np.real(np.emath.log10(x)), V),
            ("logn", "", lambda x: np.real(np.emath.logn(2, x)), V),
            ("power", "", lambda x: np.imag(np.emath.power(x, 1.5)), V),
            ("arccos", "", lambda x: np.imag(np.emath.arccos(x)) + np.real(np.emath.arccos(x)), V),
            ("arcsin", "", lambda x: np.imag(np.emath.arcsin(x)), V),
            ("arctanh", "", lambda x: np.real(np.emath.arctanh(x)), V),
        )
        for row in of(f"emath.{name}", {argument: (f, x)}, analytic=False, exact=False)
    ],
    # ---- linear algebra
    *of("linalg.tensorinv", {"": (lambda x: np.linalg.tensorinv(x.reshape(3, 1, 1, 3), 2), SQUARE)}, exact=False),
    *of(
        "linalg.tensorsolve",
        {
            "": (lambda x: np.linalg.tensorsolve(x.reshape(3, 1, 3), V.reshape(3, 1)), SQUARE),
            "b": (lambda b: np.linalg.tensorsolve(SQUARE, b), V),
        },
        exact=False,
    ),
    *of(
        "linalg.eigvals",
        {"": (np.linalg.eigvals, SQUARE), "of a pair": (_parts(np.linalg.eigvals), TURNED)},
        analytic=False,
        second=0.9 * SQUARE,
    ),
    *of(
        "linalg.eig",
        {"": (np.linalg.eig, SQUARE), "of a pair": (_parts(np.linalg.eig), TURNED)},
        analytic=False,
        second=0.9 * SQUARE,
    ),
    *of(
        "linalg.cond",
        {
            f"{p}": (lambda x, p=p: np.linalg.cond(x, p), TURNED)
            for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")
        },
        analytic=False,
        exact=False,
    ),
    *of("linalg.matrix_power", {"-2": (lambda x: np.linalg.matrix_power(x, -2), SQUARE)}, exact=False),
    *of(
        "linalg.pinv",
        {"hermitian": (lambda x: np.linalg.pinv(x + x.T, hermitian=True), SQUARE)},
        analytic=False,
        exact=False,
    ),
    *of(
        "linalg.svd",
        {
            "hermitian": (lambda x: np.linalg.svd(x + x.T, hermitian=True), SQUARE),
            "hermitian, values": (lambda x: np.linalg.svd(x + x.T, hermitian=True, compute_uv=False), SQUARE),
        },
        analytic=False,
        exact=False,
    ),
    *of("linalg.qr", {"complete": (lambda x: np.linalg.qr(x.T, mode="complete"), M)}, analytic=False, exact=False),
]
