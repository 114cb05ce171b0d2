"""Derivatives of matrix operations, on stacks of matrices.

References
----------
Giles, M. B. (2008). An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation. Report NA-08/01, Oxford: sections 2.2.1 (product), 2.2.2 (inverse), 2.2.3 (determinant), 2.3.1 (solve).
"""

import numpy as np

from hoad._core.kernels.ufuncs import compose, imag
from hoad._core.runtime.elimination import MOST_ROWS
from hoad._core.trace.calls import apply_primitive
from hoad._numpy.complex import is_complex
from hoad._ops import primitives as prim
from hoad._ops.adjugates import conjugate_transposed, core_adjugate, transposed
from hoad.rules.registry import vjp


def _matmul(g, p, x, y):
    """p = x y: (g yᵀ, xᵀ g), with vectors as rows on the left and columns on the right."""
    if x.ndim == 1 and y.ndim == 1:
        return g * y, g * x
    if x.ndim == 1:
        return y @ g if y.ndim == 2 else (y @ g[..., None])[..., 0], x[:, None] * g[..., None, :]
    if y.ndim == 1:
        return g[..., None] * y, g @ x if x.ndim == 2 else (transposed(x) @ g[..., None])[..., 0]
    # An outer product is one of elements: no sums, and done with what is around it.
    return (
        g * transposed(y) if y.shape[-1] == 1 else g @ transposed(y),
        transposed(x) * g if x.shape[-2] == 1 else transposed(x) @ g,
    )


def _solve(g, p, x, y):
    """p = x⁻¹ y: the adjoint of y is x⁻ᵀ g, that of x is -(x⁻ᵀ g) pᵀ."""
    adjoint = np.linalg.solve(transposed(x), g)
    return -adjoint @ transposed(p), adjoint


def _det(g, p, x):
    """d det x = Σ C dx with cofactors C."""
    if x.shape[-1] <= FEW_ROWS:
        cofactors = _few_cofactors(x)
    elif x.shape[-1] <= MOST_ROWS:
        cofactors = apply_primitive(prim.DET_GRADIENT, None, x)
    else:
        cofactors = apply_primitive(prim.COFACTORS, None, x, *_singular_values(x))
    return (g[..., None, None] * cofactors,)


def _singular_values(x):
    """Those of the point, which serve all orders, with their vectors."""
    return apply_primitive(prim.DET_SVD, None, apply_primitive(prim.STOP_GRADIENT, None, x))


FEW_ROWS = 3  # up to which determinants are written out
NEXT, AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])


def _few_cofactors(x):
    """The cofactors of a matrix of few rows, written out: no others have derivatives as good and as cheap."""
    if x.shape[-1] < 2:
        return np.ones_like(x)
    if x.shape[-1] == 2:
        return x[..., ::-1, ::-1] * np.array([[1.0, -1.0], [-1.0, 1.0]], x.dtype)
    down, far = NEXT[:, None], AFTER[:, None]
    return x[..., down, NEXT] * x[..., far, AFTER] - x[..., down, AFTER] * x[..., far, NEXT]


def _cofactors(g, p, x, u, s, vh, *directions):
    """With C(e, ...) for the derivative at x: Σ g C(dx, e, ...) = Σ C(g, e, ...) dx, and the same with any e for dx.

    C is symmetric in its directions, and its own derivative is C with one more. Of n rows, n - 1 make it constant.
    """

    def pulled(*others):
        return apply_primitive(prim.COFACTORS, None, x, u, s, vh, *others, g)

    k = len(directions)
    by_x = pulled(*directions) if k < x.shape[-1] - 1 else None
    return by_x, None, None, None, *[pulled(*directions[:i], *directions[i + 1 :]) for i in range(k)]


def _slogdet(g, p, x):
    """d log |det x| = Re t and d sign = i sign Im t, with t = tr(x⁻¹ dx)."""
    trace = compose(g[1], imag(g[0] * p[0])) if is_complex(x) else g[1]
    return (trace[..., None, None] * transposed(np.linalg.inv(x)),)


# ---- series: the rule of cofactors asks for one more direction at each order ----------------------------------------


