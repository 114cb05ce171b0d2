"""Derivatives of matrix operations, on stacks of matrices.

References
----------
Giles, M. B. (2008). An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation. Report NA-08/01, Oxford: sections 2.2.1 (product), 2.2.2 (inverse), 2.2.3 (determinant), 2.3.1 (solve).
"""

import numpy as np

from hoad import primitive as prim
from hoad._core.calls import apply_primitive
from hoad._core.ufuncs import compose, imag
from hoad.numpy_protocol.parts import is_complex
from hoad.rules.registry import vjp


def _t(a):
    return np.swapaxes(a, -1, -2)


def _matmul(g, p, x, y):
    """p = x y: (g yᵀ, xᵀ g), with vectors as rows on the left and columns on the right."""
    if x.ndim == 1 and y.ndim == 1:
        return g * y, g * x
    if x.ndim == 1:
        return (y @ g[..., None])[..., 0], x[:, None] * g[..., None, :]
    if y.ndim == 1:
        return g[..., None] * y, (_t(x) @ g[..., None])[..., 0]
    # An outer product is one of elements: no sums, and done with what is around it.
    return (
        g * _t(y) if y.shape[-1] == 1 else g @ _t(y),
        _t(x) * g if x.shape[-2] == 1 else _t(x) @ g,
    )


def _solve(g, p, x, y):
    """p = x⁻¹ y: the adjoint of y is x⁻ᵀ g, that of x is -(x⁻ᵀ g) pᵀ."""
    adjoint = np.linalg.solve(_t(x), g)
    return -adjoint @ _t(p), adjoint


def _trace_product(a, b):
    return np.sum(a * _t(b), axis=(-2, -1))


def _adjugate(g, p, x):
    """d adj(x) = (tr(x⁻¹ dx) I - x⁻¹ dx) adj(x), for invertible x."""
    inverse = np.linalg.inv(x)
    trace = _trace_product(p, _t(g))
    return (_t(inverse) * trace[..., None, None] - _t(inverse) @ g @ _t(p),)


def _slogdet(g, p, x):
    """d log |det x| = Re t and d sign = i sign Im t, with t = tr(x⁻¹ dx)."""
    trace = compose(g[1], imag(g[0] * p[0])) if is_complex(x) else g[1]
    return (trace[..., None, None] * _t(np.linalg.inv(x)),)


# ---- series: the rules ask for an inverse, which a singular matrix has not ------------------------------------------

FEW_ROWS = 3  # up to which determinants are written out


def _minor(x, i, j):
    """The determinant of x without a row and a column, written out."""
    rows = np.concatenate([x[..., :i, :], x[..., i + 1 :, :]], axis=-2)
    return _written_out(np.concatenate([rows[..., :j], rows[..., j + 1 :]], axis=-1))


def _written_out(x):
    """det x by its first row."""
    n = x.shape[-1]
    if n < 2:
        return x[..., 0, 0] if n else np.ones(x.shape[:-2])
    return sum((-1.0) ** j * x[..., 0, j] * _minor(x, 0, j) for j in range(n))


def _few_adjugate(x):
    """The adjugate of a matrix of few rows, written out."""
    n = x.shape[-1]
    rows = [np.stack([(-1.0) ** (i + j) * _minor(x, j, i) for j in range(n)], axis=-1) for i in range(n)]
    return np.stack(rows, axis=-2)


def _cut(x):
    """(±1, u, vᴴ, M, M⁻¹, c, r, s): x = u [[M, c], [r, d]] vᴴ with s = d - r M⁻¹ c, so that det x = ± det M det s.

    Singular vectors are those of the point: the smallest singular values are in d, as many as there are few rows, the
    others in M. Where M is singular as well, to what rounding leaves of zeros, the sign is nan and M an identity.
    """
    u, sizes, vh = np.linalg.svd(apply_primitive(prim.STOP_GRADIENT, None, x))
    k = x.shape[-1] - FEW_ROWS
    b = _t(u) @ x @ _t(vh)
    m, c, r, d = b[..., :k, :k], b[..., :k, k:], b[..., k:, :k], b[..., k:, k:]
    noise = np.max(np.abs(apply_primitive(prim.STOP_GRADIENT, None, b) * (1.0 - np.eye(x.shape[-1]))), axis=(-2, -1))
    known = np.greater(sizes[..., k - 1], 4.0 * noise)
    m = np.where(known[..., None, None], m, np.eye(k))
    inverse = np.linalg.inv(m)
    sign = np.where(known, np.linalg.det(u) * np.linalg.det(vh), np.nan)
    return sign, u, vh, m, inverse, c, r, d - r @ inverse @ c


def _det_series(x):
    if x.shape[-1] <= FEW_ROWS:
        return _written_out(x)
    sign, _, _, m, _, _, _, s = _cut(x)
    return sign * np.exp(np.linalg.slogdet(m)[1]) * _written_out(s)


def _adjugate_series(x):
    n = x.shape[-1]
    if not n:
        return x
    if n <= FEW_ROWS:
        return _few_adjugate(x)
    sign, u, vh, m, inverse, c, r, s = _cut(x)
    small, right, below = _few_adjugate(s), inverse @ c, r @ inverse
    first = _written_out(s)[..., None, None] * inverse + right @ small @ below
    above = np.concatenate([first, -right @ small], axis=-1)
    whole = np.concatenate([above, np.concatenate([-small @ below, small], axis=-1)], axis=-2)
    return (sign * np.exp(np.linalg.slogdet(m)[1]))[..., None, None] * (_t(vh) @ whole @ _t(u))


vjp(prim.MATMUL, _matmul)
vjp(prim.SOLVE, _solve)
vjp(prim.INV, lambda g, p, x: (-_t(p) @ g @ _t(p),))
vjp(prim.DET, lambda g, p, x: (g[..., None, None] * _t(apply_primitive(prim.ADJUGATE, None, x)),))
vjp(prim.ADJUGATE, _adjugate)
vjp(prim.SLOGDET, _slogdet)

prim.DET.expansion = _det_series
prim.ADJUGATE.expansion = _adjugate_series
