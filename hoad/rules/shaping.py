"""Derivatives of operations that move values without computing: each is linear, and its adjoint moves them back."""

import numpy as np

from hoad._core.graph.tape import intern_aval
from hoad._core.kernels import ufuncs
from hoad._core.trace.calls import apply_assembly, apply_primitive
from hoad._ops import primitives as prim
from hoad.rules.registry import vjp


def _sum_to(g, shape):
    """Sum over the axes that broadcasting added or stretched."""
    lead = g.ndim - len(shape)
    axes = tuple(d for d in range(g.ndim) if d < lead or (shape[d - lead] == 1 and g.shape[d] != 1))
    return apply_primitive(prim.SUM, (axes, shape), g)


def _put_back(g, x, shape, strides, offset):
    """Zeros like x with g at the place it was taken from."""
    size = x.dtype.itemsize
    place = (offset * size, shape, tuple(s * size for s in strides))
    return apply_assembly(intern_aval(x.dtype, x.shape), np.zeros(0, np.int64), (place,), g)


def _scatter(g, x, flat):
    """Zeros like x with g added at flat places."""
    return apply_assembly(intern_aval(x.dtype, x.shape), np.zeros(0, np.int64), (None,), g, flat)


def _kept(x, flat):
    """Where x is not written to."""
    every = np.ones(x.shape, bool)
    return apply_primitive(prim.PUT_ITEMS, None, every, np.zeros(flat.shape, bool), flat)


def _last(x, flat):
    """Which of the places are not written to again."""
    turn = np.arange(flat.size).reshape(flat.shape)
    last = apply_primitive(prim.PUT_ITEMS, None, np.zeros(x.shape, turn.dtype), turn, flat)
    return apply_primitive(prim.GATHER_ITEMS, None, last, flat) == turn


def _taken(g, x, flat):
    """The items of g at the places, strongly zero where another one is put over."""
    return ufuncs.mask(_last(x, flat), apply_primitive(prim.GATHER_ITEMS, None, g, flat))


def _split(g, *operands, axis):
    """The stretches of g along `axis` that the operands gave."""
    start = 0
    for x in operands:
        yield g[(*[slice(None)] * axis, slice(start, start + x.shape[axis]))]
        start += x.shape[axis]


vjp(prim.IDENTITY, lambda g, p, x: (g,))
vjp(prim.STOP_GRADIENT, lambda g, p, x: (None,))
vjp(prim.RESHAPE, lambda g, p, x, shape: (np.reshape(g, x.shape),))
vjp(prim.TRANSPOSE, lambda g, p, x, axes: (np.transpose(g, tuple(np.argsort(axes).tolist())),))
vjp(prim.BROADCAST_TO, lambda g, p, x, shape: (_sum_to(g, x.shape),))
vjp(prim.GETITEM, lambda g, p, x, shape, strides, offset: (_put_back(g, x, shape, strides, offset),))
vjp(prim.GATHER_ITEMS, lambda g, p, x, y: (_scatter(g, x, y), None))
vjp(prim.PUT_ITEMS, lambda g, p, x, v, y: (ufuncs.mask(_kept(x, y), g), _taken(g, x, y), None))
vjp(prim.JOIN, lambda g, p, *operands, axis: tuple(_split(g, *operands, axis=axis)))
vjp(prim.ASTYPE, lambda g, p, x, dtype: (g.astype(x.dtype),))