def _written_out(x):
    """det x by its first row."""
    if x.shape[-1] == 0:
        return np.ones(x.shape[:-2])
    return np.sum(x[..., 0, :] * _few_cofactors(x)[..., 0, :], axis=-1)


def _cut(x, u, sizes, vh, few=FEW_ROWS):
    """(det M, M⁻¹, c, r, d): u [[M, c], [r, d]] vᴴ = x, and det M with the sign of u vᴴ.

    Singular vectors are those of the point: the smallest singular values are in d, as many as there are few rows, the
    others in M. Where M is singular as well, to what rounding leaves of zeros, det M is nan and M an identity.
    """
    k = x.shape[-1] - few
    b = conjugate_transposed(u) @ x @ conjugate_transposed(vh)
    m, c, r, d = b[..., :k, :k], b[..., :k, k:], b[..., k:, :k], b[..., k:, k:]
    noise = np.max(np.abs(apply_primitive(prim.STOP_GRADIENT, None, b) * (1.0 - np.eye(x.shape[-1]))), axis=(-2, -1))
    known = np.greater(sizes[..., k - 1], 4.0 * noise)
    m = np.where(known[..., None, None], m, np.eye(k))
    sign = np.where(known, np.linalg.det(u) * np.linalg.det(vh), np.nan)
    phase, logarithm = np.linalg.slogdet(m)
    if is_complex(x):
        sign = sign * phase
    return sign * np.exp(logarithm), np.linalg.inv(m), c, r, d


def _det_series(x):
    """± det M det of the Schur complement of M."""
    if x.shape[-1] <= FEW_ROWS:
        return _written_out(x)
    det, inverse, c, r, d = _cut(x, *_singular_values(x))
    return det * _written_out(d - r @ inverse @ c)


def _cofactor_series(x, u, s, vh, *directions):
    """By blocks, from M⁻¹ and the adjugate of the Schur complement of M."""
    n, k = x.shape[-1], len(directions)
    if k:
        return transposed(_mixed_series(x, u, s, vh, *directions)) if k < n else 0.0 * directions[0]
    if not n:
        return x
    if n <= FEW_ROWS:
        return _few_cofactors(x)
    det, inverse, c, r, d = _cut(x, u, s, vh)
    schur = d - r @ inverse @ c
    small, right, below = transposed(_few_cofactors(schur)), inverse @ c, r @ inverse
    first = _written_out(schur)[..., None, None] * inverse + right @ small @ below
    above = np.concatenate([first, -right @ small], axis=-1)
    whole = np.concatenate([above, np.concatenate([-small @ below, small], axis=-1)], axis=-2)
    return det[..., None, None] * transposed(conjugate_transposed(vh) @ whole @ conjugate_transposed(u))


def _mixed_series(x, u, s, vh, *directions):
    """Of a derivative of the adjugate, the directions of which may move as well."""
    few = max(FEW_ROWS, len(directions) + 1)
    if x.shape[-1] <= few:
        return core_adjugate(None, x, None, None, directions)
    det, inverse, c, r, d = _cut(x, u, s, vh, few)
    turned = [conjugate_transposed(u) @ e @ conjugate_transposed(vh) for e in directions]
    return conjugate_transposed(vh) @ core_adjugate((c, r), d, inverse, det, turned) @ conjugate_transposed(u)


vjp(prim.MATMUL, _matmul)
vjp(prim.SOLVE, _solve)
vjp(prim.INV, lambda g, p, x: (-transposed(p) @ g @ transposed(p),))
vjp(prim.DET, _det)
vjp(prim.DET_GRADIENT, lambda g, p, x: (apply_primitive(prim.COFACTORS, None, x, *_singular_values(x), g),))
vjp(prim.COFACTORS, _cofactors)
vjp(prim.DET_SVD, lambda g, p, x: (None,))  # cofactors have the whole derivative
vjp(prim.SLOGDET, _slogdet)

prim.DET.expansion = _det_series
prim.DET_GRADIENT.expansion = lambda x: _cofactor_series(x, *_singular_values(x))
prim.COFACTORS.expansion = _cofactor_series
