"""Derivatives of reductions (parameters: the axes, and the shape of the result), and of sums along an axis."""

import numpy as np

from hoad._core.kernels.ufuncs import mask
from hoad._core.trace.calls import apply_primitive
from hoad._ops import primitives as prim
from hoad.rules.registry import vjp


def _spread(p, x, axes):
    """p, which a reduction over `axes` gave, at the shape of x."""
    kept = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
    return np.broadcast_to(np.reshape(p, kept) if p.ndim else p, x.shape)  # a number fits as it is


def _share_among_ties(g, beaten, x, axes, shape):
    """g at the items of x that nothing beats, in equal parts."""
    extreme = np.logical_not(beaten)
    ties = np.sum(extreme.astype(x.dtype), axis=axes).reshape(shape)
    return mask(extreme, _spread(g / ties, x, axes))


def _correlate(g, p, x, y):
    """pₖ = Σⱼ xₖ₊ⱼ yⱼ: the adjoint of x correlates g, between zeros, with y turned round; that of y, x with g."""
    zeros = np.zeros(y.shape[0] - 1, g.dtype)
    wide = np.concatenate([zeros, g, zeros])
    return apply_primitive(prim.CORRELATE, None, wide, np.flip(y)), apply_primitive(prim.CORRELATE, None, x, g)


vjp(prim.SUM, lambda g, p, x, axes, shape: (_spread(g, x, axes),))
vjp(prim.MAX, lambda g, p, x, axes, shape: (_share_among_ties(g, x < _spread(p, x, axes), x, axes, shape),))
vjp(prim.MIN, lambda g, p, x, axes, shape: (_share_among_ties(g, x > _spread(p, x, axes), x, axes, shape),))
vjp(prim.CUMSUM, lambda g, p, x, axis: (np.flip(np.cumsum(np.flip(g, axis), axis), axis),))
vjp(prim.CORRELATE, _correlate)
