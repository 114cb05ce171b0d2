"""Matrices with a pattern, made of vectors and of other matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._numpy.complex import conjugate
from hoad._numpy.products import inexact
from hoad._numpy.registry import as_traced
from hoad._scipy.registry import common, decided, identity_like, implements, over_stacks


def toeplitz_of(c: Any, r: Any) -> Any:
    """The Toeplitz matrix of a first column and a first row, vectors of any dtypes."""
    c, r = common(c, r)
    i, j = np.arange(c.shape[0])[:, None], np.arange(r.shape[0])
    return np.concatenate([c[::-1], r[1:]])[c.shape[0] - 1 - i + j]


def circulant_spectrum(c: Any, b: Any, tol: Any, caxis: int, baxis: int) -> Any:
    """F b / F c along the last axis, and 0 where F c is smaller than a tolerance."""
    fc = np.fft.fft(np.moveaxis(c, caxis, -1), axis=-1)
    fb = np.fft.fft(np.moveaxis(b, baxis, -1), axis=-1)
    if not b.size:
        return fb
    sizes = np.abs(fc)
    if tol is None:
        tol = np.max(sizes, axis=-1, keepdims=True) * (fc.shape[-1] * np.finfo(np.float64).eps)
    small = np.less_equal(sizes, tol)
    return np.where(small, 0.0, fb / np.where(small, 1.0, fc))


@implements(scipy.linalg.toeplitz)
def toeplitz(c: Any, r: Any = None) -> Any:
    """The Toeplitz matrix of a first column and a first row: c[i - j] and r[j - i].

    Notes
    -----
    Cost: a copy.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda c: np.sum(linalg.toeplitz(c)))(np.ones(3))
    array([3., 4., 2.])
    """
    c, r = (None if x is None else np.reshape(x, (-1,)) if x.ndim == 0 else x for x in map(_given, (c, r)))
    return over_stacks(toeplitz_of, (c, 1), (conjugate(c) if r is None else r, 1))


def _given(x: Any) -> Any:
    return None if x is None else as_traced(x)


@implements(scipy.linalg.hankel)
def hankel(c: Any, r: Any = None) -> Any:
    """The Hankel matrix of a first column and a last row: the items i + j of c and r[1:].

    Notes
    -----
    Cost: a copy.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda c: np.sum(linalg.hankel(c)))(np.ones(3))
    array([1., 2., 3.])
    """
    c = np.ravel(as_traced(c))
    r = np.zeros_like(c) if r is None else np.ravel(as_traced(r))
    c, r = common(c, r)
    return np.concatenate([c, r[1:]])[np.arange(c.shape[0])[:, None] + np.arange(r.shape[0])]


@implements(scipy.linalg.circulant, stacks=True, c=1)
def circulant(c: Any) -> Any:
    """The circulant matrix of a first column: c[(i - j) mod n].

    Notes
    -----
    Cost: a copy.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda c: np.sum(linalg.circulant(c)))(np.ones(3))
    array([3., 3., 3.])
    """
    c = np.reshape(c, (-1,)) if c.ndim == 0 else c
    n = c.shape[-1]
    return c[..., (np.arange(n)[:, None] - np.arange(n)) % max(n, 1)]


@implements(scipy.linalg.block_diag)
def block_diag(*arrs: Any) -> Any:
    """The matrix with these blocks on its diagonal.

    Notes
    -----
    Cost: a copy.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda x: np.sum(linalg.block_diag(x, 2 * x)))(np.eye(2))
    array([[3., 3.],
           [3., 3.]])
    """
    given = [as_traced(x) for x in arrs]
    blocks = [np.reshape(x, (*(1,) * (2 - x.ndim), *x.shape)) if x.ndim < 2 else x for x in given]
    outer = np.broadcast_shapes(*[x.shape[:-2] for x in blocks])
    blocks = list(common(*[np.broadcast_to(x, (*outer, *x.shape[-2:])) for x in blocks]))
    width = sum(x.shape[-1] for x in blocks)
    rows, at = [], 0
    for x in blocks:
        beside = [(0, 0)] * (x.ndim - 1)
        rows.append(np.pad(x, [*beside, (at, width - at - x.shape[-1])]))
        at += x.shape[-1]
    return np.concatenate(rows, axis=-2)


@implements(scipy.linalg.companion, stacks=True, a=1)
def companion(a: Any) -> Any:
    """The companion matrix of a polynomial: -a[1:] / a[0] above ones below the diagonal.

    Notes
    -----
    Cost: a copy.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.companion(a)[0, 0])(np.array([2.0, 3.0, 4.0]))
    array([ 0.75, -0.5 ,  0.  ])
    """
    n = a.shape[-1] - 1
    first = -a[..., 1:] / a[..., :1]
    rest = np.broadcast_to(np.eye(n - 1, n, dtype=first.dtype), (*a.shape[:-1], n - 1, n))
    return np.concatenate([first[..., None, :], rest], axis=-2)


@implements(scipy.linalg.fiedler_companion, a=1)
def fiedler_companion(a: Any) -> Any:
    """The Fiedler companion matrix of a polynomial, whose entries are -a[k] / a[0], 0 and 1.

    Notes
    -----
    Cost: a copy.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.fiedler_companion(a)[0, 0])(np.array([2.0, 3.0, 4.0]))
    array([ 0.75, -0.5 ,  0.  ])
    """
    n = a.shape[0] - 1
    if n <= 1:
        return np.reshape(-(a / a[0])[-1], (1, 1)) if n == 1 else np.zeros(0, a.dtype)
    ones, places = np.zeros((n, n)), np.zeros((n, n), np.intp)  # places of coefficients, of which a[0] is none
    ones[range(3, n, 2), range(1, n - 2, 2)] = 1.0
    places[range(2, n, 2), range(1, n - 1, 2)] = range(3, n + 1, 2)
    ones[range(0, n - 2, 2), range(2, n, 2)] = 1.0
    places[range(0, n - 1, 2), range(1, n, 2)] = range(2, n + 1, 2)
    places[0, 0], ones[1, 0] = 1, 1.0
    return np.where(places > 0, -(a / a[0])[places], ones)


@implements(scipy.linalg.convolution_matrix)
def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix A of the convolution with a: A v is ``np.convolve(a, v, mode)`` for vectors of length n.

    Notes
    -----
    Cost: a copy.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: np.sum(linalg.convolution_matrix(a, 3)))(np.ones(2))
    array([3., 3.])
    """
    a = as_traced(a)
    length = a.shape[-1]
    fewer = min(n, length) - 1
    start = {"full": 0, "same": fewer // 2, "valid": fewer}[mode]
    stop = {"full": 0, "same": fewer - fewer // 2, "valid": fewer}[mode]
    rows = np.arange(start, length + n - 1 - stop)[:, None]
    places = rows - np.arange(n)
    inside = (places >= 0) & (places < length)
    return np.where(inside, a[..., np.where(inside, places, 0)], 0.0)


@implements(scipy.linalg.fiedler, stacks=True, a=1)
def fiedler(a: Any) -> Any:
    """The Fiedler matrix \\|aᵢ - aⱼ\\|, with slope 0 on its diagonal.

    Notes
    -----
    Cost: a pass over the entries.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: np.sum(linalg.fiedler(a)))(np.array([1.0, 2.0, 4.0]))
    array([-4.,  0.,  4.])
    """
    if a.size < 2:
        return np.zeros((1, 1)) if a.size else scipy.linalg.fiedler(np.zeros(a.shape))
    return np.abs(a[..., :, None] - a[..., None, :])


@implements(scipy.linalg.leslie, f=1, s=1)
def leslie(f: Any, s: Any) -> Any:
    """The Leslie matrix of fecundities f, its first row, and survivals s, below its diagonal.

    Notes
    -----
    Cost: a copy.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda s: np.sum(linalg.leslie(np.ones(3), s)))(np.ones(2))
    array([1., 1.])
    """
    f, s = common(f, np.reshape(s, (-1,)) if s.ndim == 0 else s)
    return np.concatenate([f[None], np.pad(np.diag(s), [(0, 0), (0, 1)])])


@implements(scipy.linalg.diagsvd, s=1)
def diagsvd(s: Any, M: int, N: int) -> Any:
    """The M × N matrix of singular values s on its diagonal.

    Notes
    -----
    Cost: a copy.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda s: np.sum(linalg.diagsvd(s, 2, 3)))(np.ones(2))
    array([1., 1.])
    """
    n = s.shape[0]
    return np.pad(np.diag(s), [(0, M - n), (0, N - n)])


@implements(scipy.linalg.khatri_rao, a=2, b=2)
def khatri_rao(a: Any, b: Any) -> Any:
    """The Khatri-Rao product: the Kronecker products of the columns of a with those of b.

    Notes
    -----
    Cost: one product for each entry.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: np.sum(linalg.khatri_rao(a, np.array([[1.0, 2.0]]))))(np.ones((2, 2)))
    array([[1., 2.],
           [1., 2.]])
    """
    return np.reshape(a[:, None, :] * b[None, :, :], (a.shape[0] * b.shape[0], a.shape[1]))


@implements(scipy.linalg.cdf2rdf)
def cdf2rdf(w: Any, v: Any) -> Any:
    """A real block-diagonal matrix and real vectors, from eigenvalues and vectors in pairs of conjugates.

    Which eigenvalues are not real is guarded.

    Notes
    -----
    Cost: one product of matrices.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> def corner(y):
    ...     return linalg.cdf2rdf(np.array([1.0, -1.0]) * (1j * y), np.eye(2) + 0j)[0][0, 1]
    >>> hoad.grad(corner)(2.0)
    1.0
    """

    def one(w: Any, v: Any) -> Any:
        n = w.shape[0]
        pairs = [k for k in range(n) if decided(np.not_equal(np.imag(w[k]), 0.0))]
        first, second = pairs[::2], pairs[1::2]
        swapped, u = np.zeros((n, n)), np.eye(n, dtype=complex)
        swapped[first, second] = swapped[second, first] = 1.0
        u[first, first], u[first, second], u[second, first], u[second, second] = 0.5j, 0.5, -0.5j, 0.5
        real, imaginary = np.real(w), np.imag(w)
        return real[:, None] * identity_like(real[None]) + imaginary[:, None] * swapped, np.real(v @ u)

    return over_stacks(one, (inexact(w), 1), (inexact(v), 2))


if hasattr(scipy.linalg, "kron"):  # up to SciPy 1.16

    @implements(scipy.linalg.kron)
    def kron(a: Any, b: Any) -> Any:
        """The Kronecker product.

        Notes
        -----
        Cost: one product for each entry.

        Examples
        --------
        >>> from hoad.scipy import linalg
        >>> hoad.grad(lambda a: np.sum(linalg.kron(a, np.ones((2, 2)))))(np.ones((1, 2)))
        array([[4., 4.]])
        """
        return np.kron(a, b)
