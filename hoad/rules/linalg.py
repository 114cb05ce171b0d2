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
    return g @ _t(y), _t(x) @ g


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


vjp(prim.MATMUL, _matmul)
vjp(prim.SOLVE, _solve)
vjp(prim.INV, lambda g, p, x: (-_t(p) @ g @ _t(p),))
vjp(prim.DET, lambda g, p, x: (g[..., None, None] * _t(apply_primitive(prim.ADJUGATE, None, x)),))
vjp(prim.ADJUGATE, _adjugate)
vjp(prim.SLOGDET, _slogdet)
